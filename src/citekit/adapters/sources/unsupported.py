"""What a file that cannot be mapped seems to be, for the message that says so."""

from __future__ import annotations

from citekit.domain.formats import by_name

SUPPORTED = "PDF, EPUB, MOBI, FB2, video, audio, images, text and code"

_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x1f\x8b", "a gzip archive"),
    (0, b"BZh", "a bzip2 archive"),
    (0, b"\xfd7zXZ\0", "an xz archive"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (0, b"Rar!\x1a\x07", "a RAR archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an older Office document; save it as PDF"),
    (0, b"AT&TFORM", "a DjVu document; convert it to PDF"),
    (0, b"SQLite format 3\0", "a SQLite database"),
    (0, b"\x7fELF", "a program"),
    (0, b"MZ", "a Windows program"),
    (0, b"\xca\xfe\xba\xbe", "a program"),
    (0, b"\xcf\xfa\xed\xfe", "a program"),
    (0, b"\0asm", "a WebAssembly program"),
    (0, b"8BPS", "a Photoshop picture; export it as PNG"),
    (4, b"ftypheic", "a HEIC picture; convert it to JPEG"),
)

_ZIPPED: tuple[tuple[bytes, str], ...] = (
    (b"word/", "a Word document; save it as PDF"),
    (b"ppt/", "a PowerPoint presentation; save it as PDF"),
    (b"xl/", "an Excel workbook; save it as PDF or CSV"),
    (b"application/vnd.oasis.opendocument", "an OpenDocument file; save it as PDF"),
)


def why_unsupported(name: str, head: bytes) -> str:
    """One sentence about a file called `name` that begins with `head`, of which no kind is known."""
    seems = _seems(head)
    promised = by_name(name)
    if seems is not None:
        return f"it seems to be {seems}. Supported are {SUPPORTED}"
    if promised is not None:
        return f"its content is not {promised.name}, whatever its name says; the file may be damaged"
    return f"its content is of no known kind. Supported are {SUPPORTED}"


def _seems(head: bytes) -> str | None:
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return next((kind for mark, kind in _ZIPPED if mark in head), "a ZIP archive; unpack it")
    return next((kind for at, mark, kind in _SIGNATURES if head[at : at + len(mark)] == mark), None)
