"""Imports PyMuPDF on first use, silences it, gives it to one thread at a time, and translates its exceptions.

PyMuPDF is not thread-safe, even if each thread has its own document: all code that uses it must run inside
`exclusive()` or `opened()`.
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
from typing import TYPE_CHECKING, Any

from citekit.adapters.libraries.mupdf.page_tree_size import PageTreeSizeError, check_page_tree
from citekit.domain.errors import CiteKitError, ExtractionFailed, SourceUnreadable, SourceUnsupported

if TYPE_CHECKING:
    from citekit.adapters.libraries.mupdf.hidden_text_signs import Signs
    from citekit.adapters.libraries.mupdf.page_cost import PageWork

PAGE_LIMIT = 100_000
"""The maximum number of pages of a PDF that is read."""

_NUMBER = re.compile(r"\bcode=-?[0-9]+:? ?")
"""The number of an error in a message of MuPDF, which means nothing to users."""

_LOCK = threading.RLock()
_OPTIONAL = ("pymupdf.layout", "pymupdf4llm")
_loaded: list[Any] = []

Document = Any
"""A `pymupdf.Document`; the library has no types of its own."""


class PageWorkError(Exception):
    """Raised instead of processing a page that would take too long."""


@contextmanager
def exclusive() -> Iterator[Any]:
    """Yield the module `pymupdf` while no other thread can use it. Calls may be nested."""
    with _LOCK:
        if not _loaded:
            _loaded.append(_import())
        yield _loaded[0]


def give_way() -> None:
    """Release the PyMuPDF lock for a moment, so that another thread can use PyMuPDF between two pages of long work.

    This is safe because every caller uses its own handle. In nested calls of `exclusive()` or `opened()`, the lock is
    not released.
    """
    _LOCK.release()
    _LOCK.acquire()


@contextmanager
def away() -> Iterator[None]:
    """Release the PyMuPDF lock during slow work that does not use PyMuPDF. The rules of `give_way` apply."""
    _LOCK.release()
    try:
        yield
    finally:
        _LOCK.acquire()


def empty_store() -> None:
    """Clear MuPDF's cache of decoded images and fonts.

    This makes rendering reproducible: an image that is cached at another size is drawn slightly differently.
    """
    with exclusive() as pymupdf:
        pymupdf.TOOLS.store_shrink(100)


_COMPARED = 4000
"""The maximum number of objects of a PDF whose equal objects are merged, by comparing them all."""


def written(document: Document) -> bytes:
    """Return `document` as the bytes of a compressed PDF without unreferenced objects; the same document gives the same
    bytes.

    Unlike `document.tobytes`, this does not pass hundreds of small pieces through Python.
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


GIVE = (
    "Give its password in CITEKIT_PASSWORD or, if the command has this option, with `--password` (for an MCP server, its "
    "owner must set CITEKIT_PASSWORD). Only a copy without a password can be mapped by a model."
)
UNLOCK = "Mappers with a model, imports, and the library do not use passwords. Use a copy without a password."
"""What a user can do about an encrypted file, if a password can be given or not."""


@contextmanager
def opened(
    path: Path,
    failure: type[CiteKitError] = SourceUnsupported,
    *,
    password: str | None = None,
    locked: str = GIVE,
) -> Iterator[Document]:
    """Yield a private handle of the PDF at `path`, and close it at the end. The file is only read.

    `password` is the user or owner password of an encrypted file. If it is None, the error about a file that needs a
    password contains the advice `locked`. Raise `SourceUnreadable` if the file is missing, a folder, empty, or not
    readable, and `SourceUnsupported` if it is not a PDF, needs a password and `password` is None or wrong, has no
    readable page or more than `PAGE_LIMIT` pages, or has a page tree that is too large or too deep. Exceptions of
    PyMuPDF inside the `with` block are translated, most of them to `failure` (see `table`).
    """
    with exclusive():
        document = open_document(path, password=password, locked=locked)
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
    """Convert PyMuPDF's exceptions inside the `with` block to CiteKit errors about `path` (see `table`)."""
    try:
        yield
    except CiteKitError:
        raise
    except tuple(table(failure)) as error:
        raise _ours(error, path, failure) from error


def table(failure: type[CiteKitError]) -> dict[type[BaseException], tuple[type[CiteKitError], str]]:
    """Return, for each exception class that PyMuPDF raises, the CiteKit error and what its message says about the file.

    Damaged files also raise built-in exceptions.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        damaged = (failure, "may be damaged: a part of it cannot be read")
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
            PageWorkError: (failure, "has content that is too complex to process"),
        }


def _mupdf_errors(mupdf: Any) -> list[str]:
    return [name for name in vars(mupdf) if name.startswith("FzError") and _is_exception(getattr(mupdf, name))]


def _is_exception(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)


def _ours(error: BaseException, path: Path, failure: type[CiteKitError]) -> CiteKitError:
    known = table(failure)
    kind, says = next(known[parent] for parent in type(error).__mro__ if parent in known)
    detail = _NUMBER.sub("", " ".join(str(error).split()))[:200].rstrip(".")
    remedy = " Request the form pdf instead." if kind is ExtractionFailed and isinstance(error, PageWorkError) else ""
    return kind(f"{path.name!r} {says}{f' ({detail})' if detail else ''}.{remedy}")


def open_document(path: Path, *, password: str | None = None, locked: str = GIVE) -> Document:
    """Return a handle of the PDF at `path`, without reading its bookmarks. Call this function inside `exclusive()`.

    Call `check_tree` before you load pages; it is separate because copying a few pages does not need it. Raise the same
    errors as `opened`, except for those about the page tree.
    """
    _check_readable(path)
    with translated(path, SourceUnsupported):
        document = _document_class()(str(path), filetype="pdf")
        try:
            _check(document, path, password, locked)
        except BaseException:
            document.close()
            raise
    return document


def check_tree(document: Document, path: Path) -> None:
    """Raise `SourceUnsupported` if the page tree of `document` is so large or deep that loading a page might never end.

    Call this function inside `exclusive()`.
    """
    with exclusive() as pymupdf, translated(path, SourceUnsupported):
        try:
            check_page_tree(pymupdf.mupdf, document)
        except PageTreeSizeError as error:
            raise SourceUnsupported(f"{path.name!r} cannot be read: its page tree is too large or too deep.") from error


def guard(document: Document, path: Path) -> None:
    """Make loading a page of `document` raise `PageWorkError` if processing the page would take too long.

    Call this function inside `exclusive()` before pages are read or rendered.
    """
    from citekit.adapters.libraries.mupdf.page_cost import PageWork

    with exclusive() as pymupdf:
        document.page_work = PageWork(pymupdf.mupdf, document, path.stat().st_size)


def page_signs(document: Document, number: int) -> Signs | None:
    """Return the signs of hidden text on the page with the 0-based index `number`; None if `guard` was not called.

    Call this function inside `exclusive()`.
    """
    work: PageWork | None = getattr(document, "page_work", None)
    return None if work is None else work.signs(number)


def contents_of(page: Document) -> bytes:
    """Return the content streams of a page, which are read once. Call this function inside `exclusive()`.

    A damaged page raises exceptions of any kind.
    """
    found: bytes | None = getattr(page, "own_contents", None)
    if found is None:
        work: PageWork | None = getattr(page.parent, "page_work", None)
        known = None if work is None else work.contents(page.number)
        page.own_contents = found = bytes(page.read_contents()) if known is None else known
    return found


def skipped_pages(document: Document) -> list[int]:
    """Return the 1-based numbers of requested pages that were too expensive to load."""
    work: PageWork | None = getattr(document, "page_work", None)
    return [] if work is None else sorted(number + 1 for number in work.skipped)


def is_encrypted(document: Document) -> bool:
    """Return whether the file of an open document is encrypted, even if it opens without a password."""
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        trailer = mupdf.pdf_trailer(mupdf.pdf_document_from_fz_document(document.this))
        return bool(mupdf.pdf_dict_gets(trailer, "Encrypt").m_internal)


def new_document() -> Document:
    """Return a new, empty PDF. Call this function inside `exclusive()`."""
    return _document_class()()


@cache
def _document_class() -> Any:
    """Return a subclass of `pymupdf.Document` that reads bookmarks and metadata on demand.

    It raises `PageWorkError` instead of loading a page that `guard` excludes.
    """
    with exclusive() as pymupdf:

        class OnDemand(pymupdf.Document):  # type: ignore[misc,name-defined]  # the library has no types
            def init_doc(self) -> None:
                if self.is_encrypted:
                    raise ValueError("The document is still encrypted.")
                self._metadata_unread = self._outline_unread = True

            def load_page(self, page_id: Any) -> Any:
                work: PageWork | None = getattr(self, "page_work", None)
                if work is not None and isinstance(page_id, int) and not work.admits(page_id):
                    raise PageWorkError(f"page {page_id + 1}")
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
    """Raise `SourceUnreadable` if the file cannot be read or is empty, which PyMuPDF would report as damage."""
    try:
        with path.open("rb") as stream:
            empty = not stream.read(1)
    except OSError as error:
        raise SourceUnreadable(f"{path.name!r} could not be read: {error.strerror or error}.") from error
    if empty:
        raise SourceUnreadable(f"{path.name!r} is empty.")


def _check(document: Document, path: Path, password: str | None, locked: str) -> None:
    if not document.is_pdf:
        raise SourceUnsupported(f"{path.name!r} is not a PDF.")
    if document.needs_pass:
        _unlock(document, path, password, locked)
    count = document.page_count
    if count < 1:
        raise SourceUnsupported(f"{path.name!r} has no pages, or is too damaged to read any.")
    if count > PAGE_LIMIT:
        raise SourceUnsupported(
            f"{path.name!r} declares {count:,} pages, but the limit is {PAGE_LIMIT:,}. Split it into smaller files."
        )


def _unlock(document: Document, path: Path, password: str | None, locked: str) -> None:
    """Unlock an encrypted document. Raise `SourceUnsupported` if `password` is None or wrong."""
    if password is None:
        raise SourceUnsupported(f"{path.name!r} is encrypted. {locked}")
    if "\0" in password or not _authenticated(document, password):
        raise SourceUnsupported(
            f"{path.name!r} is encrypted, and the password in `--password` or CITEKIT_PASSWORD is wrong."
        )


def _authenticated(document: Document, password: str) -> bool:
    try:
        password.encode()
    except UnicodeError:  # a lone surrogate, from an argument that was not UTF-8
        return False
    return bool(document.authenticate(password))


def _import() -> Any:
    """Import and return PyMuPDF without the layout models that version 2.x loads by default (1.5 s, 270 MB)."""
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
    getattr(
        pymupdf, "no_recommend_layout", bool
    )()  # it would print an advertisement to stdout, which may carry a protocol
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    return pymupdf
