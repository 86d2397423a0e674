"""Defines the location of pages in a document, or of a region of one page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, Self

from attrs import evolve, field, frozen

from citekit.domain.errors import LocationMalformed, LocationOutside
from citekit.domain.extent import Extent
from citekit.domain.locations.box import Box
from citekit.domain.modality import HasModality, Modality
from citekit.domain.numbers import WHOLE_LIMIT

PAGES_LIMIT = 100_000
"""Maximum number of pages in one location."""


@frozen
class Pages:
    """Physical pages of a document, numbered from 1, in ascending order without duplicates.

    The numbers `(12, 15)` mean only these two pages. `region` is a rectangle on the page and requires exactly one page.
    There are at most `PAGES_LIMIT` pages, with numbers up to `WHOLE_LIMIT`. The constructor raises `LocationMalformed`
    for invalid values.
    """

    modality: ClassVar[Modality] = Modality.DOCUMENT

    numbers: tuple[int, ...] = field(converter=tuple[int, ...])
    region: Box | None = None

    def __attrs_post_init__(self) -> None:
        if len(self.numbers) == 1 and type(self.numbers[0]) is int and 1 <= self.numbers[0] <= WHOLE_LIMIT:
            return  # the common case first: a map can have thousands of pages locations
        if not self.numbers:
            raise LocationMalformed("the list of pages must not be empty")
        if len(self.numbers) > PAGES_LIMIT:
            raise LocationMalformed(f"a location can have at most {PAGES_LIMIT:,} pages")
        if any(not isinstance(page, int) or isinstance(page, bool) for page in self.numbers):
            raise LocationMalformed(f"page numbers must be whole numbers, not {str(self.numbers)[:60]}")
        if not -WHOLE_LIMIT <= min(self.numbers) <= max(self.numbers) <= WHOLE_LIMIT:
            raise LocationMalformed("page numbers must have at most 12 digits")
        if self.numbers[0] < 1:
            raise LocationMalformed(f"pages are numbered from 1, so there is no page {self.numbers[0]}")
        if any(later <= earlier for earlier, later in zip(self.numbers, self.numbers[1:], strict=False)):
            raise LocationMalformed("page numbers must be in ascending order without duplicates")
        if self.region is not None and len(self.numbers) != 1:
            raise LocationMalformed("a region must be on exactly one page")

    @classmethod
    def of(cls, numbers: Iterable[int], region: Box | None = None) -> Self:
        """Return a location of page numbers in any order. Duplicate numbers are removed."""
        return cls(tuple(sorted(set(numbers))), region)

    @classmethod
    def span(cls, first: int, last: int) -> Self:
        """Return a location of the pages from `first` to `last`, both included.

        Raise `LocationMalformed` for a reversed range or more than `PAGES_LIMIT` pages.
        """
        if last < first:
            raise LocationMalformed(f"the page range {first}-{last} is reversed")
        if last - first >= PAGES_LIMIT:
            raise LocationMalformed(f"a location can have at most {PAGES_LIMIT:,} pages")
        return cls(tuple(range(first, last + 1)))

    @property
    def runs(self) -> Iterator[tuple[int, int]]:
        """The page numbers (first, last), both included, of each range of consecutive pages."""
        start = previous = self.numbers[0]
        for page in self.numbers[1:]:
            if page != previous + 1:
                yield start, previous
                start = page
            previous = page
        yield start, previous

    def contains(self, other: HasModality) -> bool:
        """Return whether this location contains the pages of `other` and, if it has a region, the region of `other`."""
        if not isinstance(other, Pages) or not set(other.numbers) <= set(self.numbers):
            return False
        return self.region is None or (other.region is not None and self.region.contains(other.region))

    def overlaps(self, other: HasModality) -> bool:
        """Return whether this location and `other` have a page in common and, if both have a region, an area of it."""
        if not isinstance(other, Pages) or not set(other.numbers) & set(self.numbers):
            return False
        return self.region is None or other.region is None or self.region.overlaps(other.region)

    def clamp(self, extent: Extent) -> Pages:
        """Return this location, limited to the pages that the document has, if known.

        Raise `LocationOutside` if none of them exists.
        """
        if extent.pages is None or self.numbers[-1] <= extent.pages:
            return self
        existing = tuple(page for page in self.numbers if page <= extent.pages)
        if not existing:
            raise LocationOutside.beyond("page", self.numbers[0], "document", extent.pages)
        return evolve(self, numbers=existing)
