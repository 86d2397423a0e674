"""Reads Gemini's replies: the text, whether it is complete, and its usage, or the reason why there is no text.

Reasons are explained in the API reference of `generateContent` (`FinishReason`, `BlockReason`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from attrs import define, field

from citekit.adapters.mappers.llm.messages import NoReplyError, Reply, without_surrogates
from citekit.domain.model_usage import Usage

if TYPE_CHECKING:
    from google.genai import types

_NONE = Usage()

_REMEDY = "Map the file with another model (--model), or use --mapper local."

OUTPUT_SETTINGS = "CITEKIT_MAX_OUTPUT sets the limit, and CITEKIT_THINKING how much the model thinks"
"""The advice about the output limit, for services that use these settings."""

BLOCK_REASONS = {
    "SAFETY": "its safety filters object to the content of the request",
    "BLOCKLIST": "the request contains a word on the service's blocklist",
    "PROHIBITED_CONTENT": "the request may contain prohibited content",
    "IMAGE_SAFETY": "its safety filters object to a picture",
    "JAILBREAK": "the request looks like an attempt to bypass the model's rules",
    "MODEL_ARMOR": "the Model Armor settings of the account block the request",
}
"""Explanations of reasons for which Gemini refuses a request."""

STOP_REASONS = {
    "SAFETY": "its safety filters object to the answer",
    "RECITATION": "the answer would have repeated protected text",
    "LANGUAGE": "it does not support the language of the answer",
    "BLOCKLIST": "the answer contains a word on the service's blocklist",
    "PROHIBITED_CONTENT": "the answer may contain prohibited content",
    "SPII": "the answer may contain protected personal data",
    "MALFORMED_RESPONSE": "the model's answer was malformed",
}
"""Explanations of reasons for which Gemini ends an answer early."""


@define
class StreamedAnswer:
    """A streamed answer, joined from its chunks. `characters` counts its text and thoughts so far.

    `reason` is why the answer ended, and `blocked` is why the prompt was refused, or "". `answered` is whether the
    service began an answer.
    """

    parts: list[types.Part] = field(factory=list)
    reason: str = ""
    blocked: str = ""
    answered: bool = False
    usage: types.GenerateContentResponseUsageMetadata | None = None
    characters: int = 0
    _stopped: bool = False

    def read(self, chunks: Iterator[types.GenerateContentResponse]) -> StreamedAnswer:
        """Add `chunks` until they end or another thread calls `stop`. Return this object."""
        for chunk in chunks:
            if self._stopped:
                break
            self.add(chunk)
        return self

    def stop(self) -> None:
        """Ignore all further chunks. Another thread may call this method while `read` runs."""
        self._stopped = True

    def add(self, chunk: types.GenerateContentResponse) -> None:
        """Add one chunk of the stream: its text, usage, and the reasons that it reports."""
        if chunk.prompt_feedback is not None and chunk.prompt_feedback.block_reason is not None:
            self.blocked = _value(chunk.prompt_feedback.block_reason)
        self.usage = chunk.usage_metadata or self.usage
        for candidate in (chunk.candidates or ())[:1]:
            self.answered = True
            self.reason = _value(candidate.finish_reason) or self.reason
            for part in (candidate.content.parts if candidate.content is not None else None) or ():
                self._add_part(part)

    def _add_part(self, part: types.Part) -> None:
        """Append a part, or join it with the last one if both are plain text.

        A thought signature must stay with its part.
        """
        last = self.parts[-1] if self.parts else None
        self.characters += len(part.text or "")
        if last is not None and _is_plain(last) and _is_plain(part):
            self.parts[-1] = last.model_copy(update={"text": (last.text or "") + (part.text or "")})
        else:
            self.parts.append(part)

    @property
    def text(self) -> str:
        """The text of the answer without the model's thoughts."""
        return "".join(part.text for part in self.parts if part.text and not part.thought)

    def turn(self) -> types.Content:
        """Return the model's turn to send with the next request, without unsigned thoughts."""
        from google.genai import types

        sendable = [part for part in self.parts if not part.thought or part.thought_signature]
        return types.Content(role="model", parts=[_sendable(part) for part in sendable])


def _sendable(part: types.Part) -> types.Part:
    return part if part.text is None else part.model_copy(update={"text": without_surrogates(part.text)})


def _is_plain(part: types.Part) -> bool:
    return part.text is not None and not part.thought and part.thought_signature is None


def reply_from(answer: StreamedAnswer, model: str, requests: int, broken_off: Usage = _NONE) -> Reply:
    """Return the reply in a streamed answer, which may have been cut off.

    Raise `NoReplyError` if Gemini refused, stopped for a reason other than its output limit, or sent no text.
    `requests` is the number of requests that the answer took, and `broken_off` is the usage of earlier attempts.
    """
    usage = usage_of(answer.usage, requests) + broken_off
    if answer.blocked:
        raise _no_reply(
            f"refused the file or the question ({answer.blocked})", BLOCK_REASONS.get(answer.blocked), usage
        )
    if not answer.answered:
        raise _no_reply(f"returned no answer (model '{model}')", None, usage)
    reason, text = answer.reason, answer.text
    if reason not in ("", "FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "CONTINUATION"):
        raise _no_reply(f"ended its answer early ({reason})", STOP_REASONS.get(reason), usage)
    if not text and reason == "MAX_TOKENS":
        raise _no_reply(
            f"reached the output limit before it wrote an answer (MAX_TOKENS, model '{model}'; {OUTPUT_SETTINGS})",
            None,
            usage,
        )
    if not text:
        raise _no_reply(f"returned an empty answer ({reason or 'no reason given'}, model '{model}')", None, usage)
    return Reply(text, complete=reason == "STOP", usage=usage, native=answer.turn())


def _no_reply(happened: str, why: str | None, usage: Usage) -> NoReplyError:
    return NoReplyError(f"Gemini {happened}{f', because {why}' if why else ''}. {_REMEDY}", usage)


def _value(reason: Any) -> str:
    return str(getattr(reason, "value", reason) or "")


def usage_of(counted: types.GenerateContentResponseUsageMetadata | None, requests: int) -> Usage:
    """Return the usage of `requests` requests with the tokens that the service `counted`, if it did."""
    if counted is None:
        return Usage(requests)
    output = (counted.candidates_token_count or 0) + (counted.thoughts_token_count or 0)  # both are billed as output
    return Usage(requests, counted.prompt_token_count or 0, output)
