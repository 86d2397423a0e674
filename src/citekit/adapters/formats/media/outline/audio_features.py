"""What is heard of a recording in each twentieth of a second: how loud it is, and the shape of its spectrum.

Both come from one pass over the sound, mono at 8 kHz. The shape is what FFmpeg's filter `aspectralstats` measures, after
G. Peeters: A large set of audio features for sound description (Ircam, 2004).
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
"""Samples a second that are listened to."""

WINDOW = 0.05
"""Seconds of one window."""

SPECTRAL_FEATURES = ("centroid", "spread", "skewness", "kurtosis", "entropy", "flatness", "rolloff", "decrease")
"""What of the spectrum of a window is kept, in this order."""

MAX_INSERTED_SILENCE = 3600.0
"""Seconds of silence at most that are put in where nothing can be played."""

MIN_GAP = 0.25
"""Seconds by which a frame has to come late for silence to be put in before it."""

_FEATURE_SCALES = (0.32, 0.21, 0.28, 0.46, 0.11, 0.4, 0.4, 0.32)
"""By how much each trait varies within three seconds of one voice (recorded prompts of six speakers): its unit."""

_WINDOW_SAMPLES = int(RATE * WINDOW)
_FFT_SIZE = 512
_SILENT_DB = -90.0


@define
class AudioFeatures:
    """A recording, window by window."""

    levels: array[float] = field(factory=lambda: array("f"))
    spectra: array[float] = field(factory=lambda: array("f"))

    def spectrum(self, window: int) -> Sequence[float]:
        """The traits of a window; those of the last one that has any after it."""
        place = min(window, len(self.spectra) // len(SPECTRAL_FEATURES) - 1) * len(SPECTRAL_FEATURES)
        return self.spectra[place : place + len(SPECTRAL_FEATURES)]


def measure_audio(path: Path, duration: float, progress: Progress) -> AudioFeatures:
    """The sound at `path`, from second 0 on. Raises `SourceUnsupported`, `Cancelled`."""
    heard = AudioFeatures()
    pending = array("h")
    with open_media(path) as container:
        spectra = _SpectrumMeter()
        for frame in _mono_frames(container):
            heard.spectra.extend(spectra.measure(frame))
            pending.frombytes(bytes(frame.planes[0])[: 2 * frame.samples])
            whole = len(pending) - len(pending) % _WINDOW_SAMPLES
            heard.levels.extend(
                _loudness(pending[start : start + _WINDOW_SAMPLES]) for start in range(0, whole, _WINDOW_SAMPLES)
            )
            del pending[:whole]
            progress(min(len(heard.levels) * WINDOW, duration), duration, "listening for silence")
        heard.spectra.extend(spectra.measure(None))
    if pending:
        heard.levels.append(_loudness(pending))
    return heard


def _mono_frames(container: Any) -> Iterator[Any]:
    """Frames of mono samples of 16 bits, without a hole: silence stands where nothing can be played."""
    resampler, shape = None, None
    for frame in _gapless_frames(container, audio_stream(container)):
        now = (frame.format.name, frame.layout.name, frame.sample_rate)
        if resampler is None or now != shape:
            yield from resampler.resample(None) if resampler else ()
            resampler, shape = library().AudioResampler("s16", "mono", RATE, frame_size=RATE), now
        frame.pts = None
        yield from resampler.resample(frame)
    yield from resampler.resample(None) if resampler else ()


def _gapless_frames(container: Any, stream: Any) -> Iterator[Any]:
    """Frames as they are decoded, after silence where the sound begins after second 0, or a damaged part is left out."""
    begin, until, left = start_time(container), 0.0, MAX_INSERTED_SILENCE
    for frame in decode_frames(container, stream):
        gap = 0.0 if frame.pts is None else min(frame.time - begin - until, left)
        if gap > (MIN_GAP if until else 0.0):
            yield from _silence(gap)
            until, left = until + gap, left - gap
        yield frame
        until += frame.samples / frame.sample_rate


def _silence(seconds: float) -> Iterator[Any]:
    left = int(seconds * RATE)
    while left > 0:
        frame = library().AudioFrame("s16", "mono", min(left, RATE))
        frame.planes[0].update(bytes(frame.planes[0].buffer_size))
        frame.sample_rate = RATE
        yield frame
        left -= frame.samples


def _loudness(window: Sequence[int]) -> float:
    power = sum(map(mul, window, window)) / len(window)
    return max(10 * math.log10(power / 32768**2), _SILENT_DB) if power else _SILENT_DB


class _SpectrumMeter:
    """The filter that measures spectra: each window's ends where the window of its level does."""

    def __init__(self) -> None:
        graph = library().filter.Graph()
        source = graph.add_abuffer(format="s16", sample_rate=RATE, layout="mono", time_base=f"1/{RATE}")
        measured = "+".join(SPECTRAL_FEATURES)
        overlap = 1 - _WINDOW_SAMPLES / _FFT_SIZE
        stats = graph.add("aspectralstats", f"win_size={_FFT_SIZE}:overlap={overlap}:measure={measured}")
        graph.link_nodes(source, stats, graph.add("abuffersink")).configure()
        self._graph, self._done = graph, 0

    def measure(self, frame: Any | None) -> Iterator[float]:
        """The traits of the windows that are complete with `frame`; None ends the sound."""
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
    """In units of what is usual; what differs by a factor as a logarithm, so that it differs by as much everywhere."""
    found = (float(measured.get(f"lavfi.aspectralstats.1.{name}", 0)) for name in SPECTRAL_FEATURES)
    centroid, spread, skewness, kurtosis, entropy, flatness, rolloff, decrease = (
        value if math.isfinite(value) else 0.0 for value in found
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
