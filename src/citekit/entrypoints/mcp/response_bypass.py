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

_ITEM = re.compile(rb'\{[^{}]*:"%b-(\d+)"[^{}]*\}' % _MARK.encode())
"""The one item of the content, whatever the SDK writes beside its text; the number says which answer it stands for."""

_STRUCTURE = re.compile(rb'\{"%b":\d+\}' % _MARK.encode())

_WITHDRAWN = b"{}", Answer("{}").content

_Parcel = tuple[bytes, bytes]
"""What an answer says, as structure and as the items of its content."""


@define
class _Expected:
    """How many lines there will be for a request, more than one where a client uses an id again; and what goes into them."""

    lines: int = 0
    parcels: dict[int, _Parcel] = field(factory=dict)


@define
class Parcels:
    """The answers that are under way, by the requests that they answer; those that nobody wants any more are let go."""

    _held: dict[str | int, _Expected] = field(factory=dict, init=False)
    _number: int = field(default=0, init=False)

    def expect(self, request: str | int) -> None:
        """A request was read: there will be a line for it."""
        self._held.setdefault(request, _Expected()).lines += 1

    def drop(self, request: str | int) -> None:
        """The request was answered, or withdrawn."""
        expected = self._held.get(request)
        if expected is not None:
            expected.lines -= 1
            if not expected.lines:
                del self._held[request]

    def hand_over(self, request: str | int | None, answer: Answer, *, with_links: bool) -> CallToolResult:
        """What goes through the SDK for `answer`: only marks, if a line is expected."""
        expected = None if request is None else self._held.get(request)
        if expected is None:
            return answer.result(with_links=with_links)
        self._number += 1
        expected.parcels[self._number] = answer.data, answer.linked_content if with_links else answer.content
        return CallToolResult(
            content=[TextContent(text=f"{_MARK}-{self._number}")], structured_content={_MARK: self._number}
        )

    def filled(self, request: str | int, line: bytes) -> bytes:
        """The line that answers `request`, with what was held back in it; nothing if it was withdrawn."""
        item = _ITEM.search(line)
        if item is None:
            return line
        expected = self._held.get(request)
        parcel = expected.parcels.pop(int(item[1]), None) if expected is not None else None
        structure, content = parcel or _WITHDRAWN
        found = ((item, content), (_STRUCTURE.search(line), structure))
        places = sorted((*match.span(), data) for match, data in found if match is not None)
        parts: list[bytes] = []
        end = 0
        for start, stop, data in places:
            parts += line[end:start], data
            end = stop
        return b"".join((*parts, line[end:]))
