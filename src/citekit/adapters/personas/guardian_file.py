"""A guardian from the text of its Markdown file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from citekit.adapters.drivers.pyyaml import read_plain
from citekit.adapters.personas.front_matter import first_bold_line, first_heading, is_open, parted
from citekit.domain.errors import FaultyAnswer
from citekit.domain.library.personas import NOBODY, Guardian

KEY = "alexandria"
"""The key of the front matter under which a guardian is described."""

_ID = re.compile(r"[a-z][a-z0-9_]*")


def read_guardian(text: str, what: str) -> Guardian | None:
    """The guardian that the file `what` describes; None for a file that describes none.

    Raises `FaultyAnswer` for front matter that cannot be read as one, and `DriverMissing`.
    """
    parts = parted(text)
    if parts is None:
        if is_open(text) and re.search(rf"^{KEY}:", text, re.MULTILINE):
            raise FaultyAnswer(what, ["the front matter is never closed: put '---' alone on a line after it"])
        return None
    matter = read_plain(parts.matter, what)
    if not isinstance(matter, Mapping) or KEY not in matter:
        return None
    said = matter[KEY]
    if not isinstance(said, Mapping):
        raise FaultyAnswer(what, [f"{KEY}: must be a mapping"])
    return _guardian(said, parts.body, what)


def _guardian(said: Mapping[Any, Any], body: str, what: str) -> Guardian:
    if not said.get("id") or not said.get("personality_prompt"):
        raise FaultyAnswer(what, [f"{KEY} frontmatter missing 'id' or 'personality_prompt'"])
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
            what, [f"{KEY}.id: {identifier[:60]!r} is no id; use a-z, 0-9 and _, a letter first, and not {NOBODY!r}"]
        )
    return identifier


def _text(said: Mapping[Any, Any], key: str, what: str) -> str:
    value = said.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise FaultyAnswer(what, [f"{KEY}.{key}: must be a text, not {type(value).__name__}; put it in quotes"])
    return value.strip()


def _texts(said: Mapping[Any, Any], key: str, what: str) -> tuple[str, ...]:
    value = said.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise FaultyAnswer(what, [f"{KEY}.{key}: must be a list of texts"])
    return tuple(each.strip() for each in value)
