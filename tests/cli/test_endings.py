"""How a call ends: interrupted, unheard, on a terminal, in another encoding."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.program import Cli, plain_environment

SLOW = """
import pathlib, signal, threading, time

class Mapper:
    def __init__(self, seen, kills_itself=False):
        self.seen = pathlib.Path(seen)
        self.kills_itself = kills_itself

    def generate_map(self, resource_path, resource_type, resource_id):
        self.seen.touch()
        if self.kills_itself:
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        for _ in range(600):  # in short turns: a signal just before a sleep does not end it
            time.sleep(0.1)
"""


def interrupted(cli: Cli, *arguments: str, in_mapper: bool = False) -> tuple[int, str, str]:
    """What `citekit ingest` gives when Ctrl-C comes while its mapper works; `in_mapper`: the mapper's thread gets the signal."""
    mapper, seen = cli.write("m/slow.py", SLOW), cli.here / "m" / "seen"
    config = json.dumps({"seen": str(seen), "kills_itself": in_mapper})
    command = [
        sys.executable,
        "-m",
        "citekit",
        "ingest",
        *arguments,
        "--mapper",
        str(mapper),
        "--mapper-config",
        config,
    ]
    child = subprocess.Popen(
        command, cwd=cli.here, env=plain_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if not in_mapper:
        while not seen.exists() and child.poll() is None:
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=50)
    return child.returncode, out, err


@pytest.mark.parametrize("names", [["a.txt"], ["a.txt", "b.txt"]])
def test_ctrl_c_during_ingest_leaves_nothing_half_made(cli: Cli, names: list[str]) -> None:
    for name in names:
        cli.write(name, f"Some words of {name}.\n")

    code, out, err = interrupted(cli, *names, "--json")

    assert (130, "Error: Interrupted.\n") == (code, err)
    assert "InterruptError" == json.loads(out)["error"]["type"]
    assert [] == cli.json("list")["resources"]
    assert not [path for path in cli.everything() if path.endswith(".tmp")]


@pytest.mark.long
def test_ctrl_c_is_noticed_when_the_system_delivers_it_to_another_thread(cli: Cli) -> None:
    cli.write("a.txt", "Some words of the first.\n")
    cli.write("b.txt", "Some words of the second.\n")

    code, _, err = interrupted(cli, "a.txt", "b.txt", in_mapper=True)

    assert (130, "Error: Interrupted.\n") == (code, err)


@pytest.mark.long
def test_nobody_is_told_that_nobody_reads(mapped: Cli) -> None:
    nodes = [
        {"id": f"n{n}", "title": "T" * 90, "type": "p", "location": {"modality": "text", "lines": [1, 1]}}
        for n in range(5000)
    ]
    mapped.write("wide/.resource_maps/wide.json", json.dumps({"resource_id": "wide", "type": "text", "nodes": nodes}))
    child = subprocess.Popen(
        [sys.executable, "-m", "citekit", "structure", "wide", "--home", "wide"],
        cwd=mapped.here,
        env=plain_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stderr is not None

    child.stdout.readline()
    child.stdout.close()

    assert (b"", 1) == (child.stderr.read(), child.wait(30))


def on_terminal(cli: Cli, *arguments: str, **environment: str) -> str:
    """What a person sees on a terminal that is both outputs."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "citekit", *arguments],
        cwd=cli.here,
        env=plain_environment(TERM="xterm", COLUMNS="100", **environment),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    while select.select([ours], [], [], 60)[0]:
        try:
            data = os.read(ours, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
    child.wait(30)
    os.close(ours)
    return seen.decode()


@pytest.mark.long
def test_colours_are_for_terminals_that_want_them(mapped: Cli) -> None:
    coloured = on_terminal(mapped, "structure", "code_py")
    plain = on_terminal(mapped, "structure", "code_py", NO_COLOR="1")
    piped = mapped("structure", "code_py").out

    assert "\x1b[" in coloured
    assert "\x1b[" not in plain + piped
    assert plain.replace("\r\n", "\n") == piped


@pytest.mark.long
def test_a_bar_is_shown_on_a_terminal_only_and_taken_away(cli: Cli) -> None:
    cli.write("a.py")
    cli.write("b.txt", "Some words.\n")

    seen = on_terminal(cli, "ingest", "a.py", "b.txt")
    piped = cli("ingest", "a.py", "b.txt")

    assert "Mapping" in seen
    assert "a_py" in seen
    assert (0, "") == (piped.code, piped.err)


@pytest.mark.long
def test_an_output_without_unicode_gets_escapes(mapped: Cli) -> None:
    mapped.write("caf/caf\u00e9.txt", "Gr\u00fc\u00dfe\n")
    environment = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    mapped("ingest", "caf", "--home", "caf")

    tree = mapped("structure", "code_py", **environment)
    listing = mapped("list", "--json", "--home", "caf", **environment)

    assert (0, 0) == (tree.code, listing.code)
    assert "\\u251c" in tree.out
    assert "caf\u00e9_txt" == listing.document["resources"][0]["resource_id"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system that takes any bytes as a name")
def test_a_name_of_any_bytes_can_be_told(cli: Cli) -> None:
    Path(os.fsdecode(os.fsencode(cli.here) + b"/a\xff.txt")).write_text("Some words.\n")

    person, program = cli("ingest", "."), cli("ingest", ".", "--json")

    assert {person.code, program.code} <= {0, 1}
    assert "unexpected error" not in person.err
    json.loads(program.out)
