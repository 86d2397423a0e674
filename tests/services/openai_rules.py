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


SPEECH_MODELS = ("whisper-1", "gpt-4o-transcribe", "plain")
SPEECH_FIELDS = {
    *("file", "model", "language", "prompt", "response_format", "temperature", "timestamp_granularities[]", "stream"),
    *("include[]", "chunking_strategy"),
}
SPEECH_SUFFIXES = ("flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm")


def refused_transcription(fields: Mapping[str, Any]) -> Fault | None:
    """Why OpenAI answers such a request for a transcription with 400; None if it takes it.

    Sources: the API reference of "Create transcription", and `openai.types.audio.transcription_create_params`.
    """
    strange = {*fields} - SPEECH_FIELDS
    if strange:
        return f"Unrecognized request argument supplied: {min(strange)}", "unknown_parameter"
    name, data = fields.get("file", ("", b""))
    if name.rpartition(".")[2] not in SPEECH_SUFFIXES or not data.startswith(b"RIFF"):
        return "Invalid file format.", "invalid_value"
    if len(data) > 25 * 2**20:
        return "Maximum content size limit (26214400) exceeded", "invalid_value"
    form, granularities = fields.get("response_format", "json"), fields.get("timestamp_granularities[]", [])
    if fields["model"] == "plain" and "include[]" in fields:
        return "Unknown parameter: 'include[]'.", "unknown_parameter"
    if fields["model"] != "whisper-1" and form != "json":
        return (
            f"response_format '{form}' is not compatible with model '{fields['model']}'. Use 'json' instead.",
            "unsupported_value",
        )
    if "include[]" in fields and (
        form != "json" or fields["model"] == "whisper-1" or fields["include[]"] != ["logprobs"]
    ):
        return f"Logprobs are not supported for the model '{fields['model']}'. Remove 'include[]'.", "unsupported_value"
    if granularities and (form != "verbose_json" or not set(granularities) <= {"word", "segment"}):
        return "timestamp_granularities require response_format 'verbose_json'.", "invalid_value"
    if not re.fullmatch(r"[a-z]{2,3}", fields.get("language", "en")):
        return "Invalid language. Language parameter must be specified in ISO-639-1 format.", "invalid_language_format"
    return None
