"""Decompresses entries of untrusted ZIP archives in chunks, never to disk."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from citekit.domain.errors import CiteKitError, SourceUnreadable, SourceUnsupported

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The compression methods that EPUB, Office files, and comics use, and that are decompressed."""

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
"""CiteKit errors for the exceptions of zipfile and its decompressors, including subclasses."""


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Convert exceptions of `zipfile` inside the block to CiteKit errors whose message starts with `what`."""
    try:
        yield
    except tuple(ERRORS) as error:
        ours = next(ours for theirs, ours in ERRORS.items() if isinstance(error, theirs))
        reason = str(error).rstrip(".") or type(error).__name__
        raise ours(f"{what} ({reason}).") from error


def is_folder(item: zipfile.ZipInfo) -> bool:
    """Return whether a ZIP entry is a folder or has no name, for which `is_dir` fails before Python 3.12."""
    return not item.filename or item.is_dir()


def pieces(archive: zipfile.ZipFile, item: zipfile.ZipInfo, limit: int) -> Iterator[bytes]:
    """Yield the decompressed bytes of an entry in chunks, at most `limit + 1` bytes in total.

    The extra byte shows that the entry is larger than `limit`, as the sizes that an archive declares may be false.
    """
    left = limit + 1
    with archive.open(item) as stream:
        while left and (piece := stream.read(min(_PIECE, left))):
            left -= len(piece)
            yield piece
