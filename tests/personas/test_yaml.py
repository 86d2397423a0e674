"""Every exception of PyYAML has a meaning, and nothing but plain data comes out."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

from citekit.adapters.personas.guardian_file import read_plain, table
from citekit.domain.errors import DriverMissing, FaultyAnswer

yaml: Any = importlib.import_module("yaml")


def exceptions() -> list[type[BaseException]]:
    """All exception classes of the driver, whichever module of it holds them."""
    found: list[type[BaseException]] = []
    pending = [yaml.YAMLError]
    while pending:
        kind = pending.pop()
        found.append(kind)
        pending.extend(kind.__subclasses__())
    return [kind for kind in found if kind.__module__.startswith("yaml")]


def test_every_exception_that_reading_can_raise_is_mapped_by_name() -> None:
    writing = {yaml.emitter.EmitterError, yaml.serializer.SerializerError, yaml.representer.RepresenterError}
    general = {yaml.error.MarkedYAMLError, yaml.resolver.ResolverError}

    assert set() == set(exceptions()) - set(table(yaml)) - writing - general
    assert 5 < len(exceptions())


@pytest.mark.parametrize(
    "text", ["a: [", "a: !x 1", "a: &b 1", "\x07", "a: 2020-99-99", "[" * 500, "a: 1\n---\nb: 2", "*x"]
)
def test_what_is_not_plain_data_is_refused_with_the_name_of_the_file(text: str) -> None:
    with pytest.raises(FaultyAnswer, match=r"^file\.md: "):
        read_plain(text, "file.md")


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)

    with pytest.raises(DriverMissing, match=r"pip install 'citekit-evidence\[library\]'"):
        read_plain("a: 1", "file.md")
