"""Writes `docs/reference/cli.md` from the help texts of the commands; a test fails if the page is out of date."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from citekit.entrypoints.cli.program import PROGRAM

PAGE = Path(__file__).parent / "reference" / "cli.md"

INTRODUCTION = """\
# The command line

`citekit`, `python -m citekit` and `python -m citekit.cli` are the same program. This page is generated from its help texts
by `docs/generate_cli.py` (`make docs`).

## Common to all commands

- **Answers** go to standard output; notes, errors, and progress go to standard error. The progress bar appears only if
  standard error is a terminal, colors only if the output is a terminal, and neither if `NO_COLOR` is set.
- **`--json`** prints one JSON document on standard output and nothing else. If the exit code is not 0, the document has an
  `error` object with a `type`, a `message`, and in some cases `nearest` names or `faults` (`path: reason` lines).
- **`--home DIR`**, before or after the name of the command, is the folder that contains `.resource_maps/` (the maps),
  `.citekit_output/` (evidence with readable names), and `.citekit_cache/` (files that can be rebuilt). `--home @personal` is
  your personal home. Without `--home` and `CITEKIT_HOME`, a command uses the current folder if it is a home, or else the
  personal home if it exists ([Choose a home](../how-to/choose-a-home.md)).
- **Exit codes**: 0 success; 1 failure; 2 invalid request; 3 (`verify` only) the receipt is consistent, but no file was
  checked; 130 interrupted with Ctrl-C, which leaves nothing half-written.
- **Parts** are named as `RESOURCE NODE`, or by an address such as `doc://book#pages=12-15`. The older form `RESOURCE.NODE`
  in one word works if only one such node exists, and so does `NODE --resource RESOURCE`.
- **Untrusted text**: in titles, names, and errors, control characters and invisible characters (direction overrides,
  zero-width characters, tags) are printed as escapes (`\\x1b`, `\\u202e`), so that no file can control your
  terminal or hide what it says. The same applies if the output is a file or a pipe;
  `--json` uses JSON's own escapes, which lose nothing.
- **Keys and passwords** of the process are printed as `(secret)`, wherever they occur.
- `citekit` imports nothing from the current folder. With `python -m`, Python itself does so before CiteKit starts: if the
  current folder contains untrusted files, run `citekit`, or `python -P -m citekit`.

## Environment

The environment variables are described in [Settings](settings.md).
"""

COMPLETION = """\
## Shell completion

Add one line to the startup file of your shell:

| shell | file | line |
|---|---|---|
| bash (4.4 or later) | `~/.bashrc` | `eval "$(_CITEKIT_COMPLETE=bash_source citekit)"` |
| zsh | `~/.zshrc` | `eval "$(_CITEKIT_COMPLETE=zsh_source citekit)"` |
| fish | `~/.config/fish/completions/citekit.fish` | `_CITEKIT_COMPLETE=fish_source citekit \\| source` |
"""


def page() -> str:
    """The text of the page."""
    parts = [INTRODUCTION, COMPLETION, "## Commands\n"]
    context = click.Context(PROGRAM, info_name="citekit", terminal_width=100, **PROGRAM.context_settings)
    parts += [_block("citekit", PROGRAM, context), *_blocks(PROGRAM, context)]
    return "\n".join(parts)


def _blocks(group: click.Group, context: click.Context) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        below = click.Context(command, parent=context, info_name=name, terminal_width=100)
        yield _block(below.command_path, command, below)
        if isinstance(command, click.Group):
            yield from _blocks(command, below)


def _block(path: str, command: click.Command, context: click.Context) -> str:
    text = re.sub(r"[ \t]+$", "", command.get_help(context), flags=re.MULTILINE)
    return f"### `{path}`\n\n```text\n{text}\n```\n"


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
