"""Adapts the answers of the MCP server to clients on other computers, which must not see paths and cannot open files of
this one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath

from attrs import define, field, frozen
from mcp_types import CallToolResult, TextContent, Tool

from citekit.domain.digest import Digest
from citekit.domain.errors import RequestRefused
from citekit.entrypoints.mcp.answers import compact
from citekit.entrypoints.mcp.untrusted_text import quoted_json

REMOTE = (
    "This server is remote: paths are relative to the folders that it offers, output_path is null, and the files that "
    "resolve creates are at uri and, for one hour, at download."
)
"""An addition to the instructions for agents."""

_INGEST = "Maps a file of the server for other tools. Can take minutes unless already mapped."
_PATH = (
    "Relative to the home, or beginning with the name of another folder of the server, as in source_path: books/a.pdf."
)
_AUDITED = ("resource_id", "node_id", "virtual", "as", "remap", "page", "id", "path", "resource_ids")
"""The arguments that are recorded. Others, such as quotes, could contain contents of files."""


@define
class ClientPaths:
    """Translates between paths on this computer and the paths that a remote client sees.

    A file in the `home` is shown relative to it, one in `roots` as the name of that folder and the path in it, and any
    other by its name.
    """

    home: Path
    roots: tuple[Path, ...] = ()
    _named: dict[str, Path] = field(init=False)

    @_named.default
    def _unique_names(self) -> dict[str, Path]:
        named: dict[str, Path] = {}
        for root in self.roots:
            name, number = root.name or "root", 2
            while name in named:
                name, number = f"{root.name or 'root'}-{number}", number + 1
            named[name] = root
        return named

    def shown(self, path: str) -> str:
        """Return the path as the client sees it; relative paths and URLs unchanged."""
        if not PurePath(path).is_absolute():
            return path
        for name, folder in (("", self.home), *self._named.items()):
            for each in (folder, Path(os.path.realpath(folder))):
                if PurePath(path).is_relative_to(each):
                    return PurePath(name, PurePath(path).relative_to(each)).as_posix()
        return PurePath(path).name

    def found(self, text: str) -> Path:
        """Return the path on this computer for a path that a client gave.

        Raise `RequestRefused` unless it is a relative path without `..`, a backslash, a NUL, a scheme, or a drive.
        """
        if (
            not text.strip()
            or "://" in text
            or "\\" in text
            or "\0" in text
            or PurePath(text).is_absolute()
            or ":" in text[:2]
        ):
            raise RequestRefused(
                "ingest maps only files of this server. Give a path such as books/a.pdf, relative to the home, or beginning "
                "with the name of another folder of the server, as in source_path."
            )
        parts = PurePath(text).parts
        if ".." in parts:
            raise RequestRefused("The path must not contain '..'.")
        if parts and parts[0] in self._named:
            return self._named[parts[0]].joinpath(*parts[1:])
        return self.home / text


@frozen
class Remote:
    """The settings of the server for remote clients.

    `link` returns an expiring URL for evidence, and `audit` records requests. If `may_ingest` is False, nothing is
    mapped, not even a changed source.
    """

    paths: ClientPaths
    link: Callable[[Digest], str]
    audit: Callable[[Mapping[str, object]], None]
    may_ingest: bool

    def tool(self, tool: Tool) -> Tool:
        """Return the description of a tool for remote clients."""
        if tool.name != "ingest":
            return tool
        schema = dict(tool.input_schema)
        schema["properties"] = {"path": {"type": "string", "description": _PATH}}
        return tool.model_copy(update={"description": _INGEST, "input_schema": schema})

    def check(self, arguments: Mapping[str, object]) -> None:
        """Raise `RequestRefused` if the arguments need a scope that the client lacks."""
        if arguments.get("remap") and not self.may_ingest:
            raise RequestRefused(
                "This token does not have the scope 'ingest', so it cannot map sources again. To get the address of a part "
                "of a changed source, call resolve without remap, and with virtual: true."
            )

    def answered(self, name: str, arguments: Mapping[str, object] | None, result: CallToolResult) -> CallToolResult:
        """Record a tool call, and return its result, with a download link for evidence. Raise `OSError` if it cannot be
        recorded.
        """
        plain = result.structured_content
        receipt = plain.get("receipt") if isinstance(plain, dict) else None
        made = {}
        if isinstance(plain, dict) and isinstance(receipt, dict):
            made = {"address": plain.get("address"), "evidence": receipt.get("evidence_digest")}
            link = self.link(Digest(str(receipt["evidence_digest"])))
            plain = {**plain, "download": link}
            content = [TextContent(text=quoted_json(compact(plain))), *result.content[1:]]
            result = result.model_copy(update={"structured_content": plain, "content": content})
        asked = {key: _short(value) for key, value in (arguments or {}).items() if key in _AUDITED}
        self.audit({"tool": name, **asked, **made, "ok": not result.is_error})
        return result


def _short(value: object) -> object:
    """Return an argument as it is recorded: at most 300 characters."""
    if isinstance(value, str | bool | int | float) or value is None:
        return value[:300] if isinstance(value, str) else value
    return json.dumps(value, default=str)[:300]
