"""Texts by their lines: plain ones and code as they are, marked-up ones without their marks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from citekit.adapters.reading.markdown_lines import spoken_markdown
from citekit.adapters.reading.rst_lines import spoken_rst
from citekit.adapters.reading.source_lines import head_lines, read_lines
from citekit.adapters.reading.subtitle_lines import parted_subtitles, spoken_subtitles
from citekit.adapters.reading.text_facts import markdown_facts, text_facts
from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.manuscript import Manuscript, UnitKind, Units
from citekit.domain.modality import Modality
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

_HEAD = 300
_STEP = 20_000
_SPOKEN: dict[str, Callable[[Sequence[str]], Iterable[str]]] = {
    "markdown": spoken_markdown,
    "rst": spoken_rst,
    "subtitles": spoken_subtitles,
}
"""Formats with markup: each function gives every line without it, an empty one for a line that is markup alone."""


class LinesTextReader:
    """Reads all formats of text but HTML. A unit is a line that holds something; white space at its ends is in none.

    With `as_seen`, subtitles are parted where a long pause is.
    """

    def __init__(self, *, as_seen: bool = False) -> None:
        self._spoken = {**_SPOKEN, "subtitles": parted_subtitles} if as_seen else _SPOKEN

    def supports(self, format: Format) -> bool:
        """Every format of lines but HTML."""
        return format.modality is Modality.TEXT and format.name != "html"

    def read(self, source: Source, progress: Progress = silent) -> Manuscript:
        """The lines, parted by line feeds; an empty line stays one. See `TextReader.read`."""
        lines = read_lines(source.path, progress)
        spoken = self._spoken.get(source.format.name)
        return lined(lines if spoken is None else list(spoken(lines)), progress)

    def facts(self, source: Source) -> BookFacts:
        """Markdown: its front matter, else its first heading; other texts: header lines as Project Gutenberg writes them."""
        if source.format.name == "markdown":
            return markdown_facts(head_lines(source.path, _HEAD))
        return text_facts(head_lines(source.path, _HEAD)) if source.format.name == "text" else BookFacts()


def lined(lines: Sequence[str], progress: Progress = silent) -> Manuscript:
    """The manuscript of lines, of which the first is line 1."""
    units, start = Units(), 0
    for number, line in enumerate(lines, 1):
        if number % _STEP == 0:
            progress(number, len(lines), "reading lines")
        kept = line.strip()
        if kept:
            first = start + line.index(kept[0])
            units.add(number, first, first + len(kept))
        start += len(line) + 1
    return Manuscript(UnitKind.LINE, "\n".join(lines) if len(units) else "", units)
