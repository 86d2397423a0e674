"""Reads a guardian (a persona for answers) from the YAML front matter of a Markdown file."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from citekit.domain.errors import DriverMissing, FaultyAnswer
from citekit.domain.library.personas import NOBODY, Guardian

BYTE_ORDER_MARK = "\ufeff"
_FENCE = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)


@frozen
class Parted:
    """A Markdown file split into its front matter, without the `---` lines, and its body."""

    matter: str
    body: str


def parted(text: str) -> Parted | None:
    """Split `text` into front matter and body; return None if it has no complete front matter between `---` lines."""
    text = text.removeprefix(BYTE_ORDER_MARK)
    opening = _FENCE.match(text)
    if opening is None:
        return None
    closing = _FENCE.search(text, opening.end() + 1)
    if closing is None:
        return None
    return Parted(text[opening.end() : closing.start()], text[closing.end() :])


def is_open(text: str) -> bool:
    """Return whether `text` starts with the `---` line of front matter, even if the closing line is missing."""
    return _FENCE.match(text.removeprefix(BYTE_ORDER_MARK)) is not None


def first_heading(body: str) -> str | None:
    """Return the first level-1 heading of a Markdown text; None if there is none.

    It is cut at its first colon and begins with its first letter or digit.
    """
    found = re.search(r"^# +(.+?)\s*$", body, re.MULTILINE)
    if found is None:
        return None
    return re.sub(r"^[\W_]+", "", found[1]).partition(":")[0].strip() or None


def first_bold_line(body: str) -> str | None:
    """Return the text of the first line that is entirely bold; None if there is none."""
    found = re.search(r"^\*\*([^*\r\n]+)\*\*[ \t]*\r?$", body, re.MULTILINE)
    return (found and found[1].strip()) or None


DEEPEST = 20
"""Maximum nesting depth of lists and mappings."""


def table(yaml: Any) -> dict[type[BaseException], str]:
    """Map each exception of the YAML parser to a clause for the error message, subclasses before their base classes."""
    return {
        yaml.reader.ReaderError: "the front matter contains characters that YAML does not allow",
        yaml.scanner.ScannerError: "the front matter is not valid YAML",
        yaml.parser.ParserError: "the front matter is not valid YAML",
        yaml.composer.ComposerError: "the front matter contains several YAML documents, or an undefined alias",
        yaml.constructor.ConstructorError: "the front matter contains a YAML tag or key that is not plain data",
        yaml.YAMLError: "the front matter is not valid YAML",
        ValueError: "the front matter contains an invalid number or date",
        OverflowError: "the front matter contains a number that is too large",
        RecursionError: "the front matter is nested too deeply",
    }


def read_plain(text: str, what: str) -> object:
    """Return the data in the YAML document `text`. `what` is named in error messages.

    Raise `FaultyAnswer` if `text` is not valid YAML, is not plain data, contains anchors or aliases, or is nested too
    deeply, or `DriverMissing` if PyYAML is not installed.
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
            raise FaultyAnswer(
                what, [f"line {event.start_mark.line + 1}: the front matter must not contain YAML anchors or aliases"]
            )
        if depth > DEEPEST:
            raise FaultyAnswer(what, [f"line {event.start_mark.line + 1}: the front matter is nested too deeply"])


def _place(error: BaseException) -> str:
    mark = getattr(error, "problem_mark", None)
    return "$" if mark is None else f"line {mark.line + 1}"


KEY = "alexandria"
"""The front matter key that contains the description of a guardian."""

_ID = re.compile(r"[a-z][a-z0-9_]*")


def read_guardian(text: str, what: str) -> Guardian | None:
    """Return the guardian that `text`, the content of the file `what`, defines; None if it defines none.

    Raise `FaultyAnswer` if the front matter or the guardian is not valid, or `DriverMissing` if PyYAML is not
    installed.
    """
    parts = parted(text)
    if parts is None:
        if is_open(text) and re.search(rf"^{KEY}:", text, re.MULTILINE):
            raise FaultyAnswer(what, ["the front matter has no end: put '---' on a line of its own after it"])
        return None
    matter = read_plain(parts.matter, what)
    if not isinstance(matter, Mapping) or KEY not in matter:
        return None
    said = matter[KEY]
    if not isinstance(said, Mapping):
        raise FaultyAnswer(what, [f"{KEY}: must be a mapping with 'id' and 'personality_prompt'"])
    return _guardian(said, parts.body, what)


def _guardian(said: Mapping[Any, Any], body: str, what: str) -> Guardian:
    if not said.get("id") or not said.get("personality_prompt"):
        raise FaultyAnswer(what, [f"{KEY}: must contain 'id' and 'personality_prompt', and neither may be empty"])
    identifier = _id(said, what)
    fallback = identifier.replace("_", "-").title()
    return Guardian(
        id=identifier,
        name=_text(said, "name", what) or first_heading(body) or fallback,
        title=_text(said, "title", what) or first_bold_line(body) or "",
        emoji=_text(said, "emoji", what),
        role=_text(said, "role", what),
        specialties=_texts(said, "specialties", what),
        greeting=_text(said, "greeting", what),
        quirks=_texts(said, "quirks", what),
        prompt=_text(said, "personality_prompt", what),
    )


def _id(said: Mapping[Any, Any], what: str) -> str:
    identifier = _text(said, "id", what)
    if not _ID.fullmatch(identifier) or identifier == NOBODY:
        raise FaultyAnswer(
            what,
            [
                f"{KEY}.id: {identifier[:60]!r} is not a valid ID; it must consist of a-z, 0-9, and _, begin with a "
                f"letter, and not be {NOBODY!r}"
            ],
        )
    return identifier


def _text(said: Mapping[Any, Any], key: str, what: str) -> str:
    value = said.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise FaultyAnswer(
            what,
            [f"{KEY}.{key}: must be a string, not {type(value).__name__}; if it is meant as text, put it in quotes"],
        )
    return value.strip()


def _texts(said: Mapping[Any, Any], key: str, what: str) -> tuple[str, ...]:
    value = said.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise FaultyAnswer(what, [f"{KEY}.{key}: must be a list of strings"])
    return tuple(each.strip() for each in value)
