"""Questions whose page is known, and the fixed rule that makes search words of a question.

A file of questions has one JSON object a line: `document` (the name of a PDF), `question`, and `pages` (from 1).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from attrs import field, frozen

from citekit.domain.words import words_of

WORDS = 3
"""The number of words with which a search begins."""

_STOP = frozenset(Path(__file__).with_name("stop_words.txt").read_text("utf-8").split())
"""Words of questions that say how to answer and not what is asked."""

_INSTRUCTION = re.compile(
    r"(?<=[.?!])\s*(?:an[sw]+er|round|please|write|list|give|express|provide|if|your)\b.*$", re.DOTALL | re.IGNORECASE
)
"""Sentences at the end of a question that say how to answer it."""


def _numbers(pages: Iterable[int]) -> frozenset[int]:
    return frozenset(pages)


@frozen
class Question:
    """A question about one document, and all pages that answer it, from 1."""

    document: str
    text: str
    pages: frozenset[int] = field(converter=_numbers)


def from_file(path: Path) -> list[Question]:
    """The questions of a file, in order."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return [Question(each["document"], each["question"], each["pages"]) for each in rows if each["pages"]]


def search_words(question: str, document: str) -> list[str]:
    """The words of a question in the order of their use: names and capitalized words first, then longer words first.

    Words in `_STOP` and in the name of the document are left out. Nothing but the question and that name is used.
    """
    asked = _INSTRUCTION.sub("", question.strip())
    named = set(words_of(document.rpartition(".")[0])) | set(words_of(document.partition("_")[0]))
    capitals = {word for token in asked.split()[1:] if token[:1].isupper() for word in words_of(token)}
    words = [word for word in dict.fromkeys(words_of(asked)) if _counts(word) and word not in named]
    return sorted(words, key=lambda word: (word not in capitals, -len(word)))


def _counts(word: str) -> bool:
    return len(word) > 2 and word not in _STOP and not re.fullmatch(r"(?:fy)?(?:19|20)?\d\d", word)


def shorter_and_shorter(words: Sequence[str]) -> Iterator[list[str]]:
    """The searches to try in turn: with `WORDS` words, then one fewer each time."""
    for number in range(min(len(words), WORDS), 0, -1):
        yield list(words[:number])
