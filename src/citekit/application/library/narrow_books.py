"""Restricts a search to the books that match given criteria."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from citekit.domain.errors import RequestRefused
from citekit.domain.library.folding import folded
from citekit.domain.library.languages import iso_639_3
from citekit.domain.library.ledger import LedgerEntry
from citekit.domain.library.vectors import Where
from citekit.domain.ports.ledger import Ledger


@frozen(kw_only=True)
class Narrowing:
    """Criteria for books. A book must meet all that are set.

    `author`, `title`, and each of `tags` match a part of the author, the title, or a tag of the book, ignoring case.
    `language` is compared as an ISO 639 code. `book_ids` and `resources` contain the accepted IDs.
    """

    author: str | None = None
    title: str | None = None
    language: str | None = None
    tags: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    book_ids: tuple[int, ...] = field(default=(), converter=tuple[int, ...])
    resources: tuple[str, ...] = field(default=(), converter=tuple[str, ...])

    def __bool__(self) -> bool:
        said = (self.author, self.title, self.language)
        return any(text and text.strip() for text in said) or bool(self.tags or self.book_ids or self.resources)


@frozen
class NarrowTo:
    """Converts criteria for books to a filter for the vector index, using the ledger of ingested books."""

    ledger: Ledger

    def __call__(self, narrowing: Narrowing, collection: str) -> Where:
        """Return the index filter for the books of the collection that match the criteria, or for all books without
        criteria.

        Raise `RequestRefused` if no ingested book matches.
        """
        if not narrowing:
            return Where()
        books = self.ledger.books(collection)
        if not books:
            raise RequestRefused(
                f"The collection '{collection}' contains no books. Use another collection, or ingest a book into this one."
            )
        fitting = [entry for entry in books if _fits(entry, narrowing)]
        if not fitting:
            raise RequestRefused(
                f"No book in the collection '{collection}' meets all given criteria (author, title, language, tags, IDs)."
            )
        return Where(_fields(narrowing, fitting))


def _fields(narrowing: Narrowing, fitting: Sequence[LedgerEntry]) -> dict[str, tuple[str | int, ...]]:
    """Return the fields of the index filter and the values that each may have.

    Languages and book IDs have fields of their own. Books that meet other criteria are selected by their names in the
    index.
    """
    fields: dict[str, tuple[str | int, ...]] = {}
    if narrowing.language:
        fields["language"] = tuple({entry.language for entry in fitting})
    if narrowing.book_ids:
        fields["book_id"] = narrowing.book_ids
    if narrowing.author or narrowing.title or narrowing.tags or narrowing.resources:
        fields["digest"] = tuple(entry.index_key for entry in fitting)
    return fields


def _fits(entry: LedgerEntry, narrowing: Narrowing) -> bool:
    return (
        _inside(narrowing.author, entry.author)
        and _inside(narrowing.title, entry.title)
        and (not narrowing.language or iso_639_3(narrowing.language) == iso_639_3(entry.language))
        and all(any(_inside(tag, own) for own in entry.parameters.get("tags", ())) for tag in narrowing.tags)
        and (not narrowing.book_ids or entry.book_id in narrowing.book_ids)
        and (not narrowing.resources or entry.resource_id in narrowing.resources)
    )


def _inside(wanted: str | None, text: str) -> bool:
    return wanted is None or folded(wanted.strip()) in folded(text)
