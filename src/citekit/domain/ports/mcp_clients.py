"""Defines the port for the settings of MCP clients."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from citekit.domain.mcp_clients import ClientChange, ConnectedClient, ServerEntry


class McpClients(Protocol):
    """Reads and changes the settings of MCP clients on this computer.

    The bytes of a file outside of the entry with the server's name stay the same.
    """

    @property
    def names(self) -> Sequence[str]:
        """The names of the known clients."""

    def installed(self) -> Sequence[str]:
        """Return the names of the clients that appear to be installed."""

    def title(self, client: str) -> str:
        """Return the client's display name. Raise `RequestRefused` if the client is unknown."""

    def place(self, client: str, project: Path | None = None) -> Path:
        """Return the path of the client's settings for the user, or for the folder `project`.

        Raise `RequestRefused` if the client is unknown, has no settings for projects, or has several settings files, or
        if a link leads out of `project`.
        """

    def skills_folder(self, client: str, project: Path | None = None) -> Path | None:
        """Return the folder in which the client looks for the agent skills of the user, or of the folder `project`.

        Return None if the client has no such folder. Raise `RequestRefused` if the client is unknown or a link leads
        out of `project`.
        """

    def snippet(self, client: str, entry: ServerEntry, project: Path | None = None) -> str:
        """Return the smallest settings file with the entry, for the user or for the folder `project`.

        Raise `RequestRefused` if the client is unknown.
        """

    def link(self, client: str, entry: ServerEntry) -> str | None:
        """Return a link that adds the entry when it is opened, or None if the client has no such links.

        Raise `RequestRefused` if the client is unknown.
        """

    def connecting(self, client: str, entry: ServerEntry, project: Path | None = None) -> ClientChange:
        """Return the change that adds or replaces the entry, in the settings of the user or of the folder `project`.

        Raise the errors of `place`, and `RequestRefused` if the file cannot be read or changed safely.
        """

    def removing(self, client: str, name: str, project: Path | None = None) -> ClientChange:
        """Return the change that removes the entry with that name. Raise the errors of `connecting`."""

    def apply(self, change: ClientChange) -> Path | None:
        """Write the file atomically, and return the path of the backup of the previous file, or None if there was none.

        Do nothing if `change.after` is None. If the path is a link, its target is replaced. Raise `RequestRefused` if
        the file has changed since the change was computed, belongs to another user, or cannot be read or written.
        """

    def connected(self, name: str, *, start: bool = False) -> Sequence[ConnectedClient]:
        """Return the clients whose user settings have an entry with that name. Unreadable settings are skipped.

        If `start` is set, start the entries of this installation, and wait until each answers as an MCP server. Other
        programs are not started.
        """
