"""What the Gemini API documents about a `generateContent` request, written down without a look at CiteKit's own code.

Sources: the API reference of `models.generateContent` (v1beta), the guides "Thinking", "Gemini 3", "Structured outputs",
"Audio understanding", and "Thought signatures" at https://ai.google.dev/gemini-api/docs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

BODY_FIELDS = {"contents", "systemInstruction", "generationConfig", "safetySettings"}
CONFIG_FIELDS = {
    *("temperature", "responseMimeType", "responseSchema", "responseJsonSchema", "maxOutputTokens", "thinkingConfig"),
    *("topP", "topK", "candidateCount", "seed", "mediaResolution", "stopSequences"),
}
THINKING_FIELDS = {"includeThoughts", "thinkingBudget", "thinkingLevel"}
PART_FIELDS = {"text", "thought", "thoughtSignature", "inlineData", "fileData"}
SCHEMA_WORDS = {
    *("type", "format", "title", "description", "nullable", "enum", "items", "prefixItems", "minItems", "maxItems"),
    *("minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required", "propertyOrdering"),
}
SOUNDS = {"audio/wav", "audio/mp3", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"}
"""The media types of sound ("Audio understanding")."""

OUTPUT_LIMIT = 65_536
"""Tokens of the longest answer of Gemini 2.5 and 3 ("Models")."""

LEVELS = {"pro": {"LOW", "MEDIUM", "HIGH"}, "flash": {"MINIMAL", "LOW", "MEDIUM", "HIGH"}}
"""The thinking levels of Gemini 3 ("Thinking"): Pro cannot think minimally."""


def spelled(body: Any) -> Any:
    """A body with its fields as the reference spells them; the service reads `file_uri` as well as `fileUri`, as protobuf does."""
    if isinstance(body, list):
        return [spelled(each) for each in body]
    if not isinstance(body, dict):
        return body
    return {_camel(name): value if "chema" in name else spelled(value) for name, value in body.items()}


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def refused(body: Mapping[str, Any], model: str) -> str | None:
    """Why the service answers such a request with 400 INVALID_ARGUMENT; None if it takes it."""
    return next((fault for fault in _faults(body, model) if fault), None)


def discouraged(body: Mapping[str, Any], model: str) -> list[str]:
    """What of a request the documentation advises against, although the service takes it."""
    temperature = body.get("generationConfig", {}).get("temperature")
    if model.startswith("gemini-3") and temperature is not None and temperature < 1:
        return [f"temperature {temperature} below 1.0 with {model}: looping or degraded performance"]
    return []


def _faults(body: Mapping[str, Any], model: str) -> Iterator[str | None]:
    config = body.get("generationConfig", {})
    yield _unknown(body, BODY_FIELDS) or _unknown(config, CONFIG_FIELDS)
    yield _of_sampling(config)
    yield _of_thinking(config.get("thinkingConfig"), model)
    yield _of_form(config)
    yield _of_turns(body.get("contents"))


def _unknown(fields: Mapping[str, Any], known: set[str]) -> str | None:
    strange = {*fields} - known
    return f'Invalid JSON payload received. Unknown name "{min(strange)}": Cannot find field.' if strange else None


def _of_sampling(config: Mapping[str, Any]) -> str | None:
    temperature, most = config.get("temperature"), config.get("maxOutputTokens")
    if temperature is not None and not 0 <= temperature <= 2:
        return f"Unable to submit request because it has a temperature value of {temperature} but the supported range is 0 to 2."
    if most is not None and not (isinstance(most, int) and 1 <= most <= OUTPUT_LIMIT):
        return f"Unable to submit request because it has a maxOutputTokens value of {most} but the supported range is from 1 to {OUTPUT_LIMIT + 1} (exclusive)."
    return None


def _of_thinking(thinking: Mapping[str, Any] | None, model: str) -> str | None:
    if thinking is None:
        return None
    level = thinking.get("thinkingLevel")
    if "thinkingBudget" in thinking and level is not None:
        return "You can only set only one of thinking budget and thinking level."
    if level is not None and not model.startswith("gemini-3"):
        return "Thinking level is not supported for this model."
    known = LEVELS["pro" if "pro" in model else "flash"]
    if level is not None and level not in known:
        return f"Thinking level {level} is not supported for this model."
    return _unknown(thinking, THINKING_FIELDS)


def _of_form(config: Mapping[str, Any]) -> str | None:
    schema = config.get("responseJsonSchema", config.get("responseSchema"))
    if schema is not None and config.get("responseMimeType") != "application/json":
        return "A response schema needs the response MIME type application/json."
    words = sorted(set(_words(schema)) - SCHEMA_WORDS)
    return f"The schema has a keyword that is not supported: {words[0]}" if words else None


def _words(schema: Any) -> Iterator[str]:
    """The keywords of a schema and of those within it."""
    if not isinstance(schema, dict):
        return
    yield from schema
    for below in (*schema.get("properties", {}).values(), schema.get("items")):
        yield from _words(below)


def _of_turns(contents: Any) -> str | None:
    if not isinstance(contents, list) or not contents:
        return "* GenerateContentRequest.contents: contents is not specified"
    roles = [turn.get("role") for turn in contents]
    if not {*roles} <= {"user", "model"}:
        return "Please use a valid role: user, model."
    if any(one == other for one, other in pairwise(roles)) or (roles[0], roles[-1]) != (
        "user",
        "user",
    ):
        return "Please ensure that multiturn requests alternate between user and model."
    for turn in contents:
        if not turn.get("parts"):
            return "* GenerateContentRequest.contents.parts: must not be empty"
        for part in turn["parts"]:
            if fault := _unknown(part, PART_FIELDS):
                return fault
            if len({"text", "inlineData", "fileData"} & {*part}) != 1:
                return "* GenerateContentRequest.contents.parts.data: required oneof field 'data' must have one initialized field"
            kind = part.get("inlineData", {}).get("mimeType", "")
            if kind.startswith("audio/") and kind not in SOUNDS:
                return f"Unsupported MIME type: {kind}"
    return None
