"""What is remembered of a PDF is what reading it gives: with it, without it, and after it was damaged, the same bytes."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

import base64
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from citekit.adapters.formats.pdf.document import document_cache
from citekit.adapters.formats.pdf.document.document_cache import PdfMemory, remember
from citekit.adapters.formats.pdf.document.open_documents import close_all
from citekit.adapters.formats.pdf.document.page_objects import PageTreeError, Target, outline_targets, page_leaves
from citekit.adapters.formats.pdf.evidence.extractor import PyMuPdfExtractor
from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.libraries.mupdf.engine import opened
from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.domain.digest import Digest
from citekit.domain.evidence import Form, Options
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Pages
from citekit.domain.progress import silent
from citekit.domain.source import Source

PAGES = 3 * document_cache.WORTH


def book(path: Path, pages: int = PAGES, word: str = "Section") -> Source:
    """A PDF with a bookmark to each page, each second one below the one before it."""
    with pymupdf.open() as document:
        for number in range(1, pages + 1):
            document.new_page(width=300, height=400).insert_text((40, 60), f"Page {number}")
        document.set_toc([[2 - number % 2, f"{word} {number}", number] for number in range(1, pages + 1)])
        document.save(path, no_new_id=True)
    return source_of(path)


def source_of(path: Path) -> Source:
    return Source(path, Digest.of_bytes(path.read_bytes()), path.stat().st_size, BY_SUFFIX[".pdf"])


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index(tmp_path / "index")


def cut(source: Source, index: Index | None, *numbers: int) -> bytes:
    target = source.path.with_name("cut")
    close_all()
    PyMuPdfExtractor(index).extract(source, Pages(numbers), Options(Form.PDF), target)
    return target.read_bytes()


def rows(index: Index) -> list[str]:
    return list(index.keys("pdf:"))


def test_what_was_learned_at_ingest_is_what_a_cut_reads(tmp_path: Path, index: Index) -> None:
    source = book(tmp_path / "x.pdf")

    PdfOutliner(index).outline(source, silent)

    with opened(source.path) as document:
        assert list(outline_targets(document)) == PdfMemory(source, index).targets()
        assert list(page_leaves(document)) == PdfMemory(source, index).pages()
        assert [document[number].xref for number in range(PAGES)] == PdfMemory(source, index).pages()


def test_a_cut_is_the_same_bytes_before_with_and_after_the_memory(tmp_path: Path, index: Index) -> None:
    source = book(tmp_path / "x.pdf")
    without = cut(source, None, 100, 101, 102, PAGES)

    first = cut(source, index, 100, 101, 102, PAGES)
    known = rows(index)
    second = cut(source, index, 100, 101, 102, PAGES)
    index.close()
    shutil.rmtree(tmp_path / "index")
    lost = cut(source, index, 100, 101, 102, PAGES)

    assert 2 == len(known)
    assert [without] * 3 == [first, second, lost]
    with pymupdf.open("pdf", without) as document:
        assert ["Section 100", "Section 101", "Section 102", f"Section {PAGES}"] == [
            title for _, title, _ in document.get_toc()
        ]


@pytest.mark.long
def test_a_new_process_cuts_the_same_bytes_with_the_memory_of_another(tmp_path: Path, index: Index) -> None:
    source = book(tmp_path / "x.pdf")
    program = (
        "import sys; from pathlib import Path; from citekit.adapters.libraries.sqlite.key_value_cache import Index\n"
        "from citekit.adapters.formats.pdf.evidence.extractor import PyMuPdfExtractor; from citekit.domain.digest import Digest\n"
        "from citekit.domain.evidence import Form, Options; from citekit.domain.formats import BY_SUFFIX\n"
        "from citekit.domain.locations import Pages; from citekit.domain.source import Source\n"
        "path, target = Path(sys.argv[1]), Path(sys.argv[2])\n"
        "source = Source(path, Digest.of_bytes(path.read_bytes()), path.stat().st_size, BY_SUFFIX['.pdf'])\n"
        "index = Index(Path(sys.argv[3]))\n"
        "PyMuPdfExtractor(index).extract(source, Pages((90, 91)), Options(Form.PDF), target)\n"
    )

    for name in ("first", "second"):
        subprocess.run(
            [sys.executable, "-c", program, source.path, tmp_path / name, tmp_path / "index"], check=True, timeout=60
        )

    assert rows(index)
    assert cut(source, None, 90, 91) == (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def _forged(row: dict[str, Any], key: str, numbers: list[int]) -> dict[str, Any]:
    del row
    return document_cache._row(key, numbers)


DAMAGE: dict[str, Callable[[dict[str, Any], str], dict[str, Any]]] = {
    "other fields": lambda row, key: {"bookmarks": [1, 2, 3]},
    "one field too many": lambda row, key: {**row, "more": 1},
    "no text": lambda row, key: {**row, "data": 7},
    "no base64": lambda row, key: {**row, "data": "?" + row["data"]},
    "cut off": lambda row, key: {**row, "data": row["data"][:-8]},
    "a number changed": lambda row, key: {**row, "data": _changed(row["data"])},
    "of another key": lambda row, key: _forged(row, key + "0", [1, 7, 9]),
    "numbers that no object has": lambda row, key: _forged(row, key, [0, 2**31, 2**31]),
    "half an item": lambda row, key: _forged(row, key, [2**31]),
}


def _changed(data: str) -> str:
    numbers = list(struct.unpack(f"<{len(base64.b64decode(data)) // 4}I", base64.b64decode(data)))
    return base64.b64encode(struct.pack(f"<{len(numbers)}I", *numbers[:-1], numbers[-1] - 1)).decode()


@pytest.mark.long
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_row_that_is_damaged_or_foreign_counts_as_missing(tmp_path: Path, index: Index, damage: str) -> None:
    source = book(tmp_path / "x.pdf")
    whole = cut(source, index, 100, 150)
    for key in rows(index):
        row = index.get(key)
        assert row is not None
        index.put(key, DAMAGE[damage](row, key))

    assert (PdfMemory(source, index).targets(), PdfMemory(source, index).pages()) == (None, [])
    assert whole == cut(source, index, 100, 150)
    assert PdfMemory(source, index).targets() is not None


@pytest.mark.long
def test_nothing_is_remembered_of_a_file_that_is_no_longer_the_source(tmp_path: Path, index: Index) -> None:
    source = book(tmp_path / "x.pdf")
    other = book(tmp_path / "other.pdf", word="Passage")
    other.path.replace(source.path)

    cut(source, index, 100, 101)
    PdfOutliner(index).outline(source, silent)

    assert rows(index) == []


@pytest.mark.long
def test_a_document_that_stays_open_forgets_the_memory_of_other_bytes(tmp_path: Path, index: Index) -> None:
    first, second = book(tmp_path / "x.pdf"), book(tmp_path / "y.pdf", PAGES + 40)
    PdfOutliner(index).outline(first, silent)
    wanted = cut(second, None, 100, 101)
    second.path.replace(first.path)
    replaced = source_of(first.path)
    target = tmp_path / "cut"
    close_all()

    for source in (first, replaced):  # the first asks for bytes that are gone
        PyMuPdfExtractor(index).extract(source, Pages((100, 101)), Options(Form.PDF), target)

    assert wanted == target.read_bytes()


def test_short_documents_are_not_remembered(tmp_path: Path, index: Index) -> None:
    source = book(tmp_path / "x.pdf", 9)

    PdfOutliner(index).outline(source, silent)
    cut(source, index, 2, 3)

    assert rows(index) == []


@pytest.mark.long
def test_a_document_that_needs_repair_is_read_anew_each_time(tmp_path: Path, index: Index) -> None:
    source = book(tmp_path / "x.pdf")
    source.path.write_bytes(source.path.read_bytes().replace(b"startxref", b"startxxxx"))
    damaged = source_of(source.path)

    PdfOutliner(index).outline(damaged, silent)
    cut(damaged, index, 100)

    assert rows(index) == []


def test_an_outline_in_circles_and_pages_met_twice_are_not_remembered(tmp_path: Path, index: Index) -> None:
    source = book(tmp_path / "x.pdf")
    with pymupdf.open(source.path) as document:
        root = int(document.xref_get_key(document.pdf_catalog(), "Outlines")[1].split()[0])
        first = document.xref_get_key(root, "First")[1]
        document.xref_set_key(int(first.split()[0]), "Next", first)
        document.saveIncr()
    circular = source_of(source.path)

    PdfOutliner(index).outline(circular, silent)
    with opened(circular.path) as document:
        remember(document, PdfMemory(circular, index))

    assert rows(index) == []


def test_a_page_tree_that_doubles_with_each_level_is_not_walked(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with pymupdf.open() as document:
        page = document.new_page()
        below, tree = document.get_new_xref(), int(document.xref_get_key(document.pdf_catalog(), "Pages")[1].split()[0])
        document.update_object(below, "<</Type/Pages/Count 0/Kids[]>>")
        for _ in range(8):
            above = document.get_new_xref()
            document.update_object(above, f"<</Type/Pages/Count 0/Kids[{below} 0 R {below} 0 R]>>")
            below = above
        document.xref_set_key(tree, "Kids", f"[{below} 0 R {page.xref} 0 R]")
        document.save(path)

    with opened(path) as document, pytest.raises(PageTreeError):
        list(page_leaves(document))


def test_targets_that_nobody_can_have_read_are_not_learned(tmp_path: Path, index: Index) -> None:
    source = book(tmp_path / "x.pdf", 2)
    memory = PdfMemory(source, index)

    memory.learn_targets([Target(1, 5, 3)] * 100)
    memory.learn_pages([0] * 100)
    memory.save()

    assert rows(index) == []
