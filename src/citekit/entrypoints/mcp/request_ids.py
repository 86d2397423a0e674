"""Finds the ID of a request that the parser rejected, so that the client learns which of its calls failed."""

from __future__ import annotations

import json
import re
from itertools import islice

from attrs import frozen

NESTING_LIMIT = 200
"""The maximum nesting depth that the SDK's parser (`jiter`) accepts."""

TOKEN_LIMIT = 500_000
"""The maximum number of tokens that are read, about a second of work. An id after them is not found."""

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|"|[\[{]+|[\]}]+|[:,]|[^\s"\[\]{}:,]+', re.DOTALL)
"""A token of JSON. A run of brackets is one token, so that a line of nothing but brackets is read quickly."""


@frozen
class RefusedRequest:
    """A request that the parser rejected, with its JSON-RPC ID."""

    id: str | int
    is_nested_too_deeply: bool

    @property
    def reason(self) -> str:
        """The reason why the request was rejected, as one sentence for the client."""
        if self.is_nested_too_deeply:
            return f"The request is nested too deeply. Objects and arrays can have at most {NESTING_LIMIT} levels."
        return "The request is not a JSON-RPC request."


def refused_request(line: bytes) -> RefusedRequest | None:
    """Return the request in a line that the parser rejected, or None if the line contains no request with an ID.

    The search is not recursive, so deep nesting cannot overflow the stack.
    """
    members: dict[str | int | None, str | int | None] = {}
    depth = deepest = 0
    key: bytes | None = None
    value: bytes | None = None
    tokens = _TOKEN.finditer(line)
    for match in islice(tokens, TOKEN_LIMIT):
        token = match[0]
        match token[:1]:
            case b"{" | b"[":
                depth += len(token)
                deepest = max(deepest, depth)
            case b"}" | b"]":
                depth -= len(token)
            case b":" if depth == 1:
                key, value = value, None
            case b"," if depth == 1:
                members[_plain(key)] = _plain(value)
                key = value = None
            case _ if depth == 1:
                value = token
        if depth < 1:
            members[_plain(key)] = _plain(value)
            break
    else:
        if next(tokens, None) is None:
            return None  # the line ends inside of the object
    request = members.get("id")
    if depth < 0 or request is None or not isinstance(members.get("method"), str):
        return None
    return RefusedRequest(request, deepest > NESTING_LIMIT)


def _plain(token: bytes | None) -> str | int | None:
    """Return the value of a JSON token if it is a string or an integer; otherwise None."""
    try:
        value = None if token is None else json.loads(token)
    except ValueError:
        return None
    return value if isinstance(value, str) or type(value) is int else None
