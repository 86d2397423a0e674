"""What a server turned out to be able to do.

OpenAI takes all of it. Of the servers that speak its language, most know `json_schema` (Ollama, vLLM, llama.cpp,
LM Studio, OpenRouter for some models), some only `json_object` (DeepSeek); pictures come down to the model; hardly any
takes a PDF. None says so beforehand: the refusal of a request is how one learns.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Self

from attrs import evolve, frozen

from citekit.adapters.libraries.openai import FailureKind, OpenAiFailure
from citekit.adapters.mappers.llm.openai.failures import concerns_account, exceeds_context

_UNSUPPORTED_STATUSES = frozenset({400, 404, 415, 422, 500, 501})
"""Statuses that servers give for a request whose form they do not know (llama.cpp: 500 for a picture; vLLM: 501)."""

_FORM = re.compile(r"response_format|json_schema|json_object|structured|schema|grammar|json mode")
_FILE = re.compile(
    r"\bfiles?\b|file_data|content part|part type|content\[|content type|unsupported content|message format"
)
_PICTURE = re.compile(
    r"\b(not|no|only|0|unknown)\b.{0,80}(image|vision|multi-?modal)"
    r"|(image|vision|multi-?modal).{0,60}(not support|unsupported|only supported)"
)


class AnswerFormat(IntEnum):
    """How an answer is held to its form, the strictest last."""

    WORDS = 0
    JSON = 1
    SCHEMA = 2


@frozen(kw_only=True)
class Capabilities:
    """What may be sent: files, pictures, a temperature, the wish to know the usage; and the strictest form of an answer."""

    files: bool = True
    images: bool = True
    temperature: bool = True
    usage: bool = True
    form: AnswerFormat = AnswerFormat.SCHEMA

    def __and__(self, other: Self) -> Self:
        """What both have."""
        return evolve(
            self,
            files=self.files and other.files,
            images=self.images and other.images,
            temperature=self.temperature and other.temperature,
            usage=self.usage and other.usage,
            form=min(self.form, other.form),
        )

    def lower_form(self) -> Self:
        """The same with the next form of answer below."""
        return evolve(self, form=AnswerFormat(max(0, self.form - 1)))


@frozen(kw_only=True)
class RequestFeatures:
    """What a request held that a server may not know."""

    files: bool
    images: bool
    temperature: bool
    form: AnswerFormat


def without_refused(
    capabilities: Capabilities, sent: RequestFeatures, failure: OpenAiFailure, *, hosted: bool
) -> Capabilities | None:
    """The abilities without the one that the refusal `trouble` is about, or None where it is about something else.

    A server that is not OpenAI's and refuses without a reason is tried without the file, then without the schema.
    """
    if failure.kind is not FailureKind.STATUS or failure.status not in _UNSUPPORTED_STATUSES:
        return None
    if exceeds_context(failure) or concerns_account(failure):
        return None
    words = failure.words
    if sent.temperature and "temperature" in words:
        return evolve(capabilities, temperature=False)
    if capabilities.usage and "stream_options" in words:
        return evolve(capabilities, usage=False)
    if sent.form and _FORM.search(words):
        return capabilities.lower_form()
    if sent.files and _FILE.search(words):
        return evolve(capabilities, files=False)
    if sent.images and _PICTURE.search(words):
        return evolve(capabilities, images=False)
    return None if hosted or failure.status not in (400, 422, 501) else _guess(capabilities, sent)


def _guess(capabilities: Capabilities, sent: RequestFeatures) -> Capabilities | None:
    if sent.files:
        return evolve(capabilities, files=False)
    return capabilities.lower_form() if sent.form is AnswerFormat.SCHEMA else None
