"""What every `PageViews` promises, in this process and in a worker."""

from __future__ import annotations

import io
import math
import wave
import zipfile
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest
from openpyxl import Workbook
from PIL import Image
from pptx import Presentation

from citekit.container import Container, bootstrap
from citekit.domain.errors import CiteKitError, LocationOutside, SourceUnsupported
from citekit.domain.page_view import SheetRow
from citekit.domain.ports.page_views import PageViews
from citekit.domain.source import Source
from tests.made_files import make_all


@pytest.fixture(scope="module", params=["inline", "subprocess"])
def app(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CITEKIT_PARSERS", request.param)
        yield bootstrap(home=tmp_path_factory.mktemp("views"))


@pytest.fixture
def views(app: Container) -> PageViews:
    return app.page_views


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    made = make_all(tmp_path)
    made["comic.cbz"] = tmp_path / "comic.cbz"
    with zipfile.ZipFile(made["comic.cbz"], "w") as archive:
        for number, size in enumerate(((200, 300), (400, 300)), 1):
            data = io.BytesIO()
            Image.new("RGB", size, "white").save(data, "PNG")
            archive.writestr(f"{number}.png", data.getvalue())
    book = Workbook()
    sheet = book.active
    sheet.title = "Q 1"
    for cell, value in (("A1", "Item"), ("C1", 2023), ("A3", "Sales"), ("C3", 5.5), ("B4", "hidden")):
        sheet[cell] = value
    sheet.row_dimensions[4].hidden = True
    book.create_sheet("Empty")
    made["book.xlsx"] = tmp_path / "book.xlsx"
    book.save(made["book.xlsx"])
    return made


def source(app: Container, path: Path) -> Source:
    return app.sources.identify(path)


@pytest.mark.parametrize(
    ("name", "count", "first"),
    [("r-intro.pdf", 113, (612, 792)), ("comic.cbz", 2, (200, 300)), ("imageTextN.png", 1, (556, 257))],
)
def test_pages_have_sizes_and_pictures_of_that_shape(
    app: Container, views: PageViews, files: dict[str, Path], name: str, count: int, first: tuple[int, int]
) -> None:
    file = source(app, files[name])
    sizes = views.sizes(file)
    assert (count, first) == (len(sizes), (sizes[0].width, sizes[0].height))
    assert views.supports(file.format)
    drawn = views.picture(file, 1, 180)
    with Image.open(io.BytesIO(drawn.data)) as picture:
        assert 179 <= picture.width <= 181
        assert first[1] / first[0] == pytest.approx(picture.height / picture.width, rel=0.02)
    for page in (0, count + 1):
        with pytest.raises(LocationOutside):
            views.picture(file, page, 180)


def test_words_are_in_their_order_inside_the_page(app: Container, views: PageViews, files: dict[str, Path]) -> None:
    words = views.words(source(app, files["r-intro.pdf"]), 17)
    assert "where logical vectors and their coerced" in " ".join(word.text for word in words)
    for word in words:
        left, top, right, bottom = word.box
        assert 0 <= left < right <= 1
        assert 0 <= top < bottom <= 1
    assert [word.line for word in words] == sorted(word.line for word in words)
    assert not views.words(source(app, files["comic.cbz"]), 1)
    with pytest.raises(LocationOutside):
        views.words(source(app, files["r-intro.pdf"]), 114)


def test_rows_have_the_cells_that_are_shown(app: Container, views: PageViews, files: dict[str, Path]) -> None:
    file = source(app, files["book.xlsx"])
    rows = views.rows(file, "Q 1")
    assert [SheetRow(1, ((1, "Item"), (3, "2023"))), SheetRow(3, ((1, "Sales"), (3, "5.5")))] == list(rows)
    assert not views.rows(file, "Empty")
    with pytest.raises(LocationOutside):
        views.rows(file, "Q 2")


def test_slides_and_html_files_are_documents(
    app: Container, views: PageViews, files: dict[str, Path], tmp_path: Path
) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[0])
    slide.shapes.title.text = "Bees & <wasps>"
    deck.save(str(tmp_path / "deck.pptx"))
    shown = views.document(source(app, tmp_path / "deck.pptx"), 1)
    assert "Bees &amp; &lt;wasps&gt;" in shown
    page = views.document(source(app, files["page.html"]), 1)
    assert "<h1>\ufdd0\ufde2One</h1>" in page  # the marker of line 2
    assert "<p>\ufdd0\ufde3Text.</p>" in page
    for name in ("deck.pptx", "page.html"):
        with pytest.raises(LocationOutside):
            views.document(source(app, tmp_path / name), 2)
    with pytest.raises(SourceUnsupported):
        views.document(source(app, files["notes.md"]), 1)


def test_a_waveform_is_loud_where_the_sound_is(
    app: Container, views: PageViews, files: dict[str, Path], tmp_path: Path
) -> None:
    path = tmp_path / "tone.wav"
    with wave.open(str(path), "wb") as made:
        made.setnchannels(1)
        made.setsampwidth(2)
        made.setframerate(8000)
        tone = array("h", (round(16_000 * math.sin(i / 3)) for i in range(8000)))
        made.writeframes(bytes(16_000) + tone.tobytes() + bytes(16_000))
    levels = views.waveform(source(app, path), 30)
    assert 30 == len(levels)
    assert max(levels[:9]) < 5
    assert min(levels[11:19]) > 100
    assert max(levels[21:]) < 5
    assert 40 == len(views.waveform(source(app, files["lena.ogg"]), 40))
    with pytest.raises(SourceUnsupported):
        views.waveform(source(app, files["notes.md"]), 40)


def test_other_and_damaged_files_are_refused(app: Container, views: PageViews, files: dict[str, Path]) -> None:
    notes = source(app, files["notes.md"])
    assert not views.supports(notes.format)
    for ask in (lambda: views.sizes(notes), lambda: views.picture(notes, 1, 100), lambda: views.rows(notes, "x")):
        with pytest.raises(SourceUnsupported):
            ask()
    for name, data in (
        ("bad.pdf", b"%PDF-1.7\nnothing"),
        ("bad.png", b"\x89PNG\r\n\x1a\n0000"),
        ("bad.cbz", b"PK\x03\x04"),
    ):
        path = files["notes.md"].with_name(name)
        path.write_bytes(data)
        with pytest.raises(CiteKitError):
            views.sizes(source(app, path))
