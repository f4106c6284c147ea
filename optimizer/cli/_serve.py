"""`psopt serve`."""

from typing import Annotated

import typer
from psopt.cli._classify import classifier_for, prompt_file
from psopt.cli._options import Json, Pick
from psopt.cli._task_and_prompts import read_prompts
from psopt.cli._verb import flag, verb
from psopt.cli._writing import print_json, tell
from psopt.errors import import_extra
from psopt.settings import AnsweringOptions, LMConfig, PromptOptions

Source = Annotated[str, typer.Argument(metavar="PROMPT", help="A run directory, or a prompt's JSON.")]
Host = Annotated[str, flag("Server", "The address to listen at; 0.0.0.0 for all of this machine.", "HOST")]
Port = Annotated[int, flag("Server", "The port to listen at; 0 for a free one.", "PORT", min=0, max=65535)]
MostWaiting = Annotated[
    int, flag("Server", "Texts that may wait; others are told to ask again (429).", "N", min=1, flags="--max-waiting")
]
ClientKeys = Annotated[bool, flag("Server", "Ask the model with the key that each request bears; none is kept.")]

# Groups of texts that are sent to a server at the same time: with 8 to 32 the rate stayed within a tenth (64
# connections). A model in this process reads one group at a time.
_GROUPS = 16


@verb("psopt serve runs/tickets --port 8080")
def serve(
    *,
    prompt: Source,
    pick: Pick = "recommended",
    reading: PromptOptions,
    answering: AnsweringOptions,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    most_waiting: MostWaiting = 1000,
    client_keys: ClientKeys = False,
    lm: LMConfig,
    as_json: Json = False,
) -> int:
    """Answer OpenAI's clients with a run's prompt: the text is the last message, the label is the answer.

    The answer has the headers `x-psopt-agreement` and `x-psopt-sensitivity`, which are useful with --wordings. /health
    shows how many texts are waiting. At SIGTERM, accepted texts are answered before the process ends.
    """
    import_extra("uvicorn", "psopt serve", "serve")
    from psopt.api import input_columns
    from psopt.models.chat import asks_in_chat
    from psopt.serving import serve as answer_requests
    from psopt.tasks import texts_of_records

    (source,) = read_prompts([prompt_file(prompt, pick)], reading)
    columns = input_columns(source, answering.inputs)
    # A prompt that names columns is read together with a row that has them.
    row = texts_of_records([dict.fromkeys(columns.names, "..")], columns) if columns.names else []
    classifier, _ = classifier_for(source, columns, answering, row, lm)

    def say(address: str) -> None:
        if as_json:
            print_json({"url": f"{address}/v1", "prompt": classifier.prompt.id}, indent=None)
        tell(f"answering at {address}/v1 with prompt {classifier.prompt.id}")

    answer_requests(
        classifier,
        host=host,
        port=port,
        n_threads=_GROUPS if asks_in_chat(classifier.model) else 1,
        most_waiting=most_waiting,
        passes_keys=client_keys,
        on_ready=say,
    )
    return 0
