"""`psopt` from its first moment to its exit code, its one-line errors, and signals.

After Ctrl-C and SIGTERM results so far are saved, and the process ends soon, whatever it waits for.
"""

from __future__ import annotations

import codecs
import contextlib
import difflib
import errno
import functools
import io
import os
import signal
import sys
import tempfile
import threading
import traceback
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from psopt._signals import send_to_main_thread
from psopt.cli._commands import command_line
from psopt.cli._help import choices_of, described_range
from psopt.cli._typer import BadParameter, Interrupted, NoSuchOption, ParameterSource
from psopt.cli._writing import notices_on_standard_error
from psopt.errors import InputError, PsoptError, nearest
from psopt.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INTERRUPTED = 130  # 128 + SIGINT, as in shells
_LONGEST_SAVING = 8.0  # seconds; SIGTERM is often followed by SIGKILL after ten
_SERVING = "psopt-serve"  # how the threads of `psopt.serving` are named
_AFTER_CALLBACK = 0.1  # seconds; a weak reference's callback takes less
_signals: list[int] = []
_watchdogs: list[threading.Timer] = []
_PLAIN = "psopt.plain"
_SIGNS = dict(zip("–—−·•°×‘’“”", "----*ox''\"\"", strict=True)) | {"≤": "<=", "≥": ">=", "→": "->", "±": "+-"}
_EX_SOFTWARE = 70  # the exit code of sysexits.h for an error in the program itself
_KINDS = {int: "a whole number", float: "a number", bool: "true or false"}


def main(args: list[str] | None = None) -> Any:
    """Run the command line (by default that of the process) and exit; a caller's own signal handlers are given back.

    Exit codes: 0 done, 1 a check failed, 2 bad input or usage, 3 a limit reached, 70 a bug of psopt, 130 interrupted.
    """
    if args is None:
        sys.stdout, sys.stderr = map(_outliving_its_reader, (sys.stdout, sys.stderr))
        _run(args)
    with _signals_given_back():
        _run(args)


def _run(args: list[str] | None) -> NoReturn:
    _write_what_can_be_shown()
    _catch_signals()
    message = ""
    try:
        with notices_on_standard_error():
            code = command_line().main(args=args, prog_name="psopt", standalone_mode=False)
    except typer.TyperException as error:
        message, code = _usage_line(error), 2
    except PsoptError as error:
        message, code = str(error), error.exit_code
    except (KeyboardInterrupt, Interrupted, typer.Abort) as error:
        message, code = "interrupted; answers are kept: the same command goes on from there", INTERRUPTED
        if isinstance(error.__cause__, EOFError):  # Typer takes any for the end of a person's input
            message, code = _failure(error.__cause__)
    except BrokenPipeError:
        sys.stderr.close()
        code = 0
    except Exception as error:  # noqa: BLE001  # any error becomes one line, with the traceback in a file
        message, code = _failure(error)
    if message:
        typer.echo(f"psopt: {one_line(message)}", err=True)
    leave(code or 0)


class _Outliving(io.FileIO):
    """A pipe whose reader may leave, as `head` does: the rest goes nowhere, and the exit code is the command's own."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream.fileno(), "w", closefd=False)
        self._stream = stream  # it closes the file once nobody holds it

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            if not isinstance(error, BrokenPipeError):
                raise InputError(f"the output can't be written: {error.strerror}") from error
            return super().write(data)


def _outliving_its_reader(stream: Any) -> Any:
    """The same stream, which no longer fails once its reader has left; one that a notebook has replaced stays."""
    buffer = getattr(stream, "buffer", None)
    if not isinstance(getattr(buffer, "raw", buffer), io.FileIO):
        return stream
    outliving = io.BufferedWriter(_Outliving(stream))
    return io.TextIOWrapper(outliving, stream.encoding, stream.errors, line_buffering=stream.line_buffering)


def _write_what_can_be_shown() -> None:
    """Let both streams replace characters that they lack with the nearest ones that they have."""
    codecs.register_error(_PLAIN, _nearest)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # missing if a test or a notebook has replaced the stream
            stream.reconfigure(errors=_PLAIN)


def _nearest(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding lacks: a symbol by a similar one in ASCII, a letter by its base, the rest by a code."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    shown = ""
    for character in error.object[error.start : error.end]:
        base = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
        code = "" if unicodedata.combining(character) else ascii(character)[1:-1]  # different labels stay different
        shown += _SIGNS.get(character) or base or code
    return shown, error.end


def _failure(error: Exception) -> tuple[str, int]:
    """Return the line that says what happened, and the exit code."""
    notes = getattr(error, "__notes__", [])
    code = 2
    if isinstance(error, OSError) and error.errno in {errno.EMFILE, errno.ENFILE}:
        line = "too many files are open: raise `ulimit -n`, or give a lower --concurrency"
    elif isinstance(error, OSError) and error.errno is not None:
        line = error.strerror or os.strerror(error.errno)
        if error.filename is not None:
            line = f"{error.filename}: {line}"
    elif isinstance(error, MemoryError):
        line = "the memory is full: fewer --samples or a lower --concurrency need less"
    else:
        bug = type(error).__name__
        if text := str(error):
            bug += f": {text}"
        line, code = f"this is a bug of psopt, please report it: {bug} ({_place(error)})", _EX_SOFTWARE
        if not any(note.startswith("the traceback is in ") for note in notes):
            notes = [*notes, _write_traceback(error)]
    return "; ".join([line, *notes]), code


def _place(error: Exception) -> str:
    """File and line where it happened, in psopt if psopt called something that failed."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}psopt{os.sep}" in frame.filename] or frames
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "no traceback"


def _write_traceback(error: Exception) -> str:
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="psopt-error-", suffix=".log", encoding="utf-8", errors="backslashreplace", delete=False
        ) as file:
            file.writelines(traceback.format_exception(error))
    except OSError as refused:
        return f"its traceback can't be written: {refused.strerror}"
    return f"the traceback is in {file.name}"


def _usage_line(error: typer.TyperException) -> str:
    """Say what is wrong, and which help explains more."""
    details = getattr(error.__cause__, "errors", None)  # from pydantic, which reads values for Typer
    message = error.format_message()
    if isinstance(error, NoSuchOption):
        options = {option.lstrip("-"): option for option in error.possibilities or ()}
        # compared without the dashes, which all have
        near = difflib.get_close_matches(error.option_name.lstrip("-"), options, n=1)
        hint = f"; did you mean {options[near[0]]}?" if near else ""
        message = f"No such option {error.option_name}{hint}"
    elif details is not None and isinstance(error, BadParameter) and error.param is not None:
        expected = _expected(error.param, details()[0]["input"])
        message = f"Invalid value for {error.param.get_error_hint()}: {expected}"
    context = getattr(error, "ctx", None)
    parameter = getattr(error, "param", None)
    if context and parameter and context.get_parameter_source(parameter.name) is ParameterSource.DEFAULT_MAP:
        message = f"--config {context.params['config']}: {message}"
    return f"{message} (see: {context.command_path} --help)" if context else message


def _expected(parameter: Any, value: Any) -> str:
    if choices := choices_of(parameter):
        return f"{value!r} is not one of {', '.join(choices)}{nearest(str(value), choices)}"
    kind = _KINDS.get(parameter.type_descriptor.annotation, "a value")
    if bounds := described_range(parameter):
        kind += f" from {bounds}" if None not in {parameter.min, parameter.max} else f" of {bounds}"
    return f"{kind} is expected, not {str(value)!r}"


def _catch_signals() -> None:
    """Treat SIGTERM like Ctrl-C; if SIGINT is ignored, as in the background of a script, it stays ignored."""
    if threading.current_thread() is not threading.main_thread():
        return
    sys.unraisablehook = functools.partial(_interrupt_again, sys.unraisablehook)
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt)


@contextlib.contextmanager
def _signals_given_back() -> Iterator[None]:
    """Restore the signal handlers after the block: a program that has run a command keeps running."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    hook = sys.unraisablehook
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)
        _forget_signals()


def _forget_signals() -> None:
    for watchdog in _watchdogs:
        watchdog.cancel()
    _watchdogs.clear()
    _signals.clear()


def leave(code: int) -> NoReturn:
    """Exit; after a signal or an error, or if it has served, do not wait for threads: they may wait for a server."""
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread() and not thread.daemon]
    has_served = any(thread.name.startswith(_SERVING) for thread in others)
    if has_served or (code and others):
        _leave_at_once(code)
    sys.exit(code)


def _interrupt(number: int, _: object) -> None:
    """Stop the current work; a second signal arrives while results are saved, and a third takes effect at once."""
    _signals.append(number)
    if len(_signals) > 2:
        _leave_at_once(INTERRUPTED)
    if len(_signals) == 1:
        watchdog = threading.Timer(_LONGEST_SAVING, _leave_at_once, [INTERRUPTED])
        watchdog.daemon = True
        _watchdogs.append(watchdog)
        watchdog.start()
        raise KeyboardInterrupt


def _interrupt_again(others: Callable[[Any], object], dropped: Any) -> None:
    """Repeat an interrupt that came while a weak reference's callback ran, where Python drops what is raised."""
    if dropped.exc_type is not KeyboardInterrupt or not _signals:
        others(dropped)
        return
    again = threading.Timer(_AFTER_CALLBACK, send_to_main_thread, [_signals[0]])
    again.daemon = True
    _forget_signals()
    again.start()


def _leave_at_once(code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(code)
