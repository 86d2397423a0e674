"""What is said in a recording, and when."""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from attrs import field, frozen

from citekit.domain.errors import LocationOutside
from citekit.domain.locations import Location, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.quotes.superscripts import CUT

PAUSE = 3.0
"""Seconds between two subtitles up to which a quote may run from one into the other."""

PAUSE_IN_SENTENCE = 8.0
"""The same where the sentence plainly runs on: the first one does not end it, the second goes on with a small letter."""

_ENDED = re.compile(r"""[.!?:\u2026\u3002\uff01\uff1f\u266a\u266b)\]]["'\u201d\u2019\u00bb]?\s*\Z""")


def is_pause_between(pause: float, before: str, after: str) -> bool:
    """Whether the pause between two subtitles, in seconds, parts what they say."""
    runs_on = after.lstrip()[:1].islower() and not _ENDED.search(before)
    return round(pause, 3) > (PAUSE_IN_SENTENCE if runs_on else PAUSE)


@frozen
class Transcript:
    """The text of subtitles, a line for each, `CUT` on a line of its own where a pause parts them.

    Number i is `text[starts[i]:ends[i]]`, said from `since[i]` to `until[i]` s."""

    modality: Modality
    text: str
    starts: array[int] = field(repr=False)
    ends: array[int] = field(repr=False)
    since: array[float] = field(repr=False)
    until: array[float] = field(repr=False)

    @classmethod
    def of(cls, cues: Iterable[tuple[float, float, str]], modality: Modality) -> Transcript:
        """Of (start, end, text) of each subtitle, in seconds; the times go outwards to whole milliseconds."""
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

    def locate(self, start: int, end: int) -> Location:
        """The time in which `text[start:end]` is said, whole subtitles. Raises `LocationOutside`."""
        if not 0 <= start < end <= len(self.text):
            raise LocationOutside(f"the characters {start}-{end} are not in a text of {len(self.text)}")
        first, last = max(0, bisect_right(self.starts, start) - 1), bisect_left(self.starts, end) - 1
        return TimeSpan(self.since[first], max(self.until[first : last + 1]), self.modality)

    def span_of(self, location: Location) -> tuple[int, int] | None:
        """The subtitles that are shown at some time of that place."""
        if not isinstance(location, TimeSpan):
            return None
        end = math.inf if location.end is None else location.end
        shown = [
            number for number, since in enumerate(self.since) if since < end and self.until[number] > location.start
        ]
        return (self.starts[shown[0]], self.ends[shown[-1]]) if shown else None
