"""Keeps PDFs open for reuse: opening a book and finding its pages costs more than copying a few of the pages."""

from __future__ import annotations

import hashlib
import os
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from attrs import define, field

from citekit.adapters.libraries.mupdf.engine import Document, check_tree, exclusive, guard, open_document, translated
from citekit.adapters.system.file_state import FileState
from citekit.domain.errors import CiteKitError, Refused, SourceUnsupported

KEPT = 4
"""The maximum number of documents that stay open."""

KEPT_BYTES = 256 * 2**20
"""The maximum total size of the files that stay open, to bound the memory of their documents."""

SETTLED = 2.0
"""Seconds within which a file may change again with the same times (FAT has a resolution of two seconds)."""


class Use(Enum):
    """The purpose of an open document handle.

    Rendering adds missing appearance streams to annotations, so code that copies objects uses a separate handle.
    """

    COPYING = "copying"
    DRAWING = "drawing"


_Key = tuple[Path, FileState, Use, str]
"""A key whose last element is the digest of the password, or empty without a password."""


@define
class _Pool:
    """Open documents by path, file state, use, and password, with the most recently used at the end.

    Use it inside `exclusive()`.
    """

    _documents: OrderedDict[_Key, Document] = field(factory=OrderedDict)
    _process: int = field(factory=os.getpid)

    def take(self, key: _Key) -> Document | None:
        """Return the document for `key`, or None, and mark it as most recently used.

        Documents that were opened from other states of the same file are dropped.
        """
        self._forget_of_other_process()
        for other in [other for other in self._documents if other[0] == key[0] and other[1] != key[1]]:
            del self._documents[other]
        if key in self._documents:
            self._documents.move_to_end(key)
        return self._documents.get(key)

    def put(self, key: _Key, document: Document) -> None:
        """Add an open document, then drop the least recently used documents until the pool is within its limits."""
        self._documents[key] = document
        while len(self._documents) > KEPT or sum(held.size for _, held, *_ in self._documents) > KEPT_BYTES:
            self._documents.popitem(last=False)

    def drop(self, key: _Key) -> None:
        """Remove a document from the pool; it closes when its last user is done."""
        self._documents.pop(key, None)

    def clear(self) -> None:
        """Remove all documents from the pool; each closes when its last user is done."""
        self._documents.clear()

    def _forget_of_other_process(self) -> None:
        """Clear the pool in a forked process, which shares its parent's file positions."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self.clear()


_POOL = _Pool()


@contextmanager
def shared(
    path: Path, use: Use, failure: type[CiteKitError] = SourceUnsupported, *, password: str | None = None
) -> Iterator[Document]:
    """Yield an open handle of the PDF at `path` that other code may have used before and may use again.

    Do not change the document, and do not release `exclusive()` while you use it. The handle stays open for reuse if
    MuPDF did not repair the document and a later change of the file would be noticed (see `FileState.is_settled`), but
    not on Windows. After an exception, it stays open only if the exception is `Refused` and the handle was open before.

    Raise the same errors as `opened`, which also explains `failure`; but with `Use.COPYING`, the page tree is not
    checked, and no page counts as too complex.
    """
    with exclusive():
        key = _key(path, use, password)
        document = None if key is None else _POOL.take(key)
        if document is None:
            document = open_document(path, password=password)
            if use is Use.DRAWING:
                check_tree(document, path)
                guard(document, path)
        try:
            with translated(path, failure):
                yield document
        except Refused:
            raise
        except BaseException:
            _let_go(key)
            raise
        if key is None or document.is_repaired or _key(path, use, password) != key:
            _let_go(key)
        else:
            _POOL.put(key, document)


def close_all() -> None:
    """Remove every document from the pool, which closes those that are not in use."""
    with exclusive():
        _POOL.clear()


def _let_go(key: _Key | None) -> None:
    if key is not None:
        _POOL.drop(key)


def _key(path: Path, use: Use, password: str | None) -> _Key | None:
    """Return the pool key for the document at `path`; None if the document must not be kept open."""
    if os.name == "nt":  # other programs cannot replace an open file on Windows
        return None
    try:
        state = FileState.of(path.stat())
    except OSError:
        return None
    now = time.time()
    return (path, state, use, _digest(password)) if state.is_settled(now, SETTLED, now) else None


def _digest(password: str | None) -> str:
    return "" if password is None else hashlib.sha256(password.encode("utf-8", "surrogatepass")).hexdigest()
