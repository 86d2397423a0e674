"""Stretches of speech or other sound, parted where it is silent: by the loudness of short windows.

Speech is told by how it varies: it is made of syllables, about four a second, with quiet moments between, which most music
and noise has not (the low-energy frames of E. Scheirer and M. Slaney: Construction and evaluation of a robust multifeature
speech/music discriminator, ICASSP 1997).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import mul
from pathlib import Path
from typing import Any

from attrs import frozen

from citekit.adapters.drivers.pyav import library, opened
from citekit.adapters.drivers.pyav_streams import frames_of, origin, sound
from citekit.domain.progress import Progress

RATE = 8000
"""Samples a second that loudness is measured at."""

WINDOW = 0.05
"""Seconds of one window."""

PAUSE = 0.3
"""Seconds of silence that may part two stretches."""

SHORTEST, LONGEST = 3.0, 60.0
"""Seconds that a stretch lasts, where the pauses allow it."""

LONG_ENOUGH = 4.0
"""Seconds from which on music and noise are told from speech."""

_EVEN = 0.15
_SILENT_DB = -90.0
_RANGE_DB = 12.0
_MARGIN = 0.1

Span = tuple[float, float]


@frozen
class Sound:
    """A stretch in which something is heard, in seconds; `kind` is `speech`, or `sound`: music or noise."""

    start: float
    end: float
    kind: str


def find_sounds(path: Path, duration: float, progress: Progress) -> list[Sound]:
    """Where something is heard, in order; empty where loudness does not vary enough to tell.

    Raises `SourceUnsupported`, `Cancelled`.
    """
    loudness = list(_levels(path, duration, progress))
    threshold = _threshold(loudness)
    if threshold is None:
        return []
    return [
        Sound(start, min(end, duration), kind_of(loudness[int(start / WINDOW) : int(end / WINDOW)]))
        for start, end in _sized(_loud(loudness, threshold), loudness)
        if start < duration
    ]


def kind_of(loudness: Sequence[float]) -> str:
    """`sound` where a stretch is long enough to tell and hardly pauses; else `speech`."""
    even = len(loudness) >= LONG_ENOUGH / WINDOW and pauses_within(loudness) < _EVEN
    return "sound" if even else "speech"


def pauses_within(loudness: Sequence[float]) -> float:
    """The share of windows that are 6 dB or more quieter than the mean power of the second around them."""
    powers = [10 ** (level / 10) for level in loudness]
    half = round(0.5 / WINDOW)
    sums = [0.0, *accumulate(powers)]
    quiet = 0
    for place, power in enumerate(powers):
        low, high = max(place - half, 0), min(place + half, len(powers))
        quiet += power < 0.25 * (sums[high] - sums[low]) / max(high - low, 1)
    return quiet / len(powers)


def _levels(path: Path, duration: float, progress: Progress) -> Iterator[float]:
    """The loudness of each window from second 0 on, in dB below full scale."""
    size = int(RATE * WINDOW)
    pending = array("h")
    done = 0
    for samples in _samples(path):
        pending.extend(samples)
        whole = len(pending) - len(pending) % size
        for start in range(0, whole, size):
            yield _level(pending[start : start + size])
        del pending[:whole]
        done += whole
        progress(min(done / RATE, duration), duration, "listening for silence")
    if pending:
        yield _level(pending)


def _level(window: array[int]) -> float:
    return _decibels(sum(map(mul, window, window)) / len(window))


def _decibels(power: float) -> float:
    return max(10 * math.log10(power / 32768**2), _SILENT_DB) if power else _SILENT_DB


def _samples(path: Path) -> Iterator[array[int]]:
    """Mono samples; where the sound begins after second 0, silence comes first."""
    av = library()
    with opened(path) as container:
        stream: Any = sound(container)
        resampler = av.AudioResampler("s16", "mono", RATE, frame_size=RATE)
        first = True
        for frame in frames_of(container, stream):
            if first and frame.pts is not None:
                late = min(max(frame.time - origin(container), 0.0), 3600.0)
                yield array("h", bytes(2 * int(late * RATE)))
            first = False
            frame.pts = None
            yield from _plain(resampler.resample(frame))
        yield from _plain(resampler.resample(None))


def _plain(frames: Sequence[Any]) -> Iterator[array[int]]:
    for frame in frames:
        yield array("h", bytes(frame.planes[0])[: 2 * frame.samples])


def _threshold(levels: Sequence[float]) -> float | None:
    """The level between the quiet and the loud windows; None where they hardly differ."""
    if not levels:
        return None
    ordered = sorted(levels)
    quiet, loud = ordered[len(ordered) // 20], ordered[len(ordered) * 9 // 10]
    quiet = max(quiet, loud - 60)
    return quiet + 0.35 * (loud - quiet) if loud - quiet >= _RANGE_DB and loud > -60 else None


def _loud(levels: Sequence[float], threshold: float) -> list[Span]:
    """Runs of windows above the threshold, a little wider; pauses shorter than `PAUSE` are bridged."""
    runs: list[Span] = []
    for number, level in enumerate(levels):
        if level < threshold:
            continue
        start, end = max(number * WINDOW - _MARGIN, 0.0), (number + 1) * WINDOW + _MARGIN
        if runs and start - runs[-1][1] < PAUSE - 2 * _MARGIN:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((max(start, runs[-1][1] if runs else 0.0), end))
    return runs


def _sized(runs: Sequence[Span], loudness: Sequence[float]) -> list[Span]:
    """Runs joined over the shorter pauses until each lasts `SHORTEST`; longer ones are parted where it is quietest."""
    joined: list[Span] = []
    for start, end in runs:
        last = joined[-1] if joined else None
        if last is not None and start - last[1] < 2.0 and (last[1] - last[0] < SHORTEST or end - start < SHORTEST / 3):
            joined[-1] = (last[0], end)
        else:
            joined.append((start, end))
    return [part for run in joined for part in _cut(run, loudness)]


def _cut(run: Span, loudness: Sequence[float]) -> Iterator[Span]:
    """`run` in pieces of at most `LONGEST`, each cut at the quietest third of a second of its second half."""
    start, end = run
    while end - start > LONGEST:
        low, high = int((start + LONGEST / 2) / WINDOW), int((start + LONGEST) / WINDOW)
        quietest = min(range(low, high), key=lambda place: (sum(loudness[place - 3 : place + 4]), place))
        middle = (quietest + 0.5) * WINDOW
        yield start, middle
        start = middle
    yield start, end
