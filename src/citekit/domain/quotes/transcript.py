"""Joins subtitles, the words that a transcriber recognized, or the text on the screen into a text with times."""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from attrs import evolve, field, frozen

from citekit.domain.errors import LocationOutside
from citekit.domain.locations import Location, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.phrases import counted
from citekit.domain.quotes.superscripts import CUT
from citekit.domain.screen_text import ScreenText
from citekit.domain.speech import Speech, SpokenWord

HEARD = "This text was produced by speech recognition ({}). It may contain errors; listen to the recording."
"""The note of recognized speech. It names the transcriber."""

TIMED = "The words are those of the subtitles. Their times are from speech recognition ({})."
"""The note of a quote from subtitles with the times of recognized speech. It names the transcriber."""

SEEN = "Text recognition ({}) read this text on the screen. It may contain errors; compare it with the picture."
"""The note of text that OCR read in the pictures of a video. It names the OCR software."""

PAUSE = 3.0
"""Maximum pause in seconds between two subtitles that one quote may span."""

MARGIN = 0.15
"""Maximum number of seconds of silence that belong to a recognized word on each side, so that a clip does not cut it.
"""

PAUSE_IN_SENTENCE = 8.0
"""Maximum pause in seconds inside a sentence: the second subtitle continues it with a lowercase letter."""

_ENDED = re.compile(r"""[.!?:\u2026\u3002\uff01\uff1f\u266a\u266b)\]]["'\u201d\u2019\u00bb]?\s*\Z""")


def is_pause_between(pause: float, before: str, after: str) -> bool:
    """Return whether the pause between two subtitles is long enough to separate their texts.

    `pause` is in seconds. `before` and `after` are the texts of the subtitles.
    """
    runs_on = after.lstrip()[:1].islower() and not _ENDED.search(before)
    return round(pause, 3) > (PAUSE_IN_SENTENCE if runs_on else PAUSE)


@frozen
class Transcript:
    """The text of subtitles, one subtitle per line.

    The text of subtitle i is `text[starts[i]:ends[i]]`, shown from `since[i]` to `until[i]` seconds. A line that
    contains only `CUT` marks a pause that no quote may cross.

    If a transcriber recognized the text, `transcriber` is its name, each line is a passage, the arrays have an element
    for each word, and `doubtful` lists the numbers of words that may be wrong. The times of a word then include up to
    `MARGIN` seconds of silence on each side.

    `screen_reader` is the name of the OCR software that read the text in the pictures of a video. If the words of
    subtitles have the times at which a transcriber heard them, `timed_by` is its name, and the arrays have an element
    for each word or, where the transcriber heard something else, for each subtitle.
    """

    modality: Modality
    text: str
    starts: array[int] = field(repr=False)
    ends: array[int] = field(repr=False)
    since: array[float] = field(repr=False)
    until: array[float] = field(repr=False)
    transcriber: str = ""
    doubtful: array[int] = field(factory=lambda: array("q"), repr=False)
    screen_reader: str = ""
    timed_by: str = ""

    @property
    def note(self) -> str:
        """The note that names the software that recognized the text or its times; empty if there is none."""
        if self.screen_reader:
            return SEEN.format(self.screen_reader)
        if self.timed_by:
            return TIMED.format(self.timed_by)
        return HEARD.format(self.transcriber) if self.transcriber else ""

    @classmethod
    def of_speech(cls, speech: Speech, modality: Modality, duration: float) -> Transcript:
        """Return a transcript of recognized words in a recording of `duration` seconds."""
        lines: list[str] = []
        starts, ends, doubtful = array("q"), array("q"), array("q")
        length, said = 0, -math.inf
        for passage in speech.passages:
            if lines and is_pause_between(passage.start - said, lines[-1], passage.text):
                lines.append(CUT)
                length += len(CUT) + 1
            line = ""
            for word in passage.words:
                text = word.text if line else word.text.lstrip()
                if passage.doubts(word):
                    doubtful.append(len(starts))
                starts.append(length + len(line) + len(text) - len(text.lstrip()))
                line += text
                ends.append(length + len(line.rstrip()))
            said = passage.end
            lines.append(line.rstrip())
            length += len(lines[-1]) + 1
        since, until = _with_margins([word for each in speech.passages for word in each.words], duration)
        return cls(modality, "\n".join(lines), starts, ends, since, until, speech.transcriber, doubtful)

    @classmethod
    def of_screen(cls, shown: ScreenText, modality: Modality) -> Transcript:
        """Return a transcript of the text that a video shows. Text that is shown together is like a subtitle."""
        return evolve(cls.of(shown.cues(), modality), screen_reader=shown.reader)

    @classmethod
    def of(cls, cues: Iterable[tuple[float, float, str]], modality: Modality) -> Transcript:
        """Return a transcript of subtitles (start, end, text) in any order. Blank ones are left out.

        Times are in seconds. Starts are rounded down and ends are rounded up to whole milliseconds.
        """
        lines: list[str] = []
        made = cls(modality, "", array("q"), array("q"), array("d"), array("d"))
        length, shown = 0, -math.inf
        for begin, end, text in sorted(each for each in cues if each[2].strip()):
            if lines and is_pause_between(begin - shown, lines[-1], text):
                lines.append(CUT)
                length += len(CUT) + 1
            shown = max(shown, end)
            lines.append(text)
            made.starts.append(length)
            made.ends.append(length + len(text))
            made.since.append(math.floor(round(begin * 1000, 3)) / 1000)
            made.until.append(math.ceil(round(end * 1000, 3)) / 1000)
            length += len(text) + 1
        return cls(modality, "\n".join(lines), made.starts, made.ends, made.since, made.until)

    def cues(self) -> Iterator[tuple[float, float, str]]:
        """Yield the start, end, and text of each subtitle or, if a transcriber recognized the text, of each passage."""
        for first, last in self._cue_units():
            text = self.text[self.starts[first] : self.ends[last]]
            yield self.since[first], max(self.until[first : last + 1]), text

    def word_starts(self) -> Iterator[Sequence[tuple[int, float]]]:
        """Yield, for each of the `cues`, the offset in its text and the start in seconds of each word with its own
        times.

        A subtitle without such words has a single offset, 0.
        """
        for first, last in self._cue_units():
            words = range(first, last + 1)
            yield [(self.starts[word] - self.starts[first], self.since[word]) for word in words]

    def _cue_units(self) -> Iterator[tuple[int, int]]:
        """Yield the first and last array index of each subtitle or passage."""
        first = 0
        for last, end in enumerate(self.ends):
            if not (self.transcriber or self.timed_by) or self.text[end : end + 1] in ("", "\n"):
                yield first, last
                first = last + 1

    def with_screen(self, screen: Transcript) -> Transcript:
        """Return what is said and the text on the screen as one text in chronological order.

        Text on the screen is inserted between lines. Its time begins when it appears or, if that is later, when the
        speech before it ends. It ends when the text disappears or the next line begins. The result is for
        retrieval: a quote belongs to one of the two texts.
        """
        units = [(self.since[first], 0, self, first, last) for first, last in self._cue_units()]
        units += [(screen.since[at], 1, screen, at, at) for at in range(len(screen.starts))]
        units.sort(key=lambda unit: unit[:2])
        lines: list[str] = []
        starts, ends, since, until, doubtful = array("q"), array("q"), array("d"), array("d"), array("q")
        length, reached, unsure = 0, 0.0, set(self.doubtful)
        for number, (begin, kind, text, first, last) in enumerate(units):
            if lines and (kind or units[number - 1][1] or is_pause_between(begin - reached, lines[-1], "")):
                lines.append(CUT)
                length += len(CUT) + 1
            offset = length - text.starts[first]
            after = units[number + 1][0] if number + 1 < len(units) else text.until[last]
            for at in range(first, last + 1):
                if at in unsure and not kind:
                    doubtful.append(len(starts))
                starts.append(text.starts[at] + offset)
                ends.append(text.ends[at] + offset)
                low = max(text.since[at], reached) if kind else text.since[at]
                since.append(low)
                until.append(max(low + 0.001, min(text.until[at], after)) if kind else text.until[at])
            lines.append(text.text[text.starts[first] : text.ends[last]])
            length += len(lines[-1]) + 1
            reached = max(reached, since[-1] if kind else until[-1])
        return evolve(
            self, text="\n".join(lines), starts=starts, ends=ends, since=since, until=until, doubtful=doubtful
        )

    def doubts(self, start: int, end: int) -> bool:
        """Return whether a doubtful word overlaps `text[start:end]`."""
        return any(self.starts[number] < end and start < self.ends[number] for number in self.doubtful)

    def locate(self, start: int, end: int) -> Location:
        """Return the time range of the subtitles or words that contain `text[start:end]`.

        Raise `LocationOutside` if the range is empty or not in the text.
        """
        if not 0 <= start < end <= len(self.text):
            raise LocationOutside(
                f"the character range {start}-{end} is empty or not inside the text, which has "
                f"{counted(len(self.text), 'character')}"
            )
        first, last = max(0, bisect_right(self.starts, start) - 1), bisect_left(self.starts, end) - 1
        return TimeSpan(self.since[first], max(self.until[first : last + 1]), self.modality)

    def span_of(self, location: Location) -> tuple[int, int] | None:
        """Return the character offsets (start, end) of the subtitles or words that overlap a time range.

        Return None if `location` is not a time range, or if no subtitle or word is in it.
        """
        if not isinstance(location, TimeSpan):
            return None
        first = bisect_right(self._latest, location.start)
        last = (len(self.since) if location.end is None else bisect_left(self.since, location.end)) - 1
        while last > first and self.until[last] <= location.start:
            last -= 1
        return (self.starts[first], self.ends[last]) if first <= last else None

    def since_at(self, offset: int) -> float:
        """Return the start, in seconds, of the subtitle or word at `offset`, or else of the last one before it."""
        return self.since[max(0, bisect_right(self.starts, offset) - 1)]

    def until_at(self, offset: int) -> float:
        """Return when the subtitle or word at `offset` and those before it have ended, in seconds."""
        return self._latest[max(0, bisect_right(self.starts, offset) - 1)]

    @cached_property
    def _latest(self) -> array[float]:
        """For each element of the arrays, the latest end, in seconds, of the element and those before it."""
        return array("d", accumulate(self.until, max))


def _with_margins(words: Sequence[SpokenWord], duration: float) -> tuple[array[float], array[float]]:
    """Return the starts and ends of words with margins, in seconds, rounded to milliseconds, and no later than
    `duration`.

    Margins do not make words overlap, unless a word is shorter than a millisecond.
    """
    since, until = array("d"), array("d")
    last = math.floor(duration * 1000)
    for number, word in enumerate(words):
        before = words[number - 1].end if number else 0.0
        after = words[number + 1].start if number + 1 < len(words) else duration
        start = max(word.start - MARGIN, (min(before, word.start) + word.start) / 2 if number else 0.0)
        end = min(word.end + MARGIN, (word.end + max(after, word.end)) / 2 if number + 1 < len(words) else duration)
        low = max(0, min(math.ceil(start * 1000), last - 1))
        since.append(low / 1000)
        until.append(max(low + 1, min(math.floor(end * 1000), last)) / 1000)
    return since, until
