"""Rerankers: what they say when something is wrong, and what they change in the ranking."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from citekit.adapters.mappers.llm.messages import Budget
from citekit.adapters.mappers.llm.question_reranker import ModelReranker
from citekit.adapters.search.embedders import minilm
from citekit.adapters.search.rerankers.cross_encoder import CrossEncoder
from citekit.adapters.search.rerankers.features import FeatureReranker
from citekit.adapters.search.rerankers.server import ServerReranker
from citekit.adapters.system.retry import Retries
from citekit.container import bootstrap
from citekit.domain.errors import MapperUnavailable, RequestRefused, RerankerUnavailable
from citekit.domain.ports.reranker import PageCandidate
from citekit.domain.progress import Progress, silent
from citekit.settings import settings_from
from tests.doubles.model_service import ScriptedService
from tests.services.onnx_made import write_cross_encoder
from tests.services.rerank_server import KEY, MODEL, RerankServer

PAGES = [PageCandidate("The hive eats honey.", 0.4), PageCandidate("Copper is dear.", 0.2)]
AT_ONCE = Retries(count=2, sleep=lambda seconds: None)


class Backwards:
    """A reranker that prefers the page with the word "second"."""

    name = "backwards"

    def scores(self, question: str, pages: Sequence[PageCandidate], progress: Progress = silent) -> Sequence[float]:
        return [0.99 if "second" in page.text else 0.01 for page in pages]


def test_the_reranker_decides_between_pages_that_fit_alike(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# First\n\nBees eat honey.\n\n# Second\n\nBees eat honey, says the second.\n")
    plain = bootstrap(home=tmp_path)
    plain.ingest(tmp_path / "notes.md")
    changed = bootstrap(home=tmp_path, reranker=Backwards())

    before = plain.rank_pages("bees honey").pages
    after = changed.rank_pages("bees honey").pages

    assert {page.text for page in before} == {page.text for page in after}
    assert all(0 < page.score < 1 for page in after)
    assert [page.score for page in before] != [page.score for page in after]


def test_the_features_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# First\n\nBees eat honey.\n\n# Second\n\nWasps eat meat.\n" * 60)
    kept = bootstrap(home=tmp_path)
    kept.ingest(tmp_path / "notes.md")
    without = bootstrap(home=tmp_path, reranker=Backwards())

    assert isinstance(kept.reranker, FeatureReranker)
    pages = kept.rank_pages("What do wasps eat?").pages
    assert pages
    assert [page.score for page in pages] == sorted((page.score for page in pages), reverse=True)
    assert len(pages) == len(without.rank_pages("What do wasps eat?").pages)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ([(200, {"results": []})], "did not return exactly one finite score for each text"),
        ([(200, {"data": []})], "without scores"),
        ([(200, "<html>")], "cannot be read|without scores"),
        ([(200, {"results": [{"index": 0, "relevance_score": "NaN"}, {"index": 1, "relevance_score": 1}]})], "score"),
        ([(200, {"results": [{"index": 0, "relevance_score": 10**400}]})], "without scores"),
        ([(200, {"results": [{"index": float("inf"), "relevance_score": 1}]})], "without scores"),
        ([(503, {"message": "loading"})] * 3, "try again later"),
        ([(400, {"detail": "no such field"})], "no such field"),
    ],
)
def test_a_bad_answer_is_one_sentence(script: list[tuple[int, Any]], says: str) -> None:
    with RerankServer(script) as server, pytest.raises(RerankerUnavailable, match=says) as caught:
        ServerReranker(server.url, MODEL, KEY, retries=AT_ONCE).scores("honey", PAGES)

    assert "\n" not in str(caught.value)


def test_a_busy_server_is_asked_again() -> None:
    with RerankServer([(503, {"message": "loading"})]) as server:
        found = ServerReranker(server.url, MODEL, KEY, retries=AT_ONCE).scores("hive honey", PAGES)

    assert found[0] > found[1]
    assert 2 == len(server.requests)


def test_a_wrong_key_is_named_and_not_shown() -> None:
    with RerankServer() as server, pytest.raises(RerankerUnavailable, match="CITEKIT_RERANKER_KEY") as caught:
        ServerReranker(server.url, MODEL, "secret-of-another").scores("honey", PAGES)

    assert "secret-of-another" not in str(caught.value)


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(RerankerUnavailable, match="is not reachable"):
        ServerReranker("http://127.0.0.1:9/v1", MODEL, retries=AT_ONCE).scores("honey", PAGES)


def test_an_empty_folder_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(RerankerUnavailable, match=r"has no file tokenizer\.json"):
        CrossEncoder(tmp_path).scores("honey", PAGES)


def test_a_damaged_model_and_a_sentence_encoder_are_refused(tmp_path: Path) -> None:
    shutil.copy(Path(minilm.__file__).with_name("data") / "minilm" / "tokenizer.json", tmp_path / "tokenizer.json")
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(RerankerUnavailable, match=r"model\.onnx"):
        CrossEncoder(tmp_path).scores("honey", PAGES)

    write_cross_encoder(tmp_path / "model.onnx", outputs=3)
    with pytest.raises(RerankerUnavailable, match="not a cross-encoder"):
        CrossEncoder(tmp_path).scores("honey", PAGES)


def test_a_model_grades_within_its_budget() -> None:
    service = ScriptedService(['{"grades": [{"passage": 1, "grade": 2}, {"passage": 2, "grade": 9}]}'])
    reranker = ModelReranker(service, Budget(1))

    graded, kept = reranker.scores("copper?", PAGES), reranker.scores("copper?", PAGES)

    assert [0.2, 0.9] == graded
    assert [0.4, 0.2] == kept
    assert 1 == len(service.questions)


def test_grades_that_are_none_are_ignored() -> None:
    said = '{"grades": [{"passage": 1, "grade": 99}, {"passage": "2", "grade": 5}, 7, {"passage": true, "grade": 1}]}'

    assert [1.0, 0.1] == ModelReranker(ScriptedService([said])).scores("honey?", PAGES)


@pytest.mark.parametrize("line", ["no JSON", MapperUnavailable("The service is down.")])
def test_a_model_that_does_not_grade_is_one_sentence(line: str | Exception) -> None:
    with pytest.raises(RerankerUnavailable, match=r"returned no valid grades|is down"):
        ModelReranker(ScriptedService([line])).scores("honey?", PAGES)


def test_the_advice_names_settings_and_not_options_of_other_commands() -> None:
    failed = MapperUnavailable("It did not finish: map a smaller file, or choose another model (--model).")

    with pytest.raises(RerankerUnavailable) as failure:
        ModelReranker(ScriptedService([failed])).scores("honey?", PAGES)

    assert "use another reranker (CITEKIT_RERANKER), or choose another model (CITEKIT_MODEL)" in str(failure.value)


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"CITEKIT_RERANKER": "best"}, "There is no reranker named 'best'"),
        ({"CITEKIT_RERANKER": "server:bge"}, "CITEKIT_RERANKER_URL"),
        ({"CITEKIT_RERANKER": "server"}, "There is no reranker"),
        ({"CITEKIT_RERANKER": "model", "CITEKIT_MAPPER": "local"}, "needs a mapper with a model"),
    ],
)
def test_a_wrong_setting_is_refused(tmp_path: Path, environment: dict[str, str], says: str) -> None:
    app = bootstrap(settings_from(environment, tmp_path))

    with pytest.raises(RequestRefused, match=says):
        app.rank_pages("honey")


def test_settings_choose_the_reranker(tmp_path: Path) -> None:
    server = {"CITEKIT_RERANKER": "server:bge", "CITEKIT_RERANKER_URL": "http://localhost:1/v1"}
    model = {"CITEKIT_RERANKER": "model", "OPENAI_API_KEY": "sk-test-0123456789abcdef"}

    names = [
        bootstrap(settings_from(each, tmp_path)).reranker.name
        for each in ({}, server, model, {"CITEKIT_RERANKER": f"onnx:{tmp_path}"})
    ]

    assert ["features", "bge (rerank server)", f"cross-encoder {tmp_path.name}"] == [names[0], names[1], names[3]]
    assert "(" in names[2]
