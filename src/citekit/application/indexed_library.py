"""Makes sure that the text of everything that is mapped is indexed, without reading all maps for each question."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import define, evolve, field, frozen

from citekit.application.index_text import IndexText
from citekit.domain.errors import Cancelled, CiteKitError, in_a_note
from citekit.domain.modality import BY_DIGEST
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.quotable_texts import QuotableTexts
from citekit.domain.ports.text_index import Generation, IndexedText, TextIndex
from citekit.domain.progress import Progress, silent

LOOK_RATE = 1000
"""A comparison with all maps is valid for one second per this number of maps."""

LOOK_LIMIT = 60.0
"""The maximum time, in seconds, for which a comparison is valid."""

BATCH = 500
"""The number of notes (see `TextIndex.note`) that are stored at once."""

READING = "reading text"

ATTEMPTS = 3
"""The maximum number of comparisons of the index with the maps for one question, if the index keeps changing."""


@frozen
class LibraryTexts:
    """The indexed text of everything that is mapped.

    `versions` has the version of each indexed text, `maps` that of the maps, `skipped` the reason for each other
    resource, and `generation` the state of the index.
    """

    versions: Mapping[str, str]
    maps: Mapping[str, str]
    skipped: Mapping[str, str]
    generation: Generation | None


@frozen
class _Look:
    """A comparison of the index with all maps.

    `state` is that of the maps before it, `generation` that of the index after it, `at` is its time (monotonic clock),
    and `maps` has the versions of the maps. Until `state` or `generation` changes, the texts in `settled` need no
    further check. `others` are the IDs of all other resources.
    """

    state: str | None
    generation: Generation | None
    at: float
    maps: Mapping[str, str]
    settled: dict[str, IndexedText] = field(factory=dict)
    versions: dict[str, str] = field(factory=dict)
    others: list[str] = field(factory=list)

    def settle(self, name: str, text: IndexedText) -> None:
        """Add the text of a resource that needs no further check."""
        self.settled[name] = text
        self.versions[name] = text.version

    def holds(self, state: str | None, generation: Generation | None) -> bool:
        """Return whether the comparison is recent and nothing was mapped, removed, or indexed since."""
        maps = len(self.settled) + len(self.others)
        return (
            state is not None
            and generation is not None
            and (state, generation) == (self.state, self.generation)
            and 0 <= time.monotonic() - self.at < min(maps / LOOK_RATE, LOOK_LIMIT)
        )


@define
class IndexedLibrary:
    """Indexes the text of everything that is mapped and not indexed yet.

    For each text, the index records with which version of the map and of the reader the text was current
    (`TextIndex.note`). A comparison therefore reads only the file status of most maps. Whether the sources have changed
    is not checked.
    """

    maps: MapStore
    indexed: IndexText
    index: TextIndex
    texts: QuotableTexts
    _look: _Look | None = field(default=None, init=False)

    def __call__(self, roots: Sequence[Path] = (), progress: Progress = silent) -> LibraryTexts:
        """Return the versions of the indexed texts.

        Raise `MapCorrupt` if the maps cannot be listed, or `Cancelled` if `progress` cancels the work.
        """
        look, skipped = self._look, dict[str, str]()
        if look is None or not look.holds(self.maps.state(), self.index.generation()):
            for _ in range(ATTEMPTS):
                look = self._compared(look, skipped, roots, progress)
                if self.index.generation() == look.generation:
                    break  # otherwise another process changed the index, or it was damaged
            self._look = look
        assert look is not None
        others = [name for name in look.others if name not in skipped]
        known, versions = self.index.versions(others) if others else {}, dict[str, str]()
        for number, name in enumerate(others):
            progress(number, len(others), READING)
            try:
                versions[name], _ = self.indexed(
                    self.maps.get(name, look.maps.get(name)), known.get(name), roots, progress
                )
            except Cancelled:
                raise
            except CiteKitError as error:
                skipped[name] = in_a_note(error)
        every = {**look.versions, **versions} if versions else look.versions
        return LibraryTexts(every, look.maps, skipped, self.index.generation())

    def _compared(
        self, before: _Look | None, skipped: dict[str, str], roots: Sequence[Path], progress: Progress
    ) -> _Look:
        """Compare the index with all maps, and index what is missing, except resources in `skipped`.

        Those that cannot be read are added to `skipped`, with the reason.
        """
        state, at = self.maps.state(), time.monotonic()
        generation = self.index.generation()
        is_same = before is not None and generation is not None and generation == before.generation
        known = before.settled if before is not None and is_same else self.index.texts()
        names, versions = self.maps.ids(), dict(self.maps.versions().items())
        look, added = _Look(state, generation, at, versions), 0
        reader = self.texts.reader_version()
        new: dict[str, IndexedText] = {}
        try:
            for number, name in enumerate(names):
                text, version = known.get(name), versions.get(name)
                note = f"{reader} {version}"
                if text is not None and version is not None:
                    settled = before.settled.get(name) if before is not None else None
                    current = text if text.note == note else IndexedText(text.version, note)
                    if current is text or current == settled:
                        look.settle(name, current)
                        continue
                if name in skipped or version is None:
                    look.others.append(name)
                    continue
                progress(number, len(names), READING)
                try:
                    resource_map = self.maps.get(name, version)
                    indexed, reason = self.indexed(
                        resource_map, None if text is None else text.version, roots, progress
                    )
                except Cancelled:
                    raise
                except CiteKitError as error:
                    skipped[name] = in_a_note(error)
                    look.others.append(name)
                    continue
                added += text is None or text.version != indexed
                if resource_map.source_digest is None or resource_map.modality not in BY_DIGEST:
                    look.others.append(name)
                    continue
                look.settle(name, IndexedText(indexed, note))
                if reason is None:
                    new[name] = look.settled[name]
                if len(new) >= BATCH:
                    self.index.note(new)
                    new.clear()
        finally:
            if new:
                self.index.note(new)
        return evolve(look, generation=generation and generation.after(added))
