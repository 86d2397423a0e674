"""The id of a request that the parser refuses, so that the client learns which of its calls failed."""

from __future__ import annotations

import json
import re
from itertools import islice

from attrs import frozen

NESTING_LIMIT = 200
"""Levels of objects and arrays that the parser of the SDK takes (`jiter`)."""

TOKEN_LIMIT = 500_000
"""Tokens of a line that are read, about a second of work. In a longer one, the id must come before."""

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|"|[\[{]+|[\]}]+|[:,]|[^\s"\[\]{}:,]+', re.DOTALL)
"""Several brackets in a row are one token: a line of nothing else is read quickly."""


@frozen
class RefusedRequest:
    """A request that cannot be read. `id` is what the client expects an answer to."""

    id: str | int
    is_nested_too_deeply: bool

    @property
    def reason(self) -> str:
        """One sentence for the client."""
        if self.is_nested_too_deeply:
            return f"The request is nested too deeply. Objects and arrays can have at most {NESTING_LIMIT} levels."
        return "The request is not a JSON-RPC request."


def refused_request(line: bytes) -> RefusedRequest | None:
    """The request in a line that the parser refused; None if the line holds no request with an id.

    Reads any depth without recursion.
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
    """The string or whole number that the token is; None for anything else."""
    try:
        value = None if token is None else json.loads(token)
    except ValueError:
        return None
    return value if isinstance(value, str) or type(value) is int else None
