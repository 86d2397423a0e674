"""Where on a page a heading stands, by its words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from attrs import frozen

_WORD = re.compile(r"[^\W_]+")
_LABEL = re.compile(
    r"\W*(?:(?:chapter|part|section|appendix|kapitel|teil|chapitre|partie)\W+)?(?:[\d.]+|[ivxlc]+|[a-z])?\W*", re.I
)
_LABEL_LIMIT = 24
"""Characters of a chapter's number before its title."""


def _folded(word: str) -> str:
    """Letters and digits alone, without case and accents, ligatures and widths resolved."""
    if word.isascii():
        return word.lower()
    return "".join(_WORD.findall(unicodedata.normalize("NFKD", word).casefold()))


@frozen
class _Words:
    """The words of a page one after the other, so that spaces and line ends do not matter; `ends` follow `starts`."""

    joined: str
    starts: dict[int, int]
    ends: dict[int, int]


def _words(text: str, start: int, end: int) -> _Words:
    parts: list[str] = []
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    length = 0
    for found in _WORD.finditer(text, start, end):
        part = _folded(found[0])
        if part:
            starts[length] = found.start()
            length += len(part)
            ends[length] = found.end()
            parts.append(part)
    return _Words("".join(parts), starts, ends)


class Headings:
    """Finds headings on the pages of a text; quick where those of one page are asked for one after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._page: tuple[int, int] | None = None
        self._words = _Words("", {}, {})

    def _on(self, page: tuple[int, int]) -> _Words:
        if page != self._page:
            self._page, self._words = page, _words(self.text, *page)
        return self._words

    def find(self, title: str, page: tuple[int, int], since: int = 0) -> tuple[int, int] | None:
        """(start, end) of the line that is the heading `title` on the page (start, end), its number with it, from `since` on.

        None where there is none. Case, spaces, punctuation and line ends do not matter. One that stands in the first line
        of the page, as a running header does, is passed over where there is another.
        """
        found = [each for each in self._lines(title, page) if each[0] >= since]
        if len(found) > 1 and not self.text[page[0] : found[0][0]].strip():
            return found[1]
        return found[0] if found else None

    def _lines(self, title: str, page: tuple[int, int]) -> Iterator[tuple[int, int]]:
        wanted = "".join(_folded(word) for word in _WORD.findall(title))
        words = self._on(page)
        place = words.joined.find(wanted) if wanted else -1
        while place >= 0:
            start, end = words.starts.get(place), words.ends.get(place + len(wanted))
            if start is not None and end is not None and self._ends_line(end, page[1]):
                begin = self._line_start(start, page[0])
                if begin is not None:
                    yield begin, end
            place = words.joined.find(wanted, place + 1)

    def _ends_line(self, end: int, page_end: int) -> bool:
        line_end = self.text.find("\n", end, page_end)
        rest = self.text[end : page_end if line_end < 0 else line_end]
        return not any(character.isalpha() for character in rest[:_LABEL_LIMIT])

    def _line_start(self, start: int, page_start: int) -> int | None:
        """Where the line of a heading begins, or None where more than a number stands before it.

        A number that stands alone in the line above belongs to the heading.
        """
        begin = max(page_start, self.text.rfind("\n", page_start, start) + 1)
        before = self.text[begin:start]
        if not _is_label(before):
            return None
        above = max(page_start, self.text.rfind("\n", page_start, max(page_start, begin - 1)) + 1)
        if not before.strip() and _is_number(self.text[above:begin]):
            begin, before = above, self.text[above:begin]
        return begin + len(before) - len(before.lstrip())


def _is_label(text: str) -> bool:
    return len(text) <= _LABEL_LIMIT and _LABEL.fullmatch(text) is not None


def _is_number(text: str) -> bool:
    """Whether a line is a number like `1.2` or `Chapter 3`; a digit alone may be that of the page."""
    return _is_label(text) and ("." in text or any(c.isalpha() for c in text)) and any(c.isalnum() for c in text)
