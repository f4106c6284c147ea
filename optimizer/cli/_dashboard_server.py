"""Optuna's dashboard on a study of psopt's: one trial bears the badge, the one that is to be used.

The dashboard calls every trial of the front a best one. Which they are it learns from the study's details, and there
the one that psopt has chosen is put in their place; plots find the front by themselves.
"""

from __future__ import annotations

import json
import re
import warnings
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode
from wsgiref.simple_server import WSGIRequestHandler, make_server

from psopt.search import chosen_trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    import optuna

_DETAILS = re.compile(r"/api/studies/(\d+)/?")


def serve(storage: optuna.storages.BaseStorage, host: str, port: int, artifacts: Any) -> None:
    """Serve the dashboard until Ctrl-C; `artifacts` is Optuna's store of them, or None."""
    import optuna_dashboard

    # Optuna's importances warn of each parameter that few trials have, at every look.
    warnings.filterwarnings("ignore", category=UserWarning, module="optuna")
    application = OneBadge(optuna_dashboard.wsgi(storage, artifact_store=artifacts), storage)
    with make_server(host, port, application, handler_class=_Silent) as server:
        server.serve_forever()


class OneBadge:
    """The dashboard as a WSGI application, with one best trial.

    Parameters
    ----------
    dashboard : WSGI application
    storage : optuna.storages.BaseStorage
    """

    def __init__(self, dashboard: WSGIApplication, storage: optuna.storages.BaseStorage) -> None:
        self._dashboard = dashboard
        self._storage = storage

    def __call__(self, environment: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request."""
        path = _DETAILS.fullmatch(environment["PATH_INFO"])
        number = self._chosen(int(path[1])) if path and environment["REQUEST_METHOD"] == "GET" else None
        if number is None:
            return self._dashboard(environment, start_response)
        return self._with_one_badge(environment, start_response, number)

    def _chosen(self, study_id: int) -> int | None:
        try:
            return chosen_trial(self._storage, study_id)
        except KeyError:  # the dashboard says that there is no such study
            return None

    def _with_one_badge(
        self, environment: WSGIEnvironment, start_response: StartResponse, number: int
    ) -> Iterable[bytes]:
        """The details of a study; asked for from the chosen trial on, so that it is among them."""
        after = int(parse_qs(environment.get("QUERY_STRING", "")).get("after", ["0"])[0])
        first = min(after, number)
        begun: list[tuple[str, list[tuple[str, str]]]] = []

        def begin(status: str, headers: list[tuple[str, str]], _error: Any = None, /) -> Callable[[bytes], object]:
            begun.append((status, headers))
            return lambda _: None  # what an application may write to, in place of returning it

        asked = {**environment, "QUERY_STRING": urlencode({"after": first})}
        body = b"".join(self._dashboard(asked, begin))
        status, headers = begun[-1]
        if status.startswith("200"):
            details = json.loads(body)
            trials = details["trials"]
            details["best_trials"] = [trial for trial in trials if trial["number"] == number]
            details["trials"] = trials[after - first :]
            body = json.dumps(details).encode()
            headers = [header for header in headers if header[0].lower() != "content-length"]
            headers.append(("Content-Length", str(len(body))))
        start_response(status, headers)
        return [body]


class _Silent(WSGIRequestHandler):
    """Handles requests without a line for each on standard error."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # its name in the standard library
        """Say nothing."""
