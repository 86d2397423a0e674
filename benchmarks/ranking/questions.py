"""Questions whose pages are known."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from attrs import field, frozen

_GAPS = re.compile(r"\W+")


def _numbers(pages: Iterable[int]) -> frozenset[int]:
    return frozenset(pages)


@frozen
class Question:
    """A question about one document.

    `pages` are all pages that answer it, from 1. Without pages, `phrase` bears the answer.
    """

    text: str
    document: str
    pages: frozenset[int] = field(converter=_numbers)
    phrase: str = ""

    @property
    def has_answer(self) -> bool:
        """Whether the document answers the question."""
        return bool(self.pages or self.phrase)

    def is_answered_by(self, number: int, text: str) -> bool:
        """Whether the page with that number and text answers the question."""
        return number in self.pages if self.pages else bool(self.phrase) and plain(self.phrase) in plain(text)


def plain(text: str) -> str:
    """The words of a text, separated by single spaces."""
    return _GAPS.sub(" ", text).lower().strip()


def from_file(path: Path, documents: Collection[str]) -> list[Question]:
    """The questions of a file about the named documents, in order."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return [
        Question(each["question"], each["document"], each["pages"], each.get("phrase", ""))
        for each in rows
        if each["document"] in documents
    ]
