"""A text index in memory, for tests and for CiteKit homes that cannot be written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import define, field

from citekit.domain.ports.text_index import FoundBlock, Generation, IndexedText
from citekit.domain.text_search.blocks import TextBlock
from citekit.domain.words import words_of


@define
class MemoryTextIndex:
    """A `TextIndex` in memory. Every search compares the words of every block of text."""

    _known: dict[str, tuple[str, list[TextBlock]]] = field(factory=dict, init=False)
    _notes: dict[str, str] = field(factory=dict, init=False)
    _changes: int = field(default=0, init=False)

    def versions(self, resources: Sequence[str]) -> Mapping[str, str]:
        """See `TextIndex.versions`."""
        return {name: self._known[name][0] for name in resources if name in self._known}

    def texts(self) -> Mapping[str, IndexedText]:
        """See `TextIndex.texts`."""
        return {name: IndexedText(known[0], self._notes.get(name, "")) for name, known in self._known.items()}

    def generation(self) -> Generation | None:
        """See `TextIndex.generation`."""
        return Generation("memory", self._changes)

    def note(self, texts: Mapping[str, IndexedText]) -> None:
        """See `TextIndex.note`."""
        current = self.versions(list(texts))
        self._notes.update((name, text.note) for name, text in texts.items() if current.get(name) == text.version)

    def put(self, resource_id: str, version: str, blocks: Iterable[TextBlock]) -> bool:
        """See `TextIndex.put`."""
        self._known[resource_id] = version, list(blocks)
        self._notes.pop(resource_id, None)
        self._changes += 1
        return True

    def drop(self, resource_id: str) -> None:
        """See `TextIndex.drop`."""
        if self._known.pop(resource_id, None) is not None:
            self._notes.pop(resource_id, None)
            self._changes += 1

    def size(self, resource_id: str, version: str) -> int:
        """See `TextIndex.size`."""
        known, blocks = self._known.get(resource_id, ("", []))
        return len(blocks) if known == version else 0

    def blocks(self, resource_id: str, version: str, numbers: Sequence[int]) -> Mapping[int, TextBlock]:
        """See `TextIndex.blocks`."""
        known, blocks = self._known.get(resource_id, ("", []))
        asked = set(numbers) if known == version else set()
        return {number: block for number, block in enumerate(blocks) if number in asked}

    def find(
        self, words: Sequence[str], versions: Mapping[str, str], *, every: bool = True
    ) -> Iterator[tuple[str, TextBlock]]:
        """See `TextIndex.find`."""
        for name, version in versions.items():
            known, blocks = self._known.get(name, ("", []))
            for block in blocks if known == version else ():
                if _has(block, words, every=every):
                    yield name, block

    def count_everywhere(self, words: Sequence[str], most: int) -> int:
        """See `TextIndex.count_everywhere`."""
        return min(most, sum(1 for _ in self.find_everywhere(words)))

    def find_everywhere(self, words: Sequence[str], *, spread: bool = False) -> Iterator[FoundBlock]:
        """See `TextIndex.find_everywhere`."""
        found = [
            FoundBlock(name, version, at, block)
            for name, (version, blocks) in sorted(self._known.items())
            for at, block in enumerate(blocks)
            if _has(block, words)
        ]
        yield from (*found[::2], *found[1::2]) if spread else found


def _has(block: TextBlock, words: Sequence[str], *, every: bool = True) -> bool:
    wanted = set(words)
    found = wanted.intersection(words_of(block.text))
    return not wanted or (found == wanted if every else bool(found))
