"""Sends large tool results without passing them through the MCP SDK.

The SDK receives a short marker, which the transport replaces. The SDK would copy a result four times (dump, validate,
dump, write), which takes longer than the rest of a call that returns a map.
"""

from __future__ import annotations

import re
import secrets

from attrs import define, field
from mcp_types import CallToolResult, TextContent

from citekit.entrypoints.mcp.answers import Answer

_MARK = f"citekit-{secrets.token_hex(16)}"
"""The marker, which is random, so that text from a file cannot imitate it."""

_ITEM = re.compile(rb'\{[^{}]*:"%b-(\d+)"[^{}]*\}' % _MARK.encode())
"""The content item with the marker and the number of the answer, including fields that the SDK adds."""

_STRUCTURE = re.compile(rb'\{"%b":\d+\}' % _MARK.encode())

_WITHDRAWN = b"{}", Answer("{}").content

_Parcel = tuple[bytes, bytes]
"""An answer as bytes: its structured content and its content items."""


@define
class _Expected:
    """The responses that are still expected for one request ID, and the results to insert into them.

    `lines` is the number of responses, more than 1 if a client reuses an ID. `parcels` has the results by the number in
    the marker.
    """

    lines: int = 0
    parcels: dict[int, _Parcel] = field(factory=dict)


@define
class Parcels:
    """The results that bypass the SDK and have not been sent yet, by request ID."""

    _held: dict[str | int, _Expected] = field(factory=dict, init=False)
    _number: int = field(default=0, init=False)

    def expect(self, request: str | int) -> None:
        """Record that a request was read and that one response to it is expected."""
        self._held.setdefault(request, _Expected()).lines += 1

    def drop(self, request: str | int) -> None:
        """Record that the request with this ID was answered or canceled."""
        expected = self._held.get(request)
        if expected is not None:
            expected.lines -= 1
            if not expected.lines:
                del self._held[request]

    def hand_over(self, request: str | int | None, answer: Answer, *, whole: bool) -> CallToolResult:
        """Return the tool result for the SDK: a marker if a response to the request is expected; otherwise, the full
        result.
        """
        expected = None if request is None else self._held.get(request)
        if expected is None:
            return answer.result(whole=whole)
        self._number += 1
        expected.parcels[self._number] = answer.data, answer.whole_content if whole else answer.basic_content
        return CallToolResult(
            content=[TextContent(text=f"{_MARK}-{self._number}")],
            structured_content={_MARK: self._number},
            is_error=answer.is_error,
        )

    def filled(self, request: str | int, line: bytes) -> bytes:
        """Return the response line with its marker, if any, replaced by the result, or by an empty one if the request
        was canceled.
        """
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
