"""Versions that are told by folders' names are those that the standard library reads."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from citekit.adapters.system.installed_packages import version_of


@pytest.mark.parametrize(
    ("package", "distributions"),
    [
        ("av", ()),
        ("pymupdf", ("pymupdf", "pymupdf-lite")),
        ("PIL", ("pillow",)),
        ("tree_sitter_python", ("tree-sitter-python",)),
        ("citekit-evidence", ()),
    ],
)
def test_the_version_is_the_one_that_is_installed(package: str, distributions: tuple[str, ...]) -> None:
    told = version_of(package, *distributions)

    assert version(next(iter(distributions), package)) == told


def test_what_is_not_there_has_no_version() -> None:
    assert "unknown" == version_of("citekit_no_such_package")


def test_two_leftovers_of_one_package_are_left_to_the_standard_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "twice_there.py").write_text("")
    for number in ("1.0", "2.0"):
        folder = tmp_path / f"twice_there-{number}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: twice-there\nVersion: {number}\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    assert version("twice-there") == version_of("twice_there")
