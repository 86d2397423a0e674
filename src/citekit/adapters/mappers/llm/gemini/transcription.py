"""Recognizes speech with Gemini.

Gemini gives times only in whole seconds and gives no probabilities, so each window becomes one segment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

from attrs import define, frozen

from citekit.adapters.libraries.faster_whisper import RATE
from citekit.adapters.mappers.llm.gemini.replies import OUTPUT_SETTINGS
from citekit.adapters.mappers.llm.gemini.service import GeminiService
from citekit.adapters.mappers.llm.messages import BudgetExhausted, Question, Session, SoundPart, TextPart
from citekit.adapters.mappers.llm.speech_languages import language_code
from citekit.adapters.mappers.llm.transcription import (
    CACHED,
    WIDTH,
    Heard,
    SoundBudget,
    SpeechSession,
    coarse_segment,
    wave_of,
)
from citekit.domain.errors import MapperUnavailable
from citekit.domain.progress import Progress

SYSTEM = "You transcribe speech word for word."

REQUEST = (
    "Write down exactly the words that are spoken in this recording, in its language, with punctuation. Do not translate, "
    "summarize, or correct them, and add no names of speakers, times, or descriptions of sounds. If no words are spoken, "
    "the text is empty."
)

_WANTED = ("language", "text")

SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "language": {"type": "string", "description": "the ISO 639-1 code of the language, such as en"},
        "text": {"type": "string", "description": "the words"},
    },
    "required": [*_WANTED],
}

_LOCAL = "a local model (CITEKIT_SPEECH_MODEL=base)"
_ADVICE = {
    f"; {OUTPUT_SETTINGS}": "",
    "Map the file with another model (--model)": "Use another model (CITEKIT_SPEECH_MODEL)",
    ", send fewer requests at the same time (--model-concurrency)": f" and try again ({CACHED})",
    ", or map a smaller file": "",
    "map a smaller file, or use --mapper local": f"use another model (CITEKIT_SPEECH_MODEL), or {_LOCAL}",
    "map a smaller file": f"use {_LOCAL}",
    "use --mapper local": f"use {_LOCAL}",
    "(--model), such as ": "(CITEKIT_SPEECH_MODEL), such as gemini:",
    "--model": "CITEKIT_SPEECH_MODEL",
    "--timeout": "CITEKIT_TIMEOUT",
}
"""Pairs of the advice in the mapper's messages and the advice for speech, in the order of replacement."""


@frozen(kw_only=True)
class GeminiSpeech:
    """Gemini as a `SpeechService`.

    `language` is the code of the language of all recordings, or None to detect it. `url_variable` names the variable
    with the base URL.
    """

    service: GeminiService
    language: str | None = None
    url_variable: str = "CITEKIT_SPEECH_URL"

    @property
    def model(self) -> str:
        """See `SpeechService.model`."""
        return self.service.model

    @property
    def label(self) -> str:
        """See `SpeechService.label`."""
        address = self.service.base_url
        return "Gemini" if address is None else f"Gemini at {_host(address)}"

    @property
    def where(self) -> str:
        """See `SpeechService.where`."""
        address = self.service.base_url
        return "gemini" if address is None else f"gemini {_host(address)}{urlsplit(address).path}"

    def check(self) -> None:
        """See `SpeechService.check`."""
        with _advice_for_speech(self.url_variable):
            self.service.checked_key()

    @contextmanager
    def session(self, budget: SoundBudget) -> Iterator[SpeechSession]:
        """See `SpeechService.session`."""
        with _advice_for_speech(self.url_variable), self.service.session(budget) as session:
            yield _GeminiSession(session, self.language)


@define
class _GeminiSession:
    session: Session
    language: str | None

    def hear(self, sound: bytes, progress: Progress) -> Heard:
        """See `SpeechSession.hear`."""
        spoken = "" if self.language is None else f" The language is {self.language}."
        parts = (SoundPart(wave_of(sound), "audio/wav"), TextPart(REQUEST + spoken))
        reply = self.session.ask(Question(SYSTEM, parts, SCHEMA), progress)
        if not reply.complete:
            raise MapperUnavailable(
                "Gemini reached its output limit before it finished transcribing a part of the recording. Use another model "
                f"(CITEKIT_SPEECH_MODEL), or {_LOCAL}."
            )
        answer = _read(reply.text)
        text = " ".join(answer["text"].split())
        segments = [coarse_segment(text, 0.0, len(sound) / WIDTH / RATE, None)] if any(map(str.isalnum, text)) else []
        return Heard(segments, language_code(answer["language"], self.language))


def _read(text: str) -> dict[str, str]:
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or not all(isinstance(answer.get(name), str) for name in _WANTED):
        raise MapperUnavailable(f"Gemini returned a transcript that cannot be read. Try again; {CACHED}.")
    return {name: answer[name] for name in _WANTED}


@contextmanager
def _advice_for_speech(url_variable: str) -> Iterator[None]:
    """Replace the advice for users of the mapper in errors."""
    try:
        yield
    except BudgetExhausted:
        raise
    except MapperUnavailable as error:
        text = str(error)
        for said, here in {**_ADVICE, "--base-url": url_variable}.items():
            text = text.replace(said, here)
        raise MapperUnavailable(text) from error


def _host(address: str) -> str:
    return urlsplit(address).netloc.rpartition("@")[2]
