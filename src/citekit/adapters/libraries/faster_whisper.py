"""Recognizes speech with faster-whisper, which runs Whisper models with CTranslate2 on the CPU.

Nothing is downloaded: the caller provides the files of the model.
"""

from __future__ import annotations

import importlib.util
import logging
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from citekit.adapters.libraries.model_files import imported
from citekit.adapters.libraries.onnxruntime import cores
from citekit.adapters.libraries.speech_models import SpeechModel
from citekit.adapters.system.installed_packages import version_of
from citekit.adapters.system.lazy import Once
from citekit.domain.errors import CiteKitError, MapperUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

FEATURE, EXTRA = "Recognizing speech", "speech"
RATE = 16_000
"""Samples per second that the models expect."""

WINDOW = 28.0
"""Maximum length of a window, in seconds. The models process 30 s at a time."""

MAX_GAP = 1.5
"""Maximum silence inside a window, in seconds. In longer silence, the models may invent words."""

_PADDING_MS = 200
_MIN_SILENCE_MS = 300
_MIN_SPEECH_MS = 150
_THREADS = 4
_TEMPERATURES = (0.0, 0.4, 0.8)
"""The temperatures of decoding, to be tried in order if a result is improbable or repetitive."""

_TOKENS, _TOKENS_PER_SECOND, _MAX_TOKENS = 20, 12, 220
"""The maximum number of tokens of a window: a constant, plus a number for each second, up to a maximum.

Fast speech has about six tokens per second; more than the maximum are a loop of the model.
"""

_MIN_LOG_PROBABILITY = -1.0
_MAX_COMPRESSION = 2.4
_MAX_NO_SPEECH = 0.6
"""The default limits of Whisper (Radford et al., Robust Speech Recognition via Large-Scale Weak Supervision, 2022)."""

_MAX_REPEATS, _MAX_WORDS_PER_SECOND = 8, 7.0
"""The limits above which repeated words are a loop of the model; see `_looped`.

People who speak very fast say about five words per second.
"""

_OUT_OF_MEMORY = re.compile(r"bad_alloc|failed to allocate|cannot allocate|out of memory", re.IGNORECASE)
"""Matches the messages with which CTranslate2, MKL, and ONNX Runtime report that memory ran out."""

_DETECTOR = "Silero VAD"
"""The name of the model that finds speech."""

_CERTAIN_LANGUAGE = 0.9
"""The minimum probability at which the language detected in a window replaces the expected language.

On Spanish prompts, the model `base` detected Spanish with 0.91 to 0.98, and Italian with at most 0.77.
"""


@frozen
class RecognizedWord:
    """A word with its times in seconds from the start of the window, and its confidence from 0 to 1."""

    start: float
    end: float
    text: str
    confidence: float


@frozen
class RecognizedPassage:
    """A passage that the model recognized. `is_doubtful` means that it violates a limit of Whisper."""

    words: Sequence[RecognizedWord]
    language: str
    is_doubtful: bool


def installed() -> bool:
    """Return whether the packages for recognizing speech are installed, without importing them."""
    return all(importlib.util.find_spec(name) is not None for name in ("faster_whisper", "ctranslate2", "av"))


def version() -> str:
    """Return the versions of faster-whisper and CTranslate2, which affect the recognized words."""
    return f"faster-whisper {version_of('faster_whisper', 'faster-whisper')} ctranslate2 {version_of('ctranslate2')}"


@define(eq=False)
class FasterWhisper:
    """A Whisper model. It is loaded on first use and shared by all threads."""

    model: SpeechModel
    _engine: Once[Any] = field(init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._engine = Once(lambda: _new_engine(self.model))

    def windows(self, samples: Samples) -> list[tuple[int, int]]:
        """See `speech_windows`."""
        return speech_windows(samples)

    def recognize(self, samples: Samples, language: str | None, expected: str | None) -> list[RecognizedPassage]:
        """Return the passages that are spoken in the window `samples`.

        `language` is None to detect it, and `expected` is the language to use if the detection is uncertain. Raise
        `DriverMissing` if faster-whisper is not installed, or `MapperUnavailable` if the model does not know `language`
        or fails.
        """
        runtime: Any = imported("ctranslate2", FEATURE, EXTRA)
        with _translated_errors(self.model.name):
            engine = self._engine()
            self._check_language(engine, language)
            with self._lock:
                runtime.set_random_seed(0)
                spoken = language or self._language(engine, samples, expected)
                segments, _ = engine.transcribe(
                    samples,
                    language=spoken,
                    beam_size=5,
                    temperature=_TEMPERATURES,
                    log_prob_threshold=_MIN_LOG_PROBABILITY,
                    compression_ratio_threshold=_MAX_COMPRESSION,
                    no_speech_threshold=_MAX_NO_SPEECH,
                    max_new_tokens=min(_TOKENS + round(_TOKENS_PER_SECOND * len(samples) / RATE), _MAX_TOKENS),
                    condition_on_previous_text=False,
                    word_timestamps=True,
                    vad_filter=False,
                )
                return list(passages_of(segments, spoken, len(samples) / RATE))

    def _check_language(self, engine: Any, language: str | None) -> None:
        if language is not None and language not in engine.supported_languages:
            advice = (
                "It supports only English. Set CITEKIT_SPEECH_LANGUAGE to en, or choose a model for all languages "
                "(CITEKIT_SPEECH_MODEL)."
                if engine.supported_languages == ["en"]
                else "Set CITEKIT_SPEECH_LANGUAGE to another code, or unset it to detect the language."
            )
            raise MapperUnavailable(
                f"The speech model {self.model.name} does not support the language {language!r}. {advice}"
            )

    def _language(self, engine: Any, samples: Samples, expected: str | None) -> str:
        if not engine.model.is_multilingual:
            return "en"
        features = engine.feature_extractor(samples)[..., :-1]  # the frames that `transcribe` encodes first
        found, probability, _ = engine.detect_language(features=features)
        return str(found) if expected is None or probability >= _CERTAIN_LANGUAGE else expected


def speech_windows(samples: Samples) -> list[tuple[int, int]]:
    """Return the windows with speech, as ranges of samples of at most `WINDOW` seconds. See `detected_speech` for
    errors.
    """
    return joined(detected_speech(samples, WINDOW, _PADDING_MS))


def detected_speech(samples: Samples, longest: float, padding: int) -> list[tuple[int, int]]:
    """Return the spans of speech, as ranges of samples of at most `longest` seconds, split at pauses (Silero model).

    Each span includes up to `padding` milliseconds before and after the speech. Raise `DriverMissing` if faster-whisper
    is not installed, or `MapperUnavailable` if the detection fails.
    """
    detection: Any = imported("faster_whisper.vad", FEATURE, EXTRA)
    with _translated_errors(_DETECTOR):
        options = detection.VadOptions(
            min_silence_duration_ms=_MIN_SILENCE_MS,
            min_speech_duration_ms=_MIN_SPEECH_MS,
            max_speech_duration_s=longest,
            speech_pad_ms=padding,
        )
        found = detection.get_speech_timestamps(samples, options)
    return [(int(each["start"]), int(each["end"])) for each in found]


@contextmanager
def _translated_errors(model: str) -> Iterator[None]:
    try:
        yield
    except CiteKitError:
        raise
    except Exception as error:
        if isinstance(error, MemoryError) or _OUT_OF_MEMORY.search(str(error)):
            advice = "Increase" if model == _DETECTOR else "Use a smaller model (CITEKIT_SPEECH_MODEL), or increase"
            raise MapperUnavailable(
                f"There is not enough memory for the speech model {model}. {advice} CITEKIT_PARSER_MEMORY or, on a cluster, "
                "the memory limit of its workers."
            ) from error
        detail = (str(error).strip().splitlines() or [""])[-1].strip(" .")[:160] or type(error).__name__
        raise MapperUnavailable(
            f"Speech recognition (faster-whisper) failed with the model {model}: {detail}."
        ) from error


def _new_engine(model: SpeechModel) -> Any:
    package: Any = imported("faster_whisper", FEATURE, EXTRA)
    logging.getLogger("faster_whisper").setLevel(logging.CRITICAL)
    folder = model.folder
    files = None if folder is not None else {name: model.read(name) for name in model.files}
    engine = package.WhisperModel(
        model.name if folder is None else str(folder),
        device="cpu",
        compute_type="int8",
        cpu_threads=min(_THREADS, cores()),
        files=files,
        local_files_only=True,
    )
    engine.encode = _remembering_last(engine.encode)
    return engine


def _remembering_last(encode: Callable[[Samples], object]) -> Callable[[Samples], object]:
    """Return a function that calls `encode` and reuses its last result if the next call has equal arguments.

    Language detection and recognition encode the same frames. Encoding them is at least a tenth of the work.
    """
    import numpy as np

    last: tuple[Samples, object] | None = None

    def encoded(features: Samples) -> object:
        nonlocal last
        if last is None or not np.array_equal(last[0], features):
            last = features, encode(features)
        return last[1]

    return encoded


def joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans of speech into windows of at most `WINDOW` seconds, with gaps of at most `MAX_GAP`."""
    windows: list[tuple[int, int]] = []
    for start, end in spans:
        if windows and start - windows[-1][1] <= MAX_GAP * RATE and end - windows[-1][0] <= WINDOW * RATE:
            windows[-1] = (windows[-1][0], end)
        else:
            windows.append((start, end))
    return windows


def passages_of(segments: Any, language: str, duration: float) -> Iterator[RecognizedPassage]:
    """Yield the passages of the segments, with ordered times and without loops of the model."""
    reached = 0.0
    passages: list[tuple[bool, list[RecognizedWord]]] = []
    repeating: list[RecognizedWord] = []
    for segment in segments:
        words = []
        for word in segment.words or ():
            start = min(max(float(word.start), reached), duration)
            end = min(max(float(word.end), start), duration)
            reached = end
            if word.word.strip():
                words.append(RecognizedWord(start, end, str(word.word), min(max(float(word.probability), 0.0), 1.0)))
        passages.append((_is_doubtful(segment), words))
        if segment.compression_ratio > _MAX_COMPRESSION:
            repeating += words
    looped = {id(word) for word in _looped(repeating)}
    for is_doubtful, words in passages:
        kept = [word for word in words if id(word) not in looped]
        if kept:
            yield RecognizedPassage(kept, language, is_doubtful)


def _looped(words: Sequence[RecognizedWord]) -> Iterator[RecognizedWord]:
    """Yield the words that a loop of the model repeats, without their first occurrence."""
    plain = [word.text.strip(" .,;:!?").casefold() for word in words]
    at = 0
    while at < len(words):
        for period in range(1, (len(words) - at) // 3 + 1):
            end = at + period
            while end < len(words) and plain[end] == plain[end - period]:
                end += 1
            repeats = (end - at) // period
            rate = (end - at) / max(words[end - 1].end - words[at].start, 0.01)
            if repeats > _MAX_REPEATS or (repeats >= 3 and rate > _MAX_WORDS_PER_SECOND):
                yield from words[at + period : end]
                at = end
                break
        else:
            at += 1


def _is_doubtful(segment: Any) -> bool:
    return bool(
        segment.avg_logprob < _MIN_LOG_PROBABILITY
        or segment.no_speech_prob > _MAX_NO_SPEECH
        or segment.compression_ratio > _MAX_COMPRESSION
    )
