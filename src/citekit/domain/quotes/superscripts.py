"""Superscripts and subscripts: how texts for quotes write them, and which of them only point to a note.

A digit that stands higher or lower, by a character of its own or by markup, is written as Unicode's superscript or
subscript (The Unicode Standard, 22.4), one character for one, so that places in a text stay what they are. In the letters
of a normal form they count as gaps do, and each gap of a quote is held against that of the source.
"""

from __future__ import annotations

import re

from citekit.domain.quotes.characters import UNPARTED, UNSPACED

UNSEEN = "\u2063"
"""Stands for each character of a text that nobody sees, as hidden paragraphs: no letter, and not in what is shown."""

CUT = "\ufdd1"
"""Stands between two stretches of text that no quote may join; a noncharacter, so no quote holds it."""

NOTE = "\ufdd2"
"""Encloses the mark of a note in a normal form."""

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
"""Superscripts, subscripts and daggers, for a class of a regular expression."""

_FORMULA = re.compile(rf"(?:[{_VARIABLES}](?![{_VARIABLES}])|[\d{re.escape(_PLAIN_SIGNS)}])+")
_BASE = re.compile(r"(?:[\d)\]]|(?<![^\W_])[^\W\d_])\Z")
_LETTER = r"[^\W\d_]"
_DIGITS = re.compile(r"\d+")
_LONG_WORD = re.compile(rf"{_LETTER}{{3}}\Z")
_MARKS = "⁰¹²³⁴-⁹⸴⁽⁾ᵃᵇᶜᵈ\u204e†‡"
_AFTER_WORD = re.compile(
    rf"(?:({_LETTER}{{3,}})[\"'\u201d\u2019\u00bb)\]]{{0,2}}|[.,;:!?\u2026%][\"'\u201d\u2019\u00bb)\]]{{0,2}}"
    rf"|[{UNSPACED}{UNPARTED}]|(?<![\d.,])(?:1[5-9]|20)\d\d)(\s?)\Z"
)
_STARS = re.compile(rf"(?:⁺?[\u204e†‡](?:[\u204e†‡⁺⸴ ]{{0,60}}[\u204e†‡⁺])?|(?<=[a-z]{{4}})⁺(?!\w))(?![{SCRIPTS}])")
_MARK = re.compile(rf"[{_MARKS}](?:[{_MARKS}⁻ ]{{0,60}}[{_MARKS}])?(?![{SCRIPTS}])")
_SCRIPT = re.compile(f"[{SCRIPTS}]")
_LOWERED = frozenset(_LOW_DIGITS + _LOW_SIGNS + "ₙₓₖₘᵢⱼₚ")
_FUNCTIONS = "sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan log exp max min det rad"
_UNITS = "mile miles inch inches foot feet yard yards metre metres meter meters mol kilometre kilometres kilometer kilometers"
_POWERED = frozenset(f"{_FUNCTIONS} {_UNITS}".split())
"""Words of three letters and more whose superscripts are powers: functions and units."""
_RATE = re.compile(r"\bper\s(?:second|minute|hour)\Z|[·×⋅]\s?[^\W\d_]+\Z", re.IGNORECASE)
"""The same of what a unit is divided by, and of the last factor of a product."""
_LOOK = 32

_NUMBERS = r"\d{1,3}(?:[,\u2013-]\d{1,3})*"
_HIDDEN = re.compile(rf"(?<=\s){UNSEEN}+ |{UNSEEN}+")
_CUTS = re.compile(f"{CUT}\n?")
_FLAT = re.compile(
    rf"(?<={_LETTER})(?:\[\d{{1,3}}\]|{_NUMBERS}|\*)(?![\w*])|(?<=[.,;:!?\"\u201d\u2019)])\[?{_NUMBERS}\]?(?=\s|\Z)"
)
_APART = re.compile(
    rf"(?<=[.,;:!?\"\u201d\u2019)]\s){_NUMBERS}(?=\s)|(?<={_LETTER}{{3}}\s){_NUMBERS}(?=\s)|\A{_NUMBERS}(?=\s)"
)
_CHEMICAL = re.compile(r"(?<![^\W_])(?=[A-Za-z()]{1,40}\d)(?:[A-Z][a-z]?\d{0,3}|\(|\)\d{0,2})+(?![^\W_])")
"""Symbols of elements with how many atoms there are of each (IUPAC Red Book 2005, IR-4.2), as chemists type them."""
_POWER = re.compile(r"(?<=[\w)\]])\^\{?([+\-\u2212]?\d{1,4})\}?")


def superscript(text: str, before: str = "") -> str:
    """`text`, which stands higher than `before`, in superscripts, character by character; words stay as they are."""
    stripped = text.strip()
    if _is_formula(stripped, before):
        return text.translate(_HIGH).translate(_HIGH_LETTERS)
    if len(stripped) == 1 and stripped in "abcd" and _LONG_WORD.search(before):
        return text.translate(_NOTE_LETTERS)
    return text.translate(_HIGH_STARS if _has_letters(stripped) else {**_HIGH, **_HIGH_STARS})


def subscript(text: str, before: str = "") -> str:
    """`text`, which stands lower than `before`, in subscripts, as `superscript` does it."""
    stripped = text.strip()
    if _is_formula(stripped, before):
        return text.translate(_LOW).translate(_LOW_LETTERS)
    return text if _has_letters(stripped) else text.translate(_LOW)


def _is_formula(text: str, before: str) -> bool:
    """Whether it is made of numbers, signs and single letters, as exponents are."""
    return bool(_FORMULA.fullmatch(text)) and (not _has_letters(text) or bool(_BASE.search(before)))


def _has_letters(text: str) -> bool:
    return any(character.isalpha() for character in text)


def seen(text: str) -> str:
    """`text` without what nobody sees, and of the spaces around that only one; without cuts."""
    if UNSEEN in text:
        text = _HIDDEN.sub("", text)
    return _CUTS.sub("", text) if CUT in text else text


def note_ends(text: str, at: int) -> int:
    """Where the mark of a note that begins at `at` ends; `at` itself if there is no mark.

    A mark of a note is a superscript number, letter, star or dagger behind a word of three letters or more, behind
    punctuation, or behind a year. Behind any other number it is an exponent, behind a shorter word it may belong to a unit
    or a formula. A star or dagger is one behind anything, with or without a plus sign next to it; a plus sign alone is
    one behind a word that ends in four small letters.
    """
    stars = _STARS.match(text, at)
    if stars:
        return stars.end()
    mark = _MARK.match(text, at)
    before = text[max(0, at - _LOOK) : at]
    word = mark and _AFTER_WORD.search(before)
    if not mark or not word or (word[1] or "").casefold() in _POWERED or _RATE.search(before):
        return at
    if word[2] and text[mark.end() : mark.end() + 1].isalnum():  # an isotope, not the word before
        return at
    return mark.end()


def with_notes_marked(text: str) -> str:
    """`text` with `NOTE` before and behind each mark of a note."""
    pieces, position = [], 0
    for script in _SCRIPT.finditer(text):
        end = note_ends(text, script.start()) if script.start() >= position else 0
        if end > script.start():
            pieces += [text[position : script.start()], NOTE, text[script.start() : end], NOTE]
            position = end
    return "".join((*pieces, text[position:]))


def raisable(text: str) -> tuple[str, list[tuple[int, int]]]:
    """A quote with what stands behind `^` raised, and where (start, end) other numbers stand that may be raised or lowered.

    These are numbers and stars behind words and punctuation, and those of chemical formulas (`H2O`), in order.
    """
    text = _POWER.sub(lambda found: superscript(found[1]), text)
    places = [found.span() for pattern in (_FLAT, _APART) for found in pattern.finditer(text)]
    for formula in _CHEMICAL.finditer(text):
        places += [
            (formula.start() + each.start(), formula.start() + each.end()) for each in _DIGITS.finditer(formula[0])
        ]
    kept: list[tuple[int, int]] = []
    for start, end in sorted(set(places)):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return text, kept


def is_low(text: str) -> bool:
    """Whether the first superscript or subscript of `text` is a subscript."""
    found = _SCRIPT.search(text)
    return found is not None and found[0] in _LOWERED
