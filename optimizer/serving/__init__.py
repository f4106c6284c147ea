"""`psopt serve`: a prompt behind an address for OpenAI's clients, with how steady each answer is."""

from psopt.serving._queue import QueueFullError, TextQueue
from psopt.serving._server import serve
