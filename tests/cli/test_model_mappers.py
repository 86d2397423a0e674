"""`citekit ingest` with a model, from a shell, against local servers that behave as the services document."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pymupdf
import pytest

from citekit.container import bootstrap
from tests.cli.program import Cli
from tests.mappers.model_talks import answer_of
from tests.services.gemini_server import KEY as GEMINI_KEY
from tests.services.gemini_server import Answer, GeminiServer
from tests.services.openai_server import KEY as OPENAI_KEY
from tests.services.openai_server import OpenAiServer, Step
from tests.warm_start.command import python

PAGES = 16
"""Pages of the manual that are mapped: enough for more than one level of its outline."""


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first pages of a real manual."""
    path = tmp_path_factory.mktemp("manual") / "r-intro.pdf"
    with pymupdf.open(str(files("citekit") / "samples" / "r-intro.pdf")) as document:
        document.select(range(PAGES))
        document.save(path, garbage=3, deflate=True)
    return path


@pytest.fixture(scope="module")
def good_answer(manual: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a perfect model would say of the manual."""
    app = bootstrap(home=tmp_path_factory.mktemp("home"))
    source = app.sources.identify(manual)
    return answer_of(app.mapper_called("local").map(source, "x"), source)


@pytest.fixture
def gemini(good_answer: str) -> Iterator[GeminiServer]:
    server = GeminiServer()
    server.answer = good_answer
    yield server
    server.close()


def with_gemini(server: GeminiServer) -> dict[str, str]:
    return {"GEMINI_API_KEY": GEMINI_KEY, "CITEKIT_BASE_URL": server.url, "CITEKIT_RETRIES": "0"}


@pytest.mark.long
def test_gemini_maps_a_manual_and_leaves_nothing_behind(cli: Cli, manual: Path, gemini: GeminiServer) -> None:
    answer = cli("ingest", str(manual), **with_gemini(gemini))

    made = json.loads((cli.here / ".resource_maps" / "r-intro.json").read_text())
    assert 0 == answer.code, answer.err
    assert "Mapper: gemini (GEMINI_API_KEY is set)." in answer.err
    assert "1 request," in answer.out
    assert "input tokens" in answer.out
    assert ("gemini", 1) == (made["metadata"]["mapper"]["name"], made["metadata"]["usage"]["requests"])
    assert 10 < len(json.dumps(made["nodes"]).split('"id"'))
    assert {} == gemini.files
    assert GEMINI_KEY not in json.dumps(made) + answer.out + answer.err


@pytest.mark.long
def test_the_same_bytes_are_never_sent_twice(cli: Cli, manual: Path, gemini: GeminiServer) -> None:
    cli("ingest", str(manual), **with_gemini(gemini))
    sent = len(gemini.requests)

    again = cli("ingest", str(manual), **with_gemini(gemini))
    cli("ingest", str(manual), "--mapper", "local", **with_gemini(gemini))
    back = cli("ingest", str(manual), **with_gemini(gemini))

    assert (0, 0) == (again.code, back.code)
    assert "already mapped" in again.out
    assert "already mapped" in back.out
    assert sent == len(gemini.requests)


@pytest.mark.long
def test_openai_maps_a_manual(cli: Cli, manual: Path, good_answer: str) -> None:
    with OpenAiServer(answer=lambda body: good_answer) as server:
        answer = cli(
            "ingest", str(manual), "--mapper", "openai", "--base-url", server.url, "--json", OPENAI_API_KEY=OPENAI_KEY
        )

    made = answer.document["ingested"][0]
    assert 0 == answer.code, answer.err
    assert ("openai", True) == (made["mapper"]["name"], "@127.0.0.1:" in made["mapper"]["model"])
    assert made["usage"]["requests"] >= 1
    assert OPENAI_KEY not in answer.out


@pytest.mark.parametrize(
    ("mapper", "named"), [("gemini", "GEMINI_API_KEY"), ("gemini", "GOOGLE_API_KEY"), ("openai", "OPENAI_API_KEY")]
)
def test_without_a_key_the_variables_and_the_way_out_are_named(cli: Cli, manual: Path, mapper: str, named: str) -> None:
    answer = cli("ingest", str(manual), "--mapper", mapper)

    assert 1 == answer.code
    assert named in answer.err
    assert "--mapper local" in answer.err
    assert not (cli.here / ".resource_maps").exists()


def test_a_failed_ingest_leaves_nothing_but_its_error(cli: Cli, manual: Path, gemini: GeminiServer) -> None:
    gemini.on("generate", Answer(status=503), Answer(status=503))

    answer = cli("ingest", str(manual), **with_gemini(gemini))

    assert 1 == answer.code
    assert "503" in answer.err
    assert {} == gemini.files
    assert not list((cli.here / ".resource_maps").glob("*.json"))


@pytest.mark.long
def test_a_budget_ends_the_requests(cli: Cli) -> None:
    cli.write("code.py")
    with OpenAiServer(script=[Step(status=503)] * 9) as server:
        answer = cli(
            "ingest", "code.py", "--mapper", "openai", "--base-url", server.url,
            "--max-requests", "1", "--retries", "5", OPENAI_API_KEY=OPENAI_KEY,
        )  # fmt: skip

    assert 1 == answer.code
    assert 1 == len(server.requests)
    assert "--max-requests" in answer.err


@pytest.mark.long
def test_doctor_says_who_would_map_and_why(cli: Cli) -> None:
    answer = cli("doctor", GEMINI_API_KEY="x")

    assert "gemini" in answer.out
    assert "GEMINI_API_KEY is set" in answer.out


@pytest.mark.long
def test_two_at_once_send_once(cli: Cli, manual: Path, gemini: GeminiServer) -> None:
    started = [
        subprocess.Popen(
            python("-m", "citekit", "ingest", str(manual)),
            cwd=cli.here,
            env={**os.environ, **with_gemini(gemini)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]

    outputs = [process.communicate(timeout=120) for process in started]

    assert [0, 0] == [process.returncode for process in started], outputs
    assert 1 == len(gemini.of("generate"))


@pytest.mark.long
def test_a_program_of_0_2_with_a_gemini_mapper_runs_unchanged(cli: Cli, manual: Path, gemini: GeminiServer) -> None:
    program = (
        "import asyncio\n"
        "from citekit import CiteKitClient, GeminiMapper\n"
        f"client = CiteKitClient(mapper=GeminiMapper(api_key={GEMINI_KEY!r}), base_dir='.')\n"
        f"made = asyncio.run(client.ingest({str(manual)!r}, 'document'))\n"
        "assert made.metadata['mapper']['name'] == 'gemini', made.metadata\n"
        "assert client.resolve(made.resource_id, made.nodes[0].id).output_path\n"
    )
    environment = {**os.environ, "CITEKIT_BASE_URL": gemini.url}

    done = subprocess.run(python("-c", program), cwd=cli.here, env=environment, capture_output=True, text=True)

    assert 0 == done.returncode, done.stderr
    assert 1 == len(gemini.of("generate"))
