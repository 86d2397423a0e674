"""Gives the words of subtitles the times at which a transcriber heard them."""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from attrs import evolve

from citekit.domain.quotes.transcript import MARGIN, Transcript
from citekit.domain.speech import Speech, SpokenWord
from citekit.domain.words import words_of

TOLERANCE = 4.0
"""Maximum number of seconds between a subtitle and its words."""

LEAST_HEARD = 0.5
"""Minimum share of the words of a subtitle that must be heard."""

_WORD = re.compile(r"\S+")


def aligned(subtitles: Transcript, speech: Speech) -> Transcript:
    """Return the text of `subtitles` with a time for each word.

    A word that also occurs in `speech` near the time of its subtitle gets the time at which it was heard. Words between
    two such words evenly share the time between the two. A subtitle keeps its own time if fewer than half of its words
    (`LEAST_HEARD`) were heard.
    """
    heard = [word for passage in speech.passages for word in passage.words if words_of(word.text)]
    starts, ends, since, until = array("q"), array("q"), array("d"), array("d")
    middles = [(word.start + word.end) / 2 for word in heard]
    reached = 0.0
    for first, last, begin, end in zip(subtitles.starts, subtitles.ends, subtitles.since, subtitles.until, strict=True):
        spans = [found.span() for found in _WORD.finditer(subtitles.text, first, last)]
        low, high = bisect_left(middles, begin - TOLERANCE), bisect_left(middles, end + TOLERANCE)
        near = [word for word in heard[low:high] if word.start >= reached - 0.01]
        times = _times([subtitles.text[slice(*span)] for span in spans], near)
        if not times:
            spans, times = [(first, last)], [(begin, end)]
        else:
            reached = times[-1][1]
            times = list(_with_margins(times))
        for (start, stop), (low_time, high_time) in zip(spans, times, strict=True):
            starts.append(start)
            ends.append(stop)
            since.append(low_time)
            until.append(high_time)
    return evolve(subtitles, starts=starts, ends=ends, since=since, until=until, timed_by=speech.transcriber)


def _times(words: Sequence[str], heard: Sequence[SpokenWord]) -> list[tuple[float, float]]:
    """Return the start and end of each of `words` in seconds, or nothing if too few of them are heard."""
    said = ["".join(words_of(word)) for word in words]
    known = ["".join(words_of(word.text)) for word in heard]
    matches = SequenceMatcher(None, said, known, autojunk=False).get_matching_blocks()
    pairs = {block.a + n: heard[block.b + n] for block in matches for n in range(block.size) if said[block.a + n]}
    if not pairs or len(pairs) < LEAST_HEARD * sum(map(bool, said)):
        return []
    return list(_between(len(words), {at: (word.start, word.end) for at, word in pairs.items()}))


def _between(count: int, known: dict[int, tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield the times of `count` words, of which `known` has some. At the ends, other words take no time."""
    places = sorted(known)
    for at in range(count):
        if at in known:
            yield known[at]
            continue
        index = bisect_left(places, at)
        if index == 0:
            yield known[places[0]][0], known[places[0]][0]
        elif index == len(places):
            yield known[places[-1]][1], known[places[-1]][1]
        else:
            before, after = places[index - 1], places[index]
            low, high = known[before][1], max(known[after][0], known[before][1])
            step = (high - low) / (after - before - 1)
            yield low + step * (at - before - 1), low + step * (at - before)


def _with_margins(times: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield the times, in whole milliseconds, with margins of at most `MARGIN` seconds and half of an adjacent pause."""
    for at, (start, end) in enumerate(times):
        before = times[at - 1][1] if at else start - 2 * MARGIN
        after = times[at + 1][0] if at + 1 < len(times) else end + 2 * MARGIN
        low = max(0, math.floor(1000 * max(start - MARGIN, (min(before, start) + start) / 2)))
        high = math.ceil(1000 * min(end + MARGIN, (end + max(after, end)) / 2))
        yield low / 1000, max(high, low + 1) / 1000
