"""Recognizes references to pages and numbered parts in questions, and labels in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from attrs import frozen

from citekit.domain.ranking.statements import statement_of, statements_named
from citekit.domain.vocabulary import (
    ACT,
    APPENDIX,
    BOOK,
    CHAPTER,
    FIGURE,
    PART,
    SCENE,
    SECTION,
    TABLE,
    Words,
    any_of,
)

PAGE: Words = (
    "page", "pages", "slide", "slides", "p", "pp", "seite", "seiten", "s", "folie", "página", "páginas", "diapositiva",
    "pagina", "pagine", "pagina's", "dia", "ページ", "页", "頁",
)  # fmt: skip
"""Words before the number of a page or slide."""

_LABELS: Mapping[str, Words] = {
    "figure": FIGURE,
    "table": TABLE,
    "section": (*SECTION, "§"),
    "chapter": CHAPTER,
    "appendix": APPENDIX,
    "part": PART,
    "book": BOOK,
    "act": ACT,
    "scene": SCENE,
    "item": ("item", "items"),
    "note": ("note", "notes", "anmerkung", "nota"),
    "equation": ("equation", "eq", "gleichung", "équation", "ecuación", "equazione"),
    "algorithm": ("algorithm", "listing", "algorithmus", "algorithme", "algoritmo"),
    "step": ("step", "schritt", "étape", "paso", "passo"),
    "question": ("question", "frage", "pregunta", "domanda"),
    "verse": ("sonnet", "psalm", "verse"),
}
STATEMENT = "statement"
"""The kind of label of a statement in a financial report; its number is the kind of statement, such as "income"."""

_KIND = {
    word.replace(".", ""): kind
    for kind, words in _LABELS.items()
    for word in any_of(words).replace("\\", "").split("|")
}
_WORDS = any_of(*_LABELS.values())
_NUMBER = r"\d{1,4}(?:\.\d{1,3})*[a-z]?|[ivxlc]{1,7}|[a-z]"
_IN_QUESTION = re.compile(rf"(?<!\w)({_WORDS})\.?\s*({_NUMBER})(?![a-z0-9\u00df-\u024f])", re.IGNORECASE)
_AT_START = rf"[\W_]{{0,3}}({_WORDS})\.?\s*({_NUMBER})(?![a-z0-9\u00df-\u024f])"
"""Compiled on first use, because only indexing needs it."""

_SECTION_NUMBER = re.compile(r"[\W_]{0,3}(\d{1,2}(?:\.\d{1,2}){1,4})\.?\s+[^\W\d_]")

_VERSE_NUMBER = re.compile(r"[\W_]{0,3}(\d{1,3}:\d{1,3})(?![\d:])\W{0,2}\s")
_VERSE = re.compile(r"(?<![\d:])(\d{1,3}:\d{1,3})(?![\d:])")
_ORDER = ("book", "part", "act", "chapter", "scene", "section", "step")
_INSIDE = frozenset((outer, inner) for at, outer in enumerate(_ORDER) for inner in _ORDER[at + 1 :])

_PAGES = re.compile(
    rf"(?<!\w)(?:{any_of(PAGE)})\.?\s*(\d{{1,6}})(?:\s*(?:-|\u2013|to|and|bis|und|a|et)\s*(\d{{1,6}}))?(?!\w)",
    re.IGNORECASE,
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINAL = re.compile(
    rf"\b(?:({'|'.join(_ORDINALS)})|(\d{{1,4}})(?:st|nd|rd|th))\s+(?:page|slide)\b|第\s?(\d{{1,4}})\s?(?:ページ|页|頁)",
    re.IGNORECASE,
)
_COVER = re.compile(
    r"\b(?:cover|title page|front page|titelseite|deckblatt|page de titre|portada|copertina|voorblad)\b|表紙|封面",
    re.IGNORECASE,
)
_LAST = re.compile(
    r"\b(?:last|final) (?:page|slide)\b|\bletzten? seite\b|\bdernière page\b|\búltima página\b|\bultima pagina\b",
    re.IGNORECASE,
)
_ROMAN = re.compile(r"m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}

SPAN = 20
"""The maximum number of pages of a range in a question. Of a longer one, only the first and last page count."""


@frozen
class Label:
    """A numbered part, such as `Label("figure", "3")`. `number` is in lowercase, most Roman numerals as digits."""

    kind: str
    number: str

    @property
    def term(self) -> str:
        """The label as a search term that cannot equal a word."""
        return f"@{self.kind} {self.number}"


def labels_in(question: str) -> Iterator[Label]:
    """Yield the labels that a question refers to, such as "Table 2" or "section 4.1"."""
    for found in _IN_QUESTION.finditer(question):
        label = _label(found[1], found[2])
        if label.number.isalpha() and not (found[2].isupper() and label.kind in ("appendix", "part", "section")):
            continue  # "a" is an article, and "I" a pronoun
        yield label
    for verse in _VERSE.findall(question):
        yield Label("verse", verse)
    yield from (Label(STATEMENT, kind) for kind in statements_named(question))


def is_inside(inner: Label, outer: Label) -> bool:
    """Return whether parts of one kind are inside parts of another, as scenes are in acts."""
    return (outer.kind, inner.kind) in _INSIDE


def labels_of(line: str) -> Iterator[Label]:
    """Yield the labels at the start of a line, such as that of a caption or a numbered heading; "Act III. Scene 2" has
    two.
    """
    found = re.match(_AT_START, line, re.IGNORECASE)
    while found is not None:
        yield _label(found[1], found[2])
        line = line[found.end() :]
        found = re.match(_AT_START, line, re.IGNORECASE)
    if numbered := _SECTION_NUMBER.match(line):
        yield Label("section", numbered[1])
    elif verse := _VERSE_NUMBER.match(line):
        yield Label("verse", verse[1])
    elif statement := statement_of(line):
        yield Label(STATEMENT, statement)


def pages_in(question: str) -> tuple[frozenset[int], bool]:
    """Return the pages, from 1, that a question names, and whether it names the last page."""
    pages: set[int] = set()
    for found in _PAGES.finditer(question):
        first, last = int(found[1]), int(found[2] or found[1])
        pages.update(range(first, last + 1) if 0 <= last - first < SPAN else (first, last))
    for found in _ORDINAL.finditer(question):
        word, digits, counted = found.groups()
        pages.add(_ORDINALS.index(word.lower()) + 1 if word else int(digits or counted))
    if _COVER.search(question):
        pages.add(1)
    return frozenset(pages), _LAST.search(question) is not None


def _label(word: str, number: str) -> Label:
    kind, plain = _KIND[word.lower()], number.lower()
    is_letter = len(plain) == 1 and plain != "i" and (kind == "appendix" or number not in ("V", "X"))
    return Label(kind, plain if is_letter or not _is_roman(plain) else str(_roman(plain)))


def roman_value(text: str) -> int:
    """Return the value of a Roman numeral in lowercase, or 0."""
    return _roman(text) if _is_roman(text) else 0


def _is_roman(text: str) -> bool:
    return bool(text) and _ROMAN.fullmatch(text) is not None


def _roman(text: str) -> int:
    values = [_VALUES[letter] for letter in text]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))
