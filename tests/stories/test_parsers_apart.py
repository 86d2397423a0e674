"""A home whose files are parsed in children: what a parser does to its child is one clear error, and the work goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from citekit.bootstrap import App, bootstrap
from citekit.domain.errors import Cancelled, SourceUnsupported
from citekit.domain.node import NodeName
from tests.made_files import make_all

LITTLE = 70_000_000
"""Bytes: enough for Python and all of our modules, too little for a large picture."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_all(tmp_path_factory.mktemp("files"))


def home(folder: Path, **settings: Any) -> App:
    return bootstrap(evolve(bootstrap(home=folder).settings, **{"parsers": "apart", **settings}))


@contextmanager
def large_picture(folder: Path) -> Iterator[Path]:
    from PIL import Image

    path = folder / "large.png"
    Image.new("RGB", (6000, 6000), "white").save(path, compress_level=1)
    yield path


def test_a_file_that_takes_too_much_memory_is_one_error_and_the_next_file_is_mapped(
    tmp_path: Path, files: dict[str, Path]
) -> None:
    app = home(tmp_path, parser_memory=LITTLE)

    with large_picture(tmp_path) as picture, pytest.raises(SourceUnsupported, match=r"large\.png cannot be read"):
        app.ingest(picture)

    assert app.ingest(files["PDDocument.java"]).resource_map.nodes


def test_maps_and_evidence_are_the_same_as_where_files_are_parsed_here(tmp_path: Path, files: dict[str, Path]) -> None:
    apart, here = home(tmp_path / "apart"), home(tmp_path / "here", parsers="here")

    for kind in ("lena.ogg", "imageTextN.png", "PDDocument.java"):
        path = files[kind]
        one, other = apart.ingest(path).resource_map, here.ingest(path).resource_map
        name = NodeName(one.resource_id, next(one.walk()).id)

        assert one.nodes == other.nodes
        assert one.metadata == other.metadata
        assert _digest(apart, name) == _digest(here, name)


def test_a_cut_that_nobody_wants_any_more_leaves_nothing_and_can_be_asked_again(
    tmp_path: Path, files: dict[str, Path]
) -> None:
    app = home(tmp_path)
    made = app.ingest(files["lena.ogg"]).resource_map
    name = NodeName(made.resource_id, next(made.walk()).id)

    def unwanted(done: float, total: float | None = None, message: str = "") -> None:
        raise Cancelled("not wanted")

    with pytest.raises(Cancelled):
        app.resolve(name, progress=unwanted)

    assert not list(app.settings.cache_folder.rglob("*.tmp"))
    assert app.resolve(name).output_path is not None


def test_a_child_that_was_ended_meanwhile_is_replaced_by_another(tmp_path: Path, files: dict[str, Path]) -> None:
    app = home(tmp_path)
    made = app.ingest(files["imageTextN.png"]).resource_map
    name = NodeName(made.resource_id, next(made.walk()).id)
    assert app.children is not None
    [parser] = app.children._idle
    parser.child._process.kill()
    parser.child._process.wait()

    assert app.resolve(name).output_path is not None


def _digest(app: App, name: NodeName) -> str:
    receipt = app.resolve(name).receipt
    assert receipt is not None
    return receipt.evidence_digest.hex
