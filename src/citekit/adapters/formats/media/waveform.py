"""Measures how loud a recording is over time, to draw its waveform."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from citekit.adapters.formats.media.outline.audio_features import RATE, mono_frames
from citekit.adapters.formats.media.streams import audio_stream
from citekit.adapters.libraries.pyav import open_media

WINDOW = RATE // 20
"""The number of samples in a group. Only the loudest sample of a group counts."""

FULL = 32_768
"""The largest amplitude of a sample."""


def waveform(path: Path, count: int) -> Sequence[int]:
    """Return at most `count` amplitudes from 0 to 255, evenly over the recording; none if it has no sound.

    A short recording has one amplitude for each `WINDOW` samples. Raise the same errors as `open_media`.
    """
    peaks, pending = list[int](), array("h")
    with open_media(path) as container:
        if audio_stream(container) is None:
            return []
        for frame in mono_frames(container):
            pending.frombytes(bytes(frame.planes[0])[: 2 * frame.samples])
            whole = len(pending) - len(pending) % WINDOW
            peaks += (_peak(pending[start : start + WINDOW]) for start in range(0, whole, WINDOW))
            del pending[:whole]
    if pending:
        peaks.append(_peak(pending))
    if len(peaks) <= count:
        return [peak * 255 // FULL for peak in peaks]
    edges = [place * len(peaks) // count for place in range(count + 1)]
    return [max(peaks[start:end]) * 255 // FULL for start, end in pairwise(edges)]


def _peak(samples: array[int]) -> int:
    return min(max(max(samples), -min(samples)), FULL)
