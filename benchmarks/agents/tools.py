"""The tools of a real server process, as an agent that only sees text calls them."""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import define, field

from benchmarks.client import Client, tool

_PAGE = re.compile(r"#pages=(\d+)")


def server(home: Path) -> Client:
    """A server of both groups of tools."""
    command = [sys.executable, "-m", "citekit", "serve", "--home", str(home)]
    return Client(command, CITEKIT_TOOLS="citekit,alexandria")


@define
class Tools:
    """Calls tools, and remembers the number of characters of each answer by tool."""

    client: Client
    sizes: dict[str, list[int]] = field(factory=lambda: defaultdict(list))

    def text(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The text blocks of an answer, also of an error."""
        message = json.loads(self.client.send(tool(name, **arguments)))
        blocks = message.get("result", {}).get("content") or [{"text": json.dumps(message.get("error", ""))}]
        text = "\n".join(str(each.get("text", "")) for each in blocks)
        self.sizes[name].append(len(text))
        return text

    @property
    def calls(self) -> int:
        """The number of calls so far."""
        return sum(map(len, self.sizes.values()))


def pages_in(answer: str) -> list[int]:
    """The first page of each address in an answer, in order."""
    return list(dict.fromkeys(int(number) for number in _PAGE.findall(answer)))
