"""Reads books, texts and the facts of recordings in a child."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import frozen

from citekit.adapters.isolating.children import Children
from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.manuscript import Manuscript
from citekit.domain.ports.media_probe import MediaFacts
from citekit.domain.ports.reader import Book
from citekit.domain.ports.text_reader import TextReader
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source
from citekit.wire.parsed import (
    book_facts_from,
    book_from,
    manuscript_from,
    media_facts_from,
    plain_source,
    text_from,
    texts_from,
)


@frozen
class IsolatedReader:
    """A `Reader` of reflowable books; raises `SourceUnsupported` where the child dies over the file."""

    children: Children

    def read(self, path: Path) -> Book:
        """See `Reader.read`."""
        return book_from(self.children.ask("book", path, {"path": str(path)}))

    def texts(self, path: Path, chapter: int, *, last: int | None = None) -> Sequence[str]:
        """See `Reader.texts`."""
        asked = {"path": str(path), "chapter": chapter, "last": last}
        return texts_from(self.children.ask("chapters", path, asked))

    def html(
        self,
        path: Path,
        chapter: int,
        chars: tuple[int, int] | None = None,
        *,
        last: int | None = None,
        progress: Progress = silent,
    ) -> str:
        """See `Reader.html`."""
        asked = {"path": str(path), "chapter": chapter, "chars": chars, "last": last}
        return text_from(self.children.ask("html", path, asked, progress))


@frozen
class IsolatedProbe:
    """A `MediaProbe`; raises `SourceUnsupported` where the child dies over the file."""

    children: Children

    def probe(self, path: Path) -> MediaFacts:
        """See `MediaProbe.probe`."""
        return media_facts_from(self.children.ask("probe", path, {"path": str(path)}))


@frozen
class IsolatedTextReader:
    """Reads as `here` would: in a child if the file `is_apart`, else here."""

    here: TextReader
    children: Children
    is_apart: Callable[[Source], bool]

    def supports(self, format: Format) -> bool:
        """See `TextReader.supports`."""
        return self.here.supports(format)

    def read(self, source: Source, progress: Progress = silent) -> Manuscript:
        """See `TextReader.read`; raises `SourceUnsupported` where the child dies over the file."""
        if not self.is_apart(source):
            return self.here.read(source, progress)
        return manuscript_from(self.children.ask("text", source.path, {"source": plain_source(source)}, progress))

    def facts(self, source: Source) -> BookFacts:
        """See `TextReader.facts`."""
        if not self.is_apart(source):
            return self.here.facts(source)
        return book_facts_from(self.children.ask("facts", source.path, {"source": plain_source(source)}))
