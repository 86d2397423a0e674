"""Recognizes speech with OpenAI or a compatible server: `POST /v1/audio/transcriptions`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attrs import define, evolve, field, frozen

from citekit.adapters.libraries import openai as driver
from citekit.adapters.libraries.faster_whisper import RATE
from citekit.adapters.mappers.llm.openai.failures import Advice, BadResponseError, Endpoint, no_key, verdict
from citekit.adapters.mappers.llm.openai.service import check_settings
from citekit.adapters.mappers.llm.speech_languages import language_code
from citekit.adapters.mappers.llm.transcription import (
    CACHED,
    WIDTH,
    Heard,
    Segment,
    SoundBudget,
    SpeechSession,
    TimedWord,
    coarse_segment,
    probability_of,
    wave_of,
)
from citekit.adapters.system.retry import Retries, Verdict, asked
from citekit.domain.errors import DriverMissing
from citekit.domain.progress import Progress
from citekit.domain.speech import MIN_CONFIDENCE

if TYPE_CHECKING:
    from openai import OpenAI

ADVICE = Advice(
    user="transcription",
    offer="transcriptions",
    model="CITEKIT_SPEECH_MODEL",
    url="CITEKIT_SPEECH_URL",
    timeout="CITEKIT_TIMEOUT",
    slower=f"wait{{}}, then try again; {CACHED}",
    smaller="Use another model (CITEKIT_SPEECH_MODEL).",
    without="use a local model (CITEKIT_SPEECH_MODEL=base)",
)

_FORMS: Sequence[Mapping[str, object]] = (
    {"response_format": "verbose_json", "timestamp_granularities": ["word", "segment"]},
    {"response_format": "json", "include": ["logprobs"]},
    {"response_format": "json"},
)
"""The forms of answers, in order of preference: times of words, the probabilities of the text, or only the text."""

_FORM_REFUSED = ("response_format", "verbose_json", "timestamp_granularities", "include", "logprobs")


@frozen(kw_only=True)
class OpenAiSpeech:
    """OpenAI or a compatible server as a `SpeechService`.

    `key`, `base_url`, `timeout`, and `retries` are those of `OpenAiService`, and `url_variable` names the variable with
    the base URL. `language` is the code of the language of all recordings, or None to detect it.
    """

    model: str
    key: str | None = field(default=None, repr=False)
    base_url: str | None = field(default=None, repr=False)
    language: str | None = None
    timeout: float = 300.0
    retries: Retries = field(factory=Retries, repr=False)
    url_variable: str = ADVICE.url

    @property
    def endpoint(self) -> Endpoint:
        """The model and the server, for error messages."""
        return Endpoint(
            model=self.model,
            base_url=self.base_url,
            timeout=self.timeout,
            keyed=bool(self.trimmed_key),
            advice=self.advice,
        )

    @property
    def advice(self) -> Advice:
        """The settings of transcription, for error messages."""
        return evolve(ADVICE, url=self.url_variable)

    @property
    def trimmed_key(self) -> str | None:
        """The key without spaces around it, or None if there is none."""
        return (self.key or "").strip() or None

    @property
    def label(self) -> str:
        """See `SpeechService.label`."""
        return self.endpoint.label.removeprefix("The ")

    @property
    def where(self) -> str:
        """See `SpeechService.where`."""
        return "openai" if self.base_url is None else f"{self.endpoint.host}{urlsplit(self.base_url).path}"

    def check(self) -> None:
        """See `SpeechService.check`."""
        if self.trimmed_key is None and self.endpoint.hosted:
            raise no_key(self.advice)
        check_settings(self.endpoint, self.trimmed_key)

    @contextmanager
    def session(self, budget: SoundBudget) -> Iterator[SpeechSession]:
        """See `SpeechService.session`."""
        try:
            client = driver.connect(self.trimmed_key, self.base_url, self.timeout)
        except DriverMissing:
            raise
        except Exception as error:
            said = self.explain(error)
            if said is None:
                raise
            raise said.error from error
        with client:
            yield _OpenAiSession(self, client, budget)

    def explain(self, error: Exception) -> Verdict | None:
        """Return what an exception of the client means, or None if it is not a failure of the service."""
        if isinstance(error, BadResponseError):
            return verdict(self.endpoint, error.failure)
        failure = driver.classify(error, self.trimmed_key)
        return None if failure is None else verdict(self.endpoint, failure)


@define
class _OpenAiSession:
    service: OpenAiSpeech
    client: OpenAI
    budget: SoundBudget
    _forms: list[Mapping[str, object]] = field(factory=lambda: [*_FORMS], init=False)

    def hear(self, sound: bytes, progress: Progress) -> Heard:
        """See `SpeechSession.hear`. If the model refuses a form of answer, that form is not requested again."""
        answer = None
        while answer is None:
            try:
                answer = asked(lambda: self._send(sound), self.service.explain, self.service.retries, progress)
            except _FormRefusedError:
                self.budget.refund()
                del self._forms[0]
        duration = len(sound) / WIDTH / RATE
        try:
            segments = list(_segments(answer, duration))
        except BadResponseError as error:
            raise verdict(self.service.endpoint, error.failure).error from error
        return Heard(segments, language_code(str(answer.get("language") or ""), self.service.language))

    def _send(self, sound: bytes) -> Mapping[str, object]:
        self.budget.spend()
        language = {} if self.service.language is None else {"language": self.service.language}
        key = self.service.trimmed_key
        try:
            response = self.client.audio.transcriptions.with_raw_response.create(  # type: ignore[call-overload]
                file=("window.wav", wave_of(sound), "audio/wav"), model=self.service.model, **self._forms[0], **language
            )
            answer = json.loads(response.http_response.read())
        except ValueError as error:
            raise _unreadable("the answer is not JSON") from error
        except Exception as error:
            failure = driver.classify(error, key)
            refused = failure is not None and failure.status in (400, 422)
            if refused and failure and len(self._forms) > 1 and any(word in failure.words for word in _FORM_REFUSED):
                raise _FormRefusedError from error
            raise
        if not isinstance(answer, dict) or not isinstance(answer.get("text"), str):
            if isinstance(answer, dict) and answer.get("error"):
                raise BadResponseError(driver.failure_in_body(answer["error"], key))
            raise _unreadable("the answer has no text")
        return answer


class _FormRefusedError(Exception):
    """The model does not support this form of answers."""


def _unreadable(reason: str) -> BadResponseError:
    return BadResponseError(driver.OpenAiFailure(kind=driver.FailureKind.UNREADABLE, message=reason))


def _segments(answer: Mapping[str, object], duration: float) -> Iterator[Segment]:
    """Yield the segments of an answer, with the times of their words if these are given and match the text.

    Raise `BadResponseError` if the answer is malformed.
    """
    words = [_word(each) for each in _list(answer, "words")]
    whole: dict[str, object] = {"start": 0, "end": duration, "text": answer["text"], "avg_logprob": _mean(answer)}
    for number, part in enumerate(_list(answer, "segments") or [whole]):
        start, end, text = _time(part, "start"), _time(part, "end"), part.get("text")
        if not isinstance(text, str):
            raise _unreadable("a segment has no text")
        if not any(map(str.isalnum, text)):
            continue
        log_probability = _figure(part, "avg_logprob")
        compression, no_speech = _figure(part, "compression_ratio") or 0.0, _figure(part, "no_speech_prob") or 0.0
        found = _found(text, words)
        if found is None:
            said = f" {text.strip()}" if number else text.strip()
            yield coarse_segment(said, start, end, log_probability, compression, no_speech)
            words = [each for each in words if each[0] >= end]
            continue
        words = words[len(found) :]
        known = math.log(MIN_CONFIDENCE) if log_probability is None else log_probability
        yield Segment(
            words=[TimedWord(low, high, said, probability_of(known)) for low, high, said in found],
            avg_logprob=known,
            compression_ratio=compression,
            no_speech_prob=no_speech,
            is_coarse=False,
        )


def _mean(answer: Mapping[str, object]) -> float | None:
    """Return the mean log probability of the tokens, or None if there are none."""
    found = [_time(each, "logprob") for each in _list(answer, "logprobs")]
    return sum(found) / len(found) if found else None


def _found(text: str, words: Sequence[tuple[float, float, str]]) -> list[tuple[float, float, str]] | None:
    """Return the first of `words` that together make up `text`, with their punctuation and spaces, or None if they
    differ.
    """
    found: list[tuple[float, float, str]] = []
    reached = 0
    for start, end, word in words:
        if not any(map(str.isalnum, text[reached:])):
            break
        at = text.find(word, reached)
        if at < 0 or any(map(str.isalnum, text[reached:at])):
            return None
        stop = at + len(word)
        while stop < len(text) and not text[stop].isalnum() and not text[stop].isspace():
            stop += 1
        found.append((start, end, text[reached:stop]))
        reached = stop
    return None if not found or any(map(str.isalnum, text[reached:])) else found


def _word(part: Mapping[str, object]) -> tuple[float, float, str]:
    text = part.get("word")
    if not isinstance(text, str) or not text.strip():
        raise _unreadable("a word has no text")
    return _time(part, "start"), _time(part, "end"), text.strip()


def _list(answer: Mapping[str, object], name: str) -> list[dict[str, object]]:
    found = answer.get(name) or []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise _unreadable(f"the field {name!r} is not a list of objects")
    return found


def _time(part: Mapping[str, object], name: str) -> float:
    found = part.get(name)
    try:
        number = math.nan if isinstance(found, bool) or not isinstance(found, int | float) else float(found)
    except OverflowError:  # an integer with hundreds of digits
        number = math.nan
    if not math.isfinite(number):
        raise _unreadable(f"the value of {name!r} is not a number")
    return number


def _figure(part: Mapping[str, object], name: str) -> float | None:
    return _time(part, name) if part.get(name) is not None else None
