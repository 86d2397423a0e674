"""Previews how a document would be split into chunks. Stores nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import field, frozen

from citekit.application.library.cohesion import MeasureCohesion
from citekit.application.library.document_text import read_text
from citekit.domain.errors import RequestRefused
from citekit.domain.library.books import BookFacts
from citekit.domain.library.chunking import Chunk, ChunkingParams, chunked
from citekit.domain.ports.embedder import Embedder
from citekit.domain.ports.library_reader import LibraryReader
from citekit.domain.ports.sentence_splitter import SentenceSplitter
from citekit.domain.ports.sources import Sources
from citekit.domain.progress import Progress, silent


@frozen
class Sample:
    """An example of a chunk: its 0-based index, its number of words, and its text without surrounding whitespace."""

    index: int
    words: int
    text: str


@frozen(kw_only=True)
class TriedChunks:
    """The chunks, at least one, into which the file at `path` would be split without chapters."""

    path: Path
    facts: BookFacts
    params: ChunkingParams
    text: str = field(repr=False)
    chunks: Sequence[Chunk] = field(repr=False, converter=tuple[Chunk, ...])

    @property
    def total_words(self) -> int:
        """The number of words in all chunks."""
        return sum(chunk.words for chunk in self.chunks)

    @property
    def total_characters(self) -> int:
        """The number of characters in the whole text, including whitespace."""
        return len(self.text)

    @property
    def average_words(self) -> float:
        """The mean number of words in a chunk."""
        return self.total_words / len(self.chunks)

    @property
    def average_characters(self) -> float:
        """The mean number of characters in a chunk, without surrounding whitespace."""
        return sum(len(self.text_of(chunk)) for chunk in self.chunks) / len(self.chunks)

    @property
    def least_words(self) -> int:
        """The number of words in the shortest chunk."""
        return min(chunk.words for chunk in self.chunks)

    @property
    def most_words(self) -> int:
        """The number of words in the longest chunk."""
        return max(chunk.words for chunk in self.chunks)

    @property
    def samples(self) -> Sequence[Sample]:
        """The first chunk, the middle chunk if there are at least three, and the last chunk if there are at least two."""
        count = len(self.chunks)
        places = dict.fromkeys([0, *([count // 2] if count > 2 else []), count - 1])
        return [Sample(place, self.chunks[place].words, self.text_of(self.chunks[place])) for place in places]

    def text_of(self, chunk: Chunk) -> str:
        """Return the text of `chunk` without surrounding whitespace."""
        return self.text[chunk.start : chunk.end].strip()


@frozen
class TryChunking:
    """Reads a file and splits it into chunks."""

    sources: Sources
    reader: LibraryReader
    splitter: SentenceSplitter
    embedder: Embedder

    def __call__(
        self, path: Path, params: ChunkingParams, *, language: str | None = None, progress: Progress = silent
    ) -> TriedChunks:
        """Return the chunks of the file at `path`.

        `language` is an ISO 639 code; the default is that in the file's metadata. Raise `RequestRefused` if the file
        has no text, `SourceUnsupported` if text cannot be read from the format, and the errors of the ports.
        """
        found = read_text(self.sources, self.reader, path)
        facts, text = found.facts, found.text
        if not text.strip():
            raise RequestRefused("No chunks created: no text was found in the file.")
        measure = MeasureCohesion(self.splitter, self.embedder)
        cohesion = measure(text, language or facts.language, params.max_words, progress)
        chunks = chunked(cohesion.sentences, cohesion.similarities, params)
        return TriedChunks(path=found.path, facts=facts, params=params, text=text, chunks=chunks)
