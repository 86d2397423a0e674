"""The product's own server with two tools more that do nothing: what is left of a call's cost is the protocol's.

    python -m benchmarks.empty_tools HOME

`empty` returns a short text, `same_length` one of the asked length, kept ready. Both go the shortest way that the server
has for any of its answers.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from typing import Any

from mcp_types import Tool

from citekit.container import bootstrap
from citekit.entrypoints.mcp import handlers, schemas, server, tools
from citekit.entrypoints.mcp.answers import Answer

EMPTY = Answer.of({"done": True})


@functools.cache
def of_length(length: int) -> Answer:
    """JSON text of that many characters."""
    return Answer.of({"text": "x" * max(0, length - len('{"text":""}'))})


def _empty(_: Mapping[str, Any], __: object = None) -> Answer:
    return EMPTY


def _same_length(arguments: Mapping[str, Any], _: object = None) -> Answer:
    return of_length(arguments["length"])


class ToolsAndEmptyOnes(tools.Tools):
    """What `handlers` offers, and the two."""

    def bound(self) -> dict[str, tools.Bound]:
        """All by name."""
        length = schemas.inputs({"length": schemas.count("Characters.")}, ("length",))
        return {
            **super().bound(),
            "empty": _bound(Tool(name="empty", input_schema=schemas.inputs({})), _empty),
            "same_length": _bound(Tool(name="same_length", input_schema=length), _same_length),
        }


def _bound(tool: Tool, run: Any) -> tools.Bound:
    return tools.Bound(tool, run, cached=run)


if __name__ == "__main__":
    setattr(handlers, "Tools", ToolsAndEmptyOnes)  # noqa: B010 - no name that the module offers
    server.serve(bootstrap(home=sys.argv[1]))
