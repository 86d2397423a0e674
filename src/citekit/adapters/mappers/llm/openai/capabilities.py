"""Records which features of the API a server supports.

Servers do not announce their features, so CiteKit learns them from the requests that they refuse. Some support only
`json_object` (DeepSeek), support for pictures depends on the model, and few compatible servers accept PDF files.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Self

from attrs import evolve, frozen

from citekit.adapters.libraries.openai import FailureKind, OpenAiFailure
from citekit.adapters.mappers.llm.openai.failures import concerns_account, exceeds_context

_UNSUPPORTED_STATUSES = frozenset({400, 404, 415, 422, 500, 501})
"""HTTP statuses with which servers refuse unsupported parts of requests (llama.cpp: 500 for a picture; vLLM: 501)."""

_FORM = re.compile(r"response_format|json_schema|json_object|structured|schema|grammar|json mode")
_FILE = re.compile(
    r"\bfiles?\b|file_data|content part|part type|content\[|content type|unsupported content|message format"
)
_PICTURE = re.compile(
    r"\b(not|no|only|0|unknown)\b.{0,80}(image|vision|multi-?modal)"
    r"|(image|vision|multi-?modal).{0,60}(not support|unsupported|only supported)"
)


class AnswerFormat(IntEnum):
    """How strictly a server enforces the format of an answer, from not at all (`WORDS`) to a JSON Schema (`SCHEMA`)."""

    WORDS = 0
    JSON = 1
    SCHEMA = 2


@frozen(kw_only=True)
class Capabilities:
    """The features that a server supports. `form` is the strictest format of an answer that it can enforce."""

    files: bool = True
    images: bool = True
    temperature: bool = True
    usage: bool = True
    form: AnswerFormat = AnswerFormat.SCHEMA

    def __and__(self, other: Self) -> Self:
        """Return the capabilities that both have."""
        return evolve(
            self,
            files=self.files and other.files,
            images=self.images and other.images,
            temperature=self.temperature and other.temperature,
            usage=self.usage and other.usage,
            form=min(self.form, other.form),
        )

    def lower_form(self) -> Self:
        """Return these capabilities with the next less strict format of an answer."""
        return evolve(self, form=AnswerFormat(max(0, self.form - 1)))


@frozen(kw_only=True)
class RequestFeatures:
    """The optional features that a request uses and a server may not support."""

    files: bool
    images: bool
    temperature: bool
    form: AnswerFormat


def without_refused(
    capabilities: Capabilities, sent: RequestFeatures, failure: OpenAiFailure, *, hosted: bool
) -> Capabilities | None:
    """Return `capabilities` without the feature that `failure` is about; None if the failure has another cause.

    `sent` are the features of the refused request, and `hosted` is whether the server is OpenAI itself. Without a known
    reason, a compatible server loses files first, and then the schema.
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
