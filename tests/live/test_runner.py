"""`make live` without keys, and what it says before it spends anything."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from attrs import evolve

from tests.live.__main__ import SMOKES

ROOT = Path(__file__).parents[2]


def test_without_a_key_nothing_is_asked_and_one_sentence_says_so() -> None:
    keys = {smoke.variable for smoke in SMOKES}
    environment = {name: value for name, value in os.environ.items() if name not in keys}

    done = subprocess.run(
        [sys.executable, "-m", "tests.live"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert (
        "Neither GEMINI_API_KEY nor OPENAI_API_KEY is set, so no service was asked and nothing was spent.\n"
        == done.stdout
    )


def test_what_it_costs_is_said_with_the_tokens_and_the_prices() -> None:
    for smoke in SMOKES:
        text = smoke.announcement()
        assert re.search(r"[\d,]+ tokens in and [\d,]+ out", text)
        assert 0 < smoke.dollars < 0.1
        assert smoke.prices in text


def test_every_smoke_test_is_there_and_needs_its_key() -> None:
    for smoke in SMOKES:
        text = (Path(__file__).parent / smoke.file).read_text("utf-8")
        assert f"{smoke.variable} is not set" in text


def test_the_price_of_another_model_is_not_made_up() -> None:
    for smoke in SMOKES:
        text = evolve(smoke, model="another-model").announcement()
        assert "the price of this model is not known" in text
        assert "dollars" not in text


def test_the_live_tests_send_no_more_requests_than_announced() -> None:
    for smoke in SMOKES:
        assert "one request" in smoke.announcement()
        text = (Path(__file__).parent / smoke.file).read_text("utf-8")
        assert re.search(r"max_requests=1\b|SECONDS = 6\b", text)
