"""Reads what the library needs from a file: the text of a document, or the transcript of a recording."""

from __future__ import annotations

from pathlib import PurePath

from attrs import frozen

from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.located_text import LocatedText
from citekit.domain.modality import RECORDINGS
from citekit.domain.ports.media_probe import MediaProbe
from citekit.domain.ports.quotable_texts import QuotableTexts
from citekit.domain.ports.text_reader import TextReader
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.transcript import Transcript
from citekit.domain.source import Source

UNKNOWN_SPEAKER = "Unknown speaker"
"""The author of a recording that names no artist."""


@frozen
class BookTexts:
    """Reads documents with `texts`, and recordings with `quotable`, as for verifying quotes."""

    texts: TextReader
    quotable: QuotableTexts
    probe: MediaProbe

    def supports(self, format: Format) -> bool:
        """Return whether files of the format can be in the library."""
        return format.modality in RECORDINGS or self.texts.supports(format)

    def read(self, source: Source, progress: Progress = silent) -> LocatedText:
        """Return the text of a document, or the transcript of a recording with the text on its screen.

        Raise `SourceUnsupported` for a recording without words, and the errors of the ports.
        """
        if source.format.modality in RECORDINGS:
            found = [each.placed for each in self.quotable.read(source, progress)]
            said, shown = found[0], found[-1]
            if (
                isinstance(said, Transcript)
                and isinstance(shown, Transcript)
                and shown.screen_reader
                and shown is not said
            ):
                return said.with_screen(shown)
            return said
        return self.texts.read(source, progress)

    def facts(self, source: Source) -> BookFacts:
        """Return the metadata in the file. A recording without a title gets the name of its file.

        Raise the errors of the ports.
        """
        if source.format.modality not in RECORDINGS:
            return self.texts.facts(source)
        tags = self.probe.probe(source.path).tags
        title = tags.get("title") or PurePath(source.path).stem.replace("_", " ")
        author = tags.get("artist") or tags.get("album_artist") or UNKNOWN_SPEAKER
        return BookFacts(title=title, authors=(author,))
