"""Encrypted, damaged and hostile PDFs: opened with their password, mended, or refused by one clear error."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import pymupdf
import pypdfium2
import pytest

from citekit.adapters.formats.pdf.document.bookmarks import read_bookmarks
from citekit.adapters.formats.pdf.document.open_documents import Use, shared
from citekit.adapters.formats.pdf.document.page_objects import BOOKMARK_LIMIT
from citekit.adapters.formats.pdf.evidence.extractor import PyMuPdfExtractor
from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.outline import Outline
from citekit.adapters.libraries.mupdf.engine import opened
from citekit.domain.digest import Digest
from citekit.domain.errors import SourceUnsupported
from citekit.domain.evidence import Form, Options
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Pages
from citekit.domain.progress import silent
from citekit.domain.source import Source

METHODS = [pymupdf.PDF_ENCRYPT_RC4_40, pymupdf.PDF_ENCRYPT_AES_128, pymupdf.PDF_ENCRYPT_AES_256]


def source(path: Path) -> Source:
    return Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])


def outline(path: Path, password: str | None = None) -> Outline:
    return PdfOutliner(password=password).outline(source(path), silent)


def locked(path: Path, method: int = pymupdf.PDF_ENCRYPT_AES_256) -> Path:
    with pymupdf.open() as document:
        for number in (1, 2):
            document.new_page().insert_text((72, 100), f"Secret of page {number}.")
        document.save(path, encryption=method, user_pw="öffne", owner_pw="owner")
    return path


def raw(path: Path, objects: list[str]) -> Path:
    """A PDF of those objects, the first of which is its catalog, written by hand."""
    pieces = [b"%PDF-1.7\n", *(f"{number} 0 obj\n{text}\nendobj\n".encode() for number, text in enumerate(objects, 1))]
    data, places = b"".join(pieces), list(accumulate(len(piece) for piece in pieces[:-1]))
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    start, size = len(data), len(objects) + 1
    data += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n".encode()
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("password", ["öffne", "owner"])
@pytest.mark.parametrize("form", [Form.PDF, Form.TEXT, Form.PNG])
def test_a_password_opens_for_mapping_and_cutting(tmp_path: Path, method: int, password: str, form: Form) -> None:
    path, target = locked(tmp_path / "x.pdf", method), tmp_path / "made"

    found = outline(path, password)
    made = PyMuPdfExtractor(password=password).extract(source(path), Pages((2,)), Options(form), target)

    assert found.extent.pages == 2
    assert "The source is encrypted; this extracted part is not." in made.notes
    if form is Form.PDF:
        assert pypdfium2.PdfDocument(target)[0].get_textpage().get_text_range() == "Secret of page 2."


def test_the_evidence_does_not_depend_on_the_password(tmp_path: Path) -> None:
    path = locked(tmp_path / "x.pdf")

    made = []
    for password in ("öffne", "owner"):
        PyMuPdfExtractor(password=password).extract(source(path), Pages((2,)), Options(Form.PDF), tmp_path / password)
        made.append((tmp_path / password).read_bytes())

    assert made[0] == made[1]
    assert b"Encrypt" not in made[0]


@pytest.mark.parametrize(
    ("password", "says"),
    [
        (None, "is encrypted. Give its password"),
        ("wrong-one", "is wrong"),
        ("", "is wrong"),
        ("\udc80", "is wrong"),
        ("a\0b", "is wrong"),
    ],
)
def test_a_missing_and_a_wrong_password_are_one_clear_error(tmp_path: Path, password: str | None, says: str) -> None:
    path = locked(tmp_path / "x.pdf")

    with pytest.raises(SourceUnsupported, match=says) as refused:
        outline(path, password)

    assert "wrong-one" not in str(refused.value)


def test_a_password_is_shown_nowhere(tmp_path: Path) -> None:
    found = outline(locked(tmp_path / "x.pdf"), "öffne")

    assert "öffne" not in repr((PdfOutliner(password="öffne"), PyMuPdfExtractor(password="öffne"), found))


def test_an_open_file_is_not_lent_to_who_has_no_password(tmp_path: Path) -> None:
    path = locked(tmp_path / "x.pdf")
    with shared(path, Use.DRAWING, password="öffne") as document:
        assert document.page_count == 2

    for password in (None, "wrong"):
        with pytest.raises(SourceUnsupported), shared(path, Use.DRAWING, password=password):
            pass


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("form", [Form.PDF, Form.TEXT])
def test_a_page_tree_that_doubles_at_every_level_is_refused(tmp_path: Path, count: int, form: Form) -> None:
    nodes = [f"<</Type/Pages/Count {count}/Kids[{number} 0 R {number} 0 R]>>" for number in range(5, 41)]
    path = raw(
        tmp_path / "x.pdf",
        ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 2/Kids[4 0 R 3 0 R]>>",
         "<</Type/Page/MediaBox[0 0 99 99]/Parent 2 0 R>>", *nodes, f"<</Type/Pages/Count {count}/Kids[]>>"],
    )  # fmt: skip

    with pytest.raises(SourceUnsupported, match="too large or too deep"):
        outline(path)
    with pytest.raises(SourceUnsupported, match="too large or too deep"):
        PyMuPdfExtractor().extract(source(path), Pages((1,)), Options(form), tmp_path / "made")


def test_a_page_tree_in_a_circle_ends(tmp_path: Path) -> None:
    path = raw(
        tmp_path / "x.pdf",
        ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 2/Kids[3 0 R 2 0 R]>>",
         "<</Type/Page/MediaBox[0 0 99 99]/Parent 2 0 R>>"],
    )  # fmt: skip

    try:
        found = outline(path)
    except SourceUnsupported:
        return
    assert found.items


@pytest.mark.parametrize(
    "tie", ["/Next 5 0 R", "/First 5 0 R", "/Next 5 0 R/First 5 0 R", "/First 4 0 R", "/Next 4 0 R"]
)
def test_bookmarks_that_are_their_own_kin_end(tmp_path: Path, tie: str) -> None:
    path = raw(
        tmp_path / "x.pdf",
        ["<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>",
         "<</Type/Page/MediaBox[0 0 99 99]/Parent 2 0 R>>", "<</Type/Outlines/First 5 0 R/Last 5 0 R>>",
         f"<</Title(Me)/Parent 4 0 R/Dest[3 0 R/Fit]{tie}>>"],
    )  # fmt: skip

    found = outline(path)

    assert 1 <= len(found.items) <= 2


@pytest.mark.long
def test_endless_bookmarks_are_read_up_to_a_bound(tmp_path: Path) -> None:
    count = BOOKMARK_LIMIT + 10
    items = [f"<</Title({number})/Dest[3 0 R/Fit]/Next {number + 6} 0 R>>" for number in range(count)]
    path = raw(
        tmp_path / "x.pdf",
        ["<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>",
         "<</Type/Page/MediaBox[0 0 99 99]/Parent 2 0 R>>", "<</Type/Outlines/First 5 0 R/Last 5 0 R>>", *items],
    )  # fmt: skip

    with opened(path) as document:
        found = list(read_bookmarks(document))

    assert len(found) == BOOKMARK_LIMIT


def test_a_mended_file_says_so(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 100), "Still here.")
        (tmp_path / "x.pdf").write_bytes(document.tobytes().replace(b"startxref", b"startxxxx"))

    found = outline(tmp_path / "x.pdf")

    assert any("was repaired" in note for note in found.notes)


def test_a_file_without_pages_is_one_clear_error(tmp_path: Path) -> None:
    path = raw(tmp_path / "x.pdf", ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 0/Kids[]>>"])

    with pytest.raises(SourceUnsupported, match="no pages"):
        outline(path)
