"""Reduces paths that an agent may not name to file names, in everything that the agent reads.

Paths are found in the text itself, because they come from everywhere: from the system, from parsers, from untrusted maps.
The file system is not consulted: whether a file exists makes no difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, Protocol

from attrs import field, frozen

from citekit.domain.errors import AddressMalformed, LocationMalformed, LocationOutside, NodeMissing, ResourceIdRefused

LONGEST = 20_000
"""Characters of a text that are looked through; the rest is not told."""

_OF_ADDRESSES = (AddressMalformed, LocationMalformed, LocationOutside, NodeMissing, ResourceIdRefused)
"""Errors that name no file; what looks like a path in them is an ID, which stays whole."""

_MESSAGES = frozenset(("error", "steps", "summary"))
"""Entries of an answer of the library's tools that say how something went."""

_PART = r"(?:(?![.:;,!?)\]]{1,20}+(?:\s|$))(?! [(\[])(?:[^/\\\n'\"<>|*]|(?<=\w)'(?=\w)))+(?<![ :,;=(])"
"""One name among others of a path; it may hold spaces, but no end of a sentence."""

_PATH = re.compile(
    r"(?<![\w/\\.])(?<!:(?=//(?!/)))(?!(?<=<)/[\w:.-]+>)(?i:file:(?://[\w.-]*)?(?=/))?"
    rf"((?:[A-Za-z]:)?[\\/]++(?=\S)(?:{_PART}[\\/]++)*+)((?=\S){_PART})?"
)
"""The folders of an absolute path, and its name, with the words that follow. No web address, and no end tag of XML.

Nothing that was gone through is gone through again (`++`), however the text is made.
"""


class _Folders(Protocol):
    def tells(self, path: PurePath) -> bool: ...


@frozen
class Discretion:
    """`own` are folders of CiteKit's that every agent knows, since answers lie there."""

    folders: _Folders
    own: tuple[Path, ...] = field(default=(), converter=tuple[Path, ...])

    def __call__(self, text: str, error: BaseException | None = None) -> str:
        """The text of `error`, or any other one, without the folders of files that may not be named."""
        if isinstance(error, _OF_ADDRESSES):
            return text
        text = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
        for path in sorted(set(_paths(error)), key=len, reverse=True):
            if not self._tells(PurePath(path)):
                text = text.replace(path, PurePath(path.replace("\\", "/")).name)
        return _PATH.sub(self._shown, text)

    def in_answer(self, plain: Mapping[str, Any]) -> dict[str, Any]:
        """The answer of a tool of the library, with the same done to what it says of how it went."""
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
        """Nobody can see where a name ends and the sentence goes on."""
        if not found[2]:
            return self._shown_folder(found[0], found[1])
        words = found[2].split(" ")[:10]
        ends = (PurePath(found[1] + " ".join(words[: count + 1]).rstrip(".:;,!?)]")) for count in range(len(words)))
        return found[0] if any(map(self._tells, ends)) else found[2]

    def _shown_folder(self, whole: str, path: str) -> str:
        """A path that ends in a slash; slashes alone are not a path."""
        name = path.rstrip("/\\")
        if self._tells(PurePath(path)) or not name:
            return whole
        return path[max(name.rfind("/"), name.rfind("\\")) + 1 :]

    def _tells(self, path: PurePath) -> bool:
        if ".." in path.parts:
            return False
        return self.folders.tells(path) or any(path.is_relative_to(folder) for folder in self.own)


def _paths(error: BaseException | None) -> Iterator[str]:
    """The absolute paths that an error and its causes hold as values."""
    for _ in range(10):
        if error is None:
            return
        for name in ("path", "filename", "filename2"):
            value = getattr(error, name, None)
            if isinstance(value, str | PurePath) and len(PurePath(value).parts) > 1 and str(value)[:1] in "/\\":
                yield str(value)
        error = error.__cause__ or error.__context__
