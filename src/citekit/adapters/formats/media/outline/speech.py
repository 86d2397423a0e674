"""Divides audio into segments of speech or other sound, at silences and where another voice or music starts.

Speech has about four syllables per second with quiet moments between them, which most music and noise lack (the
low-energy frames of E. Scheirer and M. Slaney: Construction and evaluation of a robust multifeature speech/music
discriminator, ICASSP 1997).
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
"""The shortest silence, in seconds, that can split two segments."""

LONG_PAUSE = 2.0
"""The shortest silence, in seconds, that always splits two segments."""

MIN_SEGMENT, MAX_SEGMENT = 3.0, 60.0
"""The shortest segment next to the shortest pauses, and the longest segment, in seconds."""

MIN_CLASSIFIABLE = 4.0
"""The shortest segment, in seconds, in which music and noise can be distinguished from speech."""

_MAX_EVEN_SHARE = 0.15
_RANGE_DB = 12.0
_MARGIN = 0.1
_CLICK = 0.15
_SEARCH_WINDOWS = 8

Span = tuple[float, float]


@frozen
class SoundSegment:
    """A segment of audible sound. Times are in seconds. `kind` is `speech` or `sound` (music or noise)."""

    start: float
    end: float
    kind: str


def find_sound_segments(path: Path, duration: float, progress: Progress) -> list[SoundSegment]:
    """Return the segments of audible sound in order; an empty list if the recording is almost silent or its loudness
    hardly varies.

    Raise the errors of `open_media`, and `Cancelled` if the caller cancels.
    """
    features = measure_audio(path, duration, progress)
    threshold = _threshold(features.levels)
    if threshold is None:
        return []
    heartbeat = partial(progress, duration, duration, "looking for voices")
    runs = [
        _pad(run, duration) for run in _join_short_runs(_loud_runs(features.levels, threshold)) if run[0] < duration
    ]
    turns = [turn for run in runs for turn in _split_turns(run, features, threshold, heartbeat)]
    segments = _join_even_sound(
        [SoundSegment(start, end, classify_sound(_levels_between(features.levels, start, end))) for start, end in turns]
    )
    return [
        SoundSegment(*part, segment.kind)
        for segment in segments
        for part in _split_long((segment.start, segment.end), features.levels)
    ]


def classify_sound(levels: Sequence[float]) -> str:
    """Return `sound` (music or noise) or `speech` for a segment, given the loudness of its windows in dB.

    A segment with few quiet moments is `sound`, if it is long enough to classify.
    """
    even = len(levels) >= MIN_CLASSIFIABLE / WINDOW and low_energy_share(levels) < _MAX_EVEN_SHARE
    return "sound" if even else "speech"


def low_energy_share(levels: Sequence[float]) -> float:
    """Return the share of windows with less than a quarter (-6 dB) of the mean power of the second around them."""
    powers = [10 ** (level / 10) for level in levels]
    half = round(0.5 / WINDOW)
    sums = [0.0, *accumulate(powers)]
    quiet = 0
    for index, power in enumerate(powers):
        low, high = max(index - half, 0), min(index + half, len(powers))
        quiet += power < 0.25 * (sums[high] - sums[low]) / max(high - low, 1)
    return quiet / len(powers)


def required_length(pause: float) -> float:
    """Return how long, in seconds, the segments next to a pause of `pause` seconds must be, so that it separates them."""
    return 0.0 if pause >= LONG_PAUSE else MIN_SEGMENT * (MIN_PAUSE + _MARGIN) / (pause + _MARGIN)


def _threshold(levels: Sequence[float]) -> float | None:
    """Return the loudness, in dB, that separates quiet from loud windows; None if the recording is almost silent or its
    loudness hardly varies.
    """
    if not levels:
        return None
    ordered = sorted(levels)
    quiet, loud = ordered[len(ordered) // 20], ordered[len(ordered) * 9 // 10]
    quiet = max(quiet, loud - 60)
    return quiet + 0.35 * (loud - quiet) if loud - quiet >= _RANGE_DB and loud > -60 else None


def _loud_runs(levels: Sequence[float], threshold: float) -> list[Span]:
    """Return the spans, in seconds, in which the loudness is at least `threshold`, across short pauses and without
    clicks.
    """
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
    """Join spans, across the shortest pauses first, if one of the two is shorter than `required_length`."""
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


def _split_turns(run: Span, features: AudioFeatures, threshold: float, heartbeat: Callable[[], None]) -> Iterator[Span]:
    """Split the span `run` at quiet moments near which another voice or sound starts."""
    low, high = int(run[0] / WINDOW), min(int(run[1] / WINDOW), len(features.levels))
    loud = [window for window in range(low, high) if features.levels[window] >= threshold]
    changes = find_changes(len(loud), lambda number: features.spectrum(loud[number]), heartbeat)
    edges = [run[0], *(_quietest_near(features.levels, loud[change]) for change in changes), run[1]]
    yield from ((start, end) for start, end in pairwise(edges) if start < end)


def _quietest_near(levels: Sequence[float], window: int) -> float:
    """Return the time of the quietest window near `window`, in seconds. Each window of distance counts like half a dB."""
    near = range(max(window - _SEARCH_WINDOWS, 0), min(window + _SEARCH_WINDOWS + 1, len(levels)))
    return (min(near, key=lambda each: levels[each] + 0.5 * abs(each - window)) + 0.5) * WINDOW


def _join_even_sound(segments: Sequence[SoundSegment]) -> list[SoundSegment]:
    """Join segments of music or noise that continue after a short pause, or after a segment too short to classify."""
    joined: list[SoundSegment] = []
    for index, segment in enumerate(segments):
        after = segments[index + 1] if index + 1 < len(segments) else None
        last = joined[-1] if joined and joined[-1].kind == "sound" else None
        between = (
            segment.end - segment.start < MIN_CLASSIFIABLE
            and _follows_closely(last, segment)
            and _follows_closely(segment, after)
        )
        kind = "sound" if between and after is not None and after.kind == "sound" else segment.kind
        if last is not None and kind == "sound" and segment.start - last.end < 2 * MIN_PAUSE:
            joined[-1] = evolve(last, end=segment.end)
        else:
            joined.append(evolve(segment, kind=kind))
    return joined


def _follows_closely(one: SoundSegment | None, other: SoundSegment | None) -> bool:
    return one is not None and other is not None and other.start - one.end < MIN_PAUSE


def _split_long(run: Span, levels: Sequence[float]) -> Iterator[Span]:
    """Split the span `run` at its quietest moments into spans of at most `MAX_SEGMENT` seconds."""
    start, end = run
    while end - start > MAX_SEGMENT:
        low, high = int((start + MAX_SEGMENT / 2) / WINDOW), int((start + MAX_SEGMENT) / WINDOW)
        quietest = min(range(low, high), key=lambda window: (sum(levels[window - 3 : window + 4]), window))
        middle = (quietest + 0.5) * WINDOW
        yield start, middle
        start = middle
    yield start, end
