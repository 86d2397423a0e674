"""Parses a question without a model: its words, and the pages, labels, and kinds of parts that it refers to."""

from __future__ import annotations

import re
from itertools import pairwise

from attrs import frozen

from citekit.domain.library.lexical import STEM, STOP_WORDS, is_unspaced, stems, tokens
from citekit.domain.ranking.metrics import ingredients
from citekit.domain.ranking.named_places import NamedPlaces, places_in
from citekit.domain.ranking.references import STATEMENT, Label, labels_in, pages_in
from citekit.domain.ranking.specifics import specifics_in
from citekit.domain.ranking.statements import statements_with

_INSTRUCTIONS = """
answer answers question questions please give list round rounded rounding decimal decimals places according document paper
based provide tell briefly write mention mentioned following many much percent percentage amount fiscal
usd eur gbp thousand thousands million millions billion billions
antworte bitte nenne laut liste viel viele prozent donne selon combien pourcentage documento según cuántos cuántas cuánto
porcentaje secondo rispondi quanti quante quanto percentuale responda responde volgens geef noem hoeveel procent
"""
INSTRUCTIONS = frozenset(tokens(_INSTRUCTIONS))
"""Words that specify how to answer, and words of quantity, which are dropped if other words are left."""

_PARTS = re.compile(
    r"(?<=[.?!:;])\s+|,\s+(?=(?:what|which|who|how|when|where|why|is|are|was|were|does|do|did)\b)", re.IGNORECASE
)
_ANSWER = (
    r"answers?|questions?|decimals?|percents?|percentages?|units?|usd|dollars|thousands?|millions?|billions?|information"
    r"|details|judge?ments?|statements?|sentences?|words?|state|explain|following|briefly|concise|antwort|r\u00e9ponse"
    r"|respuesta|risposta|antwoord|dezimal\w*|d\u00e9cimales?|decimal\w*"
)
_INSTRUCTION = re.compile(
    r"\W*(?:please\s+)?(?:"
    r"(?:answer|respond|round|give|provide|write|state|explain|base|assume|calculate|compute|use|utilize|keep|express|show"
    r"|return|be|antworte|runde|gib|r\u00e9pond(?:ez|s)|arrondis\w*|responde|redondea|rispondi|arrotonda|antwoord|geef"
    r"|help\s+(?:me|us)|by\s+(?:drawing|basing|relying)|if)\b"
    rf"(?!.*\?).*\b(?:{_ANSWER})\b"
    r"|assume\s+that\s+you\b|you\s+are\s+an?\b|we\s+(?:want|need)\s+to\b|here(?:'|\u2019)?s\s+(?:the|my)\s+question"
    r")",
    re.IGNORECASE | re.DOTALL,
)
"""The start of a sentence that says how to answer, such as "Round your answer to two decimals"."""

_FISCAL_YEAR = re.compile(r"\bFY\s?'?(\d{4}|\d{2})\b", re.IGNORECASE)
_QUARTER = re.compile(r"\b(\d{4})\s?-?Q[1-4]\b|\bQ[1-4]\s?'?-?(\d{4})\b", re.IGNORECASE)
_AMOUNT = re.compile(
    r"\b(?:19|20)\d\d\b|[$\u20ac\u00a3\u00a5%]|\b(?:[mb]illi(?:on|arde|ard|ón|one)e?[ns]?|ratio|margin|rate|per\s?cent)\b",
    re.IGNORECASE,
)
_SHORT, _LONG = 2, 6
"""Maximum number of stems of a set of keywords, and minimum number of a sentence."""

WORDS = 64
"""Maximum number of stems, of pairs, and of whole words of a question that are used."""


@frozen(kw_only=True)
class ParsedQuestion:
    """A question as the ranking of pages sees it.

    `stems` are the distinct stems of its words and of the items of metrics, `pairs` are the stems of adjacent words,
    and `words` are the whole words that are longer than a stem. `meaning` is the text for the embedder, without
    instructions and without tokens that have no letters. `sentence` ranges from 0 for keywords to 1 for a whole
    sentence. `about_amounts` is True if the question contains, for example, a year, a currency sign, or a percentage.
    `pages` are numbers of pages from 1, `last_page` is True if the last page is named, and `labels` are parts such as
    "Figure 3". `places` are printed page numbers, lines, and times. `specifics` are the stems of names and years,
    without which a page hardly answers the question. `statements` are the labels of financial statements that have the
    items of a metric.
    """

    text: str
    meaning: str
    stems: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    words: tuple[str, ...]
    sentence: float
    about_amounts: bool
    pages: frozenset[int]
    last_page: bool
    labels: tuple[Label, ...]
    places: NamedPlaces
    statements: tuple[Label, ...] = ()
    specifics: frozenset[str] = frozenset()


def parse_question(text: str) -> ParsedQuestion:
    """Parse a question. A question without letters and digits has no stems."""
    plain = _FISCAL_YEAR.sub(lambda found: found[1] if len(found[1]) > 2 else f"20{found[1]}", text)
    plain = _QUARTER.sub(lambda found: found[1] or found[2], plain)
    topic = _without_instructions(plain)
    every = tokens(topic)
    asked = [word for word in every if word not in INSTRUCTIONS]
    found = stems(asked) or stems(every) or every
    length = len(dict.fromkeys(found))
    items = list(ingredients(topic))
    for words in items:
        asked += tokens(words)
        found += stems(tokens(words))
    distinct = tuple(dict.fromkeys(found))[:WORDS]
    pages, last_page = pages_in(plain)
    return ParsedQuestion(
        text=text,
        meaning=" ".join(word for word in topic.split() if any(map(str.isalpha, word))),
        stems=distinct,
        pairs=tuple(dict.fromkeys(pairwise(found)))[:WORDS],
        words=tuple(dict.fromkeys(filter(_is_long, asked)))[:WORDS],
        sentence=min(1.0, max(0.0, (length - _SHORT) / (_LONG - _SHORT))),
        about_amounts=_AMOUNT.search(plain) is not None,
        pages=pages,
        last_page=last_page,
        labels=tuple(dict.fromkeys(labels_in(plain))),
        places=places_in(plain),
        specifics=specifics_in(topic),
        statements=tuple(dict.fromkeys(Label(STATEMENT, kind) for words in items for kind in statements_with(words))),
    )


def _without_instructions(text: str) -> str:
    """Return a question without parts that only say how to answer, unless nothing else is left."""
    kept = [part for part in _PARTS.split(text) if part.strip() and not _INSTRUCTION.match(part)]
    return " ".join(kept) if any(map(tokens, kept)) else text


def _is_long(word: str) -> bool:
    return len(word) > STEM and word not in STOP_WORDS and not is_unspaced(word)
