"""Detects the format of a file from its first bytes and its name."""

from __future__ import annotations

import re

from citekit.domain.formats import BY_SUFFIX, MAIL, OFFICE, PLAIN_TEXT, Format, by_name
from citekit.domain.modality import Modality

HEAD_SIZE = 8192
"""Number of bytes from the start of a file that `detect` uses."""


DETECTION = 6
"""Version of the detection rules. Increase it when `detect` returns a different result for the same bytes and name."""

RTF = b"{\\rtf"
"""The beginning of a Rich Text Format file (RTF specification 1.9.1): its lines are text, but not the text that it
displays.
"""


def detect(file_name: str, head: bytes) -> Format | None:
    """Return the format of the file `file_name` whose first `HEAD_SIZE` bytes are `head`, or None if it is unknown.

    A signature in the bytes takes precedence over the name, unless the file is probably ordinary text. The name decides
    between formats with the same container and between text formats. Otherwise, a name with a binary format's suffix
    counts only for the formats in `_UNSIGNED`.
    """
    promised = by_name(file_name)
    signed = _by_signature(file_name, head, promised)
    readable = looks_like_text(head)
    if signed is not None and not (readable and _only_words(head, signed, promised)):
        return signed
    if readable and not head.startswith(RTF):
        return promised if promised is not None and promised.modality is Modality.TEXT else _by_interpreter(head)
    if head and promised is not None and promised.name in _UNSIGNED:
        return promised
    return None


def _by_interpreter(head: bytes) -> Format:
    """Return the format of a script according to the program in its `#!` line (execve(2)), or else plain text."""
    found = _INTERPRETER.match(head)
    return BY_SUFFIX[_LANGUAGES[found[1].decode()]] if found else PLAIN_TEXT


_LANGUAGES = {
    "sh": ".sh", "bash": ".sh", "dash": ".sh", "ksh": ".sh", "python": ".py", "perl": ".pl", "ruby": ".rb", "node": ".js",
    "nodejs": ".js", "php": ".php", "lua": ".lua", "pwsh": ".ps1", "elixir": ".exs", "julia": ".jl",
}  # fmt: skip
"""Script interpreters, each with the suffix of its language."""

_INTERPRETER = re.compile(
    rb"(?:\xef\xbb\xbf)?#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-\S+[ \t]+)*(?:\S*/)?)?("
    + "|".join(sorted(_LANGUAGES, key=len, reverse=True)).encode()
    + rb")[\d.]*(?=\s|\Z)"
)


def _only_words(head: bytes, signed: Format, promised: Format | None) -> bool:
    """Return whether a readable file with the signature of the format `signed` is probably ordinary text.

    A signature of letters can also begin a text, but a binary format soon has bytes that are not text.
    """
    if promised is not None and promised.modality is signed.modality:
        return False
    return signed.name not in _SIGNED_FOR_SURE and not head.startswith(b"%PDF-")


_SIGNED_FOR_SURE = {"png", "jpeg", "tiff", "jpeg2000", "ico", "matroska", "webm", "mpeg", "fb2", "eml", "mbox"}
"""Formats whose signature contains bytes that do not occur in ordinary text, is the root element of an XML document, or
counts only in files with the suffix of the format (mail).
"""


_UNSIGNED = {"mp3", "aac", "mpeg", "mpegts"}
"""Formats whose streams have no fixed first bytes. The library that opens the file decides whether it is valid."""


_CONTROLS = bytes(byte for byte in range(32) if byte not in (8, 9, 10, 11, 12, 13, 26, 27))


def looks_like_text(head: bytes) -> bool:
    """Return whether the bytes `head` are probably text in some encoding.

    Text has a UTF-16 or UTF-32 byte-order mark, or no NUL bytes and at most 2% control characters, not counting common
    ones, such as tabs and line feeds. An empty `head` is not text.
    """
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")):
        return True
    if not head or b"\0" in head:
        return False
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls * 50 <= len(head)


_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", ".png"),
    (0, b"\xff\xd8\xff", ".jpg"),
    (0, b"GIF87a", ".gif"),
    (0, b"GIF89a", ".gif"),
    (0, b"II*\0", ".tif"),
    (0, b"MM\0*", ".tif"),
    (0, b"II+\0", ".tif"),
    (0, b"MM\0+", ".tif"),
    (0, b"\0\0\x01\0", ".ico"),
    (0, b"\0\0\0\x0cjP  ", ".jp2"),
    (0, b"fLaC", ".flac"),
    (0, b"caff\0\1", ".caf"),
    (0, b"wvpk", ".wv"),
    (0, b"FLV\x01", ".flv"),
    (0, b"\0\0\x01\xba", ".mpg"),
    (0, b"\0\0\x01\xb3", ".mpg"),
    (0, b"ID3", ".mp3"),
    (0, b"\xff\x4f\xff\x51", ".j2k"),
)

_CHUNKED = {
    (b"RIFF", b"WEBP"): ".webp",
    (b"RIFF", b"WAVE"): ".wav",
    (b"RF64", b"WAVE"): ".wav",
    (b"RIFF", b"AVI "): ".avi",
    (b"FORM", b"AIFF"): ".aiff",
    (b"FORM", b"AIFC"): ".aiff",
}

_ASF = bytes.fromhex("3026b2758e66cf11")

_HEIF = (b"heic", b"heix", b"hevc", b"hevx", b"mif1", b"msf1")
"""Brands of still images in an MP4 container that can be HEIC or AVIF."""

_FTYP = {
    b"M4A ": ".m4a",
    b"M4B ": ".m4a",
    b"avif": ".avif",
    b"avis": ".avif",
    b"qt  ": ".mov",
    b"3gp4": ".3gp",
    b"3gp5": ".3gp",
}


_FICTION_BOOK = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?[^>]*>\s*|<!--[^>]*-->\s*|<!DOCTYPE[^>\[]*(?:\[[^\]]*\]\s*)?>\s*){0,9}"
    rb"<(?:\w{1,20}:)?FictionBook[\s>]"
)
_MAIL = {
    "eml": re.compile(rb"(?:\xef\xbb\xbf)?\s{0,9}(?:>?From [^\r\n]{0,500}\r?\n)?[!-9;-~]{1,80}[ \t]{0,9}:"),
    "mbox": re.compile(rb"From [^\r\n]"),
}
"""The first header of a message (RFC 5322, 2.2), and the line that begins a message in a mailbox (RFC 4155)."""

_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")


def _by_signature(name: str, head: bytes, promised: Format | None) -> Format | None:
    if b"%PDF-" in head[:1024]:
        return BY_SUFFIX[".pdf"]
    if head[:4] == b"PK\x03\x04":
        if b"application/epub+zip" in head[:200]:
            return BY_SUFFIX[".epub"]
        if promised is not None and promised.name == "cbz":
            return promised
        return _office(head, promised) or (BY_SUFFIX[".epub"] if name.lower().endswith(".epub") else None)
    if promised is not None and promised.name in MAIL and _MAIL[promised.name].match(head):
        return promised
    if head[60:68] == b"BOOKMOBI":
        return BY_SUFFIX[".mobi"]
    if _FICTION_BOOK.match(head.replace(b"\0", b"")[2:] if head.startswith(_WIDE_MARKS) else head):
        return BY_SUFFIX[".fb2"]
    if head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"):
        brand = _FTYP.get(head[8:12]) if head[4:8] == b"ftyp" else None
        if head[4:8] == b"ftyp" and head[8:12] in _HEIF:
            return BY_SUFFIX[".avif" if b"avif" in head[16:64] else ".heic"]
        return BY_SUFFIX[brand] if brand else _family(promised, ("mp4", "quicktime", "m4a", "3gp"), ".mp4")
    if head[:4] == b"\x1aE\xdf\xa3":
        return _family(promised, ("matroska", "webm"), ".webm" if b"webm" in head[:64] else ".mkv")
    if head[:4] == b"OggS":
        video = b"theora" in head[:256]
        return BY_SUFFIX[".ogv"] if video else BY_SUFFIX[".opus" if b"OpusHead" in head[:256] else ".ogg"]
    if head[:2] == b"BM" and len(head) >= 14 and head[6:10] == b"\0\0\0\0":
        return BY_SUFFIX[".bmp"]
    if head.startswith(_WIDE_MARKS):
        return None
    if head[:1] == b"\xff" and len(head) > 1 and head[1] & 0xE0 == 0xE0:
        return BY_SUFFIX[".aac"] if head[1] & 0xF6 == 0xF0 else BY_SUFFIX[".mp3"]
    if head[:2] in (b"P1", b"P2", b"P3", b"P4", b"P5", b"P6") and promised and promised.name == "ppm":
        return promised
    if head[:8] == _ASF:
        return _family(promised, ("wmv", "wma"), ".wmv")
    if (head[:4], head[8:12]) in _CHUNKED:
        return BY_SUFFIX[_CHUNKED[head[:4], head[8:12]]]
    if any(len(head) > 2 * size and set(head[start : 3 * size : size]) == {0x47} for start, size in _PACKETS):
        return BY_SUFFIX[".m2ts"]
    for offset, signature, suffix in _SIGNATURES:
        if head[offset : offset + len(signature)] == signature:
            return BY_SUFFIX[suffix]
    return None


_PACKETS = ((0, 188), (4, 192))
"""(offset of the first sync byte, packet size in bytes) of MPEG transport streams."""


_PACKED = re.compile(rb"PK\x03\x04.{26}(?:\[Content_Types\]\.xml|_rels/\.rels|docProps/|customXml/)", re.DOTALL)
_MAIN_FOLDERS = ((b"word/", ".docx"), (b"ppt/", ".pptx"), (b"xl/", ".xlsx"))
_IN_FOLDER = re.compile(rb"PK\x03\x04.{26}(word/|ppt/|xl/)", re.DOTALL)


def _office(head: bytes, promised: Format | None) -> Format | None:
    """Return the Office format of a ZIP archive by the folders of its first files, or else by its suffix, whose format
    is `promised`; None for other archives.

    In a ZIP header, the file name follows the lengths in bytes 26 to 29 (APPNOTE 4.3.7).
    """
    named = promised if promised is not None and promised.name in OFFICE else None
    found = _IN_FOLDER.search(head)
    if found and (named is not None or _PACKED.search(head)):
        return BY_SUFFIX[dict(_MAIN_FOLDERS)[found[1]]]
    return named


def _family(promised: Format | None, names: tuple[str, ...], default: str) -> Format:
    return promised if promised is not None and promised.name in names else BY_SUFFIX[default]
