"""Handles superscripts and subscripts in the texts in which quotes are searched for, and recognizes note marks.

A raised or lowered digit is written as the Unicode superscript or subscript character (The Unicode Standard, 22.4),
whether the source has that character or markup. One character replaces one character, so that offsets do not change.
Superscripts and subscripts are not letters of a normal form. They are compared separately, with the spaces and hyphens
between letters.
"""

from __future__ import annotations

import re

from citekit.domain.quotes.characters import UNSPACED, UNSPACED_WORDS

HIDDEN = "\u2063"
"""Replaces each hidden character of a text. It is not a letter, and results do not show it."""

COMPUTED = "\u2064"
"""Follows each word of the result of a formula. It is not a letter, and results do not show it."""

CUT = "\ufdd1"
"""Separates two ranges of text that no quote may cross. It is a noncharacter."""

NOTE = "\ufdd2"
"""Encloses a note mark in a normal form."""

_PLAIN_SIGNS, _HIGH_SIGNS, _LOW_SIGNS = "+-\u2212\u2013=()[],", "⁺⁻⁻⁻⁼⁽⁾⁽⁾⸴", "₊₋₋₋₌₍₎₍₎"
_HIGH_DIGITS, _LOW_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹", "₀₁₂₃₄₅₆₇₈₉"
_VARIABLES, _HIGH_VARIABLES, _LOW_VARIABLES = "nxkmijyzpTN", "ⁿˣᵏᵐⁱʲʸᶻᵖᵀᴺ", "ₙₓₖₘᵢⱼyzₚTN"
_HIGH = str.maketrans(f"0123456789{_PLAIN_SIGNS}", f"{_HIGH_DIGITS}{_HIGH_SIGNS}")
_HIGH_STARS = str.maketrans("*\u2217", "\u204e\u204e")
_LOW = str.maketrans(f"0123456789{_PLAIN_SIGNS[:-1]}", f"{_LOW_DIGITS}{_LOW_SIGNS}")
_HIGH_LETTERS = str.maketrans(_VARIABLES, _HIGH_VARIABLES)
_LOW_LETTERS = str.maketrans(_VARIABLES, _LOW_VARIABLES)
_NOTE_LETTERS = str.maketrans("abcd", "ᵃᵇᶜᵈ")

SCRIPTS = "⁰¹²³⁴-⁹⁺⁻⁼⁽⁾⸴ⁿˣᵏᵐⁱʲʸᶻᵖᵀᴺᵃᵇᶜᵈ₀-₉₊₋₌₍₎ₙₓₖₘᵢⱼₚ\u204e†‡"
"""Superscripts, subscripts, and daggers, as a character class."""

_WRITTEN = str.maketrans(
    _HIGH_DIGITS + _HIGH_SIGNS + _HIGH_VARIABLES + _LOW_DIGITS + _LOW_SIGNS + _LOW_VARIABLES + "ᵃᵇᶜᵈ\u204e",
    "0123456789" + _PLAIN_SIGNS + _VARIABLES + "0123456789" + _PLAIN_SIGNS[:-1] + _VARIABLES + "abcd*",
)

_FORMULA = re.compile(rf"(?:[{_VARIABLES}](?![{_VARIABLES}])|[\d{re.escape(_PLAIN_SIGNS)}])+")
_BASE = re.compile(r"(?:[\d)\]]|(?<![^\W_])[^\W\d_])\Z")
_LETTER = r"[^\W\d_]"
_DIGITS = re.compile(r"\d+")
_LONG_WORD = re.compile(rf"{_LETTER}{{3}}\Z")
_MARKS = "⁰¹²³⁴-⁹⸴⁽⁾ᵃᵇᶜᵈ\u204e†‡"
_AFTER_WORD = re.compile(
    rf"(?:({_LETTER}{{3,}})[\"'\u201d\u2019\u00bb)\]]{{0,2}}|[.,;:!?\u2026%][\"'\u201d\u2019\u00bb)\]]{{0,2}}"
    rf"|[{UNSPACED}{UNSPACED_WORDS}]|(?<![\d.,])(?:1[5-9]|20)\d\d)(\s?)\Z"
)
_STARS = re.compile(rf"(?:⁺?[\u204e†‡](?:[\u204e†‡⁺⸴ ]{{0,60}}[\u204e†‡⁺])?|(?<=[a-z]{{4}})⁺(?!\w))(?![{SCRIPTS}])")
_MARK = re.compile(rf"[{_MARKS}](?:[{_MARKS}⁻ ]{{0,60}}[{_MARKS}])?(?![{SCRIPTS}])")
_SCRIPT = re.compile(f"[{SCRIPTS}]")
_LOWERED = frozenset(_LOW_DIGITS + _LOW_SIGNS + "ₙₓₖₘᵢⱼₚ")
_FUNCTIONS = "sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan log exp max min det rad"
_UNITS = "mile miles inch inches foot feet yard yards metre metres meter meters mol kilometre kilometres kilometer kilometers"
_POWERED = frozenset(f"{_FUNCTIONS} {_UNITS}".split())
"""Functions and units whose superscripts are powers."""
_RATE = re.compile(r"\bper\s(?:second|minute|hour)\Z|[·×⋅]\s?[^\W\d_]+\Z", re.IGNORECASE)
"""Contexts whose superscripts are powers: the divisor of a unit, and the last factor of a product."""
_LOOK = 32

_NUMBERS = r"\d{1,3}(?:[,\u2013-]\d{1,3}){0,30}+"
_HIDDEN = re.compile(rf"(?<=\s){HIDDEN}+ |{HIDDEN}+")
_CUTS = re.compile(f"{CUT}\n?")
_FLAT = re.compile(
    rf"(?<={_LETTER})(?:\[\d{{1,3}}\]|{_NUMBERS}|\*)(?![\w*])|(?<=[.,;:!?\"\u201d\u2019)])\[?{_NUMBERS}\]?(?=\s|\Z)"
)
_APART = re.compile(
    rf"(?<=[.,;:!?\"\u201d\u2019)]\s){_NUMBERS}(?=\s)|(?<={_LETTER}{{3}}\s){_NUMBERS}(?=\s)|\A{_NUMBERS}(?=\s)"
)
_CHEMICAL = re.compile(r"(?<![^\W_])(?=[A-Za-z()]{1,40}\d)(?:[A-Z][a-z]?\d{0,3}|\(|\)\d{0,2})+(?![^\W_])")
"""Symbols of elements with their numbers of atoms (IUPAC Red Book 2005, IR-4.2)."""
_POWER = re.compile(r"(?<=[\w)\]])\^\{?([+\-\u2212]?\d{1,4})\}?")


def on_the_line(text: str) -> str:
    """Return `text` with superscripts and subscripts replaced by plain characters."""
    return text.translate(_WRITTEN)


def superscript(text: str, before: str = "") -> str:
    """Return raised text in superscript characters, one for each character. Raised words stay unchanged.

    `before` is the text that precedes the raised text.
    """
    stripped = text.strip()
    if _is_formula(stripped, before):
        return text.translate(_HIGH).translate(_HIGH_LETTERS)
    if len(stripped) == 1 and stripped in "abcd" and _LONG_WORD.search(before):
        return text.translate(_NOTE_LETTERS)
    return text.translate(_HIGH_STARS if _has_letters(stripped) else {**_HIGH, **_HIGH_STARS})


def subscript(text: str, before: str = "") -> str:
    """Return lowered text in subscript characters, one for each character. Lowered words stay unchanged.

    `before` is the text that precedes the lowered text.
    """
    stripped = text.strip()
    if _is_formula(stripped, before):
        return text.translate(_LOW).translate(_LOW_LETTERS)
    return text if _has_letters(stripped) else text.translate(_LOW)


def _is_formula(text: str, before: str) -> bool:
    """Return whether raised or lowered text is part of a formula.

    Letters must follow a number, a closing bracket, or a single letter.
    """
    return bool(_FORMULA.fullmatch(text)) and (not _has_letters(text) or bool(_BASE.search(before)))


def _has_letters(text: str) -> bool:
    return any(character.isalpha() for character in text)


def visible_text(text: str) -> str:
    """Return `text` without the internal markers `HIDDEN`, `COMPUTED`, and `CUT`.

    The spaces around a hidden part become one space.
    """
    if text.isascii():
        return text
    if HIDDEN in text:
        text = _HIDDEN.sub("", text)
    text = text.replace(COMPUTED, "")
    return _CUTS.sub("", text) if CUT in text else text


def note_ends(text: str, at: int) -> int:
    """Return the end of the note mark that begins at `at`, or `at` itself if no note mark begins there.

    A note mark is a superscript number or letter after a word of three or more letters, a character of a script without
    spaces, punctuation, or a year. A space may precede it, unless a letter or digit follows it, as in `carbon ¹⁴C`. The
    powers of functions, units, and products (`_POWERED`, `_RATE`) are not note marks. A star or dagger is also a note
    mark if no other superscript follows it, and so is a plus sign after a word that ends in four lowercase letters.
    """
    stars = _STARS.match(text, at)
    if stars:
        return stars.end()
    mark = _MARK.match(text, at)
    before = text[max(0, at - _LOOK) : at]
    word = mark and _AFTER_WORD.search(before)
    if not mark or not word or (word[1] or "").casefold() in _POWERED or _RATE.search(before):
        return at
    if word[2] and text[mark.end() : mark.end() + 1].isalnum():  # the number of an isotope, not a note mark
        return at
    return mark.end()


def with_notes_marked(text: str) -> str:
    """Return `text` with the character `NOTE` before and after each note mark.

    A `NOTE` that comes from the file becomes a replacement character, so that a file cannot make words optional.
    """
    pieces, position = [], 0
    text = text.replace(NOTE, "\ufffd")
    for script in _SCRIPT.finditer(text):
        end = note_ends(text, script.start()) if script.start() >= position else 0
        if end > script.start():
            pieces += [text[position : script.start()], NOTE, text[script.start() : end], NOTE]
            position = end
    return "".join((*pieces, text[position:]))


def raisable(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a quote with the number after each `^` in superscript characters, and the ranges of other numbers to
    check.

    These are numbers and stars that may be superscripts or subscripts in the source: after words, after punctuation,
    and in chemical formulas (`H2O`). The ranges (start, end) are in order.
    """
    text = _POWER.sub(lambda found: superscript(found[1]), text)
    places = [found.span() for pattern in (_FLAT, _APART) for found in pattern.finditer(text)]
    for formula in _CHEMICAL.finditer(text):
        places += [
            (formula.start() + each.start(), formula.start() + each.end()) for each in _DIGITS.finditer(formula[0])
        ]
    ranges: list[tuple[int, int]] = []
    for start, end in sorted(set(places)):
        if not ranges or start >= ranges[-1][1]:
            ranges.append((start, end))
    return text, ranges


def is_low(text: str) -> bool:
    """Return whether the first superscript or subscript in `text` is a subscript. False if there is none."""
    found = _SCRIPT.search(text)
    return found is not None and found[0] in _LOWERED
