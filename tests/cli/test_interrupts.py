"""Ctrl-C while a model is asked: nothing stays at the service, or what does is named."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import Cli, plain_environment
from tests.representatives import representatives
from tests.services.gemini_server import KEY, Answer, GeminiServer, gemini_server

pytestmark = pytest.mark.long

BOOK = next((Path(__file__).parents[2] / "src" / "citekit" / "samples").rglob("*.pdf"))


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with gemini_server() as running:
        running.on("generate", Answer(waits=True))
        yield running


def pressed(cli: Cli, server: GeminiServer, times: int) -> tuple[int, str]:
    """The exit code and standard error of an ingest that is interrupted so often while the model thinks."""
    child = subprocess.Popen(
        [sys.executable, "-m", "citekit", "ingest", str(BOOK), "--mapper", "gemini", "--base-url", server.url],
        cwd=cli.here,
        env={**plain_environment(), "GEMINI_API_KEY": KEY},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not server.of("generate") and child.poll() is None:
        time.sleep(0.02)
    for _ in range(times):
        child.send_signal(signal.SIGINT)
        time.sleep(0.3)
    _, err = child.communicate(timeout=100)
    return child.returncode, err


@pytest.mark.parametrize("times", representatives([3, 1], 1))
def test_ctrl_c_leaves_nothing_at_the_service_however_often_it_comes(
    cli: Cli, server: GeminiServer, times: int
) -> None:
    server.on("delete", Answer(200, {}, pace=1.5, after=True))

    code, err = pressed(cli, server, times)

    assert (130, {}) == (code, server.files)
    assert "Interrupted" in err
    assert "may still store" not in err
    assert not list(cli.here.rglob("leftovers/*.json"))


def test_who_does_not_want_to_wait_for_the_deletion_reads_what_is_left(cli: Cli, server: GeminiServer) -> None:
    server.on("delete", *(Answer(waits=True),) * 4)

    code, err = pressed(cli, server, 6)

    (name,) = server.files
    assert 130 == code
    assert f"The model service may still store these files: {name}" in err
    assert name in "".join(path.read_text() for path in cli.here.rglob("leftovers/*.json"))
