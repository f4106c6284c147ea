"""A test that sweeps a table, a registry or files is one item, and reports every one of its cases that fails."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def each(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test with each case, as `pytest.mark.parametrize` would; the cases share one set of fixtures."""
    words = names.replace(",", " ").split()

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def swept(**fixtures: Any) -> None:
            failures: list[BaseException] = []
            for case in cases:
                values = case if len(words) > 1 else (case,)
                try:
                    test(**dict(zip(words, values, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  # whatever it is, it is told below
                    error.add_note(f"{names} = {', '.join(map(_said, values))}")
                    failures.append(error)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} cases of {test.__name__} fail", failures)

        signature = inspect.signature(test)
        kept = [parameter for parameter in signature.parameters.values() if parameter.name not in words]
        vars(swept)["__signature__"] = signature.replace(parameters=kept)
        swept.__name__, swept.__doc__, swept.__module__ = test.__name__, test.__doc__, test.__module__
        return swept

    return decorate


def _said(value: Any) -> str:
    return str(getattr(value, "__name__", value))[:200]
