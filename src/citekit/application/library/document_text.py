"""Reads the text and the bibliographic metadata of a file."""

from __future__ import annotations

from pathlib import Path

from attrs import field, frozen

from citekit.domain.errors import SourceUnreadable, SourceUnsupported
from citekit.domain.library.books import BookFacts
from citekit.domain.ports.library_reader import LibraryReader
from citekit.domain.ports.sources import Sources


@frozen
class DocumentText:
    """The text and the bibliographic metadata (`facts`) of the file at the absolute path `path`."""

    path: Path
    facts: BookFacts
    text: str = field(repr=False)


def read_text(sources: Sources, reader: LibraryReader, path: Path) -> DocumentText:
    """Read the text and the bibliographic metadata of the file at `path`.

    Raise `SourceUnsupported` if `reader` cannot read the format, `SourceUnreadable` if the file changes during reading,
    and the errors of `sources` and `reader`.
    """
    source = sources.identify(path)
    if not reader.supports(source.format):
        raise SourceUnsupported(f"CiteKit cannot read the text of {source.format.name} files: {path}")
    found = DocumentText(source.path, reader.facts(source), reader.read(source).text)
    if not sources.is_unchanged(source):
        raise SourceUnreadable(f"Cannot read {path}: it changed while it was being read. Wait until it is complete.")
    return found
