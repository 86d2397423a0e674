"""Names that people and models can read, guess and type.

A node id is made of the slugs of the titles above it, joined by dots: `chapter_1.big_o_notation`. The same file always
gives the same ids. A resource id is the slug of the file's name.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Container

from citekit.domain.errors import ResourceIdRefused

SEGMENT_LIMIT = 48
"""Characters that one title may add to an id; longer titles are cut at a word."""

NODE_ID_LIMIT = 120
"""Bytes (UTF-8) of a whole node id: with the resource's id it still fits one file name of 255 bytes."""

RESOURCE_ID_LIMIT = 100
"""Bytes (UTF-8) of a resource id that is made from a file name."""

STORED_ID_LIMIT = 200
"""Bytes of the longest resource id that is accepted, percent-encoded as it is stored."""

_NOT_WORD = re.compile(r"[^\w]")
_NOT_NAME = re.compile(r"[^\w~-]")
_UNDERSCORES = re.compile(r"\x00+")
_FORBIDDEN = re.compile(r"[/\\\x00-\x1f\x7f]")


def slug(title: str, *, keep_case: bool = False) -> str:
    """`title` as one segment of an id: letters and digits of any script, joined by underscores.

    Empty where nothing of the title is a letter or a digit. `keep_case` is for names of code.

    >>> slug("Big-O Notation (part 2)"), slug("DataProcessor", keep_case=True)
    ('big_o_notation_part_2', 'DataProcessor')
    """
    text = unicodedata.normalize("NFKC", title)
    text = _joined(text if keep_case else text.casefold(), _NOT_WORD)
    return _cut(text if keep_case else text.strip("_"), SEGMENT_LIMIT)


def node_id(parent: str, title: str, taken: Container[str], *, fallback: str = "part", keep_case: bool = False) -> str:
    """A new id for a node called `title` under the node `parent` ("" at the top).

    It is not in `taken`: a second node of the same name gets `_2`, and so on. It never exceeds `NODE_ID_LIMIT` bytes:
    where the path is longer, its end is replaced by a digest of the whole path.
    """
    segment = slug(title, keep_case=keep_case) or fallback
    path = f"{parent}.{segment}" if parent else segment
    return unique(_fit(path, NODE_ID_LIMIT - 6), taken)


def unique(name: str, taken: Container[str]) -> str:
    """`name`, or `name_2`, `name_3`, ... whichever first is not taken."""
    if name not in taken:
        return name
    free = 2
    while f"{name}_{free}" in taken:
        free *= 2
    used = free // 2  # taken, or 1; numbers are given out in order, so the first free one lies between
    while free - used > 1:
        middle = (used + free) // 2
        used, free = (middle, free) if f"{name}_{middle}" in taken else (used, middle)
    return f"{name}_{free}"


def resource_id(file_name: str, *, keep_extension: bool = False) -> str:
    """The id of a resource whose file is called `file_name` (a name, not a path).

    Texts and code keep their extension (`utils.py` is `utils_py`), because `utils.py` and `utils.js` are two things.

    >>> resource_id("Research Paper v1.pdf"), resource_id("utils.py", keep_extension=True)
    ('research_paper_v1', 'utils_py')
    """
    stem, dot, _ = file_name.rpartition(".")
    name = file_name if keep_extension or not dot or not stem else stem
    text = _joined(unicodedata.normalize("NFKC", name).casefold(), _NOT_NAME).strip("_-")
    limit = RESOURCE_ID_LIMIT
    while len(stored_name(_fit(text, limit))) > STORED_ID_LIMIT - 6:
        limit -= 6
    return _fit(text, limit) or "resource"


def check_resource_id(text: str) -> str:
    """`text`, where it can be stored and addressed safely. Raises `ResourceIdRefused` where it cannot.

    Letters of any script, spaces and punctuation are allowed; slashes, control characters, unpaired surrogates and
    characters that only change the direction of the text are not, nor `.` and `..`.
    """
    if not text or not text.strip():
        raise ResourceIdRefused("A resource id is not empty.")
    if _FORBIDDEN.search(text) or text in (".", ".."):
        raise ResourceIdRefused(
            f"The resource id {text[:80]!r} holds a slash, a control character, or is a folder name."
        )
    if any(unicodedata.category(character) in ("Cf", "Cs", "Cc", "Zl", "Zp") for character in text):
        raise ResourceIdRefused(f"The resource id {text[:80]!r} holds an invisible or direction-changing character.")
    if len(stored_name(text)) > STORED_ID_LIMIT:
        raise ResourceIdRefused(
            f"The resource id {text[:40]!r}... is too long: at most {STORED_ID_LIMIT} bytes, encoded."
        )
    return text


def stored_name(text: str) -> str:
    """A resource id as a file name that every file system takes: bytes outside `[A-Za-z0-9._~-]` percent-encoded.

    A leading dot is encoded too, so that no map is a hidden file. `original_name` is the inverse.
    """
    safe = "".join(
        character if character.isascii() and (character.isalnum() or character in "._~-") else _percent(character)
        for character in text
    )
    return f"%2E{safe[1:]}" if safe.startswith(".") else safe


def _joined(text: str, unwanted: re.Pattern[str]) -> str:
    """`text` in NFC, every run of unwanted characters one underscore; marks (accents, vowel signs) stay with letters."""
    kept = unwanted.sub(lambda found: found[0] if unicodedata.category(found[0])[0] == "M" else "\0", text)
    return unicodedata.normalize("NFC", _UNDERSCORES.sub("_", kept))


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head, underscore, _ = text[: limit + 1].rpartition("_")
    return head.rstrip("_") if underscore and len(head) >= limit // 2 else text[:limit]


def _fit(text: str, limit: int) -> str:
    """`text` in at most `limit` bytes; where it is longer, its tail is a digest of the whole."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= limit:
        return text
    tail = hashlib.sha256(data).hexdigest()[:8]
    head = data[: limit - 9].decode("utf-8", "ignore").rstrip("._")
    return f"{head}_{tail}"
