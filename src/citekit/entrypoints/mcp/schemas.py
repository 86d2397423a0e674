"""JSON Schemas of what the tools take and give, as the tools' reference has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citekit.domain.evidence import Form
from citekit.domain.modality import Modality

Schema = Mapping[str, Any]


def inputs(properties: Mapping[str, Schema], required: tuple[str, ...] = ()) -> dict[str, Any]:
    """The schema of a tool's arguments: an object of these and no other properties."""
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


def text(description: str, choices: tuple[str, ...] = ()) -> Schema:
    """A text, one of `choices` where there are any."""
    plain = {"type": "string", "description": description}
    return {**plain, "enum": list(choices)} if choices else plain


def flag(description: str) -> Schema:
    """True or false; false where it is left out."""
    return {"type": "boolean", "default": False, "description": description}


def count(description: str) -> Schema:
    """A whole number from 1 on."""
    return {"type": "integer", "minimum": 1, "description": description}


FORMS = tuple(form.value for form in Form)

_MODALITY = {"type": "string", "enum": [modality.value for modality in Modality]}
_PAIR = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}

LOCATION: Schema = {
    "type": "object",
    "description": "Where it is: the modality, and only the fields of that modality.",
    "properties": {
        "modality": _MODALITY,
        "start": {"type": "number", "description": "Video and audio: the first second."},
        "end": {"type": "number", "description": "Video and audio: the second after the last; absent: to the end."},
        "pages": {"type": "array", "items": {"type": "integer"}, "description": "Documents: page numbers from 1."},
        "chapter": {
            "anyOf": [{"type": "integer"}, _PAIR],
            "description": "Reflowable books: a chapter from 1, or [first, last].",
        },
        "chars": {**_PAIR, "description": "Characters of the chapter's text, from 0, end excluded."},
        "sheet": {"type": "string", "description": "Workbooks: the name of a sheet; all of it without cells."},
        "cells": {"type": "string", "description": "Cells of the sheet, such as A1:F20."},
        "lines": {**_PAIR, "description": "Texts: [first, last] line, from 1, inclusive."},
        "bbox": {
            "type": "array",
            "items": {"type": "number"},
            "minItems": 4,
            "maxItems": 4,
            "description": "Images, or one page: [x1, y1, x2, y2] as fractions of width and height, from the top left.",
        },
        "virtual_address": {"type": "string", "description": "The address of something that is no file."},
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

RESOURCES: Schema = {
    "type": "object",
    "properties": {"resources": {"type": "array", "items": {"type": "string"}, "description": "Resource ids, sorted."}},
    "required": ["resources"],
}

STRUCTURE: Schema = {
    "type": "object",
    "properties": {
        "resource_id": {"type": "string"},
        "type": _MODALITY,
        "title": {"type": "string"},
        "source_path": {"type": "string"},
        "metadata": {"type": "object", "description": "source_hash, source_size, and what the file is."},
        "created_at": {"type": "string", "description": "ISO 8601."},
        "truncated": {"type": "boolean", "description": "True where the rest must be asked for with next_cursor."},
        "next_cursor": {"type": "string", "description": "The cursor of the next part."},
        "total_nodes": {"type": "integer", "description": "Nodes in all parts of what was asked for."},
        "nodes": {"type": "array", "items": {"$ref": "#/$defs/node"}},
    },
    "required": ["resource_id", "type", "title", "source_path", "nodes", "metadata", "created_at"],
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                **_NODE_FIELDS,
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                "child_count": {"type": "integer", "description": "How many children it has, where some are left out."},
            },
            "required": _REQUIRED,
        }
    },
}

NODE: Schema = {
    "type": "object",
    "properties": {
        **_NODE_FIELDS,
        "children": {
            "type": "array",
            "description": "The ids of the nodes below.",
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
            "description": "The absolute path of the file; null where virtual.",
        },
        "modality": _MODALITY,
        "address": {"type": "string", "description": "The citation, such as doc://book#pages=12-15."},
        "node": NODE_ALONE,
        "resource_id": {"type": "string"},
        "stale": {"type": "boolean", "description": "True where the source is no longer what was mapped."},
        "stale_reason": {"type": "string"},
        "unchecked": {
            "type": "string",
            "description": "Why nobody could look whether the file has such a place; absent where it was looked.",
        },
        "notes": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What in the file is not exactly as asked, such as where a clip really begins.",
        },
        "receipt": {
            "type": "object",
            "description": "What proves the file: digests of source and evidence, location, extent, extractor, time.",
        },
    },
    "required": ["output_path", "modality", "address", "node", "resource_id"],
}
