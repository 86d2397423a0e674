"""What a model's map is short of is said on standard error, in the answer, and in the map."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Cli
from tests.mappers.model_talks import nodes, write_pdf
from tests.services.gemini_server import KEY, gemini_server

MISSING = "Nodes left out because their titles are not in the file where the model located them: 2 of 4."


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return write_pdf(
        tmp_path / "birds.pdf", ["Feeding herons\nAt length and in detail.", "Nest building\nAt length, too."]
    )


def test_nodes_that_are_not_in_the_file_are_named_on_standard_error_and_in_the_answer(cli: Cli, pdf: Path) -> None:
    with gemini_server() as server:
        server.answer = nodes(
            (1, "Feeding herons", 1, 1), (1, "Steam turbines", 1, 1), (1, "Nest building", 2, 2), (1, "Tax law", 2, 2)
        )
        asked = ("ingest", str(pdf), "--mapper", "gemini", "--base-url", server.url, "--force")
        told = cli(*asked, GEMINI_API_KEY=KEY)
        plain = cli(*asked, "--json", GEMINI_API_KEY=KEY)

    (answer,) = plain.document["ingested"]
    assert f"birds.pdf: {MISSING}" in told.err
    assert MISSING in answer["notes"]
    assert 2 == answer["nodes"]
