"""Normalizes the metadata of books: languages and identifiers."""

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
"""English names of languages, as in Project Gutenberg files, with their ISO 639-1 codes."""


def language_code(said: str | None) -> str | None:
    """Return the lowercase ISO 639 code for a language tag (RFC 5646; `en-GB` gives `en`) or an English name in
    `_NAMES`.

    Return None for other texts, and for codes such as `und` and `mul`, which name no single language.
    """
    text = (said or "").strip()
    found = _CODE.fullmatch(text)
    code = found[1].lower() if found else _NAMES.get(text.partition(",")[0].strip().lower())
    return None if code in (None, "und", "zxx", "mul", "mis") else code


def identified(text: str, scheme: str = "") -> tuple[str, str]:
    """Return the scheme, in lower case, and the value of an identifier such as `urn:isbn:978...` or a bare ISBN.

    A scheme in the text takes precedence over `scheme`. A UUID, and an ISBN without a scheme, are recognized by their
    form. The scheme of any other identifier without a scheme is `uri` or `id`.
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
