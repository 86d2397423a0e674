"""Implements the command `citekit connect`."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from attrs import evolve, frozen

from citekit.domain.errors import CiteKitError, RequestRefused
from citekit.domain.mcp_clients import SERVER, ClientChange, ClientState, ServerEntry
from citekit.domain.ports.mcp_clients import McpClients
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.errors import CommandError
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.skill import SkillResult, SkillState, change_skill, has_skill
from citekit.entrypoints.cli.terminal import styled
from citekit.entrypoints.failures import sentence

_SAID = {
    ClientState.ADDED: ("connected", "green"),
    ClientState.CHANGED: ("updated", "green"),
    ClientState.UNCHANGED: ("already connected", None),
    ClientState.REMOVED: ("disconnected", "green"),
    ClientState.ABSENT: ("not connected", None),
}


@frozen
class _Result:
    client: str
    change: ClientChange | None = None
    backup: Path | None = None
    error: str | None = None
    skill: SkillResult | None = None

    def plain(self) -> dict[str, object]:
        if self.change is None:
            return {"client": self.client, "error": self.error}
        backup = None if self.backup is None else str(self.backup)
        return {
            "client": self.client,
            "state": self.change.state.value,
            "path": str(self.change.path),
            "backup": backup,
            **({} if self.error is None else {"error": self.error}),
            **(
                {} if self.skill is None else {"skill": {"path": str(self.skill.path), "state": self.skill.state.value}}
            ),
        }


@click.command("connect", cls=Command)
@click.argument("clients", nargs=-1, metavar="[CLIENT]...")
@click.option("--project", is_flag=True, help="Change the settings of the current folder, not those of the user.")
@click.option(
    "--remove",
    is_flag=True,
    help="Remove the entry, and the skill unless you changed it or another version of CiteKit installed it.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option(
    "--skill", is_flag=True, help="Also install the skill of CiteKit (citekit skill), if the client supports skills."
)
@click.option(
    "--print",
    "printed",
    is_flag=True,
    help="Only print the entry (default: that of claude-desktop) and, for clients that support it, a link that adds it.",
)
@pass_session
def command(
    session: Session,
    clients: tuple[str, ...],
    project: bool,
    remove: bool,
    dry_run: bool,
    skill: bool,
    printed: bool,
) -> None:
    """Connect MCP clients, such as Claude Desktop or Cursor, to CiteKit.

    Adds the server `citekit` to the settings of each CLIENT (default: all that are installed): claude-desktop,
    claude-code, cursor, vscode, cline, windsurf, zed, gemini-cli, codex, goose, lm-studio, opencode, copilot-cli. The
    entry starts this installation for the home that this command uses. Everything else in the settings stays as it is,
    including comments. A copy of the earlier file is kept in the same folder, with .citekit-backup added to its name. A
    file that cannot be changed safely is not changed. --remove also removes the skill, unless you changed it or another
    version of CiteKit installed it. Restart the client afterward.
    """
    known = session.app.mcp_clients
    entry = _entry(session)
    folder = Path.cwd() if project else None
    names = list(dict.fromkeys(clients)) or ([] if printed else list(known.installed()))
    if printed:
        _print(session, known, names or ["claude-desktop"], entry, folder)
        return
    if not names:
        raise CommandError(
            "NothingFound",
            f"No client was found on this computer. Name one: {', '.join(known.names)}.",
            {"clients": []},
        )
    results = [_done(known, name, entry, folder, remove=remove, dry_run=dry_run) for name in names]
    if skill or remove:
        results = [_with_skill(known, each, folder, remove=remove, dry_run=dry_run) for each in results]
    plain = {"home": str(session.app.settings.home), "dry_run": dry_run, "clients": [each.plain() for each in results]}
    failed = [each for each in results if each.error is not None]
    lines = [line for each in results for line in _lines(known, each, dry_run=dry_run)]
    if not failed:
        session.answer(plain, lines)
        if not skill and not remove:
            _offer_skill(session, known, names, folder)
        return
    session.say(lines)
    raise CommandError("NotConnected", str(failed[0].error), plain)


def _entry(session: Session) -> ServerEntry:
    settings = session.app.settings
    arguments = ("-m", "citekit", "serve", "--home", str(settings.home.absolute()))
    environment = {"CITEKIT_ROOTS": os.pathsep.join(map(str, settings.roots))} if settings.roots else {}
    return ServerEntry(name=SERVER, command=sys.executable, arguments=arguments, environment=environment)


def _done(
    known: McpClients, name: str, entry: ServerEntry, project: Path | None, *, remove: bool, dry_run: bool
) -> _Result:
    change = None
    try:
        change = known.removing(name, entry.name, project) if remove else known.connecting(name, entry, project)
        backup = known.apply(change) if change.writes and not dry_run else None
    except CiteKitError as error:
        return _Result(name, change, error=sentence(error))
    return _Result(name, change, backup)


def _with_skill(known: McpClients, result: _Result, project: Path | None, *, remove: bool, dry_run: bool) -> _Result:
    if result.error is not None:
        return result
    try:
        folder = known.skills_folder(result.client, project)
        if folder is None:
            return result
        return evolve(result, skill=change_skill(folder, remove=remove, dry_run=dry_run))
    except CiteKitError as error:
        return evolve(result, error=sentence(error))


def _offer_skill(session: Session, known: McpClients, names: Sequence[str], project: Path | None) -> None:
    folders = ((name, known.skills_folder(name, project)) for name in names)
    lacking = [known.title(name) for name, folder in folders if folder is not None and not has_skill(folder)]
    if lacking:
        session.note(f"Clients without the CiteKit skill: {', '.join(lacking)}. To install it, add --skill.")


def _lines(known: McpClients, result: _Result, *, dry_run: bool) -> Iterator[str]:
    change = result.change
    if change is None or result.error is not None:
        yield f"{printable(result.client)}: {styled('failed', fg='red')}: {printable(result.error or '')}"
        return
    said, color = _SAID[change.state]
    would = _NOT_WRITTEN if dry_run and change.writes else ""
    yield f"{known.title(result.client)}: {styled(said, fg=color) if color else said}{would}  {printable(str(change.path))}"
    if dry_run and change.writes:
        yield from _difference(change)
    if result.skill is not None and result.skill.state is not SkillState.ABSENT:
        writes = result.skill.state in (SkillState.ADDED, SkillState.REMOVED)
        would = _NOT_WRITTEN if dry_run and writes else ""
        kept = "skill not removed" if change.state in _REMOVING else "skill not replaced"
        said = _SKILL_SAID.get(result.skill.state, f"{kept}, because {_DIFFERENT}")
        yield f"  {said}{would}  {printable(str(result.skill.path))}"


_NOT_WRITTEN = " (dry run, nothing written)"
_SKILL_SAID = {
    SkillState.ADDED: "skill installed",
    SkillState.UNCHANGED: "skill already installed",
    SkillState.REMOVED: "skill removed",
}
_REMOVING = (ClientState.REMOVED, ClientState.ABSENT)
_DIFFERENT = "the file is a link, or you changed it, or another version of CiteKit installed it (delete it by hand)"


def _difference(change: ClientChange) -> Iterator[str]:
    before, after = ((data or b"").decode("utf-8", "replace").splitlines() for data in (change.before, change.after))
    for line in list(difflib.unified_diff(before, after, lineterm="", n=2))[2:]:
        yield f"  {printable(line)}"


def _print(session: Session, known: McpClients, names: Sequence[str], entry: ServerEntry, folder: Path | None) -> None:
    found = [
        {
            "client": name,
            "path": _place(known, name, folder),
            "entry": known.snippet(name, entry, folder),
            "link": known.link(name, entry),
        }
        for name in names
    ]
    lines = []
    for each in found:
        path = each["path"] or "its settings file"
        lines += [f"# {known.title(str(each['client']))}: {path}", *str(each["entry"]).splitlines()]
        lines += [f"# or open: {each['link']}"] if each["link"] else []
    session.answer({"clients": found}, map(printable, lines))


def _place(known: McpClients, name: str, folder: Path | None) -> str | None:
    """Return the path of the settings file, or None if the client has several."""
    try:
        return str(known.place(name, folder))
    except RequestRefused:
        if folder is not None:
            raise
        return None
