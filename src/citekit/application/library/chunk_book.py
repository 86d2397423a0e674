"""Splits a book into chapters, chunks, and passages, and adds the chunks to its map."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from attrs import evolve, field, frozen

from citekit.application.library.cohesion import Cohesion, MeasureCohesion
from citekit.application.library.index_entries import LocatedChunk
from citekit.domain.library.chapters import BookSection, chapters, with_chunks, without_chunks
from citekit.domain.library.chunking import Chunk, ChunkingParams, chunked, sentences_of, timed_chunks
from citekit.domain.library.located_text import LocatedText
from citekit.domain.library.passages import passages
from citekit.domain.library.sentences import Sentence, sentences
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.ports.embedder import Embedder
from citekit.domain.ports.sentence_splitter import SentenceSplitter
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.superscripts import CUT
from citekit.domain.quotes.transcript import Transcript
from citekit.domain.resource_map import ResourceMap

MAPPER = "library"
"""The mapper name of maps that contain chunks. `structure_by` in their metadata is the mapper of the other nodes."""

VERSION = "1"
"""Changes whenever the same book would be split differently."""

WINDOW = 60.0
"""The maximum duration of a chunk of a recording in seconds, unless one sentence is longer: a hit should name the
minute.
"""

UTTERANCE = 40
"""The maximum number of words of a sentence of a recording. Captions often have no punctuation."""


_PAUSE = re.compile(rf"\n{CUT}\n")


@frozen
class ChunkedBook:
    """A book split into parts. The chunks are leaves of `resource_map`."""

    extracted_text: LocatedText
    resource_map: ResourceMap
    placed: Sequence[LocatedChunk] = field(converter=tuple[LocatedChunk, ...])
    chapters: int

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """The numbers of chapters, chunks, passages, words, and characters."""
        return {
            "chapters": self.chapters,
            "chunks": len(self.placed),
            "passages": sum(len(chunk.passages) for chunk in self.placed),
            "words": sum(chunk.words for chunk in self.placed),
            "characters": len(self.extracted_text.text),
        }


@frozen
class _Part:
    """A chunk, its sentences, its chapter, and the index of the chapter."""

    chunk: Chunk
    sentences: tuple[Sentence, ...] = field(converter=tuple[Sentence, ...])
    chapter: BookSection
    index: int
    sequence: int
    siblings: int


@frozen
class ChunkBook:
    """Splits books. `similarity` detects where the subject changes; `window` is the number of words that one vector
    covers.
    """

    splitter: SentenceSplitter
    similarity: Embedder
    window: int

    def __call__(
        self,
        base: ResourceMap,
        extracted_text: LocatedText,
        params: ChunkingParams,
        language: str | None,
        *,
        hierarchical: bool = True,
        progress: Progress = silent,
    ) -> ChunkedBook:
        """Split the book whose map is `base`. Raise the errors of the ports, and `Cancelled`.

        A recording is split by time (`WINDOW`), whatever the `params`.
        """
        base = without_chunks(base)  # the chunks of an earlier ingest
        whole = BookSection(0, len(extracted_text.text), base.title, None, 0)
        found = chapters(extracted_text, base.nodes, base.title) if hierarchical else (whole,)
        if isinstance(extracted_text, Transcript):
            parts = list(self._windows(extracted_text, language, found))
        else:
            cohesion = MeasureCohesion(self.splitter, self.similarity)(
                extracted_text.text,
                language,
                min(params.max_words, self.window),
                _from(progress),
                [each.start for each in found],
            )
            parts = [part for index, chapter in enumerate(found) for part in _parts(cohesion, chapter, index, params)]
        titles = [_title(part, base.title) for part in parts]
        places = [extracted_text.locate(part.chunk.start, part.chunk.end).clamp(base.extent) for part in parts]
        marks = [
            (part.chunk.start, part.chunk.end, place, title, None)
            for part, place, title in zip(parts, places, titles, strict=True)
        ]
        attached = with_chunks(base, extracted_text, marks)
        placed = [
            _placed(part, identifier, base.title, hierarchical, self.window)
            for part, identifier in zip(parts, attached.ids, strict=True)
        ]
        return ChunkedBook(extracted_text, _named(attached.resource_map, params, hierarchical), placed, len(found))

    def _windows(self, transcript: Transcript, language: str | None, found: Sequence[BookSection]) -> Iterator[_Part]:
        """Yield the chunks of a recording. Sentences end at its long pauses, too."""
        text = transcript.text
        pauses = (place.end() for place in _PAUSE.finditer(text))
        starts = {*self.splitter.starts(text, language), *pauses, *(each.start for each in found)}
        spoken = sentences(text, sorted(starts), min(UTTERANCE, self.window))
        for index, chapter in enumerate(found):
            inside = [each for each in spoken if chapter.start <= each.start < chapter.end]
            since = [*(transcript.since_at(each.start) for each in inside), transcript.until_at(chapter.end - 1)]
            chunks = timed_chunks(inside, since, WINDOW)
            for sequence, chunk in enumerate(chunks):
                yield _Part(chunk, sentences_of(chunk, inside), chapter, index, sequence, len(chunks))


def _from(progress: Progress) -> Progress:
    """Return a progress callback for comparing sentences, which reports 8 to 30 percent."""

    def inside(done: float, total: float | None = None, message: str = "") -> None:
        progress(8 + 22 * done / (total or 1), 100, message)

    return inside


def _parts(cohesion: Cohesion, chapter: BookSection, index: int, params: ChunkingParams) -> Iterator[_Part]:
    first = bisect_left(cohesion.sentences, chapter.start, key=lambda each: each.start)
    last = bisect_left(cohesion.sentences, chapter.end, key=lambda each: each.start)
    spoken = cohesion.sentences[first:last]
    chunks = chunked(spoken, cohesion.similarities[first : max(first, last - 1)], params)
    for sequence, chunk in enumerate(chunks):
        yield _Part(chunk, sentences_of(chunk, spoken), chapter, index, sequence, len(chunks))


def _placed(part: _Part, node_id: str, book_title: str, hierarchical: bool, window: int) -> LocatedChunk:
    return LocatedChunk(
        start=part.chunk.start,
        end=part.chunk.end,
        words=part.chunk.words,
        passages=passages(part.sentences, window),
        node_id=node_id,
        section=part.chapter.title or book_title,
        chapter=(part.chapter.start, part.chapter.end) if hierarchical else None,
        chapter_index=part.index,
        sequence=part.sequence,
        siblings=part.siblings,
    )


def _title(part: _Part, book_title: str) -> str:
    title = part.chapter.title or book_title
    return f"{title} ({part.sequence + 1})" if part.siblings > 1 else title


def _named(made: ResourceMap, params: ChunkingParams, hierarchical: bool) -> ResourceMap:
    """Return the map, with the library as its mapper and the original mapper in `structure_by`."""
    how = "chapters" if hierarchical else "flat"
    version = f"{VERSION}-{params.threshold:g}-{params.min_words}-{params.max_words}-{how}"
    metadata: dict[str, object] = {**made.metadata, "mapper": MapperIdentity(MAPPER, version).to_metadata()}
    if made.mapper is not None and made.mapper.name != MAPPER:
        metadata["structure_by"] = made.mapper.to_metadata()
    return evolve(made, metadata=metadata)
