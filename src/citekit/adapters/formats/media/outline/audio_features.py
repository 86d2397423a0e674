"""Measures the loudness and the spectral shape of a recording, in windows of a twentieth of a second, at 8 kHz in mono.

FFmpeg's filter `aspectralstats` measures the spectrum, according to G. Peeters: A large set of audio features for sound
description (Ircam, 2004).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from fractions import Fraction
from operator import mul, truediv
from pathlib import Path
from typing import Any

from attrs import define, field

from citekit.adapters.formats.media.streams import audio_stream, decode_frames, start_time
from citekit.adapters.libraries.pyav import library, open_media
from citekit.domain.progress import Progress

RATE = 8000
"""Samples per second that are analyzed."""

WINDOW = 0.05
"""Length of one window in seconds."""

SPECTRAL_FEATURES = ("centroid", "spread", "skewness", "kurtosis", "entropy", "flatness", "rolloff", "decrease")
"""The spectral features of a window, in this order."""

MAX_INSERTED_SILENCE = 3600.0
"""The maximum number of seconds of silence that are inserted for missing audio."""

MIN_GAP = 0.25
"""The delay of a frame, in seconds, above which silence is inserted before it.

For the first frame, any delay counts.
"""

_FEATURE_SCALES = (0.32, 0.21, 0.28, 0.46, 0.11, 0.4, 0.4, 0.32)
"""The unit of each feature: how much it varies within three seconds of one voice (recorded prompts of six speakers)."""

_WINDOW_SAMPLES = int(RATE * WINDOW)
_FFT_SIZE = 512
_SILENT_DB = -90.0


@define
class AudioFeatures:
    """The loudness of each window of a recording, in dB relative to full scale (`levels`), and its `spectra`:
    `len(SPECTRAL_FEATURES)` numbers for each window.
    """

    levels: array[float] = field(factory=lambda: array("f"))
    spectra: array[float] = field(factory=lambda: array("f"))

    def spectrum(self, window: int) -> Sequence[float]:
        """Return the spectral features of the window with this index, or of the last window if it does not exist."""
        offset = min(window, len(self.spectra) // len(SPECTRAL_FEATURES) - 1) * len(SPECTRAL_FEATURES)
        return self.spectra[offset : offset + len(SPECTRAL_FEATURES)]


def measure_audio(path: Path, duration: float, progress: Progress) -> AudioFeatures:
    """Measure the audio of the file at `path`, whose duration in seconds is `duration`.

    Raise the errors of `open_media`, and `Cancelled` if the caller cancels.
    """
    features = AudioFeatures()
    pending = array("h")
    with open_media(path) as container:
        meter = _SpectrumMeter()
        for frame in mono_frames(container):
            features.spectra.extend(meter.measure(frame))
            pending.frombytes(bytes(frame.planes[0])[: 2 * frame.samples])
            whole = len(pending) - len(pending) % _WINDOW_SAMPLES
            features.levels.extend(
                _loudness(pending[start : start + _WINDOW_SAMPLES]) for start in range(0, whole, _WINDOW_SAMPLES)
            )
            del pending[:whole]
            progress(min(len(features.levels) * WINDOW, duration), duration, "looking for silences")
        features.spectra.extend(meter.measure(None))
    if pending:
        features.levels.append(_loudness(pending))
    return features


def mono_frames(container: Any, rate: int = RATE) -> Iterator[Any]:
    """Yield frames of 16-bit mono samples, `rate` per second. Gaps, such as audio that cannot be decoded, become
    silence.
    """
    resampler, resampled_format = None, None
    for frame in _gapless_frames(container, audio_stream(container)):
        frame_format = (frame.format.name, frame.layout.name, frame.sample_rate)
        if resampler is None or frame_format != resampled_format:
            yield from resampler.resample(None) if resampler else ()
            resampler, resampled_format = library().AudioResampler("s16", "mono", rate, frame_size=rate), frame_format
        frame.pts = None
        yield from resampler.resample(frame)
    yield from resampler.resample(None) if resampler else ()


def _gapless_frames(container: Any, stream: Any) -> Iterator[Any]:
    """Yield the decoded frames of `stream`, and silence before a late start and in place of longer gaps."""
    begin, played, remaining = start_time(container), 0.0, MAX_INSERTED_SILENCE
    for frame in decode_frames(container, stream):
        gap = 0.0 if frame.pts is None else min(frame.time - begin - played, remaining)
        if gap > (MIN_GAP if played else 0.0):
            yield from _silence(gap)
            played, remaining = played + gap, remaining - gap
        yield frame
        played += frame.samples / frame.sample_rate


def _silence(seconds: float) -> Iterator[Any]:
    remaining = int(seconds * RATE)
    while remaining > 0:
        frame = library().AudioFrame("s16", "mono", min(remaining, RATE))
        frame.planes[0].update(bytes(frame.planes[0].buffer_size))
        frame.sample_rate = RATE
        yield frame
        remaining -= frame.samples


def _loudness(window: Sequence[int]) -> float:
    power = sum(map(mul, window, window)) / len(window)
    return max(10 * math.log10(power / 32768**2), _SILENT_DB) if power else _SILENT_DB


class _SpectrumMeter:
    """Measures the spectra of audio frames.

    Each spectral window ends at the same time as the loudness window with the same number.
    """

    def __init__(self) -> None:
        graph = library().filter.Graph()
        source = graph.add_abuffer(format="s16", sample_rate=RATE, layout="mono", time_base=f"1/{RATE}")
        measured = "+".join(SPECTRAL_FEATURES)
        overlap = 1 - _WINDOW_SAMPLES / _FFT_SIZE
        stats = graph.add("aspectralstats", f"win_size={_FFT_SIZE}:overlap={overlap}:measure={measured}")
        graph.link_nodes(source, stats, graph.add("abuffersink")).configure()
        self._graph, self._done = graph, 0

    def measure(self, frame: Any | None) -> Iterator[float]:
        """Yield the spectral features of the windows that `frame` completes. Pass None at the end of the audio."""
        av = library()
        if frame is not None:
            frame.pts, frame.time_base = self._done, Fraction(1, RATE)
            self._done += frame.samples
        self._graph.push(frame)
        while True:
            try:
                measured = self._graph.pull()
            except (av.error.BlockingIOError, av.error.EOFError):
                return
            yield from _scaled_features(measured.metadata)


def _scaled_features(measured: dict[str, str]) -> Iterator[float]:
    """Yield the measured features, scaled so that their typical variation is similar."""
    raw = (float(measured.get(f"lavfi.aspectralstats.1.{name}", 0)) for name in SPECTRAL_FEATURES)
    centroid, spread, skewness, kurtosis, entropy, flatness, rolloff, decrease = (
        value if math.isfinite(value) else 0.0 for value in raw
    )
    values = (
        math.log(max(centroid, 0.0) + 50.0),
        math.log(max(spread, 0.0) + 50.0),
        skewness / 3,
        math.log(abs(kurtosis) + 1.0),
        entropy,
        math.log(max(flatness, 0.0) + 1e-3),
        math.log(max(rolloff, 0.0) + 50.0),
        decrease,
    )
    return map(truediv, values, _FEATURE_SCALES)
