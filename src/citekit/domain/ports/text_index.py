"""Defines the port for the index of the text of all mapped files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from attrs import frozen

from citekit.domain.text_search.blocks import TextBlock


@frozen
class IndexedText:
    """The `version` of an indexed text, and its `note` from `TextIndex.note`, empty at first."""

    version: str
    note: str = ""


@frozen
class Generation:
    """The state of an index: which index it is, and how many times texts were stored in it or removed from it.

    A new index that replaces a damaged one has a different `index`.
    """

    index: str
    changes: int

    def after(self, changes: int) -> Generation:
        """Return the generation after that many further changes."""
        return Generation(self.index, self.changes + changes)


@frozen
class FoundBlock:
    """A block that a search of all resources found. `at` is its number in the text, from 0."""

    resource_id: str
    version: str
    at: int
    block: TextBlock


class TextIndex(Protocol):
    """Stores the text of files in blocks, and finds the blocks that contain words.

    It is a cache: after a failure, a resource counts as not indexed. If `find` or `blocks` finds damaged data, it omits
    blocks, and `versions` then no longer includes the affected resources. The methods raise `StoreUnavailable` if the
    index is in a database that cannot be used.
    """

    def versions(self, resources: Sequence[str]) -> Mapping[str, str]:
        """Return the version of the indexed text for each of `resources` that is indexed."""

    def texts(self) -> Mapping[str, IndexedText]:
        """Return the version and the note of each indexed text."""

    def generation(self) -> Generation | None:
        """Return the generation, which changes when any process stores or removes a text, or None if there is no index.

        A call of `put` that stores a text is one change. The cost does not depend on the number of resources.
        """

    def note(self, texts: Mapping[str, IndexedText]) -> None:
        """Attach the notes in `texts` to those texts whose version is still indexed.

        A note is lost when the text is replaced.
        """

    def put(self, resource_id: str, version: str, blocks: Iterable[TextBlock]) -> bool:
        """Index the text of a resource, replacing its earlier text. Return whether the text was stored."""

    def drop(self, resource_id: str) -> None:
        """Remove a resource from the index."""

    def size(self, resource_id: str, version: str) -> int:
        """Return the number of blocks of a resource; 0 unless it is indexed under that version."""

    def blocks(self, resource_id: str, version: str, numbers: Sequence[int]) -> Mapping[int, TextBlock]:
        """Return the blocks with these numbers, by number and in the order of their numbers.

        Blocks are counted from 0 in the order in which they were put. Blocks that do not exist are left out; after
        damage, there are none.
        """

    def find(
        self, words: Sequence[str], versions: Mapping[str, str], *, every: bool = True
    ) -> Iterator[tuple[str, TextBlock]]:
        """Yield (resource ID, block) for the blocks that contain all of `words`, or any of them if `every` is False.

        Without words, yield all blocks. Only resources that are indexed with their version in `versions` are searched.
        The blocks of a resource are consecutive and in the order in which they were stored. `words` are words from
        `words_of`.
        """

    def count_everywhere(self, words: Sequence[str], most: int) -> int:
        """Return how many blocks of all resources contain all of `words`, but at most `most`.

        Without words, all blocks are counted.
        """

    def find_everywhere(self, words: Sequence[str], *, spread: bool = False) -> Iterator[FoundBlock]:
        """Yield the blocks of all resources that contain all of `words`, or all blocks if there are no words.

        The resources are in the order of their IDs, the blocks as in `find`. If `spread` is True, the first blocks
        instead come from all parts of the index, for callers that read only some of the blocks. If the index changes
        before the last block is read, blocks may be missing; `generation` then returns a different value.
        """
