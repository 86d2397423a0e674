"""Reads patterns (instructions for kinds of answers) from a JSON file, which groups them in categories."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping

from attrs import field, frozen

from citekit.domain.errors import FaultyAnswer
from citekit.domain.library.personas import FREE, Pattern

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_HOTTEST = 2.0
"""The highest temperature that a pattern may recommend."""


@frozen
class PatternFile:
    """The patterns of a file in order, and the faults of those that were skipped."""

    patterns: tuple[Pattern, ...] = field(converter=tuple[Pattern, ...])
    faults: tuple[str, ...] = field(converter=tuple[str, ...])


def read_patterns(text: str, what: str) -> PatternFile:
    """Return the patterns in `text`, the content of the file `what`. Patterns that are not valid are skipped.

    Raise `FaultyAnswer` if the file as a whole is not valid.
    """
    patterns: dict[str, Pattern] = {}
    faults = []
    for place, category, item in _items(_plain(text, what), what):
        try:
            pattern = _pattern(category, item, place)
        except ValueError as error:
            faults.append(str(error))
            continue
        if pattern.id in patterns:
            faults.append(f"{place}.id: another pattern has the same ID {pattern.id!r}")
        else:
            patterns[pattern.id] = pattern
    return PatternFile(patterns.values(), faults)


def _plain(text: str, what: str) -> Mapping[str, object]:
    try:
        plain = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise FaultyAnswer(what, [f"$: the file is not valid JSON ({error})"]) from error
    if not isinstance(plain, dict):
        raise FaultyAnswer(what, ["$: the file must contain a JSON object with a list of patterns for each category"])
    return plain


def _items(plain: Mapping[str, object], what: str) -> Iterator[tuple[str, str, object]]:
    for category, items in plain.items():
        if not isinstance(items, list) or not _NAME.fullmatch(category) or category == FREE:
            raise FaultyAnswer(
                what,
                [
                    f"{category[:60]}: must be the name of a category with a list of patterns; the name must consist of "
                    f"a-z, 0-9, and _, begin with a letter, and not be {FREE!r}"
                ],
            )
        for number, item in enumerate(items):
            yield f"{category}[{number}]", category, item


def _pattern(category: str, item: object, place: str) -> Pattern:
    if not isinstance(item, dict):
        raise ValueError(f"{place}: a pattern must be a JSON object")  # noqa: TRY004 - one kind of error for all faults of a file
    identifier = _text(item, "id", place)
    if not _NAME.fullmatch(identifier) or identifier == FREE:
        raise ValueError(
            f"{place}.id: {identifier[:60]!r} is not a valid ID; it must consist of a-z, 0-9, and _, begin with a "
            f"letter, and not be {FREE!r}"
        )
    return Pattern(
        id=identifier,
        category=category,
        name=_text(item, "name", place, identifier),
        template=_text(item, "template", place),
        temperature=_number(item, "temperature", place) or 0.0,
        use_case=_text(item, "use_case", place, ""),
        max_temperature=_number(item, "max_temperature", place, optional=True),
        min_sources=_count(item, "min_sources", place),
        rag_mode=_text(item, "rag_mode", place, "") or None,
        note=_text(item, "note", place, "") or None,
    )


def _text(item: Mapping[str, object], key: str, place: str, default: str | None = None) -> str:
    value = item.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise ValueError(f"{place}.{key}: must be a {'non-empty ' if default is None else ''}string")
    return value.strip()


def _number(item: Mapping[str, object], key: str, place: str, *, optional: bool = False) -> float | None:
    value = item.get(key)
    if value is None and optional:
        return None
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not (math.isfinite(value) and 0 <= value <= _HOTTEST)
    ):
        raise ValueError(f"{place}.{key}: must be a number from 0 to {_HOTTEST:g}")
    return float(value)


def _count(item: Mapping[str, object], key: str, place: str) -> int | None:
    value = item.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{place}.{key}: must be a whole number of at least 1")
    return value
