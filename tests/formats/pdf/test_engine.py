"""How PyMuPDF is entered: one thread at a time, silent, its exceptions translated."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pymupdf
import pytest

from citekit.adapters.formats.pdf.document.page_labels import LabelRule, labels_of, read_labels
from citekit.adapters.libraries.mupdf.engine import exclusive, give_way, opened, table, translated
from citekit.domain.errors import (
    CiteKitError,
    ExtractionFailed,
    LocationOutside,
    SourceUnreadable,
    SourceUnsupported,
)


def exceptions_of(module: object) -> list[type[Exception]]:
    found = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Exception)]
    return [kind for kind in found if not issubclass(kind, Warning)]


def written(path: Path, pages: int = 1, **options: object) -> Path:
    with pymupdf.open() as document:
        for number in range(1, pages + 1):
            document.new_page().insert_text((72, 72), f"This is page {number}")
        document.save(path, **options)
    return path


def made(kind: type[Exception]) -> Exception:
    if kind is pymupdf.mupdf.FzErrorBase:
        return pymupdf.mupdf.FzErrorBase(1, "reason")
    return kind("reason")


def test_every_exception_class_of_the_driver_is_in_the_table() -> None:
    classes = exceptions_of(pymupdf) + exceptions_of(pymupdf.mupdf)

    unmapped = [kind for kind in classes if kind not in table(SourceUnsupported)]

    assert len(classes) > 10
    assert unmapped == []


@pytest.mark.parametrize("kind", list(table(ExtractionFailed)), ids=lambda kind: kind.__name__)
def test_an_exception_of_the_table_becomes_ours_and_stays_the_cause(kind: type[Exception]) -> None:
    thrown = made(kind)

    with pytest.raises(CiteKitError) as caught, translated(Path("book.pdf"), ExtractionFailed):
        raise thrown

    assert caught.value.__cause__ is thrown


def test_our_own_errors_pass_through() -> None:
    with pytest.raises(LocationOutside), translated(Path("book.pdf"), ExtractionFailed):
        raise LocationOutside("page 9 is beyond the end")


@pytest.mark.parametrize(
    ("content", "error", "says"),
    [
        (None, SourceUnreadable, "could not be read"),
        (b"", SourceUnreadable, "is empty"),
        (b"nothing of the kind", SourceUnsupported, "is not a PDF"),
        (b"%PDF-1.7\ntruncated", SourceUnsupported, "'x.pdf'"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), SourceUnsupported, "'x.pdf'"),
    ],
)
def test_a_file_that_is_no_pdf_is_one_clear_error(
    tmp_path: Path, content: bytes | None, error: type[CiteKitError], says: str
) -> None:
    path = tmp_path / "x.pdf"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(error, match=says), opened(path):
        pass


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match="directory"), opened(tmp_path):
        pass


def test_a_picture_called_pdf_is_not_sniffed(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 8, 8)).tobytes("png"))

    with pytest.raises(SourceUnsupported, match="not a PDF"), opened(path):
        pass


def test_no_number_of_an_error_of_the_driver_is_told() -> None:
    with (
        pytest.raises(SourceUnsupported, match=r"cannot be read \(no such page\)\.$"),
        translated(Path("x.pdf"), SourceUnsupported),
    ):
        raise RuntimeError("code=7: no such page")


def test_a_pdf_that_needs_its_password_says_so(tmp_path: Path) -> None:
    path = written(tmp_path / "x.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="secret", owner_pw="other")

    with pytest.raises(SourceUnsupported, match=r"is encrypted. Give its password"), opened(path):
        pass


def test_a_pdf_with_an_owner_password_alone_opens(tmp_path: Path) -> None:
    path = written(tmp_path / "x.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="other")

    with opened(path) as document:
        assert document.page_count == 1


def test_a_half_of_a_file_is_an_error_or_opens_with_pages(tmp_path: Path) -> None:
    whole = written(tmp_path / "whole.pdf", pages=5).read_bytes()
    path = tmp_path / "half.pdf"
    path.write_bytes(whole[: len(whole) // 10])

    with pytest.raises(SourceUnsupported), opened(path):
        pass


def test_threads_take_turns_and_long_work_gives_way(tmp_path: Path) -> None:
    path = written(tmp_path / "x.pdf", pages=30)
    texts: list[str] = []

    def read() -> None:
        with opened(path) as document:
            for number in range(document.page_count):
                texts.append(document[number].get_text().strip())
                give_way()

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(texts) == sorted([f"This is page {number}" for number in range(1, 31)] * 4)


def test_importing_the_driver_imports_no_pymupdf_and_using_it_prints_nothing(tmp_path: Path) -> None:
    damaged = tmp_path / "x.pdf"
    damaged.write_bytes(written(tmp_path / "y.pdf", pages=3).read_bytes()[:-300] + b"garbage")
    program = (
        "import sys; from pathlib import Path; from citekit.adapters.libraries.mupdf.engine import opened\n"
        "assert 'pymupdf' not in sys.modules\n"
        "with opened(Path(sys.argv[1])) as document: document[0].find_tables()\n"
    )

    done = subprocess.run([sys.executable, "-c", program, str(damaged)], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


def test_the_lock_may_be_nested() -> None:
    with exclusive() as outer, exclusive() as inner:
        assert outer is inner


def test_labels_are_read_from_a_tree_with_any_prefix(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with pymupdf.open() as document:
        for _ in range(6):
            document.new_page()
        kids = document.get_new_xref()
        document.update_object(kids, "<</Limits[0 3]/Nums[0<</S/r>>3<</S/D/P<FEFF00E4002F>/St 7>>]>>")
        document.xref_set_key(document.pdf_catalog(), "PageLabels", f"<</Kids[{kids} 0 R]>>")
        document.save(path)

    with opened(path) as document:
        rules = read_labels(document)

    assert rules == (LabelRule(1, "r", "", 1), LabelRule(4, "D", "ä/", 7))


def test_labels_of_kept_pages_are_those_they_had() -> None:
    rules = (LabelRule(1, "r", "", 1), LabelRule(4, "D", "A-", 7))

    assert labels_of(rules, (2, 3, 5, 9)) == [
        LabelRule(1, "r", "", 2),
        LabelRule(3, "D", "A-", 8),
        LabelRule(4, "D", "A-", 12),
    ]
