"""Names the kinds of difference between a quote and a source that have the same words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from citekit.domain.quotes.characters import DASHES, HYPHENS, INVISIBLE, QUOTATION_MARKS, SEAM, UNSPACED, form_of
from citekit.domain.quotes.normal_form import same_words
from citekit.domain.quotes.superscripts import NOTE, with_notes_marked

_LETTER = r"[^\W\d_]"
_SEAM = re.compile(rf"(?<={_LETTER})[{HYPHENS}]\s+(?={_LETTER})")
_SOFT = re.compile("\u00ad[ \t]*(?:\r?\n[ \t]*)?")
_UNSEEN = re.compile(f"[{INVISIBLE}]")
_DASH = re.compile(f"[{DASHES}]+")
_LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
_AROUND_DASH = re.compile(r"\s*-\s*")
_BESIDE_OPERATOR = re.compile(r"(?<=\d) (?=[%‰])|(?<=[+=<>×÷]) | (?=[+=<>×÷])")
_NOTES = re.compile(rf"\s?{NOTE}[^{NOTE}]*{NOTE}")
_UNSPACED = re.compile(rf"(?<=[{UNSPACED}])\s+|\s+(?=[{UNSPACED}])")


def _without_breaks(text: str) -> str:
    return _SEAM.sub(SEAM, text)


def _spaced(text: str) -> str:
    text = _AROUND_DASH.sub("-", " ".join(_UNSPACED.sub("", text).split()))
    return _BESIDE_OPERATOR.sub("", text)


def _forms(text: str) -> str:
    plain = unicodedata.normalize("NFC", "".join(map(form_of, unicodedata.normalize("NFC", text))))
    return plain.replace("`", "'")


def _without_notes(text: str) -> str:
    return _NOTES.sub("", with_notes_marked(text))


_STEPS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("soft hyphens", lambda text: _SOFT.sub("", text)),
    ("invisible characters", lambda text: _UNSEEN.sub("", text)),
    ("note marks", _without_notes),
    ("ligatures", lambda text: text.translate(_LIGATURES)),
    ("quotation marks", lambda text: text.translate(QUOTATION_MARKS)),
    ("forms of characters", _forms),
    ("hyphenation at the end of a line", _without_breaks),
    ("dashes", lambda text: _DASH.sub("-", text)),
    ("white space", _spaced),
    ("case", lambda text: unicodedata.normalize("NFC", text.casefold())),
)


def differences(source: str, quote: str) -> tuple[str, ...]:
    """Return the kinds of difference between two texts with the same words; empty if the texts are identical.

    A kind is left out if the texts are equal without normalizing it. Earlier kinds in `_STEPS` are preferred.
    """
    if source == quote:
        return ()
    named = [name for name, _ in _STEPS]
    for name in reversed(named[:]):
        rest = [each for each in named if each != name]
        if rest and _are_same(rest, source, quote):
            named = rest
    return tuple(named)


def _are_same(names: Sequence[str], source: str, quote: str) -> bool:
    for name, step in _STEPS:
        if name in names:
            source, quote = step(source), step(quote)
    return source == quote or same_words(source, quote, spacing=False)
