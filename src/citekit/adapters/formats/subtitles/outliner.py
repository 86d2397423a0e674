"""Outlines subtitles (SubRip, WebVTT, SubStation Alpha) by grouping cues into sections.

A section ends at a pause, or when it becomes too long.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from itertools import groupby

from attrs import define, field

from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner, one_line
from citekit.adapters.formats.shared.summaries import has_text
from citekit.adapters.formats.shared.text_file import open_text
from citekit.adapters.formats.subtitles.parser import dialogue, named_speakers, voice_of
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

PAUSE = 2.0
"""A pause of at least this many seconds ends a section that is at least `SHORTEST` seconds long."""

SHORTEST = 30.0
LONGEST = 120.0
"""The length in seconds after which a section ends even without a pause."""

_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,:](\d{1,3})"
_TIMING = re.compile(rf"\s*\ufeff?{_TIME}\s*-->\s*{_TIME}")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>|<\d[\d:.]{0,20}>|\{\\[^{}\n]{0,100}\}")
_CUE_LIMIT = 20
_TITLE_LIMIT = 70
_VOICES = 100


@define
class TextCue:
    """A subtitle cue: the number of its first line in the file, its times in seconds, its text, and its speaker, if
    known.
    """

    line: int
    start: float
    end: float
    words: list[str] = field(factory=list)
    voice: str = ""


class SubtitlesOutliner:
    """An outliner for subtitles. `fallback` outlines files that are very long or have no cues."""

    def __init__(self, fallback: Outliner) -> None:
        self._fallback = fallback

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. The items are sections of cues, titled with their times, and a header, if any."""
        text = open_text(source.path, progress)
        lines = () if text.is_long else text.lines(progress)
        cues, header = (read_dialogue(lines), []) if source.format.name == "ssa" else read_cues(lines)
        if not cues:
            return self._fallback.outline(source, progress)
        facts = {**text.facts, "cue_count": len(cues), "last_cue_end": max(cue.end for cue in cues)}
        voices = [name for name, _ in Counter(cue.voice for cue in cues if cue.voice).most_common(_VOICES)]
        facts |= {"speakers": voices} if voices else {}
        items = (*_header(header, cues[0].line), *_segments(cues, text.line_count))
        return Outline(title=None, extent=text.extent, items=items, facts=facts)


def read_cues(lines: Iterable[str]) -> tuple[list[TextCue], list[str]]:
    """Return the cues, and the lines before the first cue."""
    cues: list[TextCue] = []
    header: list[str] = []
    before, named = "", False
    for number, line in enumerate(lines, 1):
        timing = _TIMING.match(line)
        if timing:
            times = timing.groups()
            if named and cues and cues[-1].words and cues[-1].words[-1] == before:
                cues[-1].words.pop()
            cues.append(TextCue(number - named, _seconds(times[:4]), _seconds(times[4:])))
        elif cues:
            cues[-1].words.extend([line.strip()] if line.strip() and len(cues[-1].words) < _CUE_LIMIT else [])
        else:
            header.append(line)
        named = bool(line.strip()) and not timing and not before.strip()
        before = "" if timing else line.strip()
    _name_speakers(cues)
    return cues, header[: cues[0].line - 1] if cues else header


def _name_speakers(cues: Sequence[TextCue]) -> None:
    texts = [" ".join(cue.words) for cue in cues]
    voices = [voice_of(text) for text in texts]
    for cue, voice in zip(cues, voices if any(voices) else named_speakers(texts), strict=True):
        cue.voice = voice


def read_dialogue(lines: Iterable[str]) -> list[TextCue]:
    """Return the cues of SubStation Alpha text that have words."""
    return [TextCue(number, cue.start, cue.end, [cue.text], cue.voice) for number, cue in dialogue(lines) if cue.text]


def _seconds(parts: Sequence[str | None]) -> float:
    hours, minutes, seconds, fraction = (part or "0" for part in parts)
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + float(f"0.{fraction}")


def _header(lines: Sequence[str], first: int) -> tuple[OutlineItem, ...]:
    if first == 1 or not any(has_text(line.replace("WEBVTT", "")) for line in lines):
        return ()
    text = " ".join(line.strip() for line in lines if line.strip())
    return (OutlineItem("Header", "preamble", Lines(1, first - 1), text),)


def _segments(cues: Sequence[TextCue], line_count: int) -> Iterator[OutlineItem]:
    groups = list(_groups(cues))
    starts = [group[0].line for group in groups]
    for group, following in zip(groups, [*starts[1:], line_count + 1], strict=True):
        title = f"{_clock(group[0].start)} - {_clock(max(cue.end for cue in group))}"
        last = max(group[0].line, following - 1)
        yield OutlineItem(title, "stretch", Lines(group[0].line, last), _spoken_text(group), _turns(group, last))


def _turns(group: Sequence[TextCue], last: int) -> Iterator[OutlineItem]:
    """Yield an outline item for each turn of a known speaker, up to line `last`."""
    turns = [(voice, list(cues)) for voice, cues in groupby(group, key=lambda cue: cue.voice)]
    starts = [cues[0].line for _, cues in turns]
    for (voice, cues), following in zip(turns, [*starts[1:], last + 1], strict=True):
        if voice:
            text = f"{voice}: {_spoken_text(cues).removeprefix(f'{voice}:').lstrip()}"
            yield OutlineItem(one_line(text, _TITLE_LIMIT), "turn", Lines(cues[0].line, following - 1), text)


def _groups(cues: Sequence[TextCue]) -> Iterator[list[TextCue]]:
    group: list[TextCue] = []
    for cue in cues:
        if group:
            length, pause = group[-1].end - group[0].start, cue.start - group[-1].end
            if length >= LONGEST or (pause >= PAUSE and length >= SHORTEST) or cue.start < group[0].start:
                yield group
                group = []
        group.append(cue)
    yield group


def _spoken_text(group: Sequence[TextCue]) -> str:
    """Return the text of the first `_CUE_LIMIT` cues, without tags and lines that repeat the previous one."""
    lines: list[str] = []
    for word in (word for cue in group[:_CUE_LIMIT] for word in cue.words):
        line = " ".join(unescape(_TAG.sub("", word)).split())
        if line and (not lines or line != lines[-1]):
            lines.append(line)
    return " ".join(lines)


def _clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
