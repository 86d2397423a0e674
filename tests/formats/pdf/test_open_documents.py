"""Open PDFs are shared while their file is what it was, and never beyond."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest

from citekit.adapters.formats.pdf.document import open_documents
from citekit.adapters.formats.pdf.document.open_documents import KEPT, Use, close_all, shared
from citekit.domain.errors import LocationOutside, SourceUnreadable

pytestmark = pytest.mark.skipif(os.name == "nt", reason="nothing is kept open where an open file cannot be replaced")


@pytest.fixture(autouse=True)
def settled_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Files count as settled the moment they are written; the tests of settling put the time back."""
    monkeypatch.setattr(open_documents, "SETTLED", 0.0)
    close_all()
    yield
    close_all()


def written(path: Path, text: str) -> Path:
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), text)
        path.write_bytes(document.tobytes(no_new_id=True))
    time.sleep(0.02)  # the clock of a file system ticks a few times in a hundredth of a second
    return path


def read(path: Path, use: Use = Use.COPYING) -> tuple[int, str]:
    with shared(path, use) as document:
        return id(document), document[0].get_text().strip()


def test_an_unchanged_file_is_opened_once(tmp_path: Path) -> None:
    path = written(tmp_path / "x.pdf", "one")

    assert read(path) == read(path)


def test_copying_and_drawing_have_handles_of_their_own(tmp_path: Path) -> None:
    path = written(tmp_path / "x.pdf", "one")

    with shared(path, Use.COPYING) as copied, shared(path, Use.DRAWING) as drawn:
        assert copied is not drawn


def test_a_file_changed_to_the_same_size_and_times_is_opened_anew(tmp_path: Path) -> None:
    path = written(tmp_path / "x.pdf", "one")
    before = path.stat()
    read(path)

    written(path, "two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    after = path.stat()
    assert (before.st_size, before.st_mtime_ns, before.st_ino) == (after.st_size, after.st_mtime_ns, after.st_ino)
    assert read(path)[1] == "two"


def test_a_file_replaced_by_rename_is_opened_anew(tmp_path: Path) -> None:
    path = written(tmp_path / "x.pdf", "one")
    read(path)

    written(tmp_path / "y.pdf", "two").replace(path)

    assert read(path)[1] == "two"


def test_another_process_changes_the_file(tmp_path: Path) -> None:
    path, other = written(tmp_path / "x.pdf", "one"), written(tmp_path / "y.pdf", "two")
    read(path)

    program = "import sys; open(sys.argv[1], 'r+b').write(open(sys.argv[2], 'rb').read())"
    subprocess.run([sys.executable, "-c", program, str(path), str(other)], check=True)

    assert read(path)[1] == "two"


def test_a_file_that_changed_a_moment_ago_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_documents, "SETTLED", 2.0)
    path = written(tmp_path / "x.pdf", "one")

    with shared(path, Use.COPYING) as first:
        pass
    with shared(path, Use.COPYING) as second:
        assert first is not second


def test_nothing_is_kept_while_the_clock_lies_before_the_last_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "x.pdf", "one")
    past = time.time() - 3600
    monkeypatch.setattr(open_documents.time, "time", lambda: past)

    with shared(path, Use.COPYING) as first:
        pass
    with shared(path, Use.COPYING) as second:
        assert first is not second


def test_a_file_that_is_gone_is_missed(tmp_path: Path) -> None:
    path = written(tmp_path / "x.pdf", "one")
    read(path)

    path.unlink()

    with pytest.raises(SourceUnreadable):
        read(path)


def test_few_documents_stay_open(tmp_path: Path) -> None:
    paths = [written(tmp_path / f"{number}.pdf", str(number)) for number in range(KEPT + 2)]

    for path in paths:
        read(path)

    held = [key[0] for key in open_documents._POOL._documents]
    assert held == paths[2:]


def test_a_document_in_whose_use_something_failed_is_not_kept(tmp_path: Path) -> None:
    path = written(tmp_path / "x.pdf", "one")
    read(path)

    with pytest.raises(KeyboardInterrupt), shared(path, Use.COPYING):
        raise KeyboardInterrupt

    assert not open_documents._POOL._documents


def test_a_refused_question_costs_no_document(tmp_path: Path) -> None:
    path = written(tmp_path / "x.pdf", "one")
    first = read(path)

    with pytest.raises(LocationOutside), shared(path, Use.COPYING):
        raise LocationOutside("page 9 is beyond the end")

    assert read(path) == first


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_opens_files_anew(tmp_path: Path) -> None:
    path = written(tmp_path / "x.pdf", "one")
    program = (
        "import os, sys; from pathlib import Path; from citekit.adapters.formats.pdf.document import open_documents as pdf_pool\n"
        "pdf_pool.SETTLED = 0; path = Path(sys.argv[1]); use = pdf_pool.Use.COPYING\n"
        "with pdf_pool.shared(path, use) as document: mine = document\n"
        "child = os.fork()\n"
        "with pdf_pool.shared(path, use) as document: same = document is mine\n"
        "if not child: os._exit(int(same))\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) * 2 + (not same))\n"
    )

    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program, str(path)], check=False)

    assert done.returncode == 0
