"""Defines the JSON Schema (2020-12) of maps in the form that `to_plain_map` writes."""

from __future__ import annotations

from typing import Any

from citekit.domain.modality import Modality

_PAIR = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2}

LOCATION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "A location: `modality`, and only the fields of that modality.",
    "properties": {
        "modality": {"type": "string", "enum": [modality.value for modality in Modality]},
        "start": {"type": "number", "minimum": 0, "description": "Seconds, included."},
        "end": {"type": "number", "exclusiveMinimum": 0, "description": "Seconds, excluded. If absent, to the end."},
        "pages": {
            "type": "array",
            "items": {"type": "integer", "minimum": 1},
            "minItems": 1,
            "description": "Physical pages, from 1. [12, 15] means page 12 and page 15.",
        },
        "chapter": {
            "oneOf": [{"type": "integer", "minimum": 1}, _PAIR],
            "description": "Spine item of a book, from 1, or [first, last].",
        },
        "chars": {**_PAIR, "description": "Characters of the chapter's text, from 0, end excluded."},
        "sheet": {
            "type": "string",
            "minLength": 1,
            "description": "Name of a workbook's sheet. Without `cells`, the whole sheet.",
        },
        "cells": {"type": "string", "description": "Cells of the sheet, such as A1:F20 or B2."},
        "lines": {**_PAIR, "description": "[first, last], from 1, both included."},
        "bbox": {
            "type": "array",
            "items": {"type": "number", "minimum": 0, "maximum": 1},
            "minItems": 4,
            "maxItems": 4,
            "description": "[x1, y1, x2, y2], fractions of width and height, origin top left.",
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
