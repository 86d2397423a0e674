"""A CiteKit whose stores are in memory and whose mapper is scripted; the files are real."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import define

from citekit.container import Container, bootstrap
from citekit.domain.locations import Lines
from citekit.domain.node import Node
from citekit.domain.source import Source
from citekit.settings import Settings
from tests.doubles.mapper import ScriptedMapper
from tests.doubles.stores import InMemoryEvidenceStore, InMemoryMapStore


def by_paragraph(source: Source) -> list[Node]:
    """A node for every line of a text, below one for all of it."""
    texts = source.path.read_text("utf-8").splitlines()
    lines = tuple(
        Node(f"all.line_{number}", text or "empty", "line", Lines(number, number), f"About {text}.")
        for number, text in enumerate(texts, 1)
    )
    return [Node("all", "Everything", "section", Lines(1, len(lines)), children=lines)]


@define
class World:
    """The use cases, the mapper behind them, and a folder for files."""

    app: Container
    mapper: ScriptedMapper
    folder: Path

    def file(self, name: str, text: str = "one\ntwo\nthree\n") -> Path:
        """A text file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
        return path


@pytest.fixture
def world(tmp_path: Path) -> World:
    mapper = ScriptedMapper(by_paragraph)
    folder = tmp_path / "files"
    folder.mkdir()
    app = bootstrap(
        Settings(home=tmp_path / "home"), maps=InMemoryMapStore(), evidence=InMemoryEvidenceStore(), mapper=mapper
    )
    return World(app, mapper, folder)
