"""Sends large answers past the SDK: its models carry a marker, which the transport replaces with the answer.

The SDK copies an answer four times (dump, validate, dump, write), which costs more than the rest of the call for a map.
A bypassed answer is serialized once and then only copied.
"""

from __future__ import annotations

import re
import secrets

from attrs import define, field
from mcp_types import CallToolResult, TextContent

from citekit.entrypoints.mcp.answers import Answer

_MARK = f"citekit-{secrets.token_hex(16)}"
"""The marker. It is random, so that text from a file cannot be mistaken for it."""

_ITEM = re.compile(rb'\{[^{}]*:"%b-(\d+)"[^{}]*\}' % _MARK.encode())
"""The single content item with the marker, including fields that the SDK adds. The number identifies the answer."""

_STRUCTURE = re.compile(rb'\{"%b":\d+\}' % _MARK.encode())

_WITHDRAWN = b"{}", Answer("{}").content

_Parcel = tuple[bytes, bytes]
"""An answer as bytes: its structured content and its content items."""


@define
class _Expected:
    """The expected responses to one request id (more than one if a client reuses an id), and the answers for them."""

    lines: int = 0
    parcels: dict[int, _Parcel] = field(factory=dict)


@define
class Parcels:
    """The bypassed answers that have not been sent yet, by request id. Answers to canceled requests are discarded."""

    _held: dict[str | int, _Expected] = field(factory=dict, init=False)
    _number: int = field(default=0, init=False)

    def expect(self, request: str | int) -> None:
        """Record that a request was read and that one response to it will be written."""
        self._held.setdefault(request, _Expected()).lines += 1

    def drop(self, request: str | int) -> None:
        """Record that the request was answered or canceled."""
        expected = self._held.get(request)
        if expected is not None:
            expected.lines -= 1
            if not expected.lines:
                del self._held[request]

    def hand_over(self, request: str | int | None, answer: Answer, *, with_links: bool) -> CallToolResult:
        """The result to return to the SDK: a marker if a response is expected, else the answer itself."""
        expected = None if request is None else self._held.get(request)
        if expected is None:
            return answer.result(with_links=with_links)
        self._number += 1
        expected.parcels[self._number] = answer.data, answer.linked_content if with_links else answer.content
        return CallToolResult(
            content=[TextContent(text=f"{_MARK}-{self._number}")], structured_content={_MARK: self._number}
        )

    def filled(self, request: str | int, line: bytes) -> bytes:
        """The response line with its marker replaced by the answer, or by an empty answer if the request was canceled."""
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
