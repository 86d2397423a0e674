"""Reads and changes the settings files of MCP clients."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from attrs import frozen

from citekit.adapters.clients import json_edits, line_edits
from citekit.adapters.clients.known_clients import CLIENTS, KnownClient, Syntax
from citekit.adapters.clients.starting import Launch, start_problem
from citekit.adapters.system.files import write_atomically
from citekit.domain.errors import HomeUnwritable, RequestRefused
from citekit.domain.mcp_clients import ClientChange, ClientState, ConnectedClient, ServerEntry

LARGEST = 20 * 1024 * 1024
"""The maximum size of a settings file in bytes."""

BACKUP = ".citekit-backup"
"""The suffix of the copy that is made of a settings file before it is changed."""

_PRIVATE = 0o600


class _UnsureError(Exception):
    """The settings cannot be changed safely. The message is a clause."""


@frozen
class FileMcpClients:
    """Implements `McpClients` for the user with these environment variables and this home directory."""

    environment: Mapping[str, str]
    home: Path

    @property
    def names(self) -> Sequence[str]:
        """See `McpClients.names`."""
        return tuple(CLIENTS)

    def installed(self) -> Sequence[str]:
        """See `McpClients.installed`."""
        return [name for name, known in CLIENTS.items() if any(self._found(each) for each in known.traces)]

    def title(self, client: str) -> str:
        """See `McpClients.title`."""
        return _known(client).title

    def place(self, client: str, project: Path | None = None) -> Path:
        """See `McpClients.place`."""
        known = _known(client)
        if project is not None:
            if known.project is None:
                raise RequestRefused(f"{known.title} has no project settings. Omit --project.")
            return _in_project(project, known.project)
        places = [place for each in known.files if (place := self._filled(each)) is not None]
        for place in places:
            found = self._matches(place)
            if len(found) > 1:
                raise RequestRefused(
                    f"{known.title} has several settings files: {', '.join(map(str, found))}. Edit "
                    "one by hand (--print shows the entry)."
                )
            if found:
                return found[0]
        for place in places:
            if "*" in place:
                packages = self._matches(place.partition("*")[0] + "*")
                if len(packages) == 1:
                    return packages[0] / place.partition("*")[2].lstrip("/")
        exact = [place for place in places if "*" not in place]
        if not exact:
            variable = "APPDATA" if sys.platform == "win32" else "XDG_CONFIG_HOME"
            raise RequestRefused(
                f"The settings folder of {known.title} is unknown, because {variable} is not set to an absolute path. Set "
                "it, or edit the settings file by hand (--print shows the entry)."
            )
        return Path(exact[0])

    def skills_folder(self, client: str, project: Path | None = None) -> Path | None:
        """See `McpClients.skills_folder`."""
        known = _known(client)
        if not known.skills:
            return None
        if project is not None:
            return _in_project(project, known.project_skills)
        return next((Path(place) for each in known.skills if (place := self._filled(each)) is not None), None)

    def snippet(self, client: str, entry: ServerEntry, project: Path | None = None) -> str:
        """See `McpClients.snippet`."""
        known = _known(client)
        return _inserted(known, _key(known, project), "", entry)

    def link(self, client: str, entry: ServerEntry) -> str | None:
        """See `McpClients.link`."""
        known = _known(client)
        return None if known.link is None else known.link(entry)

    def connecting(self, client: str, entry: ServerEntry, project: Path | None = None) -> ClientChange:
        """See `McpClients.connecting`."""
        known = _known(client)
        data = known.shape(entry)

        def edit(text: str, key: str) -> tuple[ClientState, str]:
            former = _entries(known, key, text).get(entry.name)
            if former == data:
                return ClientState.UNCHANGED, text
            state = ClientState.ADDED if former is None else ClientState.CHANGED
            return state, _edited(known, key, text, entry)

        return self._change(client, project, edit)

    def removing(self, client: str, name: str, project: Path | None = None) -> ClientChange:
        """See `McpClients.removing`."""
        known = _known(client)

        def edit(text: str, key: str) -> tuple[ClientState, str]:
            if name not in _entries(known, key, text):
                return ClientState.ABSENT, text
            return ClientState.REMOVED, _without(known, key, text, name)

        return self._change(client, project, edit)

    def apply(self, change: ClientChange) -> Path | None:
        """See `McpClients.apply`."""
        path = Path(os.path.realpath(change.path))
        if _bytes(path) != change.before:
            raise RequestRefused(f"{path} has changed since CiteKit read it. Try again.")
        if change.after is None:
            return None
        mode = _PRIVATE
        backup = None
        if change.before is not None:
            status = path.stat()
            if hasattr(os, "getuid") and status.st_uid != os.getuid():
                raise RequestRefused(f"{path} belongs to another user, so CiteKit does not change it. {_EDIT}")
            if not os.access(path, os.W_OK):
                raise RequestRefused(f"{path} is read-only. Make it writable, and try again.")
            mode = status.st_mode & 0o777
            backup = path.with_name(path.name + BACKUP)
            _write(backup, change.before, mode)
        _write(path, change.after, mode)
        return backup

    def connected(self, name: str, *, start: bool = False) -> Sequence[ConnectedClient]:
        """See `McpClients.connected`."""
        return list(self._connected(name, cache(start_problem) if start else _not_started))

    def _connected(self, name: str, started: Callable[[Launch], str | None]) -> Iterator[ConnectedClient]:
        for client, known in CLIENTS.items():
            try:
                path = self.place(client)
                data = _bytes(path)
                entry = _entries(known, known.key, data.decode("utf-8-sig")).get(name) if data else None
            except (RequestRefused, UnicodeDecodeError, _UnsureError):
                continue
            if entry is not None:
                yield ConnectedClient(client=client, path=path, problem=_problem(entry, started), home=_home(entry))

    def _change(
        self, client: str, project: Path | None, edit: Callable[[str, str], tuple[ClientState, str]]
    ) -> ClientChange:
        known, path = _known(client), self.place(client, project)
        key = _key(known, project)
        before = _bytes(path)
        try:
            text = "" if before is None else before.decode()
            state, after = edit(text, key)
        except UnicodeDecodeError:
            raise RequestRefused(f"{path} is not encoded in UTF-8. {_BY_HAND}") from None
        except _UnsureError as error:
            raise RequestRefused(f"{path} was not changed: {error}. {_BY_HAND}") from error
        written = before if after == text else after.encode()
        return ClientChange(client=client, path=path, state=state, before=before, after=written)

    def _found(self, trace: str) -> bool:
        place = self._filled(trace)
        return place is not None and bool(self._matches(place))

    def _matches(self, place: str) -> list[Path]:
        if "*" not in place:
            return [Path(place)] if os.path.lexists(place) else []
        folder, _, rest = place.partition("*")
        parent = Path(folder).parent
        prefix = Path(folder).name
        try:
            found = sorted(each for each in parent.iterdir() if each.name.startswith(prefix))
        except OSError:
            return []
        return [path for each in found if (path := each / rest.lstrip("/") if rest else each).exists()]

    def _filled(self, place: str) -> str | None:
        """Return a path with its variable replaced, or None if that is not an absolute path."""
        name, _, rest = place[1:].partition("}")
        folder = self._folders().get(name) or self.environment.get(name)
        return f"{folder}{rest}" if folder and Path(folder).is_absolute() else None

    def _folders(self) -> Mapping[str, str]:
        home = str(self.home)
        config = self.environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
        match sys.platform:
            case "win32":
                programs = self.environment.get("APPDATA", "")
                zed, goose = f"{programs}/Zed", f"{programs}/Block/goose/config"
            case "darwin":
                programs = f"{home}/Library/Application Support"
                zed, goose = f"{home}/.config/zed", f"{home}/.config/goose"
            case _:
                programs, zed, goose = config, f"{config}/zed", f"{config}/goose"
        return {
            "home": home,
            "programs": programs,
            "config": config,
            "zed": zed,
            "goose": goose,
            "local": self.environment.get("LOCALAPPDATA", "") if sys.platform == "win32" else "",
        }


_BY_HAND = "Fix this, or edit the settings file by hand (--print shows the entry)."
_EDIT = "Edit it by hand (--print shows the entry)."

_MAPPINGS = {Syntax.JSON: "an object", Syntax.TOML: "a table", Syntax.YAML: "a mapping"}
"""What each syntax calls a mapping, with its article."""


def _known(client: str) -> KnownClient:
    known = CLIENTS.get(client)
    if known is None:
        raise RequestRefused(f"There is no client named {client!r}. Known clients: {', '.join(CLIENTS)}.")
    return known


def _key(known: KnownClient, project: Path | None) -> str:
    """Return the key of the servers in the settings of the user or, if `project` is set, of a project."""
    return known.key if project is None else known.project_key or known.key


def _in_project(project: Path, relative: str) -> Path:
    """Return the path of a file or folder in a project. Raise `RequestRefused` if a link leads out of the project: a
    clone could otherwise cause changes to files of the user.
    """
    path = project / relative
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(project)):
        raise RequestRefused(f"{path} leads outside the project, to {real}. Remove the link, or omit --project.")
    return path


def _bytes(path: Path) -> bytes | None:
    """Return the content of a settings file, or None if it does not exist.

    Raise `RequestRefused` if it is not a file, is too large, or cannot be read.
    """
    try:
        if path.exists() and not path.is_file():
            raise RequestRefused(f"{path} is not a file, so CiteKit does not change it. {_BY_HAND}")
        if path.stat().st_size > LARGEST:
            raise RequestRefused(f"{path} is larger than {LARGEST // 2**20} MB, so CiteKit does not change it. {_EDIT}")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise RequestRefused(f"{path} cannot be read: {reason}. {_BY_HAND}") from error


def _write(path: Path, data: bytes, mode: int) -> None:
    try:
        write_atomically(path, data, mode=mode)
    except HomeUnwritable as error:
        cause = error.__cause__
        reason = str(cause.strerror).lower() if isinstance(cause, OSError) else "the system does not permit it"
        raise RequestRefused(f"{path} cannot be written: {reason}. {_BY_HAND}") from error
    if os.name == "posix":
        path.chmod(mode)


def _edited(known: KnownClient, key: str, text: str, entry: ServerEntry) -> str:
    """Return the text with the entry. Raise `_UnsureError` if the text cannot be changed safely."""
    former, data = _parsed(known, text), known.shape(entry)
    expected = deepcopy(former)
    entries = expected.setdefault(key, {})
    if entries is None and known.syntax is Syntax.YAML:
        entries = expected[key] = {}
    if not isinstance(entries, dict):
        raise _UnsureError(f"{key} is not {_MAPPINGS[known.syntax]}")
    entries[entry.name] = data
    return _checked(known, _inserted(known, key, text, entry), expected)


def _inserted(known: KnownClient, key: str, text: str, entry: ServerEntry) -> str:
    """Return the text with the entry, without a check of the result."""
    data = known.shape(entry)
    match known.syntax:
        case Syntax.JSON:
            return _json_edit(lambda: json_edits.with_member(text, (key, entry.name), data))
        case Syntax.TOML:
            return line_edits.toml_with(text, key, entry.name, data)
        case Syntax.YAML:
            return line_edits.yaml_with(text, key, entry.name, data)


def _without(known: KnownClient, key: str, text: str, name: str) -> str:
    expected = deepcopy(_parsed(known, text))
    del expected[key][name]
    match known.syntax:
        case Syntax.JSON:
            after = _json_edit(lambda: json_edits.without_member(text, (key, name)))
        case Syntax.TOML:
            after = line_edits.toml_without(text, key, name)
        case Syntax.YAML:
            after = line_edits.yaml_without(text, key, name)
    return _checked(known, after, expected)


def _checked(known: KnownClient, text: str, expected: Mapping[str, Any]) -> str:
    try:
        data = _parsed(known, text)
    except _UnsureError as error:
        raise _UnsureError("its structure is too unusual to change safely") from error
    if _filled_only(data) != _filled_only(expected):
        raise _UnsureError("its structure is too unusual to change safely")
    return text


def _filled_only(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data without empty mappings and nulls at its top level.

    They are not compared, because removing the last entry may also remove its table.
    """
    return {name: value for name, value in data.items() if value not in ({}, None)}


def _json_edit(edit: Callable[[], str]) -> str:
    try:
        return edit()
    except json_edits.EditError as error:
        raise _UnsureError(str(error)) from error


def _entries(known: KnownClient, key: str, text: str) -> Mapping[str, Any]:
    entries = _parsed(known, text).get(key)
    return entries if isinstance(entries, dict) else {}


def _parsed(known: KnownClient, text: str) -> dict[str, Any]:
    """Return the data of a settings file; empty if the text has no value."""
    match known.syntax:
        case Syntax.JSON:
            data = _json_read(text)
        case Syntax.TOML:
            data = _toml_read(text)
        case Syntax.YAML:
            data = _yaml_read(text)
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise _UnsureError(f"its top level is not {_MAPPINGS[known.syntax]}")
    return data


def _json_read(text: str) -> object:
    try:
        return json_edits.read(text)
    except json_edits.EditError as error:
        raise _UnsureError(str(error)) from error


def _toml_read(text: str) -> object:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _UnsureError("it cannot be read as TOML") from error


def _yaml_read(text: str) -> object:
    try:
        yaml: Any = import_module("yaml")
    except ImportError:
        raise _UnsureError("changing YAML requires PyYAML (pip install pyyaml)") from None
    try:
        # JSON makes the dates and numbers of YAML comparable
        return json.loads(json.dumps(yaml.safe_load(text), default=str))
    except (yaml.YAMLError, RecursionError, ValueError, TypeError) as error:
        raise _UnsureError("it cannot be read as YAML") from error


def _not_started(_: Launch) -> None:
    return None


def _problem(entry: object, started: Callable[[Launch], str | None]) -> str | None:
    """Return why the server of an entry cannot start, or None if no problem is known."""
    if not isinstance(entry, dict):
        return "the entry is not an object"
    if any(key in entry for key in _URLS):
        return None  # the client starts no server
    command, more = entry.get("command", entry.get("cmd")), entry.get("args", [])
    words = [*(command if isinstance(command, list) else [command]), *(more if isinstance(more, list) else [more])]
    if not words[0] or not all(isinstance(word, str) for word in words):
        return "the command or an argument in the entry is missing or not valid"
    if Path(words[0]).is_absolute() and not Path(words[0]).exists():
        return f"there is no program at {words[0]}"
    variables = next((found for key in _VARIABLES if isinstance(found := entry.get(key), dict)), {})
    launch = Launch(words, tuple((name, value) for name, value in variables.items() if isinstance(value, str)))
    return started(launch) if launch.is_this_installation else None


def _home(entry: object) -> str | None:
    """Return the value of the option `--home` in an entry, or None."""
    values = [entry.get(key) for key in ("command", "cmd", "args")] if isinstance(entry, dict) else []
    words = [word for value in values if isinstance(value, list) for word in value]
    home = words[words.index("--home") + 1] if "--home" in words[:-1] else None
    return home if isinstance(home, str) else None


_URLS = ("url", "serverUrl", "httpUrl", "uri")
"""The names that clients use for the URL of a server that is already running."""

_VARIABLES = ("env", "envs", "environment")
"""The names that clients use for the environment variables of an entry."""
