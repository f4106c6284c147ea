"""What is in a program, as text that is the same in every process."""

from __future__ import annotations

import contextlib
import copy
import copyreg
import dataclasses
import dis
import enum
import functools
import hashlib
import inspect
import json
import re
import sysconfig
import threading
import types
from typing import TYPE_CHECKING, Any

import pydantic
from psopt.dspy_programs._dspy import dspy
from psopt.models.chat import public_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


_OF_RUNNING = frozenset({"callbacks", "history", "_compiled"})
"""Parts of DSPy's modules that do not affect their answers."""
_OF_STEPS = frozenset({"traces", "train", "stage", "demos", "signature"})
"""Parts of a step that do not affect its answers, or that `step_state` covers."""
_PLAIN = (str, int, float, bytes, tuple, frozenset, list, dict, set)
_VALUES = (*_PLAIN, dspy.Module, dspy.BaseLM, re.Pattern, enum.Enum, functools.partial, pydantic.BaseModel)
_LOCKS = (type(threading.Lock()), type(threading.RLock()), threading.Event, threading.Condition, threading.Semaphore)
_LIBRARIES = (sysconfig.get_paths()["stdlib"], "site-packages", "dist-packages")
_OWN = ("dspy.", "psopt.")
_DEEPEST = 40  # objects within objects
_SOURCES = 1024  # chosen generously: classes and functions of a program; each is looked up again for every answer
_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)


def contents(value: Any, name: str = "value") -> tuple[str, tuple[str, ...]]:
    """Return the contents of a value as JSON, and the names of the parts that cannot be read.

    An object contains what pickle would store, and its class, with the source if that is the user's own. A function
    contains its source, its defaults, its closure, and the functions, programs and values that it uses by global names.

    >>> contents({"b": {2, 1}, "a": 1.5})
    ('["dict", ["b", ["set", 1, 2]], ["a", 1.5]]', ())
    """
    reader = _Reader()
    return json.dumps(reader.read(value, name)), tuple(dict.fromkeys(reader.unknown))


def digest(value: Any) -> str:
    """A short digest of the contents of a value."""
    return _digest(contents(value)[0])


def digest_of_program(program: Any) -> str:
    """A short digest of a program's contents without its steps' instructions, fields, demonstrations and models."""
    steps = [step for _, step in program.named_predictors()]
    return _digest(json.dumps(_Reader(steps).read(program, "program")))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def step_state(step: Any) -> dict[str, Any]:
    """A step's instructions, its fields with their types (DSPy leaves them out), and its demonstrations."""
    bare = copy.copy(step)
    bare.lm = None  # `dump_state` fails for a model that can't be saved
    fields = getattr(getattr(step, "signature", None), "fields", {})
    return {**bare.dump_state(), "types": {name: contents(field.annotation)[0] for name, field in fields.items()}}


def configured(value: Any) -> Any:
    """The configuration of an object that changes as it runs: its class, its own dump, constructor arguments.

    Counters and logs of requests do not make it another engine. Integers therefore count only if its dump has them.
    """
    state = value.dump_state() if hasattr(value, "dump_state") else None
    makes = type(value).__init__
    arguments = inspect.signature(makes).parameters if inspect.isfunction(makes) else ()
    attributes = {}
    for name, part in getattr(value, "__dict__", {}).items():
        is_count = state is not None and (part is None or type(part) is int)
        is_argument = name.lstrip("_") in arguments and not is_count
        if name not in _OF_RUNNING and (is_argument or isinstance(part, (str, bool, float))):
            attributes[name] = part
    return [type(value), state, attributes]


class _Reader:
    """Reads a value part by part, and records what it cannot read."""

    def __init__(self, steps: Iterable[Any] = ()) -> None:
        self._steps = {id(step) for step in steps}  # whose state is left out
        self.unknown: list[str] = []
        self._within: dict[int, Any] = {}  # holds the objects too, so that their ids are not reused
        self._classes: set[Any] = set()

    def read(self, value: Any, name: str) -> Any:
        if value is None or type(value) in {bool, int, float, str}:
            return value
        if id(value) in self._within or len(self._within) > _DEEPEST:
            return "(again)"
        self._within[id(value)] = value
        try:
            return self._read(value, name)
        finally:
            del self._within[id(value)]

    def _read(self, value: Any, name: str) -> Any:
        kind = type(value)
        if isinstance(value, (bytes, bytearray)):
            return ["bytes", hashlib.sha256(value).hexdigest()]
        if isinstance(value, (dict, types.MappingProxyType)):  # in its order, on which a prompt may depend
            parts = ([self.read(key, name), self.read(of, f"{name}[{key!r}]")] for key, of in value.items())
            return [kind.__name__, *parts]
        if isinstance(value, (list, tuple)):
            return [kind.__name__, *(self.read(of, f"{name}[{place}]") for place, of in enumerate(value))]
        if isinstance(value, (set, frozenset)):
            return ["set", *sorted((self.read(of, name) for of in value), key=json.dumps)]
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, _FUNCTIONS):
            return self._function(value, name)
        if callable(value) and hasattr(value, "__wrapped__"):  # as made by functools.cache
            return ["wrapped", self.read(value.__wrapped__, name)]
        if isinstance(value, types.ModuleType):
            return value.__name__
        if isinstance(value, _LOCKS):
            return "lock"
        if isinstance(value, dspy.Module):
            return self._module(value, name)
        if isinstance(value, dspy.BaseLM):
            engine = getattr(value, "_engine_spec", None)
            if not isinstance(engine, (str, type(None))):
                engine = configured(engine)
            return [value.model, self.read([sorted(public_settings(value.kwargs).items()), kind, engine], name)]
        return self._object(value, name)

    def _module(self, value: Any, name: str) -> Any:
        left_out = _OF_RUNNING
        state: Any = None
        if isinstance(value, dspy.Predict):
            left_out |= _OF_STEPS
            if id(value) in self._steps:
                left_out |= {"lm"}
            else:
                state = self.read(step_state(value), name)
        attributes = {key: part for key, part in vars(value).items() if key not in left_out}
        parts = [[key, self.read(part, f"{name}.{key}")] for key, part in attributes.items()]
        return [self._class(type(value)), state, parts]

    def _object(self, value: Any, name: str) -> Any:
        """What pickle would store: the constructor, its arguments and the contents."""
        kind = type(value)
        try:
            written = copyreg.dispatch_table.get(kind)
            reduced: Any = written(value) if written else value.__reduce_ex__(4)
        except Exception:  # noqa: BLE001  # a user's object: if it raises anything, it cannot be read
            self.unknown.append(f"{name} ({kind.__qualname__})")
            return self._class(kind)
        if isinstance(reduced, str):  # a global name
            return [str(getattr(value, "__module__", "")), reduced]
        made, arguments = reduced[:2]
        state, *contained = reduced[2:] or (None,)
        if isinstance(state, dict):
            attributes = {key: part for key, part in state.items() if key not in {"callbacks", "history"}}
            state = sorted([str(key), self.read(part, f"{name}.{key}")] for key, part in attributes.items())
        else:
            state = self.read(state, name)
        items = [self.read([*part], name) for part in contained if part is not None and not callable(part)]
        return [self.read(made, name), self.read(arguments, name), state, items]

    def _class(self, kind: type) -> Any:
        """A class by its name; a user's own class also by its source, its bases, and what its methods use."""
        full_name = f"{kind.__module__}.{kind.__qualname__}"
        if kind in self._classes or _is_of_library(kind):
            return full_name
        self._classes.add(kind)
        bases = [self._class(base) for base in kind.__bases__]
        methods = [self._globals(method) for method in _methods(kind) if not _is_of_library(method)]
        return [full_name, source_of(kind), *bases, *methods]

    def _function(self, function: Any, name: str) -> Any:
        owner = getattr(function, "__self__", None)
        if isinstance(owner, types.ModuleType):
            owner = None
        of_owner = self.read(owner, name)
        inner = inspect.unwrap(getattr(function, "__func__", function))
        full_name = f"{getattr(inner, '__module__', '')}.{inner.__qualname__}"
        if not isinstance(inner, types.FunctionType) or _is_of_library(inner):
            return [full_name, of_owner]
        cells = [self.read(part, name) for part in _closed_over(inner)]
        defaults = self.read([inner.__defaults__, inner.__kwdefaults__], name)
        return [source_of(inner), defaults, cells, of_owner, self._globals(inner)]

    def _globals(self, function: types.FunctionType) -> Any:
        """What a function uses by global names, also in the user's own modules; not what it assigns, such as counts."""
        used = _used(_global_names(function.__code__), function.__globals__)
        return [[name, self.read(part, name)] for name, part in used]


@functools.lru_cache(maxsize=_SOURCES)
def source_of(thing: Any) -> str:
    """The source of a class or a function; the compiled code if it was typed into a console and has none."""
    try:
        if getattr(thing, "__name__", "") != "<lambda>":  # several lambdas on a line have the same source
            return inspect.getsource(thing)
    except (OSError, TypeError):
        pass
    if not hasattr(thing, "__code__"):
        return "\n".join(map(source_of, _methods(thing))) or repr(getattr(thing, "__qualname__", thing))
    parts = []
    for code in _codes(thing.__code__):
        constants = [repr(part) for part in code.co_consts if not isinstance(part, types.CodeType)]
        parts.append((code.co_code, constants, code.co_names))
    return repr(parts)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The compiled code of a function and of those inside it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _codes(part)


@functools.lru_cache(maxsize=_SOURCES)
def _global_names(code: types.CodeType) -> set[str]:
    """The global names that a function, or one inside it, uses and does not assign."""
    used: set[str] = set()
    assigned: set[str] = set()
    for part in _codes(code):
        used.update(part.co_names)
        assigned.update(str(step.argval) for step in dis.get_instructions(part) if step.opname == "STORE_GLOBAL")
    return used - assigned


def _used(names: set[str], namespace: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    """The named values of a namespace, and of the user's own modules in it, that affect what a function does."""
    for name in sorted(names & namespace.keys()):
        value = namespace[name]
        if isinstance(value, types.ModuleType) and not _is_of_library(value):
            yield from _used(names - {name}, vars(value), f"{place}{name}.")
        elif _affects_functions(value):
            yield f"{place}{name}", value


def _methods(kind: type) -> Iterator[types.FunctionType]:
    """The functions of a class's members: methods, properties, static methods."""
    for member in vars(kind).values():
        function = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if isinstance(function, types.FunctionType):
            yield function


def _affects_functions(value: Any) -> bool:
    """Whether a global affects what a function does, and is not a library's module or a running object, by its type."""
    if isinstance(value, (types.FunctionType, type)):
        return not _is_of_library(value)
    is_value = isinstance(value, _VALUES) or dataclasses.is_dataclass(value)
    return is_value or "__wrapped__" in getattr(value, "__dict__", {})  # as made by functools.cache


def _is_of_library(thing: Any) -> bool:
    module = getattr(thing, "__module__", None) or ""
    if isinstance(thing, types.ModuleType):
        module = thing.__name__ if getattr(thing, "__file__", None) else "builtins"
    if module == "builtins" or f"{module}.".startswith(_OWN):
        return True
    file = getattr(inspect.getmodule(thing), "__file__", None)
    if isinstance(thing, types.FunctionType):
        file = thing.__code__.co_filename
    return any(place in str(file) for place in _LIBRARIES)


def _closed_over(function: types.FunctionType) -> list[Any]:
    """The closure of a function: the variables that already have a value."""
    values = []
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # an empty cell raises
            values.append(cell.cell_contents)
    return values
