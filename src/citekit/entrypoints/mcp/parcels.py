"""Answers that pass by the SDK: a mark goes through its models in their place, and the wire puts them in.

The SDK copies an answer four times (dumped, validated, dumped again, written), which for a map costs more than all the
rest of a call. What is in a parcel is written once, and as often as it is sent only copied.
"""

from __future__ import annotations

import re
import secrets

from attrs import define, field
from mcp_types import CallToolResult, TextContent

from citekit.entrypoints.mcp.answers import Answer

_MARK = f"citekit-{secrets.token_hex(16)}"
"""Nobody outside this process can guess it, so that nothing from a file is ever taken for it."""

_ITEM = re.compile(rb'\{[^{}]*:"%b"[^{}]*\}' % _MARK.encode())
"""The one item of the content, whatever the SDK writes beside its text."""

_STRUCTURE = re.compile(rb'\{"%b":0\}' % _MARK.encode())

_WITHDRAWN = b"{}", Answer("{}").content

_Parcel = tuple[bytes, bytes]
"""What an answer says, as structure and as the items of its content."""


@define
class Parcels:
    """The answers that are under way, by the requests that they answer; those that nobody wants any more are let go."""

    _held: dict[str | int, _Parcel | None] = field(factory=dict, init=False)

    def expect(self, request: str | int) -> None:
        """A request was read: there will be a line for it."""
        self._held[request] = None

    def drop(self, request: str | int) -> None:
        """The request was answered, or withdrawn."""
        self._held.pop(request, None)

    def hand_over(self, request: str | int | None, answer: Answer, *, with_links: bool) -> CallToolResult:
        """What goes through the SDK for `answer`: only marks, if a line is expected."""
        if request is None or request not in self._held:
            return answer.result(with_links=with_links)
        self._held[request] = answer.data, answer.linked_content if with_links else answer.content
        return CallToolResult(content=[TextContent(text=_MARK)], structured_content={_MARK: 0})

    def filled(self, request: str | int, line: bytes) -> bytes:
        """The line that answers `request`, with what was held back in it; nothing where it was withdrawn meanwhile."""
        structure, content = self._held.pop(request, None) or _WITHDRAWN
        found = ((_ITEM.search(line), content), (_STRUCTURE.search(line), structure))
        places = sorted((*match.span(), data) for match, data in found if match is not None)
        parts: list[bytes] = []
        end = 0
        for start, stop, data in places:
            parts += line[end:start], data
            end = stop
        return b"".join((*parts, line[end:])) if places else line
