"""Transcribes recordings with a service, which is used only if the user chose it.

A recording is cut at pauses into windows. Each answer is cached under the digest of its sound, so that an interrupted
transcription continues without sending it again.
"""

from __future__ import annotations

import hashlib
import io
import math
import tempfile
import wave
import zlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from attrs import define, field, frozen

from citekit.adapters.formats.media.transcriber import StoredSpeech, passages_from, placed, plain_passages
from citekit.adapters.libraries import faster_whisper
from citekit.adapters.libraries.faster_whisper import RATE, RecognizedPassage, passages_of
from citekit.adapters.mappers.llm.messages import BudgetExhausted
from citekit.domain.errors import FaultyAnswer, HomeUnwritable
from citekit.domain.numbers import shortest
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source
from citekit.domain.speech import MIN_CONFIDENCE, Speech, SpokenPassage

if TYPE_CHECKING:
    from citekit.adapters.libraries.sqlite.key_value_cache import Index
    from citekit.domain.ports.speech_windows import SpeechWindows

VERSION = "1"
"""Change this whenever the same answers would result in different words."""

COARSE = "times only for passages"
"""The note in the name of the transcriber if the service gives no times of words."""

CACHED = "the parts that are already transcribed are cached and are not sent again"
"""A clause for error messages after which the user can try again."""

WIDTH = 2
"""Size of a sample, in bytes."""

_MAX_WORDS_PER_SECOND = 7.0
"""The maximum number of words that a person says in a second. A model may have invented more."""


@frozen
class TimedWord:
    """A word of `Segment`, with the attributes of the words of faster-whisper."""

    start: float
    end: float
    word: str
    probability: float


@frozen(kw_only=True)
class Segment:
    """A segment of an answer, with the attributes of the segments of faster-whisper.

    If `is_coarse`, the times of the words are unknown, and its only word is its whole text.
    """

    words: Sequence[TimedWord]
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float
    is_coarse: bool


@frozen
class Heard:
    """What a service heard in a window, in the language with the code `language`."""

    segments: Sequence[Segment]
    language: str


@define
class SoundBudget:
    """A limit on the seconds of audio that are sent for the recording `name` (None: no limit)."""

    limit: float | None
    name: str
    spent: float = 0.0
    _next: float = field(default=0.0, init=False)

    def sending(self, sound: bytes) -> None:
        """Set the sound that the next requests send."""
        self._next = len(sound) / WIDTH / RATE

    def spend(self) -> None:
        """See `Spending.spend`."""
        if self.limit is not None and self.spent + self._next > self.limit:
            limit = f"The limit of {shortest(self.limit)} second{'' if self.limit == 1 else 's'} of audio"
            if self._next > self.limit:
                raise BudgetExhausted(
                    f"{limit} is too low for the next part of {self.name}, which is {math.ceil(self._next)} s long. "
                    "Allow more (CITEKIT_SPEECH_SECONDS)."
                )
            raise BudgetExhausted(
                f"{limit} was reached before all of {self.name} was transcribed. Try again to continue, or "
                f"allow more (CITEKIT_SPEECH_SECONDS); {CACHED}."
            )
        self.spent += self._next

    def refund(self) -> None:
        """Remove the last request from the count, because the service refused it and did not bill it."""
        self.spent -= self._next


class SpeechSession(Protocol):
    """A connection to a service for one recording."""

    def hear(self, sound: bytes, progress: Progress) -> Heard:
        """Return what is said in a window of 16-bit mono samples. Spend from the budget before each request.

        Raise `MapperUnavailable` if the service fails, `BudgetExhausted` if the limit is reached, or `Cancelled`.
        """


class SpeechService(Protocol):
    """A service that recognizes speech."""

    @property
    def model(self) -> str:
        """The name by which the service knows the model."""

    @property
    def label(self) -> str:
        """The name of the service for notes and receipts, such as `OpenAI`."""

    @property
    def where(self) -> str:
        """A text, without the API key, that distinguishes this service from others that may answer differently."""

    def check(self) -> None:
        """Raise `MapperUnavailable` if the service cannot be used, for example because there is no key."""

    def session(self, budget: SoundBudget) -> AbstractContextManager[SpeechSession]:
        """Connect to the service. Raise `MapperUnavailable` or `DriverMissing` if that fails."""


@frozen(kw_only=True)
class AskedTranscriber:
    """A `Transcriber` that asks a service.

    `windows` cuts the recordings, and `index` stores the answers. `language` is that of all recordings, or None to
    detect it. `seconds` limits the audio that is sent for one recording in one run (None: no limit).
    """

    service: SpeechService
    windows: Callable[[], SpeechWindows] = field(repr=False)
    index: Index = field(repr=False)
    language: str | None = None
    seconds: float | None = None

    @property
    def name(self) -> str:
        """See `Transcriber.name`."""
        return f"{self.service.label} ({self.service.model})"

    @property
    def version(self) -> str:
        """See `Transcriber.version`. It contains the version of faster-whisper."""
        return f"{self._answers} {faster_whisper.version()}"

    @property
    def _answers(self) -> str:
        """A text that changes when the same sound may result in another answer."""
        return f"{VERSION} {self.service.where} {self.service.model} {self.language or ''}".rstrip()

    def transcribe(self, source: Source, progress: Progress = silent) -> Speech:
        """See `Transcriber.transcribe`. Also raise `BudgetExhausted` if the limit is reached, or `HomeUnwritable`
        before anything is sent if answers cannot be stored.
        """
        stored = StoredSpeech(self.name, self.version, self.index)
        found = stored.get(source)
        if found is not None:
            return found
        self.service.check()
        self._check_cache()
        passages: list[SpokenPassage] = []
        coarse = False
        budget = SoundBudget(self.seconds, source.path.name)
        with tempfile.NamedTemporaryFile(prefix="citekit-speech-") as file:
            windows = self.windows().write(source, Path(file.name), progress)
            total, done = sum(window.samples for window in windows) / RATE, 0.0
            with self.service.session(budget) as session:
                for window in windows:
                    progress(done, total, f"asking {self.service.model}")
                    sound = _read(file, window.samples)
                    budget.sending(sound)
                    recognized, is_coarse = self._recognized(session, sound, _Waiting(progress, done, total))
                    passages += [placed(each, window.start) for each in recognized]
                    done, coarse = done + window.samples / RATE, coarse or is_coarse
        heard = f"{self.service.label} ({self.service.model}; {COARSE})" if coarse else self.name
        return stored.put(source, Speech(passages=passages, transcriber=heard))

    def _check_cache(self) -> None:
        if not self.index.put("speech answers can be kept", {}):
            raise HomeUnwritable(
                "The cache of the home cannot be written, so the answers of the transcription service would be lost. "
                "Nothing was sent. Check the permissions of the home and the space on the disk."
            )

    def _recognized(
        self, session: SpeechSession, sound: bytes, progress: Progress
    ) -> tuple[list[RecognizedPassage], bool]:
        """Return the passages of a window, from the cache or the service, and whether the word times
        of any of them are unknown.
        """
        key = f"speech answer {self._answers} {hashlib.sha256(sound).hexdigest()}"
        found = self.index.get(key)
        if found is not None:
            return passages_from(found), bool(found.get("is_coarse"))
        heard = session.hear(sound, progress)
        passages = list(passages_of(heard.segments, heard.language, len(sound) / WIDTH / RATE))
        coarse = any(each.is_coarse for each in heard.segments)
        self.index.put(key, {**plain_passages(passages), "is_coarse": coarse})
        return passages, coarse


@frozen
class _Waiting:
    """Reports progress while a window is transcribed: the seconds of audio before the window, and in total."""

    progress: Progress
    done: float
    total: float

    def __call__(self, done: float, total: float | None = None, message: str = "") -> None:  # noqa: ARG002
        self.progress(self.done, self.total, message)


def coarse_segment(
    text: str, start: float, end: float, log_probability: float | None, compression: float = 0.0, no_speech: float = 0.0
) -> Segment:
    """Return a segment whose words have no times, marked as doubtful if it has more words than can be said.

    `log_probability` is None if the service gives none.
    """
    log_probability = math.log(MIN_CONFIDENCE) if log_probability is None else log_probability
    data = text.encode()
    compression = max(compression, len(data) / len(zlib.compress(data)))
    hasty = len(text.split()) > _MAX_WORDS_PER_SECOND * max(end - start, 1.0)
    return Segment(
        words=[TimedWord(start, end, text, probability_of(log_probability))],
        avg_logprob=log_probability,
        compression_ratio=compression,
        no_speech_prob=1.0 if hasty else no_speech,
        is_coarse=True,
    )


def probability_of(log_probability: float) -> float:
    """Return the probability, from 0 to 1, whose natural logarithm is `log_probability`."""
    return math.exp(min(log_probability, 0.0))


def _read(file: IO[bytes], samples: int) -> bytes:
    sound = file.read(samples * WIDTH)
    if len(sound) != samples * WIDTH:
        raise FaultyAnswer(
            "The worker returned less audio than it announced",
            ["try again; if this happens again, the file may be damaged"],
        )
    return sound


def wave_of(sound: bytes) -> bytes:
    """Return a WAV file with the 16-bit mono samples."""
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setparams((1, WIDTH, RATE, 0, "NONE", ""))
        file.writeframes(sound)
    return made.getvalue()
