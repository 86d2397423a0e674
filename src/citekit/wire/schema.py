"""Defines the JSON Schema (2020-12) of maps as `to_plain_map` writes them."""

from __future__ import annotations

from typing import Any

from citekit.domain.modality import Modality

_PAIR = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2}

LOCATION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "A location: `modality`, and only the fields of that modality.",
    "properties": {
        "modality": {"type": "string", "enum": [modality.value for modality in Modality]},
        "start": {"type": "number", "minimum": 0, "description": "The start in seconds."},
        "end": {
            "type": "number",
            "exclusiveMinimum": 0,
            "description": "The end in seconds, exclusive. If absent: to the end of the file.",
        },
        "pages": {
            "type": "array",
            "items": {"type": "integer", "minimum": 1},
            "minItems": 1,
            "description": "Physical page numbers, starting at 1. [12, 15] means page 12 and page 15.",
        },
        "chapter": {
            "oneOf": [{"type": "integer", "minimum": 1}, _PAIR],
            "description": "The number of a chapter of a book, a Word document, or mail, starting at 1, or [first, last].",
        },
        "chars": {
            **_PAIR,
            "description": "Character offsets in the text of the chapter, starting at 0; the end is exclusive.",
        },
        "sheet": {
            "type": "string",
            "minLength": 1,
            "description": "The name of a sheet in a workbook. Without `cells`: the whole sheet.",
        },
        "cells": {"type": "string", "description": "Cells of the sheet, such as A1:F20 or B2."},
        "lines": {**_PAIR, "description": "The line numbers [first, last], starting at 1, inclusive."},
        "bbox": {
            "type": "array",
            "items": {"type": "number", "minimum": 0, "maximum": 1},
            "minItems": 4,
            "maxItems": 4,
            "description": "[x1, y1, x2, y2] as fractions of width and height, from the top left corner.",
        },
        "virtual_address": {"type": "string"},
    },
    "required": ["modality"],
    "additionalProperties": False,
}

NODE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "minLength": 1},
        "title": {"type": "string"},
        "type": {"type": "string"},
        "location": {"$ref": "#/$defs/location"},
        "summary": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
    },
    "required": ["id", "title", "type", "location", "children"],
    "additionalProperties": False,
}

MAP_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "ResourceMap",
    "type": "object",
    "properties": {
        "resource_id": {"type": "string", "minLength": 1},
        "type": {"type": "string", "enum": [modality.value for modality in Modality]},
        "title": {"type": "string"},
        "source_path": {"type": "string"},
        "metadata": {"type": "object"},
        "nodes": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        "created_at": {"type": "string", "format": "date-time"},
    },
    "required": ["resource_id", "type", "title", "source_path", "metadata", "nodes", "created_at"],
    "additionalProperties": False,
    "$defs": {"node": NODE_SCHEMA, "location": LOCATION_SCHEMA},
}
