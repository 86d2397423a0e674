"""PyYAML: imported on first use, plain data only, its exceptions translated by one table."""

from __future__ import annotations

import importlib
from typing import Any

from citekit.domain.errors import DriverMissing, FaultyAnswer

DEEPEST = 20
"""Levels of lists and mappings inside one another."""


def table(yaml: Any) -> dict[type[BaseException], str]:
    """For every exception that reading a document raises, most particular first: what its text says of the document."""
    return {
        yaml.reader.ReaderError: "it holds characters that YAML does not allow",
        yaml.scanner.ScannerError: "it is not YAML",
        yaml.parser.ParserError: "it is not YAML",
        yaml.composer.ComposerError: "it is more than one document, or refers to something that is not there",
        yaml.constructor.ConstructorError: "it asks for something else than plain data",
        yaml.YAMLError: "it is not YAML",
        ValueError: "it holds a number or a date that there is none of",
        OverflowError: "it holds a number that is too large",
        RecursionError: "it is nested too deeply",
    }


def read_plain(text: str, what: str) -> object:
    """The plain data of the YAML document `text`; aliases, anchors and deep nesting are refused, so that it stays small.

    Raises `FaultyAnswer` about `what`, and `DriverMissing`.
    """
    try:
        yaml: Any = importlib.import_module("yaml")
    except ImportError as error:
        raise DriverMissing("Reading YAML", "library") from error
    try:
        _check(yaml, text, what)
        return yaml.safe_load(text)
    except tuple(table(yaml)) as error:
        says = next(text for kind, text in table(yaml).items() if isinstance(error, kind))
        raise FaultyAnswer(what, [f"{_place(error)}: {says}"]) from error


def _check(yaml: Any, text: str, what: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if getattr(event, "anchor", None) is not None:
            raise FaultyAnswer(what, [f"line {event.start_mark.line + 1}: anchors and aliases are not read here"])
        if depth > DEEPEST:
            raise FaultyAnswer(what, [f"line {event.start_mark.line + 1}: it is nested too deeply"])


def _place(error: BaseException) -> str:
    mark = getattr(error, "problem_mark", None)
    return "$" if mark is None else f"line {mark.line + 1}"
