"""Splits the text of a file into the blocks of a text index: pages, or ranges of lines, rows, or subtitles."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property

from attrs import evolve, frozen

from citekit.domain.library.extracted_text import ExtractedText, UnitKind, Units
from citekit.domain.locations import Pages
from citekit.domain.quotes.hidden import NOT_VISIBLE
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.quotes.transcript import Transcript
from citekit.domain.text_search.word_lines import WordLines

BLOCK = 3000
"""The number of characters after which a block ends, at the next line. A page is one block."""

BLOCK_SECONDS = 60.0
"""The number of seconds after which a block of speech ends, at the next line."""


@frozen
class TextBlock:
    """A block of the text of a file: `located` has the location of each character.

    If `hidden` is True, it is the complete text of pages or rows that also contain hidden text.
    """

    located: ExtractedText | Transcript
    hidden: bool = False

    @property
    def text(self) -> str:
        """The text of the block."""
        return self.located.text

    @cached_property
    def page(self) -> Pages | None:
        """The location of every part of the block if it is the text of one page; otherwise None."""
        match self.located:
            case ExtractedText(kind=UnitKind.PAGE, units=[unit]):
                return Pages((unit.number,))
        return None

    @cached_property
    def lines(self) -> WordLines:
        """The lines and words of the text."""
        return WordLines.of(self.text)


def blocks_of(texts: Sequence[Quotable]) -> Iterator[TextBlock]:
    """Yield the blocks of a file in reading order, then those of pages or rows with hidden text.

    `texts` is the result of `QuotableTexts.read`.
    """
    if not texts:
        return
    shown = texts[0].placed
    if isinstance(shown, Transcript):
        more = [each.placed for each in texts[1:] if isinstance(each.placed, Transcript) and each.placed.screen_reader]
        blocks = [block for text in (shown, *more) for block in _cue_blocks(text)]
        yield from map(TextBlock, sorted(blocks, key=lambda block: block.since[0]))
        return
    if not isinstance(shown, ExtractedText):
        return
    yield from map(TextBlock, _unit_blocks(shown))
    for text in texts[1:]:
        if text.note == NOT_VISIBLE and isinstance(text.placed, ExtractedText):
            yield from (TextBlock(each, hidden=True) for each in _unit_blocks(_differing_units(shown, text.placed)))


def _differing_units(shown: ExtractedText, whole: ExtractedText) -> ExtractedText:
    """Return the units of the complete text that differ from the visible ones."""
    known = {unit.number: shown.text[unit.start : unit.end] for unit in shown.units}
    own = ((unit.number, whole.text[unit.start : unit.end]) for unit in whole.units)
    return whole.with_units((number, text) for number, text in own if text != known.get(number))


def _unit_blocks(text: ExtractedText) -> Iterator[ExtractedText]:
    if text.kind in (UnitKind.PAGE, UnitKind.CHAPTER):
        for unit in text.units:
            whole = text.kind is UnitKind.PAGE
            for start, end in [(unit.start, unit.end)] if whole else _ranges(text.text, unit.start, unit.end):
                if text.text[start:end].strip():
                    units = Units()
                    units.add(unit.number, unit.start - start, unit.end - start)
                    yield ExtractedText(text.kind, text.text[start:end], units)
        return
    first = 0
    for last in range(len(text.units)):
        start, end = text.units.starts[first], text.units.ends[last]
        if end - start >= BLOCK or last + 1 == len(text.units):
            units = Units.of(_shifted(text.units[first : last + 1], start, end))
            yield ExtractedText(text.kind, text.text[start:end], units, text.sheets)
            first = last + 1


def _shifted(units: Units, start: int, end: int) -> Units:
    """Return the units between two offsets, with offsets relative to `start`."""
    made = Units()
    for number, begin, finish in zip(units.numbers, units.starts, units.ends, strict=True):
        if start <= begin and finish <= end:
            made.add(number, begin - start, finish - start)
    return made


def _ranges(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        border = text.find("\n", start + BLOCK, end)
        stop = end if border < 0 else border
        yield start, stop
        start = stop + 1


def _cue_blocks(text: Transcript) -> Iterator[Transcript]:
    first = 0
    for last in range(len(text.starts)):
        start, end = text.starts[first], text.ends[last]
        is_line_end = text.text[end : end + 1] in ("", "\n")
        if text.screen_reader:  # a block is a slide, however long it is shown
            is_full = text.since[last + 1 : last + 2] >= array("d", [max(text.until[first : last + 1])])
        else:
            is_full = end - start >= BLOCK or text.until[last] - text.since[first] >= BLOCK_SECONDS
        if (is_full and is_line_end) or last + 1 == len(text.starts):
            part = slice(first, last + 1)
            starts = array("q", (each - start for each in text.starts[part]))
            ends = array("q", (each - start for each in text.ends[part]))
            times = text.since[part], text.until[part]
            doubtful = array("q", (each - first for each in text.doubtful if first <= each <= last))
            whole = Transcript(text.modality, text.text[start:end], starts, ends, *times)
            yield evolve(
                whole,
                transcriber=text.transcriber,
                doubtful=doubtful,
                screen_reader=text.screen_reader,
                timed_by=text.timed_by,
            )
            first = last + 1
