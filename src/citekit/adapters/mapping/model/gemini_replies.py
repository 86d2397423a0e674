"""Reads what Gemini answered: the words, whether they are all, and what they cost; or why there are none.

The reasons are those of the API reference of `generateContent` (`FinishReason`, `BlockReason`).
"""

from __future__ import annotations

from typing import Any

from citekit.adapters.mapping.model.conversation import Reply, Usage
from citekit.domain.errors import MapperUnavailable

_OTHERWISE = "map it with another model (--model), or use --mapper local"

BLOCKED = {
    "SAFETY": "its safety filters object to what the file shows or says",
    "BLOCKLIST": "it holds a word of the service's blocklist",
    "PROHIBITED_CONTENT": "it may hold prohibited content",
    "IMAGE_SAFETY": "its safety filters object to a picture",
    "JAILBREAK": "it looks like an attempt to break the model's rules",
    "MODEL_ARMOR": "the account's Model Armor objects to it",
}
"""Why a question was not answered at all."""

STOPPED = {
    "SAFETY": "its safety filters object to the answer",
    "RECITATION": "the answer would have repeated a text that is protected",
    "LANGUAGE": "the answer is in a language it does not support",
    "BLOCKLIST": "the answer holds a word of the service's blocklist",
    "PROHIBITED_CONTENT": "the answer may hold prohibited content",
    "SPII": "the answer may hold personal data that are protected",
    "MALFORMED_RESPONSE": "the model's answer was malformed",
}
"""Why an answer was broken off, beside its end (`STOP`) and its limit of output (`MAX_TOKENS`)."""


def reply_from(response: Any, model: str, requests: int) -> Reply:
    """The reply in a `types.GenerateContentResponse`. Raises `MapperUnavailable` where there is none to be had."""
    feedback = response.prompt_feedback
    if feedback is not None and feedback.block_reason is not None:
        reason = _value(feedback.block_reason)
        raise _no_answer(f"refused the file or the question ({reason})", BLOCKED.get(reason))
    if not response.candidates:
        raise _no_answer(f"answered with no candidate (model '{model}')", None)
    candidate = response.candidates[0]
    reason = _value(candidate.finish_reason)
    if reason not in ("", "FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "CONTINUATION"):
        raise _no_answer(f"broke off its answer ({reason})", STOPPED.get(reason))
    text = _text(candidate)
    if not text and reason == "MAX_TOKENS":
        raise _no_answer(f"reached its limit of output before the first word (MAX_TOKENS, model '{model}')", None)
    if not text:
        raise _no_answer(f"answered with nothing ({reason or 'no reason given'}, model '{model}')", None)
    return Reply(text, complete=reason == "STOP", usage=_usage(response.usage_metadata, requests))


def _no_answer(happened: str, why: str | None) -> MapperUnavailable:
    return MapperUnavailable(f"Gemini {happened}{f', because {why}' if why else ''}: {_OTHERWISE}.")


def _value(reason: Any) -> str:
    return str(getattr(reason, "value", reason) or "")


def _text(candidate: Any) -> str:
    """The words of the answer, without the parts in which the model thinks."""
    parts = (candidate.content.parts if candidate.content is not None else None) or []
    return "".join(part.text for part in parts if part.text and not part.thought)


def _usage(counted: Any, requests: int) -> Usage:
    if counted is None:
        return Usage(requests)
    output = (counted.candidates_token_count or 0) + (counted.thoughts_token_count or 0)  # both are billed as output
    return Usage(requests, counted.prompt_token_count or 0, output)
