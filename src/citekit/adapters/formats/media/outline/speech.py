"""Stretches of speech or other sound, parted where it is silent, and where another voice or music begins.

Speech is told by how it varies: it is made of syllables, about four a second, with quiet moments between, which most music
and noise has not (the low-energy frames of E. Scheirer and M. Slaney: Construction and evaluation of a robust multifeature
speech/music discriminator, ICASSP 1997).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path

from attrs import evolve, frozen

from citekit.adapters.formats.media.outline.audio_features import WINDOW, AudioFeatures, measure_audio
from citekit.adapters.formats.media.outline.speaker_change import find_changes
from citekit.domain.progress import Progress

MIN_PAUSE = 0.3
"""Seconds of silence that may part two stretches."""

LONG_PAUSE = 2.0
"""Seconds of silence that always part them."""

MIN_SEGMENT, MAX_SEGMENT = 3.0, 60.0
"""Seconds that a stretch lasts: at least, beside the shortest pauses; at most."""

MIN_CLASSIFIABLE = 4.0
"""Seconds from which on music and noise are told from speech."""

_MAX_EVEN_SHARE = 0.15
_RANGE_DB = 12.0
_MARGIN = 0.1
_CLICK = 0.15
_SEARCH_WINDOWS = 8

Span = tuple[float, float]


@frozen
class SoundSegment:
    """A stretch in which something is heard, in seconds; `kind` is `speech`, or `sound`: music or noise."""

    start: float
    end: float
    kind: str


def find_sound_segments(path: Path, duration: float, progress: Progress) -> list[SoundSegment]:
    """Where something is heard, in order; empty where loudness does not vary enough to tell.

    Raises `SourceUnsupported`, `Cancelled`.
    """
    heard = measure_audio(path, duration, progress)
    threshold = _threshold(heard.levels)
    if threshold is None:
        return []
    alive = partial(progress, duration, duration, "listening for voices")
    runs = [_pad(run, duration) for run in _join_short_runs(_loud_runs(heard.levels, threshold)) if run[0] < duration]
    parts = [part for run in runs for part in _split_turns(run, heard, threshold, alive)]
    told = _join_even_sound(
        [SoundSegment(start, end, classify_sound(_levels_between(heard.levels, start, end))) for start, end in parts]
    )
    return [
        SoundSegment(*piece, each.kind) for each in told for piece in _split_long((each.start, each.end), heard.levels)
    ]


def classify_sound(loudness: Sequence[float]) -> str:
    """`sound` where a stretch is long enough to tell and hardly pauses; else `speech`."""
    even = len(loudness) >= MIN_CLASSIFIABLE / WINDOW and low_energy_share(loudness) < _MAX_EVEN_SHARE
    return "sound" if even else "speech"


def low_energy_share(loudness: Sequence[float]) -> float:
    """The share of windows that are 6 dB or more quieter than the mean power of the second around them."""
    powers = [10 ** (level / 10) for level in loudness]
    half = round(0.5 / WINDOW)
    sums = [0.0, *accumulate(powers)]
    quiet = 0
    for place, power in enumerate(powers):
        low, high = max(place - half, 0), min(place + half, len(powers))
        quiet += power < 0.25 * (sums[high] - sums[low]) / max(high - low, 1)
    return quiet / len(powers)


def required_length(pause: float) -> float:
    """Seconds that the stretches beside a pause have to last: the longer the pause, the shorter they may be."""
    return 0.0 if pause >= LONG_PAUSE else MIN_SEGMENT * (MIN_PAUSE + _MARGIN) / (pause + _MARGIN)


def _threshold(levels: Sequence[float]) -> float | None:
    """The level between the quiet and the loud windows; None where they hardly differ."""
    if not levels:
        return None
    ordered = sorted(levels)
    quiet, loud = ordered[len(ordered) // 20], ordered[len(ordered) * 9 // 10]
    quiet = max(quiet, loud - 60)
    return quiet + 0.35 * (loud - quiet) if loud - quiet >= _RANGE_DB and loud > -60 else None


def _loud_runs(levels: Sequence[float], threshold: float) -> list[Span]:
    """Runs of windows above the threshold; pauses shorter than `MIN_PAUSE` are bridged, clicks left out."""
    runs: list[Span] = []
    for number, level in enumerate(levels):
        if level < threshold:
            continue
        start, end = number * WINDOW, (number + 1) * WINDOW
        if runs and start - runs[-1][1] < MIN_PAUSE - WINDOW / 2:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return [run for run in runs if run[1] - run[0] > _CLICK]


def _join_short_runs(runs: Sequence[Span]) -> list[Span]:
    """Runs joined over pauses, the shortest first, beside which one of them does not last as long as is needed."""
    starts, ends = {run[0]: run for run in runs}, {run[1]: run for run in runs}
    for first, after in sorted(pairwise(runs), key=lambda two: two[1][0] - two[0][1]):
        left, right = ends[first[1]], starts[after[0]]
        if min(left[1] - left[0], right[1] - right[0]) < required_length(right[0] - left[1]):
            del starts[right[0]], ends[left[1]]
            starts[left[0]] = ends[right[1]] = (left[0], right[1])
    return sorted(starts.values())


def _pad(run: Span, duration: float) -> Span:
    return max(run[0] - _MARGIN, 0.0), min(run[1] + _MARGIN, duration)


def _levels_between(levels: Sequence[float], start: float, end: float) -> Sequence[float]:
    return levels[round(start / WINDOW) : max(round(end / WINDOW), round(start / WINDOW) + 1)]


def _split_turns(run: Span, heard: AudioFeatures, threshold: float, alive: Callable[[], None]) -> Iterator[Span]:
    """`run` in pieces of one voice or sound each, parted at a quiet moment nearby."""
    low, high = int(run[0] / WINDOW), min(int(run[1] / WINDOW), len(heard.levels))
    loud = [window for window in range(low, high) if heard.levels[window] >= threshold]
    places = find_changes(len(loud), lambda number: heard.spectrum(loud[number]), alive)
    edges = [run[0], *(_quietest_near(heard.levels, loud[place]) for place in places), run[1]]
    yield from ((start, end) for start, end in pairwise(edges) if start < end)


def _quietest_near(levels: Sequence[float], window: int) -> float:
    """The middle of the quietest window near one; half a dB is a window's distance worth."""
    near = range(max(window - _SEARCH_WINDOWS, 0), min(window + _SEARCH_WINDOWS + 1, len(levels)))
    return (min(near, key=lambda each: levels[each] + 0.5 * abs(each - window)) + 0.5) * WINDOW


def _join_even_sound(sounds: Sequence[SoundSegment]) -> list[SoundSegment]:
    """Music and noise that go on after a short pause, or after a piece too short to tell, as one stretch."""
    joined: list[SoundSegment] = []
    for place, each in enumerate(sounds):
        after = sounds[place + 1] if place + 1 < len(sounds) else None
        last = joined[-1] if joined and joined[-1].kind == "sound" else None
        between = (
            each.end - each.start < MIN_CLASSIFIABLE and _follows_closely(last, each) and _follows_closely(each, after)
        )
        kind = "sound" if between and after is not None and after.kind == "sound" else each.kind
        if last is not None and kind == "sound" and each.start - last.end < 2 * MIN_PAUSE:
            joined[-1] = evolve(last, end=each.end)
        else:
            joined.append(evolve(each, kind=kind))
    return joined


def _follows_closely(one: SoundSegment | None, other: SoundSegment | None) -> bool:
    return one is not None and other is not None and other.start - one.end < MIN_PAUSE


def _split_long(run: Span, loudness: Sequence[float]) -> Iterator[Span]:
    """`run` in pieces of at most `MAX_SEGMENT`, each cut at the quietest third of a second of its second half."""
    start, end = run
    while end - start > MAX_SEGMENT:
        low, high = int((start + MAX_SEGMENT / 2) / WINDOW), int((start + MAX_SEGMENT) / WINDOW)
        quietest = min(range(low, high), key=lambda place: (sum(loudness[place - 3 : place + 4]), place))
        middle = (quietest + 0.5) * WINDOW
        yield start, middle
        start = middle
    yield start, end
