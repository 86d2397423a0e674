"""Turns short stretches of speech into vectors that are similar if the voice is the same.

The model is the voice encoder of Resemblyzer (C. Jemine, Apache License 2.0), after L. Wan et al.: Generalized
End-to-End Loss for Speaker Verification (ICASSP 2018), with weights rounded to 16 bits.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from citekit.adapters.libraries.faster_whisper import RATE, detected_speech

Floats = NDArray[np.float32]

STRETCH = 1.6
"""Duration in seconds of a stretch, which is the sound that one vector describes."""

LONGEST = 60.0
"""The maximum duration of a span of speech, in seconds."""

_PADDING_MS = 60

SIZE = 256
"""The number of values in a vector, which are not negative. The vector has the length 1."""

_WEIGHTS = Path(__file__).parent / "data" / "voices" / "weights.npz"
_LAYERS, _UNITS, _BANDS = 3, 256, 40
_HOP, _FRAME = 160, 400
_FRAMES = round(STRETCH * RATE / _HOP)
_BATCH = 64
_QUIET = 10 ** (-30 / 20)
"""The loudness, relative to full scale, to which quieter sound is amplified, as in training."""


def version() -> str:
    """Return a text that changes when the same sound may result in different vectors."""
    return "Resemblyzer 0.1.4"


@frozen
class VoiceEncoder:
    """The voice encoder. It is loaded on first use. Thread-safe."""

    step: float = field(default=0.4)
    """Seconds from the start of one stretch to the start of the next."""

    def speech(self, samples: Floats) -> list[tuple[int, int]]:
        """Return the spans of speech, as ranges of samples, at most `LONGEST` seconds long. See `detected_speech` for
        errors.
        """
        return detected_speech(samples, LONGEST, _PADDING_MS)

    def starts(self, seconds: float) -> list[float]:
        """Return the start, in seconds, of each stretch in a sound of `seconds` seconds."""
        last = max(0.0, seconds - STRETCH)
        count = math.ceil(round(last / self.step, 6)) + 1
        return [min(number * self.step, last) for number in range(count)]

    def vectors(self, samples: Floats) -> Floats:
        """Return an array with a vector (`SIZE` numbers) for each of the `starts`.

        `samples` are mono, from -1 to 1, with `RATE` samples per second. Sound that is shorter than a stretch is repeated.
        """
        spectra = _spectra(samples)
        if len(spectra) < _FRAMES:
            spectra = np.tile(spectra, (-(-_FRAMES // len(spectra)), 1))[:_FRAMES]
        firsts = [min(round(start * RATE / _HOP), len(spectra) - _FRAMES) for start in self.starts(len(samples) / RATE)]
        batches = [firsts[at : at + _BATCH] for at in range(0, len(firsts), _BATCH)]
        return np.concatenate(
            [_encoded(np.stack([spectra[first : first + _FRAMES] for first in batch])) for batch in batches]
        )


@cache
def _weights() -> dict[str, Floats]:
    with np.load(_WEIGHTS, allow_pickle=False) as stored:
        return {name: stored[name].astype("float32") for name in stored.files}


def _spectra(samples: Floats) -> Floats:
    """Return the power in each band of the Mel scale for each hundredth of a second, shape (time, bands)."""
    loudness = float(np.sqrt(np.mean(np.square(samples)))) if len(samples) else 0.0
    if 0 < loudness < _QUIET:
        samples = samples * (_QUIET / loudness)
    padded = np.pad(samples, _FRAME // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FRAME)[::_HOP]
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_FRAME) / _FRAME)).astype("float32")
    return np.square(np.abs(np.fft.rfft(frames * window, axis=1))).astype("float32") @ _bands().T


@cache
def _bands() -> Floats:
    """Return the weights of the frequencies in each band, shape (bands, frequencies), as in M. Slaney's Auditory
    Toolbox.
    """
    step, octave = 200 / 3, math.log(6.4) / 27
    highest = 15 + math.log(RATE / 2 / 1000) / octave
    scale = np.linspace(0, highest, _BANDS + 2)
    edges = np.where(scale >= 15, 1000 * np.exp(octave * (scale - 15)), scale * step)
    frequencies = np.linspace(0, RATE / 2, _FRAME // 2 + 1)
    rising = (frequencies - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - frequencies) / (edges[2:] - edges[1:-1])[:, None]
    weights: Floats = np.clip(np.minimum(rising, falling), 0, None) * (2 / (edges[2:] - edges[:-2]))[:, None]
    return weights.astype("float32")


def _encoded(stretches: Floats) -> Floats:
    """Return a vector for each stretch. `stretches` has the shape (stretches, time, bands)."""
    weights = _weights()
    count, length, _ = stretches.shape
    hidden = np.zeros((count, _UNITS), "float32")
    for layer in range(_LAYERS):
        bias = weights[f"lstm.bias_ih_l{layer}"] + weights[f"lstm.bias_hh_l{layer}"]
        incoming = stretches.reshape(count * length, -1) @ weights[f"lstm.weight_ih_l{layer}"].T + bias
        incoming = incoming.reshape(count, length, -1)
        recurrent = np.ascontiguousarray(weights[f"lstm.weight_hh_l{layer}"].T)
        hidden = np.zeros((count, _UNITS), "float32")
        cell = np.zeros_like(hidden)
        stretches = np.empty((count, length, _UNITS), "float32")
        for at in range(length):
            gates = incoming[:, at] + hidden @ recurrent
            opened = 0.5 + 0.5 * np.tanh(0.5 * gates)
            kept, admitted = opened[:, _UNITS : 2 * _UNITS], opened[:, :_UNITS]
            cell = kept * cell + admitted * np.tanh(gates[:, 2 * _UNITS : 3 * _UNITS])
            hidden = opened[:, 3 * _UNITS :] * np.tanh(cell)
            stretches[:, at] = hidden
    made: Floats = np.maximum(hidden @ weights["linear.weight"].T + weights["linear.bias"], 0)
    made /= np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-9)
    return made
