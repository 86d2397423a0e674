"""Converts locations in a book without pages to numbered paragraphs of chapters, and back."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import ClassVar

from attrs import field, frozen

from citekit.adapters.mappers.llm.location_codec import RawFields, Span, parse_integer, short_repr
from citekit.domain.errors import LocationMalformed
from citekit.domain.locations import Chapter, Location
from citekit.domain.ports.reader import Book
from citekit.wire.locations import from_plain

_PARAGRAPH = re.compile(r"[^\n]*\S[^\n]*")

Chars = tuple[int, int]


@frozen
class ParagraphCodec:
    """A location codec that numbers the paragraphs of the whole book from 1. An empty chapter has one empty paragraph.

    `paragraphs` has the character ranges (start, end) of the paragraphs of each chapter.
    """

    paragraphs: Sequence[Sequence[Chars]] = field(repr=False)
    unit: ClassVar[str] = "paragraph"
    first: ClassVar[float] = 1
    step: ClassVar[float] = 1
    end_tolerance: ClassVar[float] = 0
    parent_tolerance: ClassVar[float] = 0

    @classmethod
    def of(cls, book: Book) -> ParagraphCodec:
        """Return the codec for `book`."""
        return cls([_paragraphs(chapter.text) for chapter in book.chapters])

    @property
    def last(self) -> float:
        """The number of paragraphs in the book."""
        return self._ends[-1]

    @property
    def fields(self) -> Mapping[str, object]:
        """The JSON Schemas of the fields for the first and the last chapter and paragraph of a node."""
        return {
            "first_chapter": {"type": "integer", "description": "The chapter in which the part begins, from 1."},
            "first_paragraph": {
                "type": "integer",
                "description": "The first paragraph of the part, from 1 in that chapter.",
            },
            "last_chapter": {"type": "integer", "description": "The chapter in which the part ends."},
            "last_paragraph": {
                "type": "integer",
                "description": "The last paragraph of the part in that chapter, inclusive.",
            },
        }

    def parse(self, record: RawFields) -> Span:
        """See `LocationCodec.parse`. The fields `chapter` and `chars` of stored maps are also accepted."""
        if "first_chapter" not in record and "chapter" in record:
            return self._written_place(record)
        if "first_chapter" not in record:
            raise LocationMalformed("first_chapter: is missing")
        first = self._chapter("first_chapter", record["first_chapter"])
        last = self._chapter("last_chapter", record["last_chapter"]) if "last_chapter" in record else first
        start = self._paragraph(first, "first_paragraph", record.get("first_paragraph", 1))
        end = self._paragraph(last, "last_paragraph", record.get("last_paragraph", len(self.paragraphs[last - 1])))
        return start, end

    def to_fields(self, span: Span) -> dict[str, object]:
        """See `LocationCodec.to_fields`."""
        (first, start), (last, end) = self.position(int(span[0])), self.position(int(span[1]))
        return {"first_chapter": first, "first_paragraph": start, "last_chapter": last, "last_paragraph": end}

    def describe(self, span: Span) -> str:
        """See `LocationCodec.describe`."""
        inside = max(1, min(span[0], self.last)), max(1, min(span[1], self.last))
        (first, start), (last, end) = self.position(int(inside[0])), self.position(int(inside[1]))
        if (start, end) == (1, len(self.paragraphs[last - 1])):
            return f"chapter {first}" if first == last else f"chapters {first}-{last}"
        if first == last:
            return (
                f"chapter {first}, paragraph {start}" if start == end else f"chapter {first}, paragraphs {start}-{end}"
            )
        return f"chapter {first}, paragraph {start}, to chapter {last}, paragraph {end}"

    def to_location(self, span: Span) -> Location:
        """See `LocationCodec.to_location`. A span that crosses chapters is extended to whole chapters, because a map
        cannot express parts of several.
        """
        (first, start), (last, end) = self.position(int(span[0])), self.position(int(span[1]))
        plain: dict[str, object] = {"modality": "document", "chapter": first if first == last else [first, last]}
        if first == last and (start, end) != (1, len(self.paragraphs[first - 1])):
            chapter = self.paragraphs[first - 1]
            plain["chars"] = [chapter[start - 1][0], chapter[end - 1][1]]
        return from_plain(plain)

    def from_location(self, location: Location) -> Span | None:
        """See `LocationCodec.from_location`. The result is also None for a chapter that does not exist.

        Raise `LocationMalformed` if there is no paragraph at the characters of the location.
        """
        if not isinstance(location, Chapter) or location.last > len(self.paragraphs):
            return None
        if location.chars is None:
            return self.number(location.number, 1), self._ends[location.last - 1]
        return self._covering(location.number, location.chars)

    def position(self, number: int) -> tuple[int, int]:
        """Return (chapter, paragraph in the chapter), both from 1, of paragraph `number` of the book."""
        chapter = bisect_right(self._starts, number)
        return chapter, number - self._starts[chapter - 1] + 1

    def number(self, chapter: int, paragraph: int) -> int:
        """Return the number in the whole book, from 1, of a paragraph of a chapter."""
        return self._starts[chapter - 1] + paragraph - 1

    def _chapter(self, name: str, value: object) -> int:
        number, count = parse_integer(name, value), len(self.paragraphs)
        if name == "last_chapter" and number == count + 1:
            return count
        if not 1 <= number <= count:
            raise LocationMalformed(
                f"{name}: chapter {number} does not exist; the chapters are numbered from 1 to {count}"
            )
        return number

    def _paragraph(self, chapter: int, name: str, value: object) -> int:
        number, count = parse_integer(name, value), len(self.paragraphs[chapter - 1])
        if name == "last_paragraph" and count < number <= count + 3:
            return self.number(chapter, count)
        if not 1 <= number <= count:
            raise LocationMalformed(
                f"{name}: paragraph {number} does not exist; the paragraphs of chapter {chapter} are numbered from 1 "
                f"to {count}"
            )
        return self.number(chapter, number)

    def _written_place(self, record: RawFields) -> Span:
        value = record["chapter"]
        ends = value if isinstance(value, list) and len(value) == 2 else [value, value]
        first, last = (self._chapter("chapter", number) for number in ends)
        chars = record.get("chars")
        if chars is None or first != last:
            return self.number(first, 1), self._ends[last - 1]
        if not isinstance(chars, list) or len(chars) != 2:
            raise LocationMalformed(f"chars: must be two whole numbers, not {short_repr(chars)}")
        return self._covering(first, (parse_integer("chars", chars[0]), parse_integer("chars", chars[1])))

    def _covering(self, chapter: int, chars: Chars) -> Span:
        """Return the first and last paragraph (numbers in the book) that overlap the characters `chars` of a chapter.

        Raise `LocationMalformed` if there are none.
        """
        touched = [
            n for n, (start, end) in enumerate(self.paragraphs[chapter - 1], 1) if start < chars[1] and chars[0] < end
        ]
        if not touched:
            raise LocationMalformed(f"chars: chapter {chapter} has no text at characters {chars[0]}-{chars[1]}")
        return self.number(chapter, touched[0]), self.number(chapter, touched[-1])

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(len(chapter) for chapter in self.paragraphs))

    @cached_property
    def _starts(self) -> list[int]:
        return [1, *(end + 1 for end in self._ends[:-1])]


def _paragraphs(text: str) -> list[Chars]:
    return [found.span() for found in _PARAGRAPH.finditer(text)] or [(0, 0)]
