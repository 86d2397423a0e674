"""Defines programs that use MCP servers, and what connecting them to CiteKit changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from attrs import field, frozen

SERVER = "citekit"
"""The name of the server in the settings of clients."""


@frozen(kw_only=True)
class ServerEntry:
    """How a client starts an MCP server. `command` is an absolute path."""

    name: str
    command: str
    arguments: Sequence[str] = field(converter=tuple[str, ...])
    environment: Mapping[str, str] = field(factory=dict)


class ClientState(StrEnum):
    """The effect of a change on the entry of CiteKit in a client's settings."""

    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    ABSENT = "absent"


@frozen(kw_only=True)
class ClientChange:
    """A change of one settings file.

    `before` is None if there is no file, and `after` equals `before` if nothing changes.
    """

    client: str
    path: Path
    state: ClientState
    before: bytes | None = field(repr=False)
    after: bytes | None = field(repr=False)

    @property
    def writes(self) -> bool:
        """Whether the file must be written."""
        return self.before != self.after


@frozen(kw_only=True)
class ConnectedClient:
    """A client whose settings have an entry for CiteKit.

    `problem` says why the server in the entry cannot start, or is None. `home` is the value of its option `--home`, or
    None.
    """

    client: str
    path: Path
    problem: str | None
    home: str | None = None
