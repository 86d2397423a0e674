"""Compares the names and years of a question with those of a page.

"What was Tesla's revenue in 2021?" is not answered by the revenue of another company or another year.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from citekit.domain.library.lexical import STEM, STOP_WORDS, stems, tokens

MISSING = 4.0
"""The penalty, in the weighted sum of features, for a page with none of the names and years of the question."""

COMMON = 1.1
"""The rarity of a word on a third of the pages."""

_NAME = re.compile(r"(?<![\w'\u2019&-])[A-Z][a-z]++(?:[A-Z-][A-Za-z]++)*+(?![\w&])")
_YEAR = re.compile(r"(?:1[6-9]|20)\d\d")
_SENTENCE_END = tuple('.?!:;"\u201c(')
_ENGLISH = frozenset(
    ("what", "which", "who", "whose", "whom", "where", "when", "why", "how", "the", "does", "did", "is", "are")
)
"""Words of English questions. In German, capital letters say nothing, because every noun has one."""

_NO_NAMES = frozenset(
    tokens(
        "january february march april may june july august september october november december monday tuesday wednesday "
        "thursday friday saturday sunday mr mrs ms dr chapter section act scene figure table page item part book note "
        "appendix company corporation inc corp ltd"
    )
)


def specifics_in(question: str) -> frozenset[str]:
    """Return the stems of the names in an English question, and the years in any question.

    Acronyms are left out, because documents spell them out.
    """
    words = frozenset(tokens(question))
    names = (found for found in _NAME.finditer(question) if _is_inside(question, found)) if words & _ENGLISH else ()
    stemmed = (stem for found in names for stem in stems(tokens(found[0])))
    plain = STOP_WORDS | _NO_NAMES
    return frozenset(stem for stem in stemmed if stem not in plain and len(stem) > 1) | _years(words)


def missing_share(
    specifics: Collection[str], here: Collection[str], names: Iterable[str], rarities: Mapping[str, float]
) -> float:
    """Return the fraction of the names and years of a question that a page with the stems `here` does not have, from 0
    to 1.

    Names count only if they are not in `names` (those of the document, such as its title) and have a rarity of at least
    `COMMON`: a whole document may be about a name.
    """
    if not specifics:
        return 0.0
    known = "".join(character for name in names for character in name.lower() if character.isalpha())
    telling = [each for each in specifics if each.isdigit() or not _is_common(each, known, rarities)]
    return sum(each not in here for each in telling) / len(telling) if telling else 0.0


def _is_common(name: str, known: str, rarities: Mapping[str, float]) -> bool:
    return name[:STEM] in known or rarities.get(name, COMMON) < COMMON


def _is_inside(question: str, found: re.Match[str]) -> bool:
    before = question[: found.start()].rstrip()
    return bool(before) and not before.endswith(_SENTENCE_END) and found[0].lower() not in _NO_NAMES


def _years(words: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(_YEAR.fullmatch, words))
