"""Which of many parameters of a test `make test` tries; the others are tried by `make test-all`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def representatives(values: Iterable[Any], count: int) -> list[ParameterSet]:
    """All values as parameters; all but `count` of them, at equal distances, are marked `slow`."""
    given = list(values)
    chosen = {number * len(given) // count for number in range(min(count, len(given)))}
    return [_parameter(value, slow=number not in chosen) for number, value in enumerate(given)]


def _parameter(value: object, *, slow: bool) -> ParameterSet:
    marks = [pytest.mark.slow] if slow else []
    if isinstance(value, ParameterSet):
        return pytest.param(*value.values, marks=[*value.marks, *marks], id=value.id)
    return pytest.param(*value, marks=marks) if isinstance(value, tuple) else pytest.param(value, marks=marks)
