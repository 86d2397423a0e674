"""Guesses what an unsupported file is, for the error message."""

from __future__ import annotations

from pathlib import PurePath

from citekit.domain.detection import RTF
from citekit.domain.formats import BY_SUFFIX, OFFICE, by_name

SUPPORTED = "PDF, EPUB, MOBI, FB2, CBZ, DOCX, PPTX, XLSX, mail, video, audio, images, text, and code"

_UNPACK = "unpack it into a folder, and map the folder: citekit sync FOLDER"

_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x1f\x8b", f"a gzip archive; {_UNPACK}"),
    (0, b"BZh", f"a bzip2 archive; {_UNPACK}"),
    (0, b"\xfd7zXZ\0", f"an xz archive; {_UNPACK}"),
    (0, b"\x28\xb5\x2f\xfd", f"a Zstandard archive; {_UNPACK}"),
    (0, b"7z\xbc\xaf\x27\x1c", f"a 7-Zip archive; {_UNPACK}"),
    (0, b"Rar!\x1a\x07", f"a RAR archive; {_UNPACK}"),
    (257, b"ustar", f"a tar archive; {_UNPACK}"),
    (0, RTF, "an RTF document; save it as DOCX or PDF"),
    (0, b"AT&TFORM", "a DjVu document; convert it to PDF"),
    (0, b"SQLite format 3\0", "a SQLite database"),
    (0, b"\x7fELF", "a program"),
    (0, b"MZ", "a Windows program"),
    (0, b"\xca\xfe\xba\xbe", "a program"),
    (0, b"\xcf\xfa\xed\xfe", "a program"),
    (0, b"\0asm", "a WebAssembly program"),
    (0, b"8BPS", "a Photoshop picture; export it as PNG"),
)

_ZIPPED: tuple[tuple[bytes, str], ...] = (
    (b"opendocument.text", "an OpenDocument file; save it as DOCX (soffice --convert-to docx FILE) or PDF"),
    (b"opendocument.spreadsheet", "an OpenDocument file; save it as XLSX (soffice --convert-to xlsx FILE) or PDF"),
    (b"opendocument.presentation", "an OpenDocument file; save it as PPTX (soffice --convert-to pptx FILE) or PDF"),
    (b"application/vnd.oasis.opendocument", "an OpenDocument file; save it as PDF"),
)


_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The signature of Microsoft compound files ([MS-CFB]): Office documents before 2007, and encrypted Office documents.
"""

_OLDER = {
    ".doc": "an older Word document; save it as .docx",
    ".dot": "an older Word document; save it as .docx",
    ".ppt": "an older PowerPoint presentation; save it as .pptx",
    ".pps": "an older PowerPoint presentation; save it as .pptx",
    ".xls": "an older Excel workbook; save it as .xlsx",
    ".xlt": "an older Excel workbook; save it as .xlsx",
    ".msg": "an Outlook message; save it as .eml",
}


def _compound(suffix: str) -> str:
    promised = BY_SUFFIX.get(suffix)
    if promised is not None and promised.name in OFFICE:
        return (
            f"protected by a password (or an older file with the extension {suffix}); save it without a "
            "password, in the current format"
        )
    return _OLDER.get(
        suffix, "an older or protected Office document; save it as .docx, .pptx, or .xlsx without a password"
    )


def why_unsupported(name: str, head: bytes) -> str:
    """Return why CiteKit does not support a file called `name` that begins with `head`, without a final period."""
    seems = _seems(name, head)
    promised = by_name(name)
    if seems is not None:
        return f"it appears to be {seems}. CiteKit supports {SUPPORTED}"
    if promised is not None:
        return f"its name suggests {promised.name}, but its content is something else; the file may be damaged"
    return f"its content is not of a known type. CiteKit supports {SUPPORTED}"


def _seems(name: str, head: bytes) -> str | None:
    if head.startswith(_COMPOUND):
        return _compound(PurePath(name).suffix.lower())
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        archive = "a ZIP archive; unpack it, and map the files in it"
        return next((kind for mark, kind in _ZIPPED if mark in head), archive)
    return next((kind for at, mark, kind in _SIGNATURES if head[at : at + len(mark)] == mark), None)
