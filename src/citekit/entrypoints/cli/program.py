"""Implements the program `citekit`, with messages and exit codes for failures."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any, TextIO

import click

from citekit.entrypoints.cli.command import home_option, json_option
from citekit.entrypoints.cli.session import Session, write_json
from citekit.entrypoints.cli.terminal import echo, guarded, styled

COMMANDS: dict[str, tuple[str, str]] = {
    "ingest": ("ingest", "Map files, so that you can find and extract their parts."),
    "list": ("listing", "List the mapped resources, or the nodes of one resource."),
    "structure": ("structure", "Show a map as a tree of node IDs, locations, and titles."),
    "inspect": ("inspect", "Show one node of a map."),
    "resolve": ("resolve", "Extract one part of a resource as evidence."),
    "find": ("find", "Find words in the text of mapped files."),
    "read": ("read", "Print the text of a part of a file, without extracting it."),
    "quote": ("quote", "Check quotes, or find where they are."),
    "tag": ("tag", "Tag resources, or list the tags."),
    "ask": ("ask", "Answer a question from the mapped files, with verified quotes."),
    "view": ("view", "Show mapped files in the browser, and mark evidence in them."),
    "outline": ("context", "Print an outline of maps for a model, within a token budget."),
    "export": ("export", "Export a resource for other programs."),
    "import": ("adapt", "Turn the structure that another program produced into a map."),
    "versions": ("editions", "List the versions of a map that different mappers made, or switch to another."),
    "validate": ("check_map", "Validate a map: report all errors in it, and make safe repairs with --fix."),
    "sync": ("sync", "Keep the maps of folders up to date, once or continuously."),
    "jobs": ("jobs", "Show the result of the last ingest of several files."),
    "migrate": ("migrate", "Copy the maps of a home to a shared store."),
    "rename": ("rename", "Give a resource another ID."),
    "remove": ("remove", "Delete the map of a resource, its tags, and its text in the search indexes."),
    "cache": ("cache", "Show, check, or reduce the evidence cache, or clean up the shared store."),
    "verify": ("verify", "Check that evidence is really the part of the source that its receipt states."),
    "query": ("library.query", "Ask a question and find the passages in ingested books that answer it."),
    "library": ("library", "Manage the library: ingest books, ask questions, remove books."),
    "models": ("models", "List and download models for speech recognition."),
    "doctor": ("doctor", "Report what is missing or broken, and how to fix it."),
    "serve": ("serve", "Serve agents over MCP on standard input and output, or over HTTP."),
    "token": ("token", "Manage the tokens of the HTTP server."),
    "connect": ("connect", "Connect MCP clients, such as Claude Desktop or Cursor, to CiteKit."),
    "skill": ("skill", "Print a short skill for agents that have a shell."),
    "demo": ("demo", "Map sample files and extract one part of each."),
}
"""For each command: its module and a one-line description."""

SECTIONS = {
    "Map files": ("ingest", "jobs", "sync", "import", "list", "structure", "inspect", "outline"),
    "Find and read": ("find", "read", "query", "ask"),
    "Evidence": ("resolve", "quote", "verify", "view", "export"),
    "Organize": ("tag", "rename", "remove", "migrate", "versions", "validate", "library", "cache", "models"),
    "Agents": ("connect", "serve", "token", "skill"),
    "Help": ("doctor", "demo"),
}
"""The sections of the help text, with the commands in each."""

ALIASES = {"adapt": "import", "verify-quote": "quote"}
"""Other permanent names of commands."""

RENAMED = {"check-map": "validate", "editions": "versions", "context": "outline", "search": "find --titles"}
"""Former names of commands, which still work, with the new ones."""

FORMER_COMMANDS = {"search": "search"}
"""The modules of former commands with unchanged JSON output, by name."""


class InterruptError(Exception):
    """Raised when the user presses Ctrl-C."""


class Program(click.Group):
    """The root command group, which imports the module of a command on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands, without aliases and former names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return the command with the name, alias, or former name `cmd_name`, or return None."""
        name = ALIASES.get(cmd_name) or RENAMED.get(cmd_name, cmd_name)
        module_name = FORMER_COMMANDS.get(cmd_name) or COMMANDS.get(name, ("",))[0]
        if not module_name:
            return None
        module = importlib.import_module(f"citekit.entrypoints.cli.{module_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See `click.Group.resolve_command`. For the former name of a command, print a note with the new one."""
        if args and args[0] in RENAMED and not ctx.resilient_parsing:
            echo([f"Note: '{args[0]}' is now called '{RENAMED[args[0]]}'."], sys.stderr)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without importing their modules."""
        widest = max(map(len, COMMANDS))
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), COMMANDS[name][1]) for name in names])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Raise `InterruptError` if the user presses Ctrl-C."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise InterruptError(*getattr(error, "__notes__", ())) from None
        except (click.ClickException, click.exceptions.Exit):
            raise
        except Exception as error:
            _add_hint(ctx, error)
            raise


def _add_hint(context: click.Context, error: Exception) -> None:
    from citekit.domain.errors import BookMissing, CiteKitError, NodeMissing, ResourceMissing
    from citekit.entrypoints.cli.errors import in_same_home

    session = context.ensure_object(Session)
    if isinstance(error, ResourceMissing):
        with suppress(Exception):  # the original error matters more
            error.add_note(session.hint_about(error))
    elif isinstance(error, NodeMissing) and error.resource_id and not error.nearest:
        from shlex import quote

        error.add_note(f"To list the nodes, run: citekit list {quote(error.resource_id)}{session.home_words()}")
    elif isinstance(error, BookMissing):
        error.add_note(f"To find the IDs of books, run: citekit library search{session.home_words()}")
    elif isinstance(error, CiteKitError):
        home = session.home_words()
        if len(error.args) == 1 and isinstance(error.args[0], str):
            error.args = (in_same_home(error.args[0], home),)
        if hasattr(error, "__notes__"):
            error.__notes__ = [in_same_home(note, home) for note in error.__notes__]


def _print_version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from importlib.metadata import version

        from citekit.domain.distribution import DISTRIBUTION

        click.echo(f"citekit {version(DISTRIBUTION)}")
        context.exit()


@click.pass_context
def _start(context: click.Context) -> None:
    context.ensure_object(Session)
    if os.environ.get("NO_COLOR"):  # https://no-color.org
        context.color = False


PROGRAM = Program(
    name="citekit",
    help="Map any file once, and extract exactly the part that supports a claim.",
    callback=_start,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    params=[
        home_option(),
        json_option(),
        click.Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_print_version,
            help="Print the version and exit.",
        ),
    ],
    epilog="Exit codes: 0 success, 1 failure, 2 invalid request, 3 only a receipt was checked, 130 interrupted.",
)


def run(arguments: Sequence[str]) -> int:
    """Run the command line with `arguments`, report errors, and return the exit code."""
    _hold_streams()
    if "_CITEKIT_COMPLETE" in os.environ:  # shell completion: click writes bytes to the shell itself
        return _run(arguments)
    with guarded():
        return _run(arguments)


def _hold_streams() -> None:
    """Open the file descriptors 0 to 2 on the null device if they are closed.

    Otherwise, another file could get one of these numbers, and the output would be written to it.
    """
    lowest = os.open(os.devnull, os.O_RDWR)
    while lowest <= 2:
        lowest = os.open(os.devnull, os.O_RDWR)
    os.close(lowest)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - open until the process ends


def _run(arguments: Sequence[str]) -> int:
    closed = sys.stdout is None
    if (
        closed
    ):  # by the shell (`>&-`): run the command anyway, and report through the exit code that its answer was lost
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - open until the process ends
    out = sys.stdout
    _accept_any_text()
    try:
        result = PROGRAM.main(list(arguments), prog_name="citekit", standalone_mode=False)
        out.flush()
    except BrokenPipeError:
        return _quietly()
    except click.exceptions.NoArgsIsHelpError as error:
        echo(error.format_message().splitlines(), sys.stderr)
        return error.exit_code
    except Exception as error:
        with suppress(BrokenPipeError):
            return _told(error, out if "--json" in takewhile(lambda word: word != "--", arguments) else None)
        return _quietly()
    if closed:
        echo(["Error: Standard output is closed, so the answer was lost."], sys.stderr)
        return 1
    return result if isinstance(result, int) else 0


def _told(error: Exception, document: TextIO | None) -> int:
    """Report an error on standard error and, if `document` is not None, as JSON in `document`. Return the exit code."""
    from citekit.domain.errors import Cancelled, CiteKitError, FaultyAnswer, MapperUnavailable
    from citekit.entrypoints.cli.errors import INTERRUPTION, CommandError, plain_error
    from citekit.entrypoints.failures import FAILED, INTERRUPTED, USAGE, exit_code, sentence

    match error:
        case InterruptError() | click.Abort() | Cancelled():
            notes = error.args if isinstance(error, InterruptError) else getattr(error, "__notes__", ())
            code, message = INTERRUPTED, " ".join([INTERRUPTION, *map(str, notes)])
        case click.UsageError():
            code, message = USAGE, f"{_with_end(error.format_message())} {_hint(error)}"
        case click.ClickException():
            code, message = FAILED, error.format_message()
        case CommandError():
            code, message = error.code, str(error)
        case _:
            code = exit_code(error) if isinstance(error, CiteKitError) else FAILED
            message = sentence(error)
            hinted = isinstance(error, (LookupError, FaultyAnswer, MapperUnavailable))
            if hinted and (notes := getattr(error, "__notes__", ())):
                message = f"{message.rstrip('.?')}{'?' if message.endswith('?') else '.'} {' '.join(notes)}"
    if document is not None:
        plain = error.plain if isinstance(error, CommandError) else {}
        write_json({**plain, "error": plain_error(error, message)}, document)
    if sys.flags.dev_mode:
        import traceback

        traceback.print_exception(error)
    echo([f"{styled('Error:', fg='red')} {message}"], sys.stderr)
    return code


def _with_end(message: str) -> str:
    text = " ".join(message.split()).rstrip(".")
    return text if text.endswith("?") else f"{text}."


def _hint(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx is not None else "citekit"
    dash = isinstance(error, click.NoSuchOption) and (error.option_name[:2] != "--" or " " in error.option_name)
    return f"See '{path} --help'." + (" Put -- before an argument that begins with a dash." if dash else "")


def _accept_any_text() -> None:
    """Set the output streams to escape characters that they cannot represent."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _quietly() -> int:
    """Discard further output after the reader of standard output has closed it, and return 1.

    Without this, Python reports an error at exit.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
