"""Replaces paths that an agent must not see with their file names, in messages for the agent.

Paths are found in the text itself, because messages have many sources: the operating system, parsers, and untrusted
maps. The file system is not accessed, so results do not reveal whether a file exists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, Protocol

from attrs import field, frozen

from citekit.domain.errors import AddressMalformed, LocationMalformed, LocationOutside, NodeMissing, ResourceIdRefused

LONGEST = 20_000
"""The maximum number of characters of a text, which is cut off there."""

_OF_ADDRESSES = (AddressMalformed, LocationMalformed, LocationOutside, NodeMissing, ResourceIdRefused)
"""Errors that name no file: what looks like a path is an ID and stays."""

_MESSAGES = frozenset(("error", "steps", "summary"))
"""The keys of answers whose values are status messages."""

_PART = r"(?:(?![.:;,!?)\]]{1,20}+(?:\s|$))(?! [(\[])(?:[^/\\\n'\"<>|*]|(?<=\w)'(?=\w)))+(?<![ :,;=(])"
"""A name in a path. It can have spaces, but not the end of a sentence."""

_PATH = re.compile(
    r"(?<![\w/\\.])(?<!:(?=//(?!/)))(?!(?<=<)/[\w:.-]+>)(?i:file:(?://[\w.-]*)?(?=/))?"
    rf"((?:[A-Za-z]:)?[\\/]++(?=\S)(?:{_PART}[\\/]++)*+)((?=\S){_PART})?"
)
"""The folders of an absolute path, and its last name with the words after it. Excludes web addresses and XML end tags.

The possessive quantifiers (`++`) prevent backtracking on hostile input.
"""


class _Folders(Protocol):
    def tells(self, path: PurePath) -> bool: ...


class _NoFolders:
    def tells(self, _: PurePath) -> bool:
        return False


NO_FOLDERS = _NoFolders()
"""The folders of clients on other computers, which see no paths."""


@frozen
class Discretion:
    """Removes the folders from paths in text, except inside `folders`, which the agent may read, and `own`, CiteKit's
    folders.
    """

    folders: _Folders
    own: tuple[Path, ...] = field(default=(), converter=tuple[Path, ...])

    def __call__(self, text: str, error: BaseException | None = None) -> str:
        """Return `text`, the message of `error` if any, with the paths that the agent must not see replaced by their
        file names.

        Messages of errors that name no file, such as those about addresses, stay unchanged. Other texts are cut after
        `LONGEST` characters.
        """
        if isinstance(error, _OF_ADDRESSES):
            return text
        text = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
        for path in sorted(set(_paths(error)), key=len, reverse=True):
            if not self._tells(PurePath(path)):
                text = text.replace(path, PurePath(path.replace("\\", "/")).name)
        return _PATH.sub(self._shown, text)

    def in_answer(self, plain: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a library tool with redacted status messages."""
        return {name: self._entry(value, is_message=name in _MESSAGES) for name, value in plain.items()}

    def _entry(self, value: Any, *, is_message: bool) -> Any:
        if isinstance(value, str):
            return self(value) if is_message else value
        if isinstance(value, Mapping):
            return self.in_answer(value)
        if isinstance(value, list | tuple):
            return [self._entry(each, is_message=is_message) for each in value]
        return value

    def _shown(self, found: re.Match[str]) -> str:
        """Return the text that replaces a path found in a message.

        The words after the last slash may belong to the file name or to the sentence, so one to ten of them are tried.
        If the agent may see one of these paths, the text stays unchanged.
        """
        if not found[2]:
            return self._shown_folder(found[0], found[1])
        words = found[2].split(" ")[:10]
        ends = (PurePath(found[1] + " ".join(words[: count + 1]).rstrip(".:;,!?)]")) for count in range(len(words)))
        return found[0] if any(map(self._tells, ends)) else found[2]

    def _shown_folder(self, whole: str, path: str) -> str:
        """Return the text that replaces a path that ends in a slash."""
        name = path.rstrip("/\\")
        if self._tells(PurePath(path)) or not name:
            return whole
        return path[max(name.rfind("/"), name.rfind("\\")) + 1 :]

    def _tells(self, path: PurePath) -> bool:
        if ".." in path.parts:
            return False
        return self.folders.tells(path) or any(path.is_relative_to(folder) for folder in self.own)


def _paths(error: BaseException | None) -> Iterator[str]:
    """Yield the paths that begin with a slash in the attributes of an error and of its causes."""
    for _ in range(10):
        if error is None:
            return
        for name in ("path", "filename", "filename2"):
            value = getattr(error, name, None)
            if isinstance(value, str | PurePath) and len(PurePath(value).parts) > 1 and str(value)[:1] in "/\\":
                yield str(value)
        error = error.__cause__ or error.__context__
