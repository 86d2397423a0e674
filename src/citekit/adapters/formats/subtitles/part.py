"""Returns lines of subtitles as a file that players open: with a header and whole cues."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from citekit.adapters.formats.shared.line_parts import LinePart, source_bytes
from citekit.adapters.formats.subtitles.outliner import read_cues
from citekit.adapters.formats.subtitles.parser import dialogue
from citekit.domain.locations import Lines


def subtitles_part(path: Path, lines: Lines) -> LinePart | None:
    """Return the cues on these lines of a SubRip file, or of a WebVTT file with its header. See `PartOf`."""
    source = source_bytes(path, lines)
    texts = list(source.text.lines()) if source else []
    starts = [cue.line for cue in read_cues(texts)[0]]
    if source is None or not starts or lines.last < starts[0]:
        return None
    extent = _whole_cues(starts, lines, source.text.line_count)
    is_vtt = texts[0].lstrip("\ufeff").startswith("WEBVTT")
    header = source.lines(1, starts[0] - 1) if is_vtt and extent.first >= starts[0] else b""
    notes = () if lines.contains(extent) else (f"Subtitles are extracted whole: lines {extent.first}-{extent.last}.",)
    return LinePart(source.after(header, extent.first, extent.last), extent, notes)


def dialogue_part(path: Path, lines: Lines) -> LinePart | None:
    """Return the events on these lines of a SubStation Alpha file with its header and styles. See `PartOf`."""
    source = source_bytes(path, lines)
    texts = list(source.text.lines()) if source else []
    starts = [number for number, _ in dialogue(texts)]
    if source is None or not any(lines.first <= start <= lines.last for start in starts):
        return None
    header = len(list(takewhile(lambda line: not line.startswith(("Dialogue:", "Comment:")), texts)))
    first = max(lines.first, header + 1)
    extent = Lines(first, lines.last)
    return LinePart(source.lines(1, header) + source.lines(first, lines.last), extent)


def _whole_cues(starts: Sequence[int], lines: Lines, count: int) -> Lines:
    """Return the range of lines extended to whole cues. `starts` contains the first line of each cue."""
    first = max((start for start in starts if start <= lines.first), default=lines.first)
    last = next((start - 1 for start in starts if start > lines.last), count)
    return Lines(first, last)
