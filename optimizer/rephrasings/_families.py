"""Families of rephrasings besides paraphrases: wording by rule, formatting, the order of labels and of examples."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.rephrasings._frames import Named
from psopt.rephrasings._rules import rephrasings
from psopt.search_spaces import BULLETS, CASINGS, LISTINGS, PLAIN, SEPARATORS, PromptFormat, in_order
from psopt.settings import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from psopt.rephrasings._frames import Side
    from psopt.rephrasings._set import RephrasingSet
    from psopt.settings import Family
    from psopt.tasks import Task

    Variant = tuple[str, PromptFormat]


OF_OWN_FORM: tuple[Family, ...] = ("format", "label-order")
"""Families that change how psopt lays out its own form; the user's own prompt keeps its layout."""


def vary(paraphrases: RephrasingSet, task: Task, families: Sequence[Family], seed: int) -> RephrasingSet:
    """Mix families in equal parts, into as many rephrasings in total as `paraphrases` holds.

    The original in psopt's own form comes first; then the families take turns. No layout and no order of labels is in
    both sets. Orders of examples change nothing in a prompt with fewer than two examples.

    Raises InputError if a family has too few members: three labels have only five other orders.
    """
    taken: set[PromptFormat] = {PLAIN}
    avoid = [paraphrases.original, *paraphrases.search, *paraphrases.heldout]

    def members(side: Side, texts: Sequence[str]) -> dict[Family, Iterator[Variant]]:
        original = paraphrases.original
        by_rule = rephrasings(original, Named(task.noun), side, seed, task.labels, avoid, n_parts=paraphrases.n_parts)
        return {
            "paraphrase": ((text, PLAIN) for text in texts),
            "wording": ((text, PromptFormat("wording")) for text in by_rule),
            "format": _forms(original, _layouts(seed), taken),
            "label-order": _forms(original, _label_orders(task.labels), taken),
            "example-order": _forms(
                original, (PromptFormat("example-order", example_order=n) for n in itertools.count(1)), taken
            ),
        }

    search = [(paraphrases.original, PLAIN)]
    search += _in_turn(members("search", paraphrases.search[1:]), families, len(paraphrases.search) - 1)
    heldout = _in_turn(members("heldout", paraphrases.heldout), families, len(paraphrases.heldout))
    return replace(
        paraphrases,
        search=tuple(text for text, _ in search),
        heldout=tuple(text for text, _ in heldout),
        search_forms=tuple(form for _, form in search),
        heldout_forms=tuple(form for _, form in heldout),
    )


def check_families(families: Sequence[Family], where: str = "--vary") -> None:
    """Refuse families that would change the user's own layout; `where` says where they were named."""
    for family in families:
        if family in OF_OWN_FORM:
            fitting = ", ".join(alternative for alternative in FAMILIES if alternative not in OF_OWN_FORM)
            raise InputError(
                f"{where} {family} changes psopt's own form, and this prompt keeps its layout: choose of {fitting}"
            )


def _in_turn(members: dict[Family, Iterator[Variant]], families: Sequence[Family], n: int) -> list[Variant]:
    variants: list[Variant] = []
    for number in range(n):
        family = families[number % len(families)]
        variant = next(members[family], None)
        if variant is None:
            raise InputError(
                f"the family {family} has too few members for {n} rephrasings in {len(families)} families; "
                "ask for fewer, or for more families"
            )
        variants.append(variant)
    return variants


def _forms(original: str, forms: Iterable[PromptFormat], taken: set[PromptFormat]) -> Iterator[Variant]:
    """The forms whose layout is not taken yet."""
    for form in forms:
        if form.layout not in taken:
            taken.add(form.layout)
            yield original, form


def _layouts(seed: int) -> Iterator[PromptFormat]:
    """Every layout, in an order that the seed decides."""
    parts = list(itertools.product(SEPARATORS, LISTINGS, BULLETS, CASINGS, (0, 1)))
    random.Random(seed).shuffle(parts)  # noqa: S311  # an order, nothing secret
    for layout in parts:
        yield PromptFormat("format", *layout)


def _label_orders(labels: Sequence[str]) -> Iterator[PromptFormat]:
    """Seeds that give different orders of the labels, none of them the given order."""
    seen = {tuple(labels)}
    for number in range(1, 2000):  # more seeds than orders, since several may give the same: six labels have 720
        order = tuple(in_order(labels, number))
        if order not in seen:
            seen.add(order)
            yield PromptFormat("label-order", label_order=number)
