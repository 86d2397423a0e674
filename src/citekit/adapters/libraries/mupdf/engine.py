"""PyMuPDF: imported on first use, silenced, used by one thread at a time, its exceptions translated by one table.

PyMuPDF is not thread-safe, not even with a document for each thread: everything that touches it or one of its objects
runs inside `exclusive()` or `opened()`.
"""

from __future__ import annotations

import importlib
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from citekit.adapters.libraries.mupdf.hidden_text_signs import Signs
from citekit.adapters.libraries.mupdf.page_cost import PageWork, PageWorkError
from citekit.adapters.libraries.mupdf.page_tree_size import PageTreeSizeError, check_page_tree
from citekit.domain.errors import CiteKitError, SourceUnreadable, SourceUnsupported

PAGE_LIMIT = 100_000
"""Pages of the longest PDF that is read, as many as one address may name."""

_NUMBER = re.compile(r"\bcode=-?[0-9]+:? ?")
"""MuPDF's number of an error, which says nothing to anybody; its words follow."""

_LOCK = threading.RLock()
_OPTIONAL = ("pymupdf.layout", "pymupdf4llm")
_loaded: list[Any] = []

Document = Any
"""A `pymupdf.Document`; the library has no types of its own."""


@contextmanager
def exclusive() -> Iterator[Any]:
    """The module `pymupdf`, for this thread alone. May be nested."""
    with _LOCK:
        if not _loaded:
            _loaded.append(_import())
        yield _loaded[0]


def give_way() -> None:
    """Let another thread have PyMuPDF for a moment, between two pages of long work.

    Safe inside one `opened()`: every caller works on a handle of its own. Where the lock is nested, nobody is let in.
    """
    _LOCK.release()
    _LOCK.acquire()


@contextmanager
def away() -> Iterator[None]:
    """Let other threads have PyMuPDF while something slow is done without it; as `give_way` otherwise."""
    _LOCK.release()
    try:
        yield
    finally:
        _LOCK.acquire()


def empty_store() -> None:
    """Clear the cache of decoded images and fonts (up to 256 MB): an image decoded at another size is drawn
    slightly differently."""
    with exclusive() as pymupdf:
        pymupdf.TOOLS.store_shrink(100)


_COMPARED = 4000
"""Objects among which equal ones are written once: MuPDF compares each with all others."""


def written(document: Document) -> bytes:
    """The PDF `document` as a file without what nothing refers to, compressed; the same document gives the same bytes.

    As `document.tobytes`, which hands hundreds of small pieces through Python.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        pdf = mupdf.pdf_document_from_fz_document(document.this)
        options = mupdf.PdfWriteOptions()
        options.do_garbage = 3 if mupdf.pdf_xref_len(pdf) <= _COMPARED else 2
        options.do_compress, options.do_use_objstms, options.do_preserve_metadata = 1, 1, 1
        options.dont_regenerate_id = 1
        options.do_encrypt = mupdf.PDF_ENCRYPT_NONE
        buffer = mupdf.FzBuffer(2**16)
        output = mupdf.FzOutput(buffer)
        mupdf.pdf_write_document(pdf, output, options)
        mupdf.fz_close_output(output)
        return bytes(mupdf.fz_buffer_extract_copy(buffer))


@contextmanager
def opened(
    path: Path, failure: type[CiteKitError] = SourceUnsupported, *, password: str | None = None
) -> Iterator[Document]:
    """A private handle of the PDF at `path`, closed at the end. The file is only read; changes stay in memory.

    `password` opens an encrypted file, be it the user's or the owner's; others open without looking at it.
    Raises `SourceUnreadable` (missing, a folder, empty, not permitted), `SourceUnsupported` (no PDF, encrypted with another
    password, without a readable page, a page tree that has no end). What PyMuPDF raises while the document is worked on
    becomes a `failure`.
    """
    with exclusive():
        document = open_document(path, password=password)
        try:
            check_tree(document, path)
            guard(document, path)
            with translated(path, failure):
                yield document
        finally:
            if not document.is_closed:
                document.close()


@contextmanager
def translated(path: Path, failure: type[CiteKitError]) -> Iterator[None]:
    """Turn exceptions of the table that arise from work on `path` into our errors; the cause is kept."""
    try:
        yield
    except CiteKitError:
        raise
    except tuple(table(failure)) as error:
        raise _ours(error, path, failure) from error


def table(failure: type[CiteKitError]) -> dict[type[BaseException], tuple[type[CiteKitError], str]]:
    """For every exception that PyMuPDF raises: our error, and what its text says of the file.

    Beside its own classes it raises those of Python (an object of an unexpected type in a damaged file, a page that its
    broken page tree does not have).
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        damaged = (failure, "is damaged, so this part of it cannot be read")
        return {
            pymupdf.FileNotFoundError: (SourceUnreadable, "does not exist"),
            pymupdf.EmptyFileError: (SourceUnreadable, "is empty"),
            pymupdf.FileDataError: (SourceUnsupported, "is not a PDF, or is too damaged to read"),
            **{getattr(mupdf, name): damaged for name in _mupdf_errors(mupdf)},
            mupdf.FzErrorLimit: (failure, "is too large or too complex to be read"),
            mupdf.FzErrorUnsupported: (failure, "uses a feature of PDF that CiteKit does not support"),
            RecursionError: (failure, "is nested too deeply"),
            MemoryError: (failure, "needs more memory than is available"),
            OSError: (SourceUnreadable, "could not be read"),
            **dict.fromkeys(
                (RuntimeError, ValueError, LookupError, TypeError, AttributeError, AssertionError, ArithmeticError),
                damaged,
            ),
            SystemError: damaged,
            PageWorkError: (failure, "contains a page that is too complex to render; request the form pdf"),
        }


def _mupdf_errors(mupdf: Any) -> list[str]:
    return [name for name in vars(mupdf) if name.startswith("FzError") and _is_exception(getattr(mupdf, name))]


def _is_exception(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)


def _ours(error: BaseException, path: Path, failure: type[CiteKitError]) -> CiteKitError:
    known = table(failure)
    kind, says = next(known[parent] for parent in type(error).__mro__ if parent in known)
    detail = _NUMBER.sub("", " ".join(str(error).split()))[:200]
    return kind(f"{path.name!r} {says}{f' ({detail})' if detail else ''}.")


def open_document(path: Path, *, password: str | None = None) -> Document:
    """A handle of the PDF at `path`, whose bookmarks are not read yet; raises as `opened`. Call it inside `exclusive()`.

    Before pages are loaded, `check_tree`: it reads every page object, which copying a few pages does not need.
    """
    _check_readable(path)
    with translated(path, SourceUnsupported):
        document = _document_class()(str(path), filetype="pdf")
        try:
            _check(document, path, password)
        except BaseException:
            document.close()
            raise
    return document


def check_tree(document: Document, path: Path) -> None:
    """Raise `SourceUnsupported` where loading a page of `document` would never end. Call it inside `exclusive()`."""
    with exclusive() as pymupdf, translated(path, SourceUnsupported):
        try:
            check_page_tree(pymupdf.mupdf, document)
        except PageTreeSizeError as error:
            raise SourceUnsupported(f"{path.name!r} is damaged: its page tree contains a cycle.") from error


def guard(document: Document, path: Path) -> None:
    """From now on, loading a page of `document` raises `PageWorkError` where executing it would take too long.

    Call it inside `exclusive()`, for documents whose pages are read or drawn and not only copied.
    """
    with exclusive() as pymupdf:
        document.page_work = PageWork(pymupdf.mupdf, document, path.stat().st_size)


def page_signs(document: Document, number: int) -> Signs | None:
    """The signs of hidden text on page `number`, from 0; None for a document without `guard`.

    Call it inside `exclusive()`.
    """
    work: PageWork | None = getattr(document, "page_work", None)
    return None if work is None else work.signs(number)


def skipped_pages(document: Document) -> list[int]:
    """The numbers, from 1, of the pages that were asked for and are too expensive to be executed."""
    work: PageWork | None = getattr(document, "page_work", None)
    return [] if work is None else sorted(number + 1 for number in work.skipped)


def is_encrypted(document: Document) -> bool:
    """Whether the file of an open document is encrypted, with or without a password to open it."""
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        trailer = mupdf.pdf_trailer(mupdf.pdf_document_from_fz_document(document.this))
        return bool(mupdf.pdf_dict_gets(trailer, "Encrypt").m_internal)


def new_document() -> Document:
    """An empty PDF. Call it inside `exclusive()`."""
    return _document_class()()


@cache
def _document_class() -> Any:
    """`pymupdf.Document`, but bookmarks and facts are read on demand: in a long book they are most of opening it."""
    with exclusive() as pymupdf:

        class OnDemand(pymupdf.Document):  # type: ignore[misc,name-defined]  # the library has no types
            def init_doc(self) -> None:
                if self.is_encrypted:
                    raise ValueError("The document is still encrypted.")
                self._metadata_unread = self._outline_unread = True

            def load_page(self, page_id: Any) -> Any:
                work: PageWork | None = getattr(self, "page_work", None)
                if work is not None and isinstance(page_id, int) and not work.admits(page_id):
                    raise PageWorkError(f"Page {page_id + 1} is too complex to render.")
                return super().load_page(page_id)

            def _loadOutline(self) -> None:  # noqa: N802  # the library's name
                return None

            @property
            def metadata(self) -> Any:
                if getattr(self, "_metadata_unread", False):
                    self._metadata_unread = False
                    super().init_doc()
                return self._metadata

            @metadata.setter
            def metadata(self, value: Any) -> None:
                self._metadata = value

            @property
            def outline(self) -> Any:
                if self._outline_unread:
                    self._outline = super()._loadOutline()
                    self._outline_unread = False
                return self._outline

        return OnDemand


def _check_readable(path: Path) -> None:
    """PyMuPDF calls a file that may not be read damaged, so this is found out first."""
    try:
        with path.open("rb") as stream:
            empty = not stream.read(1)
    except OSError as error:
        raise SourceUnreadable(f"{path.name!r} could not be read: {error.strerror or error}.") from error
    if empty:
        raise SourceUnreadable(f"{path.name!r} is empty.")


def _check(document: Document, path: Path, password: str | None) -> None:
    if not document.is_pdf:
        raise SourceUnsupported(f"{path.name!r} is not a PDF.")
    if document.needs_pass:
        _unlock(document, path, password)
    count = document.page_count
    if count < 1:
        raise SourceUnsupported(f"{path.name!r} has no pages, or is too damaged to read any.")
    if count > PAGE_LIMIT:
        raise SourceUnsupported(
            f"{path.name!r} declares {count} pages, but the limit is {PAGE_LIMIT}. Split it into smaller files."
        )


def _unlock(document: Document, path: Path, password: str | None) -> None:
    """Neither sentence shows the password."""
    if password is None:
        raise SourceUnsupported(
            f"{path.name!r} is encrypted. Give its password with `--password` or in CITEKIT_PASSWORD (for an MCP "
            "server, its owner must set CITEKIT_PASSWORD)."
        )
    if "\0" in password or not _authenticated(document, password):
        raise SourceUnsupported(f"{path.name!r} is encrypted, and the given password is wrong.")


def _authenticated(document: Document, password: str) -> bool:
    try:
        password.encode()
    except UnicodeError:  # a lone surrogate, from an argument that was no UTF-8
        return False
    return bool(document.authenticate(password))


def _import() -> Any:
    """Import PyMuPDF without the layout models that 2.x would load along (1.5 s, 270 MB); they can be loaded later."""
    absent = [name for name in _OPTIONAL if name not in sys.modules]
    if "pymupdf" not in sys.modules:
        sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]  # None blocks an import
    try:
        pymupdf: Any = importlib.import_module("pymupdf")
    finally:
        for name in absent:
            if name in sys.modules and sys.modules[name] is None:
                del sys.modules[name]
    pymupdf.set_messages(fd=2)
    getattr(pymupdf, "no_recommend_layout", bool)()  # an advert on stdout, which may carry a protocol
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    return pymupdf
