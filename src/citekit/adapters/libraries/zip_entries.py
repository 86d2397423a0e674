"""Items of ZIP archives that others made, unpacked piece by piece and never to disk; one table from exceptions to ours."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from citekit.domain.errors import CiteKitError, SourceUnreadable, SourceUnsupported

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The compressions that EPUB, Office files and comics have; another one is not unpacked."""

_PIECE = 64 * 1024

ERRORS: dict[type[Exception], type[CiteKitError]] = {
    zipfile.BadZipFile: SourceUnsupported,
    zipfile.LargeZipFile: SourceUnsupported,
    zlib.error: SourceUnsupported,
    NotImplementedError: SourceUnsupported,
    RuntimeError: SourceUnsupported,
    EOFError: SourceUnsupported,
    ValueError: SourceUnsupported,
    OverflowError: SourceUnsupported,
    OSError: SourceUnreadable,
}
"""From the exceptions of zipfile and its decompressors to ours; subclasses included."""


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Turn what zipfile raises into our errors, whose sentence begins with `what`."""
    try:
        yield
    except tuple(ERRORS) as error:
        ours = next(ours for theirs, ours in ERRORS.items() if isinstance(error, theirs))
        raise ours(f"{what} ({error}).") from error


def is_folder(item: zipfile.ZipInfo) -> bool:
    """Whether an item is a folder, or has no name at all, over which `ZipInfo.is_dir` stumbles before Python 3.12."""
    return not item.filename or item.is_dir()


def pieces(archive: zipfile.ZipFile, item: zipfile.ZipInfo, limit: int) -> Iterator[bytes]:
    """The bytes of an item, at most one more than `limit`, which tells that it is larger.

    The declared sizes may be lies, and a reading of all at once unpacks first and trims after.
    """
    left = limit + 1
    with archive.open(item) as stream:
        while left and (piece := stream.read(min(_PIECE, left))):
            left -= len(piece)
            yield piece
