"""No key, no password: whatever fails, and whoever repeats them, they stand in nothing that is shown, logged or stored."""

# mypy: disable-error-code="no-untyped-call,attr-defined"

from __future__ import annotations

import contextlib
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pymupdf
import pytest

from citekit.container import bootstrap
from citekit.settings import settings_from
from tests.cli.every_command import PROSE, called
from tests.cli.program import plain_environment

pytestmark = pytest.mark.long

CANARY = "cAnArY-7f3e"
SECRETS = {
    "GEMINI_API_KEY": f"AIza-{CANARY}-gemini",
    "OPENAI_API_KEY": f"sk-{CANARY}-openai",
    "QDRANT_API_KEY": f"qd-{CANARY}-qdrant",
    "CITEKIT_PASSWORD": f"{CANARY}-password",
}


class Echo(BaseHTTPRequestHandler):
    """Answers every request with its own head and body, as the message of an error."""

    def answer(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        said = f"Incorrect key: {dict(self.headers)} {self.path} {self.rfile.read(size)[:2000]!r}"
        status = self.server.status
        body = json.dumps(
            {"error": {"message": said, "status": "X", "code": status}, "status": {"error": said}}
        ).encode()
        with contextlib.suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("X-Repeated", str(self.headers.get("Authorization")))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = answer  # noqa: N815 - names of http.server

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.status = 401
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "bees.txt").write_text(PROSE, "utf-8")
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), PROSE[:80])
        document.save(tmp_path / "locked.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="x", user_pw="another")
    return tmp_path


CALLS: tuple[tuple[tuple[str, ...], dict[str, str]], ...] = (
    (("ingest", "bees.txt", "--mapper", "openai", "--retries", "0", "--force"), {}),
    (("ingest", "bees.txt", "--mapper", "gemini", "--retries", "0", "--force"), {}),
    (("ingest", "locked.pdf"), {}),
    (("ingest", "locked.pdf", "--password", f"{CANARY}-flag"), {}),
    (("library", "ingest-file", "bees.txt", "--title", "B", "--author", "A"), {"CITEKIT_EMBEDDER": "openai"}),
    (("library", "ingest-file", "bees.txt", "--title", "B", "--author", "A"), {"CITEKIT_EMBEDDER": "gemini"}),
    (("query", "bees"), {"QDRANT_URL": "yes"}),
    (("library", "stats"), {"QDRANT_URL": "yes"}),
    (("library", "ingest-file", "bees.txt", "--title", "B", "--author", "A"), {"QDRANT_URL": "yes"}),
    (("doctor",), {"QDRANT_URL": "yes"}),
)


@pytest.mark.parametrize("status", [401])
def test_no_secret_is_shown_logged_or_stored(
    home: Path,
    server: ThreadingHTTPServer,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.status = status
    address = f"user:{CANARY}-url@127.0.0.1:{server.server_port}"
    for name, value in {**SECRETS, "CITEKIT_BASE_URL": f"http://{address}/v1", "CITEKIT_RETRIES": "0"}.items():
        monkeypatch.setenv(name, value)
    caplog.set_level(logging.DEBUG)
    said = ""
    for words, more in CALLS:
        with monkeypatch.context() as patch:
            for name, value in {"QDRANT_URL": "", **more}.items():
                patch.setenv(name, f"http://{address}" if value == "yes" else value)
            for form in ((), ("--json",)):
                patch.setattr("tests.cli.every_command.EMBEDDER", more.get("CITEKIT_EMBEDDER", "hashing"))
                said += "".join(map(str, called(home, (*words, *form), patch)))

    stored = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    names = " ".join(str(path) for path in home.rglob("*"))
    logged = "\n".join(
        logging.Formatter().format(record) for record in caplog.records if record.name.startswith("citekit")
    )
    assert [] == [line for line in (said + logged + names).splitlines() if CANARY in line]
    assert CANARY.encode() not in stored


def test_a_traceback_shows_no_secret(home: Path, server: ThreadingHTTPServer) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-m", "citekit", "ingest", "bees.txt", "--mapper", "openai", "--retries", "0"],
        cwd=home,
        env=plain_environment(**SECRETS, CITEKIT_BASE_URL=f"http://u:{CANARY}-url@127.0.0.1:{server.server_port}/v1"),
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert "Traceback" in done.stderr
    assert CANARY not in done.stderr + done.stdout


def test_the_repr_of_what_is_built_shows_no_secret(home: Path) -> None:
    url = f"http://u:{CANARY}@127.0.0.1:1/v1"
    app = bootstrap(settings_from({**SECRETS, "CITEKIT_BASE_URL": url, "QDRANT_URL": url}, home))

    shown = [
        repr(app),
        repr(app.settings),
        repr(app.alexandria),
        *(repr(app.mapper_called(name, None)) for name in ("openai", "gemini", "local")),
    ]

    assert [] == [text for text in shown if CANARY in text]


def test_a_password_can_come_from_standard_input(home: Path) -> None:
    words = [sys.executable, "-m", "citekit", "ingest", "locked.pdf", "--password", "-"]

    done = [
        subprocess.run(
            words, cwd=home, env=plain_environment(), input=text, capture_output=True, text=True, timeout=120
        )
        for text in ("another\n", "")
    ]

    assert [0, 2] == [each.returncode for each in done], [each.stderr for each in done]
    assert "There is no password on standard input" in done[1].stderr
