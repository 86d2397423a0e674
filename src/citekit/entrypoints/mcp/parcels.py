"""Answers that pass by the SDK: a mark goes through its models in their place, and the wire puts them in.

The SDK copies an answer four times (dumped, validated, dumped again, written), which for a map costs more than all the
rest of a call. What is in a parcel is written once, and as often as it is sent only copied.
"""

from __future__ import annotations

import secrets

from attrs import define, field
from mcp_types import CallToolResult, TextContent

from citekit.entrypoints.mcp.answers import Answer

_MARK = f"citekit-{secrets.token_hex(16)}"
"""Nobody outside this process can guess it, so that nothing from a file is ever taken for it."""

_TEXT = f'"{_MARK}"'.encode()
_STRUCTURE = f'{{"{_MARK}":0}}'.encode()


@define
class Parcels:
    """The answers that are under way, by the requests that they answer; those that nobody wants any more are let go."""

    _held: dict[str | int, Answer | None] = field(factory=dict, init=False)

    def expect(self, request: str | int) -> None:
        """A request was read: there will be a line for it."""
        self._held[request] = None

    def drop(self, request: str | int) -> None:
        """The request was answered, or withdrawn."""
        self._held.pop(request, None)

    def hand_over(self, request: str | int | None, answer: Answer, *, with_links: bool) -> CallToolResult:
        """What goes through the SDK for `answer`: only its links and the marks, if a line is expected."""
        if request is None or request not in self._held:
            return answer.result(with_links=with_links)
        self._held[request] = answer
        links = answer.links if with_links else ()
        return CallToolResult(content=[TextContent(text=_MARK), *links], structured_content={_MARK: 0})

    def filled(self, request: str | int, line: bytes) -> bytes:
        """The line that answers `request`, with what was held back in it; nothing where it was withdrawn meanwhile."""
        answer = self._held.pop(request, None) or _WITHDRAWN
        return line.replace(_STRUCTURE, answer.data, 1).replace(_TEXT, answer.quoted, 1)


_WITHDRAWN = Answer("{}")
