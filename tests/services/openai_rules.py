"""What OpenAI documents about a request for a chat completion, written down without a look at CiteKit's own code.

Sources: the API reference of "Create chat completion", the guides "Reasoning models", "Streaming", "Prompt caching", and the
types of the official SDK (`openai.types.chat.completion_create_params`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

FIELDS = {
    *("model", "messages", "response_format", "store", "stream", "stream_options", "temperature", "top_p", "seed"),
    *("reasoning_effort", "verbosity", "max_completion_tokens", "max_tokens", "prompt_cache_key", "n", "stop"),
    *("prompt_cache_options", "service_tier", "safety_identifier", "metadata"),
}
EFFORTS = {"none", "minimal", "low", "medium", "high", "xhigh", "max"}
ROLES = {"developer", "system", "user", "assistant"}
_REASONS = re.compile(r"(o\d|gpt-[5-9]|gpt-\d\d)")
"""Models that reason: they take an effort, no temperature, and no `max_tokens`."""

Fault = tuple[str, str]
"""The message, and the `code` of the error."""


def refused(body: Mapping[str, Any]) -> Fault | None:
    """Why OpenAI answers such a request with 400; None if it takes it."""
    strange = {*body} - FIELDS
    if strange:
        return f"Unrecognized request argument supplied: {min(strange)}", "unknown_parameter"
    return _of_sampling(body) or _of_streaming(body) or _of_turns(body.get("messages"))


def _of_sampling(body: Mapping[str, Any]) -> Fault | None:
    reasons = _REASONS.match(body["model"]) is not None
    temperature, effort = body.get("temperature"), body.get("reasoning_effort")
    if temperature is not None and (reasons and temperature != 1):
        return f"Unsupported value: 'temperature' does not support {temperature} with this model.", "unsupported_value"
    if temperature is not None and not 0 <= temperature <= 2:
        return (
            f"Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got {temperature}.",
            "decimal_above_max_value",
        )
    if effort is not None and (effort not in EFFORTS or not reasons):
        return (
            f"Unsupported value: 'reasoning_effort' does not support '{effort}' with this model.",
            "unsupported_value",
        )
    if "max_tokens" in body and reasons:
        return (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "unsupported_parameter",
        )
    return None


def _of_streaming(body: Mapping[str, Any]) -> Fault | None:
    if "stream_options" in body and not body.get("stream"):
        return "The 'stream_options' parameter is only allowed when 'stream' is enabled.", "invalid_value"
    if {*body.get("stream_options", {})} - {"include_usage", "include_obfuscation"}:
        return "Unknown parameter in 'stream_options'.", "unknown_parameter"
    return None


def _of_turns(messages: Any) -> Fault | None:
    if not isinstance(messages, list) or not messages:
        return "Invalid 'messages': empty array. Expected an array with minimum length 1.", "empty_array"
    for message in messages:
        if message.get("role") not in ROLES:
            return (
                f"Invalid value: '{message.get('role')}'. Supported values are: 'system', 'assistant', 'user'.",
                "invalid_value",
            )
        if not message.get("content"):
            return "Invalid value for 'content': expected a string, got null.", "invalid_value"
        if message["role"] == "assistant" and not isinstance(message["content"], str):
            return "Invalid type for 'content' of an assistant message.", "invalid_type"
    return None
