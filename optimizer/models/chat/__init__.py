"""Language models that answer chat messages, and the engine around them."""

from psopt.models.chat._address import asking_nothing, public_address, public_command
from psopt.models.chat._answer_monitor import FIRST, spread
from psopt.models.chat._answer_rate import AnswerRate, keep_rate, kept_rate
from psopt.models.chat._budget import PRICES_OF, Budget, Need, Price, Usage, grid_price, price_of, user_prices
from psopt.models.chat._client import Answer, CallEnd, CallStart, CallWatcher, OnCallEnd, Query, TransientError
from psopt.models.chat._dialect import read_response_format
from psopt.models.chat._doctor import examine
from psopt.models.chat._dspy_client import public_settings, stay_here
from psopt.models.chat._engine import Engine
from psopt.models.chat._factory import CHAT_KINDS, chat_engine, chat_model, load_writer, name_hint, server_of
from psopt.models.chat._function_client import function_name
from psopt.models.chat._model import ChatModel, asks_in_chat
from psopt.models.chat._secrets import asking_with_key, is_secret
from psopt.models.chat._token_counts import (
    TokenRange,
    most_tokens_in,
    tokens_of_answer,
    tokens_of_query,
    tokens_of_text,
)
from psopt.models.chat._writer import RatingJudge, SamenessJudge, Writer
from psopt.settings import LMConfig
