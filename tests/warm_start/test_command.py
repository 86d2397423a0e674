"""What is forked from the template does what a start of Python does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.warm_start.command import python

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="programs are forked on Linux")

PROGRAM = """
import json, os, sys
streams = [(s.seekable(), s.encoding, s.errors, s.line_buffering, s.newlines) for s in (sys.stdin, sys.stdout, sys.stderr)]
sys.stderr.write("on standard error\\u00e9\\n")
print(json.dumps([sys.argv[1:], os.getcwd(), sys.path[0], os.environ.get("WORD"), sys.stdin.read(), streams, __name__]))
sys.exit(int(os.environ["CODE"]))
"""


@pytest.fixture(params=["code", "module", "script"])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    path = tmp_path / "printing.py"
    path.write_text(PROGRAM)
    return {"code": ["-c", PROGRAM], "module": ["-m", "printing"], "script": [str(path)]}[request.param]


@pytest.mark.parametrize("into", ["pipe", "file"])
def test_a_fork_has_what_a_start_has(program: list[str], into: str, tmp_path: Path) -> None:
    def ran(command: Sequence[str]) -> list[object]:
        (tmp_path / "in").write_text("typed\n")
        environment = {**os.environ, "WORD": "w\u00f6rd", "CODE": "3", "PYTHONUTF8": "1"}
        with (tmp_path / "in").open("rb") as given, (tmp_path / "out").open("wb") as out:
            done = subprocess.run(
                [*command, "one", "--two"],
                cwd=tmp_path,
                env=environment,
                stdin=given,
                stdout=subprocess.PIPE if into == "pipe" else out,
                stderr=subprocess.PIPE,
                check=False,
            )
        return [done.returncode, json.loads(done.stdout or (tmp_path / "out").read_bytes()), done.stderr]

    assert ran([sys.executable, *program]) == ran(python(*program))


@pytest.mark.parametrize(
    ("code", "ends"),
    [
        ("import sys; sys.exit('a sentence')", (1, "a sentence\n")),
        ("import os; os.kill(os.getpid(), 9)", (-9, "")),
        ("import os; os.kill(os.getpid(), 15)", (-15, "")),
        ("import threading, time; threading.Thread(target=lambda: time.sleep(0.2) or print('late')).start()", (0, "")),
    ],
)
def test_an_end_is_passed_on(code: str, ends: tuple[int, str]) -> None:
    plain, forked = (
        subprocess.run(command, capture_output=True, text=True, check=False)
        for command in ([sys.executable, "-c", code], python("-c", code))
    )

    assert (ends, plain.stdout) == ((forked.returncode, forked.stderr), forked.stdout)


WAITING = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
print(os.getpid(), flush=True)
for _ in range(600):  # a signal just before a sleep is handled after it
    time.sleep(0.1)
"""


def test_a_signal_is_passed_on() -> None:
    with subprocess.Popen(python("-c", WAITING), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)

        assert 7 == process.wait(60)


def test_a_program_whose_relay_is_killed_is_killed() -> None:
    with subprocess.Popen(python("-c", WAITING), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        program = int(process.stdout.readline())
        process.kill()

        assert b"" == process.stdout.read()  # the program had it open, too
    deadline = time.monotonic() + 60
    while Path(f"/proc/{program}").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(f"/proc/{program}").exists()


def test_what_only_a_start_can_do_is_started() -> None:
    code = "import sys; print(sys.flags.dev_mode, 'citekit.container.container' in sys.modules)"

    done = subprocess.run(python("-X", "dev", "-c", code), capture_output=True, text=True, check=True)

    assert "True False\n" == done.stdout
