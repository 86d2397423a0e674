"""What services hear in the sound of a request, recognized with a small local model."""

from __future__ import annotations

import functools
import io
import json
import wave
from typing import Any

from citekit.adapters.libraries.faster_whisper import RATE, FasterWhisper
from tests.formats.media.speech_samples import small_model


@functools.cache
def _engine() -> FasterWhisper:
    return FasterWhisper(small_model())


def heard_by_whisper(body: dict[str, Any]) -> dict[str, Any]:
    """The answer of `whisper-1` in the form `verbose_json`: words lack punctuation."""
    import numpy as np

    with wave.open(io.BytesIO(body["file"][1])) as sound:
        samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2").astype("float32") / 32768
    segments, words = [], []
    for each in (
        _engine()._engine().transcribe(samples, language="en", word_timestamps=True, beam_size=1, temperature=0.0)[0]
    ):
        figures = {name: getattr(each, name) for name in ("avg_logprob", "compression_ratio", "no_speech_prob")}
        segments.append({"id": each.id, "start": each.start, "end": each.end, "text": each.text, **figures})
        words += [
            {"word": word.word.strip(" .,"), "start": float(word.start), "end": float(word.end)} for word in each.words
        ]
    return {
        "task": "transcribe",
        "language": "english",
        "duration": len(samples) / RATE,
        "text": "".join(each["text"] for each in segments).strip(),
        "segments": segments,
        "words": words,
    }


def heard_by_gemini(sound: bytes) -> str:
    """The text of an answer in the schema of a transcription."""
    heard = heard_by_whisper({"file": ("window.wav", sound)})
    return json.dumps({"language": "en", "text": heard["text"]})
