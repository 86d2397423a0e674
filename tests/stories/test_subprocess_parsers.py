"""A home whose files are parsed in children: what a parser does to its child is one clear error, and the work goes on."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from attrs import evolve

from citekit.adapters.sandbox.sandboxed_files import IsolatedForeignFiles, IsolatedViewer
from citekit.container import Container, bootstrap
from citekit.domain.errors import Cancelled, FaultyAnswer, SourceUnsupported
from citekit.domain.node import NodeName
from tests.cli.program import plain_environment
from tests.formats.media.media_samples import write_video
from tests.formats.office.office_files import paragraph, write_docx, write_pptx, write_xlsx
from tests.made_files import make_all
from tests.mappers.model_talks import write_pdf

PROGRAM = Path(__file__).with_name("parent_modules.py")

LITTLE = 70_000_000
"""Bytes: enough for Python and all of our modules, too little for a large picture."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_all(tmp_path_factory.mktemp("files"))


def home(folder: Path, **settings: Any) -> Container:
    return bootstrap(evolve(bootstrap(home=folder).settings, **{"parsers": "subprocess", **settings}))


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


@pytest.mark.long
def test_maps_and_evidence_are_the_same_as_where_files_are_parsed_here(tmp_path: Path, files: dict[str, Path]) -> None:
    apart, here = home(tmp_path / "apart"), home(tmp_path / "here", parsers="inline")

    for kind in ("lena.ogg", "imageTextN.png", "PDDocument.java"):
        path = files[kind]
        one, other = apart.ingest(path).resource_map, here.ingest(path).resource_map
        name = NodeName(one.resource_id, next(one.walk()).id)

        assert one.nodes == other.nodes
        assert one.metadata == other.metadata
        assert _digest(apart, name) == _digest(here, name)


@pytest.mark.long
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


@pytest.mark.long
def test_a_child_that_was_ended_meanwhile_is_replaced_by_another(tmp_path: Path, files: dict[str, Path]) -> None:
    app = home(tmp_path)
    made = app.ingest(files["imageTextN.png"]).resource_map
    name = NodeName(made.resource_id, next(made.walk()).id)
    assert app.workers is not None
    [parser] = app.workers._idle
    parser.child._process.kill()
    parser.child._process.wait()

    assert app.resolve(name).output_path is not None


@pytest.mark.long
def test_a_text_that_may_take_long_is_read_in_a_child(tmp_path: Path) -> None:
    """Where the limits of a child hold, and it can be ended."""
    app = home(tmp_path, parser_memory=LITTLE)
    large, small = tmp_path / "large.json", tmp_path / "small.json"
    large.write_text("[" + "{}," * 3_000_000 + "{}]")
    small.write_text("[{}]")

    with pytest.raises(SourceUnsupported, match=r"large\.json cannot be read: it took more memory"):
        app.ingest(large)

    assert "small_json" == app.ingest(small).card.resource_id


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Container:
    return home(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def viewer(app: Container) -> IsolatedViewer:
    assert app.workers is not None
    return IsolatedViewer(app.workers)


@pytest.fixture(scope="module")
def pdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = ["Alpha\nof bees", "", "Gamma\nof wasps"]
    return write_pdf(tmp_path_factory.mktemp("pdf") / "paper.pdf", pages, [(1, "Alpha", 1)])


class TestWhatOthersAreShown:
    """What a model is shown, and what is taken over from other programs, is opened in a child as it would be here."""

    @pytest.mark.long
    def test_pages_of_a_pdf(self, app: Container, viewer: IsolatedViewer, pdf: Path) -> None:
        here = app.parsers.viewer

        assert here.page_lines(pdf) == viewer.page_lines(pdf)
        assert here.page_texts(pdf) == list(viewer.page_texts(pdf))
        assert here.paged_text(pdf) == viewer.paged_text(pdf)
        assert app.workers is not None
        assert app.parsers.foreign_files.pages(pdf) == IsolatedForeignFiles(app.workers).pages(pdf)

    def test_some_pages_as_a_file(self, viewer: IsolatedViewer, pdf: Path, tmp_path: Path) -> None:
        viewer.cut_pages(pdf, 2, 3, tmp_path / "some.pdf")

        with pypdfium2.PdfDocument(tmp_path / "some.pdf") as document:
            assert ["", "Gamma of wasps"] == [
                " ".join(page.get_textpage().get_text_bounded().split()) for page in document
            ]

    def test_pictures(self, app: Container, viewer: IsolatedViewer, files: dict[str, Path]) -> None:
        picture = files["imageTextN.png"]

        assert app.parsers.viewer.picture(picture, 400) == viewer.picture(picture, 400)
        assert viewer.is_upright(picture)

    def test_a_still_of_a_film(self, app: Container, viewer: IsolatedViewer, files: dict[str, Path]) -> None:
        film = app.sources.identify(files["run.mp4"])

        assert app.parsers.still(film, 0.5) == viewer.still(film, 0.5)

    @pytest.mark.parametrize("said", [None, 1, [["x"]], {"media_type": "text/html", "data": ""}])
    def test_what_makes_no_sense_is_not_taken(self, app: Container, said: object, pdf: Path, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(pdf)

        class Lying:
            """A child that was taken over."""

            def ask(self, *_: Any, **__: Any) -> object:
                return said

        viewer, lying = IsolatedViewer(Lying()), IsolatedForeignFiles(Lying())  # type: ignore[arg-type]

        for asked in (viewer.page_lines, viewer.is_upright, viewer.paged_text, lying.pages):
            with pytest.raises(FaultyAnswer):
                asked(pdf)
        with pytest.raises(FaultyAnswer):
            lying.rows(pdf, {"id"})
        with pytest.raises(FaultyAnswer):
            viewer.picture(pdf, 400)
        with pytest.raises(SourceUnsupported):
            viewer.cut_pages(pdf, 1, 1, tmp_path / "link")


@pytest.mark.long
def test_no_compiled_parser_is_ever_loaded_into_the_process_that_asks(tmp_path: Path, files: dict[str, Path]) -> None:
    folder = make_one_of_each(tmp_path / "files", files)
    environment = plain_environment(
        CITEKIT_OCR="off",
        CITEKIT_EMBEDDER="hashing",
        CALIBRE_LIBRARY_PATH=str(folder),
        PYTHONPATH=str(PROGRAM.parents[2]),
    )

    ran = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path / "home"), str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert (0, {}) == (ran.returncode, ran.returncode or json.loads(ran.stdout)), ran.stderr


def make_one_of_each(folder: Path, files: dict[str, Path]) -> Path:
    """One file of each kind of parser, and below `foreign` what other programs found in them."""
    from PIL import Image

    (folder / "foreign" / "graph").mkdir(parents=True)
    for name in ("imageTextN.png", "book.epub", "page.html", "module.py", "notes.md"):
        shutil.copy(files[name], folder / name)
    write_pdf(folder / "paper.pdf", ["One\nsome words about bees", "Two\nand others"], [(1, "One", 1), (1, "Two", 2)])
    turned = Image.Exif()
    turned[0x0112] = 6
    Image.new("RGB", (300, 200), "red").save(folder / "turned.jpg", exif=turned)
    write_video(folder / "film.mp4", seconds=2, rate=5, gop=5)
    write_docx(folder / "letter.docx", paragraph("One", "Heading1") + paragraph("some words"))
    write_pptx(folder / "talk.pptx")
    write_xlsx(folder / "table.xlsx")
    (folder / "feed.xml").write_text("<a><b>some words</b><c/></a>")
    entity = {"id": "e", "title": "Bees", "description": "Insects.", "type": "animal", "text_unit_ids": ["t"]}
    (folder / "foreign" / "graph" / "entities.json").write_text(json.dumps([entity]))
    unit = {"id": "t", "text": "some words about bees"}
    (folder / "foreign" / "graph" / "text_units.json").write_text(json.dumps([unit]))
    node = {"id_": "n", "class_name": "TextNode", "metadata": {"page_label": "1"}, "relationships": {}, **unit}
    (folder / "foreign" / "nodes.json").write_text(json.dumps([node]))
    return folder


def _digest(app: Container, name: NodeName) -> str:
    receipt = app.resolve(name).receipt
    assert receipt is not None
    return receipt.evidence_digest.hex
