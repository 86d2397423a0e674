"""Builds the JSON Schemas of the tools."""

from __future__ import annotations

from collections.abc import Mapping

from citekit.domain.evidence import Form
from citekit.domain.modality import Modality

Schema = Mapping[str, object]


def inputs(properties: Mapping[str, Schema], required: tuple[str, ...] = ()) -> dict[str, object]:
    """Return the schema of a tool's arguments: an object with the given properties.

    It does not say that others are rejected, because agents pay for every token.
    """
    schema: dict[str, object] = {"type": "object", "properties": dict(properties)}
    return {**schema, "required": list(required)} if required else schema


def text(description: str = "", choices: tuple[str, ...] = ()) -> Schema:
    """Return the schema of a string, which must be one of `choices`, if any."""
    plain = {"type": "string", "description": description} if description else {"type": "string"}
    return {**plain, "enum": list(choices)} if choices else plain


def flag(description: str) -> Schema:
    """Return the schema of a Boolean that is false by default."""
    return {"type": "boolean", "description": description}


def count(description: str) -> Schema:
    """Return the schema of an integer that is at least 1."""
    return {"type": "integer", "minimum": 1, "description": description}


FORMS = tuple(form.value for form in Form)

_MODALITY = {"type": "string", "enum": [modality.value for modality in Modality]}
_PAIR = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}

LOCATION: Schema = {
    "type": "object",
    "description": "The location: its modality, and only the fields of that modality.",
    "properties": {
        "modality": _MODALITY,
        "start": {"type": "number", "description": "Video and audio: the start in seconds."},
        "end": {
            "type": "number",
            "description": "Video and audio: the end in seconds, exclusive. If absent: to the end of the file.",
        },
        "pages": {
            "type": "array",
            "items": {"type": "integer"},
            "description": "Documents: page numbers, starting at 1.",
        },
        "chapter": {
            "anyOf": [{"type": "integer"}, _PAIR],
            "description": "Reflowable books: a chapter number starting at 1, or [first, last].",
        },
        "chars": {
            **_PAIR,
            "description": "Character offsets in the text of the chapter, starting at 0; the end is exclusive.",
        },
        "sheet": {"type": "string", "description": "Workbooks: the name of a sheet. Without cells: the whole sheet."},
        "cells": {"type": "string", "description": "Cells of the sheet, such as A1:F20."},
        "lines": {**_PAIR, "description": "Texts: the line numbers [first, last], starting at 1, inclusive."},
        "bbox": {
            "type": "array",
            "items": {"type": "number"},
            "minItems": 4,
            "maxItems": 4,
            "description": "Images, or a region of one page: [x1, y1, x2, y2] as fractions of width and "
            "height, from the top left corner.",
        },
        "virtual_address": {"type": "string", "description": "The address of something that is not in a file."},
    },
    "required": ["modality"],
}

_NODE_FIELDS: Schema = {
    "id": {"type": "string"},
    "title": {"type": "string"},
    "type": {"type": "string", "description": "chapter, section, scene, function, figure, ..."},
    "location": LOCATION,
    "summary": {"type": "string"},
}
_REQUIRED = ["id", "title", "type", "location"]

NODE_ALONE: Schema = {"type": "object", "properties": _NODE_FIELDS, "required": _REQUIRED}
"""A node without its children."""

STRUCTURE: Schema = {
    "type": "object",
    "properties": {
        "resource_id": {"type": "string"},
        "type": _MODALITY,
        "title": {"type": "string"},
        "source_path": {"type": "string"},
        "metadata": {
            "type": "object",
            "description": "source_hash, source_size, and metadata of the file. Empty after the first part; absent if the "
            "call has options.",
        },
        "created_at": {
            "type": "string",
            "description": "When the map was created (ISO 8601). Absent if the call has options.",
        },
        "truncated": {
            "type": "boolean",
            "description": "True if nodes were left out: call again with next_cursor or, if it is absent, with a larger "
            "max_tokens.",
        },
        "next_cursor": {"type": "string", "description": "The cursor of the next part."},
        "cut_nodes": {"type": "integer", "description": "The number of nodes left out because of max_tokens."},
        "total_nodes": {
            "type": "integer",
            "description": "The number of nodes in all parts of the requested structure.",
        },
        "nodes": {"type": "array", "items": {"$ref": "#/$defs/node"}},
    },
    "required": ["resource_id", "type", "title", "source_path", "nodes"],
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                **_NODE_FIELDS,
                "at": {
                    "type": "string",
                    "description": "With options, instead of location and summary: the location as in an address "
                    "(pages=12-15), which readText, resolve, and verifyQuote take as node_id.",
                },
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                "child_count": {"type": "integer", "description": "The number of children, if some are left out."},
            },
            "required": ["id", "title", "type"],
        }
    },
}

NODE: Schema = {
    "type": "object",
    "properties": {
        **_NODE_FIELDS,
        "children": {
            "type": "array",
            "description": "The ids of the child nodes.",
            "items": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        },
    },
    "required": _REQUIRED,
}

EVIDENCE: Schema = {
    "type": "object",
    "properties": {
        "output_path": {
            "type": ["string", "null"],
            "description": "The absolute path of the evidence; null for a virtual answer or a remote server.",
        },
        "modality": _MODALITY,
        "address": {"type": "string", "description": "The address to cite, such as doc://book#pages=12-15."},
        "node": {
            **NODE_ALONE,
            "type": ["object", "null"],
            "description": "The node or, for an address, the smallest node that contains its location; null if there is "
            "none.",
        },
        "resource_id": {"type": "string"},
        "stale": {"type": "boolean", "description": "Present and true if the source is changed, gone, or unchecked."},
        "stale_reason": {"type": "string"},
        "unchecked": {
            "type": "string",
            "description": "Why the location could not be checked against the file, if it could not.",
        },
        "notes": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Remarks on the evidence, such as the actual start of a clip.",
        },
        "uri": {
            "type": "string",
            "description": "The evidence as a resource of this server; append /receipt for its receipt.",
        },
        "receipt": {
            "type": "object",
            "description": "The digests of the source and the evidence, the size and media type of the evidence, the path of "
            "the source, and, if other than requested, the extent of the evidence.",
        },
    },
    "required": ["output_path", "modality", "address", "node", "resource_id"],
}
