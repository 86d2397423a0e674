"""Pages and regions of a PDF as evidence; what PyMuPDF made is read with PDFium."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from citekit.adapters.formats.pdf.evidence.extractor import PyMuPdfExtractor
from citekit.domain.digest import Digest
from citekit.domain.errors import ExtractionFailed, FormUnsupported, HomeUnwritable, LocationOutside
from citekit.domain.evidence import Extraction, Form, Options
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Box, Lines, Pages
from citekit.domain.source import Source

PDF = BY_SUFFIX[".pdf"]
FORBIDDEN = ("/JavaScript", "/JS", "/Launch", "/EmbeddedFile", "/OpenAction", "/AA", "/AcroForm", "/StructTreeRoot")


def source(path: Path) -> Source:
    return Source(path, Digest("0" * 64), path.stat().st_size, PDF)


def cut(path: Path, location: Pages, target: Path, form: Form = Form.NATIVE) -> Extraction:
    return PyMuPdfExtractor().extract(source(path), location, Options(form), target)


def text_of(page: Any) -> str:
    return str(page.get_textpage().get_text_range()).replace("\r\n", "\n").strip()


def pixels_of(page: Any) -> bytes:
    return bytes(page.render(scale=0.5).buffer)


def objects_of(path: Path) -> list[str]:
    with pymupdf.open(path) as document:
        return [document.xref_object(xref, compressed=True) for xref in range(1, document.xref_length())]


def page_objects(path: Path) -> int:
    with pymupdf.open(path) as document:
        return sum(document.xref_get_key(xref, "Type")[1] == "/Page" for xref in range(1, document.xref_length()))


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve pages with links, labels, bookmarks, notes, a form field, an attached file, scripts and other actions."""
    path = tmp_path_factory.mktemp("pdf") / "book.pdf"
    with pymupdf.open() as document:
        for number in range(1, 13):
            page = document.new_page(width=300, height=400)
            page.insert_text((40, 60), f"Chapter {number}", fontsize=18)
            page.insert_text((40, 90), f"The text of page {number} is here.")
        second, third = document[1], document[2]
        second.insert_link(
            {"kind": pymupdf.LINK_GOTO, "page": 2, "to": pymupdf.Point(0, 0), "from": pymupdf.Rect(10, 10, 50, 30)}
        )
        second.insert_link(
            {"kind": pymupdf.LINK_GOTO, "page": 8, "to": pymupdf.Point(0, 0), "from": pymupdf.Rect(60, 10, 90, 30)}
        )
        second.insert_link({"kind": pymupdf.LINK_LAUNCH, "file": "run.exe", "from": pymupdf.Rect(100, 10, 130, 30)})
        second.insert_link(
            {"kind": pymupdf.LINK_URI, "uri": "https://example.org/", "from": pymupdf.Rect(140, 10, 150, 30)}
        )
        second.add_highlight_annot((40, 80, 120, 95))
        second.add_file_annot((200, 200), b"secret attachment", "secret.txt")
        third.set_rotation(90)
        field = pymupdf.Widget()
        field.field_name, field.field_type = "name", pymupdf.PDF_WIDGET_TYPE_TEXT
        field.field_value, field.rect = "filled in", pymupdf.Rect(40, 200, 200, 220)
        third.add_widget(field)
        document.embfile_add("whole.txt", b"secret attachment")
        document.set_toc([[1, "One", 1], [2, "Two", 2], [2, "Three", 3], [3, "Three a", 3], [1, "Nine", 9]])
        document.set_page_labels([{"startpage": 0, "style": "r"}, {"startpage": 2, "style": "D", "prefix": "A-"}])
        catalog = document.pdf_catalog()
        document.xref_set_key(catalog, "OpenAction", "<</S/JavaScript/JS(app.alert\\(1\\))>>")
        document.xref_set_key(catalog, "Lang", "(en)")
        document.xref_set_key(second.xref, "AA", "<</O<</S/JavaScript/JS(app.alert\\(2\\))>>>>")
        document.xref_set_key(second.xref, "B", f"[<</P {document.page_xref(10)} 0 R>>]")
        structure = document.get_new_xref()
        pages = " ".join(f"<</S/P/Pg {document.page_xref(number)} 0 R>>" for number in range(12))
        document.update_object(structure, f"<</Type/StructTreeRoot/K[{pages}]>>")
        document.xref_set_key(catalog, "StructTreeRoot", f"{structure} 0 R")
        document.save(path)
    return path


def test_the_kept_pages_look_and_read_as_in_the_source(book: Path, tmp_path: Path) -> None:
    pages = Pages((2, 3, 9))

    made = cut(book, pages, tmp_path / "out.pdf")

    whole, part = pypdfium2.PdfDocument(book), pypdfium2.PdfDocument(tmp_path / "out.pdf")
    assert (".pdf", "application/pdf", pages) == (made.suffix, made.media_type, made.extent)
    assert len(part) == 3
    for position, number in enumerate(pages.numbers):
        assert whole[number - 1].get_size() == part[position].get_size()
        assert text_of(whole[number - 1]) in text_of(part[position])
    assert pixels_of(whole[8]) == pixels_of(part[2])
    assert "filled in" in text_of(part[1])


def test_the_same_request_gives_the_same_bytes(book: Path, tmp_path: Path) -> None:
    for form, location in (
        (Form.PDF, Pages((2, 3, 9))),
        (Form.PDF, Pages((3,), Box(0.1, 0.1, 0.5, 0.5))),
        (Form.PNG, Pages((2,))),
        (Form.TEXT, Pages((2, 3))),
    ):
        cut(book, location, tmp_path / f"{form}{location.region}1", form)
        cut(book, location, tmp_path / f"{form}{location.region}2", form)

        first, second = (tmp_path / f"{form}{location.region}{run}" for run in (1, 2))
        assert first.read_bytes() == second.read_bytes()


def test_pages_that_were_not_asked_for_are_not_in_the_file(book: Path, tmp_path: Path) -> None:
    cut(book, Pages((2, 3)), tmp_path / "out.pdf")

    assert page_objects(tmp_path / "out.pdf") == 2


def test_files_scripts_and_active_actions_stay_behind(book: Path, tmp_path: Path) -> None:
    cut(book, Pages((2, 3)), tmp_path / "out.pdf")

    held = objects_of(tmp_path / "out.pdf")
    assert [word for word in FORBIDDEN if any(word in plain for plain in objects_of(book))] != []
    assert [word for word in FORBIDDEN if any(word in plain for plain in held)] == []
    assert pypdfium2.PdfDocument(tmp_path / "out.pdf").count_attachments() == 0


def test_links_between_kept_pages_and_to_the_web_stay_and_others_go(book: Path, tmp_path: Path) -> None:
    cut(book, Pages((2, 3)), tmp_path / "out.pdf")

    with pymupdf.open(tmp_path / "out.pdf") as document:
        links = [(link.get("page"), link.get("uri")) for link in document[0].get_links() if link["kind"] != 0]
    assert [(1, None), (None, "https://example.org/")] == links


def test_annotations_stay_and_an_attached_file_leaves_its_note(book: Path, tmp_path: Path) -> None:
    cut(book, Pages((2, 3)), tmp_path / "out.pdf")

    with pymupdf.open(tmp_path / "out.pdf") as document:
        kinds = [annotation.type[1] for annotation in document[0].annots()]
    assert kinds == ["Highlight", "Text"]


def test_a_kept_page_still_shows_its_label(book: Path, tmp_path: Path) -> None:
    cut(book, Pages((2, 3, 9)), tmp_path / "out.pdf")

    part = pypdfium2.PdfDocument(tmp_path / "out.pdf")
    assert [part.get_page_label(place) for place in range(3)] == ["ii", "A-1", "A-7"]


def test_pages_without_labels_show_their_physical_number(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        for _ in range(9):
            document.new_page()
        document.save(tmp_path / "plain.pdf")

    cut(tmp_path / "plain.pdf", Pages((4, 5, 8)), tmp_path / "out.pdf")

    part = pypdfium2.PdfDocument(tmp_path / "out.pdf")
    assert [part.get_page_label(place) for place in range(3)] == ["4", "5", "8"]


def test_bookmarks_of_kept_pages_lead_to_their_new_places(book: Path, tmp_path: Path) -> None:
    cut(book, Pages((2, 3, 9)), tmp_path / "out.pdf")

    part = pypdfium2.PdfDocument(tmp_path / "out.pdf")
    marks = [(mark.level, mark.get_title(), mark.get_dest().get_index()) for mark in part.get_toc()]
    assert marks == [(0, "Two", 0), (0, "Three", 1), (1, "Three a", 1), (0, "Nine", 2)]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_bookmark_leads_to_the_same_spot_of_a_turned_and_cropped_page(tmp_path: Path, rotation: int) -> None:
    with pymupdf.open() as document:
        document.new_page()
        page = document.new_page(width=400, height=600)
        page.set_cropbox(pymupdf.Rect(20, 30, 380, 580))
        page.set_rotation(rotation)
        mark, root = document.get_new_xref(), document.get_new_xref()
        document.update_object(mark, f"<</Title(Here)/Parent {root} 0 R/Dest[{page.xref} 0 R/XYZ 120 450 null]>>")
        document.update_object(root, f"<</Type/Outlines/First {mark} 0 R/Last {mark} 0 R/Count 1>>")
        document.xref_set_key(document.pdf_catalog(), "Outlines", f"{root} 0 R")
        document.save(tmp_path / "turned.pdf")

    cut(tmp_path / "turned.pdf", Pages((2,)), tmp_path / "out.pdf")

    [found] = pypdfium2.PdfDocument(tmp_path / "out.pdf").get_toc()
    _, spot = found.get_dest().get_view()
    assert spot[:2] == pytest.approx([120, 450], abs=0.01)


def test_bookmarks_that_run_in_circles_are_no_obstacle(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        document.new_page()
        document.set_toc([[1, "One", 1], [1, "Two", 1]])
        first = document.get_toc(simple=False)[0][3]["xref"]
        document.xref_set_key(first, "Next", f"{first} 0 R")
        document.save(tmp_path / "circle.pdf")

    cut(tmp_path / "circle.pdf", Pages((1,)), tmp_path / "out.pdf")

    assert len(pypdfium2.PdfDocument(tmp_path / "out.pdf")) == 1


def test_hidden_layers_stay_hidden(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=200, height=200)
        hidden = document.add_ocg("hidden", on=False)
        page.draw_rect(pymupdf.Rect(20, 20, 180, 180), fill=(1, 0, 0), oc=hidden)
        document.save(tmp_path / "layers.pdf")

    cut(tmp_path / "layers.pdf", Pages((1,)), tmp_path / "out.pdf")

    whole, part = (pypdfium2.PdfDocument(tmp_path / name)[0] for name in ("layers.pdf", "out.pdf"))
    assert pixels_of(whole) == pixels_of(part)
    assert set(pixels_of(part)) == {255}


def quarters(path: Path, rotation: int, unit: float = 1) -> Path:
    """A page that says, as it is shown, `upper left`, `upper right`, `lower left` and `lower right` in its corners."""
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=600)
        page.set_cropbox(pymupdf.Rect(20, 30, 380, 580))
        page.set_rotation(rotation)
        width, height = page.rect.width, page.rect.height
        for name, x, y in (
            ("upper left", 0.1, 0.2),
            ("upper right", 0.6, 0.2),
            ("lower left", 0.1, 0.8),
            ("lower right", 0.6, 0.8),
        ):
            point = pymupdf.Point(x * width, y * height) * page.derotation_matrix
            page.insert_text(point, name, rotate=rotation)
        if unit != 1:
            document.xref_set_key(page.xref, "UserUnit", f"{unit:g}")
        document.save(path)
    return path


@pytest.mark.parametrize("unit", [1, 2])
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_region_is_cut_to_its_box_on_the_page_as_it_is_shown(tmp_path: Path, rotation: int, unit: float) -> None:
    path = quarters(tmp_path / "page.pdf", rotation, unit)
    corners = {"upper left": (0, 0), "upper right": (0.5, 0), "lower left": (0, 0.5), "lower right": (0.5, 0.5)}

    for name, (x, y) in corners.items():
        target = tmp_path / f"{name}.pdf"
        cut(path, Pages((1,), Box(x, y, x + 0.5, y + 0.5)), target)

        page, whole = pypdfium2.PdfDocument(target)[0], pypdfium2.PdfDocument(path)[0]
        assert text_of(page) == name
        assert page.get_size() == pytest.approx([side / 2 for side in whole.get_size()], abs=0.01)


def test_a_region_looks_as_on_the_whole_page(tmp_path: Path) -> None:
    path = quarters(tmp_path / "page.pdf", 0)

    cut(path, Pages((1,), Box(0, 0, 0.5, 0.5)), tmp_path / "out.pdf")

    whole = pypdfium2.PdfDocument(path)[0].render(scale=2).to_pil().convert("L")
    part = pypdfium2.PdfDocument(tmp_path / "out.pdf")[0].render(scale=2).to_pil().convert("L")
    assert whole.crop((0, 0, *part.size)).tobytes() == part.tobytes()
    assert min(part.tobytes()) < 128


def test_annotations_outside_the_region_go(book: Path, tmp_path: Path) -> None:
    cut(book, Pages((2,), Box(0, 0.15, 1, 0.3)), tmp_path / "out.pdf")

    with pymupdf.open(tmp_path / "out.pdf") as document:
        assert [annotation.type[1] for annotation in document[0].annots()] == ["Highlight"]
        assert document[0].get_links() == []


def test_a_picture_shows_the_page_upright_at_150_dpi(book: Path, tmp_path: Path) -> None:
    made = cut(book, Pages((3,)), tmp_path / "out.png", Form.PNG)

    with Image.open(tmp_path / "out.png") as picture:
        assert (made.suffix, made.media_type) == (".png", "image/png")
        assert picture.size == pytest.approx((400 * 150 / 72, 300 * 150 / 72), abs=1)
        assert min(picture.convert("L").tobytes()) < 100


def test_a_picture_of_several_pages_shows_them_one_below_the_other(book: Path, tmp_path: Path) -> None:
    made = cut(book, Pages((2, 3)), tmp_path / "both.png", Form.PNG)
    cut(book, Pages((2,)), tmp_path / "upper.png", Form.PNG)
    cut(book, Pages((3,)), tmp_path / "lower.png", Form.PNG)

    with (
        Image.open(tmp_path / "both.png") as both,
        Image.open(tmp_path / "upper.png") as upper,
        Image.open(tmp_path / "lower.png") as lower,
    ):
        assert (max(upper.width, lower.width), upper.height + lower.height) == both.size
        assert upper.tobytes() == both.crop((0, 0, *upper.size)).tobytes()
        assert lower.tobytes() == both.crop((0, upper.height, lower.width, both.height)).tobytes()
    assert "The picture shows 2 pages, one below the other." in made.notes


def test_a_picture_of_a_region_has_its_size(book: Path, tmp_path: Path) -> None:
    cut(book, Pages((2,), Box(0, 0.1, 0.5, 0.3)), tmp_path / "out.png", Form.PNG)

    with Image.open(tmp_path / "out.png") as picture:
        assert picture.size == pytest.approx((150 * 150 / 72, 80 * 150 / 72), abs=1)


@pytest.mark.long
def test_a_picture_of_a_huge_page_stays_within_bounds(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        document.new_page(width=14400, height=14400)
        document.save(tmp_path / "huge.pdf")

    made = cut(tmp_path / "huge.pdf", Pages((1,)), tmp_path / "out.png", Form.PNG)

    with Image.open(tmp_path / "out.png") as picture:
        assert picture.width * picture.height <= 25_000_000
    assert "within the size limit" in made.notes[0]


def test_an_absurdly_large_image_inside_a_page_is_refused_as_picture(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        xref = page.insert_image(page.rect, pixmap=pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 4, 4)))
        document.xref_set_key(xref, "Width", "100000")
        document.xref_set_key(xref, "Height", "100000")
        document.save(tmp_path / "bomb.pdf")

    with pytest.raises(ExtractionFailed, match="100000 x 100000 pixels"):
        cut(tmp_path / "bomb.pdf", Pages((1,)), tmp_path / "out.png", Form.PNG)


def test_text_keeps_columns_apart_and_parts_pages_by_a_form_feed(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=300)
        page.insert_textbox(pymupdf.Rect(20, 20, 180, 280), "left one\nleft two\nleft three")
        page.insert_textbox(pymupdf.Rect(220, 20, 380, 280), "right one\nright two\nright three")
        document.new_page().insert_text((50, 50), "Grüße")
        document.save(tmp_path / "columns.pdf")

    made = cut(tmp_path / "columns.pdf", Pages((1, 2)), tmp_path / "out.txt", Form.TEXT)

    first, second = (tmp_path / "out.txt").read_text(encoding="utf-8").split("\f")
    assert first.split() == [
        "left",
        "one",
        "left",
        "two",
        "left",
        "three",
        "right",
        "one",
        "right",
        "two",
        "right",
        "three",
    ]
    assert second == "Grüße\n"
    assert made.suffix == ".txt"


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_text_of_a_region_is_that_inside_it(tmp_path: Path, rotation: int) -> None:
    path = quarters(tmp_path / "page.pdf", rotation)

    cut(path, Pages((1,), Box(0.5, 0, 1, 0.5)), tmp_path / "out.txt", Form.TEXT)

    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == "upper right\n"


def test_a_page_without_text_says_so(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        document.new_page()
        document.save(tmp_path / "empty.pdf")

    made = cut(tmp_path / "empty.pdf", Pages((1,)), tmp_path / "out.txt", Form.TEXT)

    assert (tmp_path / "out.txt").read_bytes() == b""
    assert "no text" in made.notes[0]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_no_fault_of_the_document(book: Path) -> None:
    with pytest.raises(HomeUnwritable, match="disk is full"):
        cut(book, Pages((2, 3)), Path("/dev/full"), Form.TEXT)


def test_a_page_beyond_the_end_is_refused(book: Path, tmp_path: Path) -> None:
    with pytest.raises(LocationOutside, match="Page 13 is beyond the end: the document has 12 pages"):
        cut(book, Pages((12, 13)), tmp_path / "out.pdf")

    assert not (tmp_path / "out.pdf").exists()


@pytest.mark.parametrize(
    ("form", "location"), [(Form.PNG, Pages.span(1, 21)), (Form.FRAME, Pages((1,))), (Form.HTML, Pages((1,)))]
)
def test_a_form_it_does_not_have_is_refused(book: Path, tmp_path: Path, form: Form, location: Pages) -> None:
    with pytest.raises(FormUnsupported):
        cut(book, location, tmp_path / "out", form)


def test_other_files_and_places_are_not_its_work() -> None:
    extractor = PyMuPdfExtractor()

    assert extractor.forms(BY_SUFFIX[".epub"], Pages((1,))) == ()
    assert extractor.forms(PDF, Lines(1, 2)) == ()
    assert Form.PNG in extractor.forms(PDF, Pages((1,)))
    assert Form.PNG not in extractor.forms(PDF, Pages.span(1, 21))


def test_the_source_is_only_read(book: Path, tmp_path: Path) -> None:
    before = book.read_bytes()

    cut(book, Pages((3,), Box(0, 0, 0.5, 0.5)), tmp_path / "out.pdf")

    assert book.read_bytes() == before


@pytest.fixture(scope="module")
def cut_anything(book: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[set[int]], list[str]]:
    folder = tmp_path_factory.mktemp("law")

    def made(numbers: set[int]) -> list[str]:
        target = folder / "-".join(map(str, sorted(numbers)))
        if not target.exists():
            cut(book, Pages.of(numbers), target)
        return [text_of(page).splitlines()[1] for page in pypdfium2.PdfDocument(target)]

    return made


@given(numbers=st.sets(st.integers(1, 12), min_size=1))
def test_any_pages_come_in_order_and_alone(numbers: set[int], cut_anything: Callable[[set[int]], list[str]]) -> None:
    assert cut_anything(numbers) == [f"The text of page {number} is here." for number in sorted(numbers)]


def test_text_shows_powers_raised(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_htmlbox(
            (50, 50, 500, 300), "<p>About 10<sup>6</sup> and 5 m<sup>3</sup> of H<sub>2</sub>O, 7th.</p>"
        )
        document.save(tmp_path / "powers.pdf")

    cut(tmp_path / "powers.pdf", Pages((1,)), tmp_path / "out.txt", Form.TEXT)

    assert "About 10⁶ and 5 m³ of H₂O, 7th.\n" == (tmp_path / "out.txt").read_text(encoding="utf-8")
