"""Creates and checks IDs that people and models can read and type.

A node ID consists of the slugs of the titles of its ancestors and of its own title, joined by dots:
`chapter_1.big_o_notation`. A resource ID is made from the file name.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Container

from citekit.domain.errors import ResourceIdRefused

SEGMENT_LIMIT = 48
"""Maximum number of characters of a slug. Longer titles are cut, if possible at a word boundary."""

NODE_ID_LIMIT = 120
"""Maximum length of a node ID in bytes (UTF-8). Together with a resource ID of `RESOURCE_ID_LIMIT` bytes, it fits in a
file name of 255 bytes.
"""

RESOURCE_ID_LIMIT = 100
"""Maximum length in bytes (UTF-8) of a resource ID that is made from a file name."""

STORED_ID_LIMIT = 200
"""Maximum length in bytes of an accepted resource ID, percent-encoded as it is stored."""

_NOT_WORD = re.compile(r"[^\w]")
_NOT_NAME = re.compile(r"[^\w~-]")
_UNDERSCORES = re.compile(r"\x00+")
_FORBIDDEN = re.compile(r"[/\\\x00-\x1f\x7f]")


def slug(title: str, *, keep_case: bool = False) -> str:
    """Return `title` as one segment of an ID: letters and digits of any script, joined by underscores.

    The slug may be empty. `keep_case`, for names in source code, keeps uppercase letters and outer underscores.

    >>> slug("Big-O Notation (part 2)"), slug("DataProcessor", keep_case=True)
    ('big_o_notation_part_2', 'DataProcessor')
    """
    text = unicodedata.normalize("NFKC", title)
    text = _joined(text if keep_case else text.casefold(), _NOT_WORD)
    return _cut(text if keep_case else text.strip("_"), SEGMENT_LIMIT)


def node_id(parent: str, title: str, taken: Container[str], *, fallback: str = "part", keep_case: bool = False) -> str:
    """Return a new ID for a node with the given title under the node with the ID `parent` ("" for the top level).

    If the ID is in `taken`, it gets the suffix `_2`, `_3`, and so on. `fallback` is used if the slug of the title is
    empty. The end of a long ID is replaced by a digest, so that the ID has at most `NODE_ID_LIMIT` bytes.
    """
    segment = slug(title, keep_case=keep_case) or fallback
    path = f"{parent}.{segment}" if parent else segment
    return unique(_fit(path, NODE_ID_LIMIT - 6), taken)


def unique(name: str, taken: Container[str]) -> str:
    """Return `name` if it is not in `taken`, else a free name with a suffix: `name_2`, `name_3`, and so on.

    This is the first free name if the suffixes in `taken` have no gaps.
    """
    if name not in taken:
        return name
    free = 2
    while f"{name}_{free}" in taken:
        free *= 2
    used = free // 2  # taken, or 1; numbers are assigned in order, so the first free number is between
    while free - used > 1:
        middle = (used + free) // 2
        used, free = (middle, free) if f"{name}_{middle}" in taken else (used, middle)
    return f"{name}_{free}"


def resource_id(file_name: str, *, keep_extension: bool = False) -> str:
    """Return the resource ID for a file with the name `file_name` (not a path).

    `keep_extension` includes the extension, to distinguish `utils.py` from `utils.js`. The ID is `resource` if nothing
    of the name is left.

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
    """Return `text` if it can be stored and addressed safely as a resource ID. Otherwise, raise `ResourceIdRefused`.

    Blank IDs, slashes, backslashes, control characters, unpaired surrogates, invisible and direction-changing
    characters, and the names `.` and `..` are not allowed. The percent-encoded ID can have at most `STORED_ID_LIMIT`
    bytes.
    """
    if not text or not text.strip():
        raise ResourceIdRefused("The resource ID is empty or blank. Choose an ID.")
    if _FORBIDDEN.search(text) or text in (".", ".."):
        raise ResourceIdRefused(
            f"The resource ID {text[:80]!r} contains a slash, a backslash, or a control character, or is '.' or '..'. "
            "Choose another ID."
        )
    if any(unicodedata.category(character) in ("Cf", "Cs", "Cc", "Zl", "Zp") for character in text):
        raise ResourceIdRefused(
            f"The resource ID {text[:80]!r} contains an invisible or direction-changing character. Choose another ID."
        )
    if len(stored_name(text)) > STORED_ID_LIMIT:
        shown = repr(text) if len(text) <= 40 else f"{text[:40]!r}..."
        raise ResourceIdRefused(
            f"The resource ID {shown} is too long. The maximum is {STORED_ID_LIMIT} bytes after percent-encoding."
        )
    return text


def stored_name(text: str) -> str:
    """Return the file name for the resource ID `text`.

    Bytes outside `[A-Za-z0-9._~-]` are percent-encoded, as is a leading dot, so that the file is not hidden.
    """
    safe = "".join(
        character if character.isascii() and (character.isalnum() or character in "._~-") else _percent(character)
        for character in text
    )
    return f"%2E{safe[1:]}" if safe.startswith(".") else safe


def _joined(text: str, unwanted: re.Pattern[str]) -> str:
    """Return `text` in Unicode form NFC, with each sequence of unwanted characters replaced by an underscore.

    Combining marks are kept.
    """
    cleaned = unwanted.sub(lambda found: found[0] if unicodedata.category(found[0])[0] == "M" else "\0", text)
    return unicodedata.normalize("NFC", _UNDERSCORES.sub("_", cleaned))


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head, underscore, _ = text[: limit + 1].rpartition("_")
    return head.rstrip("_") if underscore and len(head) >= limit // 2 else text[:limit]


def _fit(text: str, limit: int) -> str:
    """Return `text` if it has at most `limit` bytes; otherwise, truncate it and append a digest of the whole text."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= limit:
        return text
    tail = hashlib.sha256(data).hexdigest()[:8]
    head = data[: limit - 9].decode("utf-8", "ignore").rstrip("._")
    return f"{head}_{tail}"
