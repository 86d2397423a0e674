"""The printed index of a book as questions: what its author thought worth finding, and where it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pymupdf

_LEADERS = re.compile(r"(\s*\.\s*){2,}.*$")
_NUMBERS = re.compile(r"[,\s]+(\d+|[ivx]+)([,\s]+(\d+|[ivx]+))*[,\s]*$")


def entries(document: pymupdf.Document, first: int, last: int) -> Iterator[dict[str, Any]]:
    """The entries on the pages `first` to `last` (from 1) of an index in two columns, and the pages they link to."""
    found: dict[str, set[int]] = {}
    for number in range(first - 1, last):
        page = document[number]
        words = page.get_text("words")
        for link in page.get_links():
            target = link.get("page", -1)
            entry = _entry(words, pymupdf.Rect(link["from"]), page.rect.width / 2)
            if link["kind"] in (pymupdf.LINK_GOTO, pymupdf.LINK_NAMED) and target >= 0 and _is_entry(entry):
                found.setdefault(entry, set()).add(target + 1)
    for entry, pages in found.items():
        yield {"query": entry, "pages": sorted(pages)}


def _entry(words: list[Any], link: pymupdf.Rect, middle: float) -> str:
    """The words before a page number, on its line and in its column."""
    height, column = (link.y0 + link.y1) / 2, 0.0 if link.x0 < middle else middle - 15
    line = sorted(word for word in words if word[1] < height < word[3] and column <= word[0] < link.x0 - 0.5)
    return _NUMBERS.sub("", _LEADERS.sub("", " ".join(word[4] for word in line))).strip(" ,.")


def _is_entry(text: str) -> bool:
    return len(text) >= 3 and re.search(r"[A-Za-z]{3}", text) is not None
