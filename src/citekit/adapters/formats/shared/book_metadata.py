"""What books say of themselves, written in one way."""

from __future__ import annotations

import re

_CODE = re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]{1,8})*")
_SCHEME = re.compile(r"(?:urn:)?(isbn|uuid|doi|issn|asin)[:\s]\s*(.+)", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ISBN = re.compile(r"(?:97[89])?\d{9}[\dXx]")

_NAMES = {
    "catalan": "ca",
    "chinese": "zh",
    "czech": "cs",
    "danish": "da",
    "dutch": "nl",
    "english": "en",
    "esperanto": "eo",
    "finnish": "fi",
    "french": "fr",
    "german": "de",
    "greek": "el",
    "hungarian": "hu",
    "italian": "it",
    "japanese": "ja",
    "latin": "la",
    "norwegian": "no",
    "polish": "pl",
    "portuguese": "pt",
    "russian": "ru",
    "spanish": "es",
    "swedish": "sv",
}
"""Languages as Project Gutenberg names them (the most frequent), by ISO 639-1."""


def language_code(said: str | None) -> str | None:
    """The ISO 639 code in lower case of a language tag (RFC 5646: `en-GB` is `en`) or an English name; else None."""
    text = (said or "").strip()
    found = _CODE.fullmatch(text)
    code = found[1].lower() if found else _NAMES.get(text.partition(",")[0].strip().lower())
    return None if code in (None, "und", "zxx", "mul", "mis") else code


def identified(text: str, scheme: str = "") -> tuple[str, str]:
    """(scheme in lower case, identifier) of what a book writes: `urn:isbn:978...`, or an ISBN alone.

    What names no scheme is a `uri` where it looks like one, else an `id`.
    """
    said = " ".join(text.split())
    prefixed = _SCHEME.match(said)
    if prefixed:
        scheme, said = prefixed[1], prefixed[2].strip()
    plain = said.replace("-", "").replace(" ", "")
    if _ISBN.fullmatch(plain) and scheme.lower() in ("", "isbn"):
        return "isbn", plain.upper()
    if _UUID.fullmatch(said):
        return "uuid", said.lower()
    return scheme.strip().lower() or ("uri" if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:\S", said) else "id"), said
