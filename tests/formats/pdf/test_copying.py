"""Pages that are copied alone are those that are left when all others are taken out; read with PDFium."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf
import pypdfium2
import pytest

from citekit.adapters.formats.pdf.document import open_documents
from citekit.adapters.formats.pdf.document.document_cache import PdfMemory
from citekit.adapters.formats.pdf.document.open_documents import close_all
from citekit.adapters.formats.pdf.evidence.extractor import PyMuPdfExtractor
from citekit.adapters.formats.pdf.evidence.mini_pdf import _copy_pages, _select_pages
from citekit.adapters.libraries.mupdf.engine import opened
from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError
from citekit.domain.evidence import Form, Options
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Box, Pages
from citekit.domain.source import Source
from tests.representatives import representatives


@pytest.fixture(autouse=True)
def nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_documents, "SETTLED", 0.0)
    close_all()


def written(path: Path, count: int = 6) -> Any:
    document = pymupdf.open()
    for number in range(1, count + 1):
        document.new_page(width=300, height=400).insert_text((40, 60), f"Page {number}")
    return document


def link(document: Any, number: int, entries: str) -> None:
    """Give page `number` (from 1) a link with these entries."""
    xref = document.get_new_xref()
    document.update_object(xref, f"<</Type/Annot/Subtype/Link/Rect[10 10 50 30]{entries}>>")
    document.xref_set_key(document[number - 1].xref, "Annots", f"[{xref} 0 R]")


def source_of(path: Path) -> Source:
    return Source(path, Digest.of_bytes(path.read_bytes()), path.stat().st_size, BY_SUFFIX[".pdf"])


def made_of(path: Path, location: Pages) -> tuple[bytes, tuple[str, ...]] | None:
    return _copy_pages(PdfMemory(source_of(path)), location)


def copied(path: Path, *numbers: int) -> bytes:
    made = made_of(path, Pages(numbers))
    assert made is not None
    return made[0]


def texts(data: bytes) -> list[str]:
    return [page.get_textpage().get_text_range().strip() for page in pypdfium2.PdfDocument(data)]


@pytest.mark.parametrize("target", ["/Dest(here)", "/Dest/old", "/A<</S/GoTo/D(here)>>"])
def test_a_link_by_name_to_a_kept_page_leads_to_it(tmp_path: Path, target: str) -> None:
    path = tmp_path / "x.pdf"
    with written(path) as document:
        link(document, 2, f"/Border[0 0 0]{target}")
        place = f"[{document[3].xref} 0 R/XYZ 10 333 null]"
        if "old" in target:
            document.xref_set_key(document.pdf_catalog(), "Dests", f"<</old {place}>>")
        else:
            document.xref_set_key(document.pdf_catalog(), "Names", f"<</Dests<</Names[(here)<</D{place}>>]>>>>")
        document.save(path)

    data = copied(path, 2, 4)

    with pymupdf.open("pdf", data) as document:
        [found] = document[0].get_links()
        assert (found["page"], found["to"]) == (1, pymupdf.Point(10, 400 - 333))


def test_a_link_to_another_page_goes_unless_it_has_a_frame(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with written(path) as document:
        link(document, 1, f"/Border[0 0 0]/Dest[{document[5].xref} 0 R/Fit]")
        link(document, 2, f"/Border[0 0 2]/Dest[{document[5].xref} 0 R/Fit]")
        document.save(path)

    with pymupdf.open("pdf", copied(path, 1, 2)) as document:
        assert document.xref_get_key(document[0].xref, "Annots")[0] == "null"
        assert document.xref_get_key(document[1].xref, "Annots")[0] == "array"
        assert document[1].get_links() == []


def test_a_note_keeps_its_popup_and_an_answer_its_question(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with written(path) as document:
        note, popup, answer = (document.get_new_xref() for _ in range(3))
        document.update_object(note, f"<</Subtype/Text/Rect[9 9 29 29]/Contents(Why?)/Popup {popup} 0 R>>")
        document.update_object(popup, f"<</Subtype/Popup/Rect[9 9 99 99]/Parent {note} 0 R>>")
        document.update_object(answer, f"<</Subtype/Text/Rect[9 9 29 29]/Contents(So.)/IRT {note} 0 R>>")
        document.xref_set_key(document[2].xref, "Annots", f"[{note} 0 R {popup} 0 R {answer} 0 R]")
        document.save(path)

    with pymupdf.open("pdf", copied(path, 3)) as document:
        keys = [document.xref_get_key(document[0].xref, "Annots")[1].strip("[]").split(" 0 R")[at] for at in range(3)]
        note, popup, answer = (int(key) for key in keys)
        assert document.xref_get_key(note, "Popup") == ("xref", f"{popup} 0 R")
        assert document.xref_get_key(popup, "Parent") == ("xref", f"{note} 0 R")
        assert document.xref_get_key(answer, "IRT") == ("xref", f"{note} 0 R")


def test_what_a_page_inherits_comes_along(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with written(path) as document:
        page, tree = document[1].xref, int(document.xref_get_key(document.pdf_catalog(), "Pages")[1].split()[0])
        own = {key: document.xref_get_key(page, key)[1] for key in ("Type", "Parent", "Contents")}
        for key, value in {
            "MediaBox": "[0 0 300 400]",
            "Resources": document.xref_get_key(page, "Resources")[1],
        }.items():
            document.xref_set_key(tree, key, value)
        document.xref_set_key(tree, "Rotate", "90")
        document.update_object(page, f"<<{''.join(f'/{key} {value}' for key, value in own.items())}>>")
        document.save(path)

    data = copied(path, 2)

    assert pypdfium2.PdfDocument(data)[0].get_size() == pypdfium2.PdfDocument(path)[1].get_size() == (400, 300)
    assert texts(data) == ["Page 2"]


def test_pages_that_readers_may_count_differently_are_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with written(path) as document:
        tree = int(document.xref_get_key(document.pdf_catalog(), "Pages")[1].split()[0])
        pages = [document[number].xref for number in range(6)]
        lying = document.get_new_xref()
        document.update_object(lying, f"<</Type/Pages/Parent {tree} 0 R/Count 3/Kids[{pages[0]} 0 R {pages[1]} 0 R]>>")
        document.xref_set_key(tree, "Kids", f"[{lying} 0 R {' '.join(f'{xref} 0 R' for xref in pages[2:])}]")
        document.save(path)

    assert made_of(path, Pages((4,))) is None
    assert texts(copied(path, 1)) == ["Page 1"]


def test_pages_with_form_fields_are_not_copied_and_those_beside_them_are(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with written(path) as document:
        field = pymupdf.Widget()
        field.field_name, field.field_type, field.field_value = "name", pymupdf.PDF_WIDGET_TYPE_TEXT, "filled in"
        field.rect = pymupdf.Rect(40, 200, 200, 220)
        document[1].add_widget(field)
        document.save(path)

    assert made_of(path, Pages((1, 2))) is None
    assert texts(copied(path, 1, 3)) == ["Page 1", "Page 3"]


def test_a_page_whose_content_refers_to_another_page_is_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with written(path) as document:
        document.xref_set_key(document[1].xref, "Group", f"<</S/Transparency/Private {document[4].xref} 0 R>>")
        document.save(path)

    assert made_of(path, Pages((2,))) is None


def test_damaged_and_encrypted_files_are_not_copied(tmp_path: Path) -> None:
    with written(tmp_path / "x.pdf") as document:
        document.save(tmp_path / "locked.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="owner")
        (tmp_path / "damaged.pdf").write_bytes(document.tobytes().replace(b"startxref", b"startxxxx"))

    assert made_of(tmp_path / "locked.pdf", Pages((2,))) is None
    assert made_of(tmp_path / "damaged.pdf", Pages((2,))) is None
    assert texts(_select_pages(tmp_path / "damaged.pdf", Pages((2,)))[0]) == ["Page 2"]


@pytest.mark.long
@pytest.mark.parametrize("form", representatives([Form.PDF, Form.PNG, Form.TEXT], 1))
def test_what_was_cut_before_changes_no_byte(tmp_path: Path, form: Form) -> None:
    path = tmp_path / "x.pdf"
    with written(path) as document:
        document[1].add_highlight_annot((40, 50, 90, 65))
        picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 900, 900))
        for row in range(900):
            picture.set_rect(pymupdf.IRect(0, row, 900, row + 1), (row % 256, row * 7 % 256, 90))
        document[1].insert_image(pymupdf.Rect(40, 80, 90, 130), pixmap=picture)
        document.save(path)
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])

    def cut(location: Pages, form: Form, name: str) -> bytes:
        PyMuPdfExtractor().extract(source, location, Options(form), tmp_path / name)
        return (tmp_path / name).read_bytes()

    fresh = cut(Pages((2,)), form, "fresh")
    for number, before in enumerate((Form.PNG, Form.TEXT, Form.PDF)):
        cut(Pages((2,), Box(0.1, 0.1, 0.2, 0.2)), before, f"region{number}")
        cut(Pages((1, 2)), before, f"both{number}")

    assert cut(Pages((2,)), form, "later") == fresh


@pytest.mark.corpus
def test_both_ways_show_and_say_what_the_source_does(corpus: Path) -> None:
    ways = {True: 0, False: 0}
    for path in sorted((corpus / "pdf").glob("*.pdf")):
        try:
            with opened(path) as document:
                count = document.page_count
            pages = Pages.span(max(1, count // 2), min(count, count // 2 + 2))
            selected = _select_pages(path, pages)[0]
        except CiteKitError:
            continue
        made = made_of(path, pages)
        ways[made is not None] += 1
        if made is not None and path.stem != "pypdf-attachment":  # the icon of an attached file becomes one of a note
            assert looks(path.read_bytes(), [number - 1 for number in pages.numbers]) == looks(made[0]), path.name
            assert len(made[0]) <= len(selected) + 16, path.name

    assert ways[True] > 4 * ways[False] > 0


def looks(data: bytes, places: list[int] | None = None) -> list[tuple[str, bytes]]:
    """Text and pixels of the pages at `places` (from 0), as PDFium reads and MuPDF draws them."""
    whole = pypdfium2.PdfDocument(data)
    places = list(range(len(whole))) if places is None else places
    with pymupdf.open("pdf", data) as document:
        drawn = [document[place].get_pixmap(dpi=40).samples for place in places]
    return [(whole[place].get_textpage().get_text_range(), drawn[at]) for at, place in enumerate(places)]
