"""What every Reranker promises."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from citekit.adapters.mappers.llm.openai.service import OpenAiService
from citekit.adapters.mappers.llm.question_reranker import ModelReranker
from citekit.adapters.search.embedders import minilm
from citekit.adapters.search.rerankers.cross_encoder import CrossEncoder
from citekit.adapters.search.rerankers.features import FeatureReranker
from citekit.adapters.search.rerankers.server import ServerReranker
from citekit.domain.ports.reranker import PageCandidate, Reranker
from tests.services.onnx_made import write_cross_encoder
from tests.services.openai_server import KEY as MODEL_KEY
from tests.services.openai_server import OpenAiServer
from tests.services.rerank_server import KEY, MODEL, RerankServer

KINDS = ("features", "cross-encoder", "server", "server with logits", "model")
QUESTION = "What does the queen of the hive eat in winter?"
FITTING = PageCandidate("In winter, the queen of the hive eats royal jelly. " + "It is cold outside. " * 3, 0.6)
OTHER = PageCandidate("The price of copper rose by four cents on Friday.", 0.2)
STRANGE = ["", "  \n\t", "🙂 🙃", "before\x00after", "half a pair: \ud83d", "日本語の文章", "word " * 5000]


def graded(body: dict[str, Any]) -> str:
    """What a good model answers: the grade of a passage is the share of the question's words in it."""
    said = "\n".join(
        part if isinstance(part, str) else "\n".join(each.get("text", "") for each in part)
        for part in (message["content"] for message in body["messages"])
    )
    wanted = set(re.findall(r"\w+", said.rpartition("Question:")[2].lower()))
    grades = [
        {
            "passage": int(number),
            "grade": round(10 * len(wanted & set(re.findall(r"\w+", text.lower()))) / max(1, len(wanted))),
        }
        for number, text in re.findall(r'<passage number="(\d+)">\n(.*?)\n</passage>', said, re.DOTALL)
    ]
    return json.dumps({"grades": grades})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("models") / "tiny-cross-encoder"
    made.mkdir()
    write_cross_encoder(made / "model.onnx")
    shutil.copy(Path(minilm.__file__).with_name("data") / "minilm" / "tokenizer.json", made / "tokenizer.json")
    return made


@pytest.fixture(scope="module", params=KINDS)
def reranker(request: pytest.FixtureRequest, folder: Path) -> Iterator[Reranker]:
    with ExitStack() as stack:
        makers: dict[str, Callable[[], Reranker]] = {
            "features": FeatureReranker,
            "cross-encoder": lambda: CrossEncoder(folder),
            "server": lambda: ServerReranker(stack.enter_context(RerankServer()).url, MODEL, KEY),
            "server with logits": lambda: ServerReranker(
                stack.enter_context(RerankServer(logits=True)).url, MODEL, KEY
            ),
            "model": lambda: ModelReranker(
                OpenAiService(MODEL_KEY, base_url=stack.enter_context(OpenAiServer(answer=graded)).url)
            ),
        }
        yield makers[request.param]()


def test_a_page_with_the_answer_scores_higher_than_another(reranker: Reranker) -> None:
    fitting, other = reranker.scores(QUESTION, [FITTING, OTHER])
    other_first, fitting_second = reranker.scores(QUESTION, [OTHER, FITTING])

    assert 0 <= other < fitting <= 1
    assert 0 <= other_first < fitting_second <= 1


def test_texts_of_any_kind_have_scores(reranker: Reranker) -> None:
    pages = [PageCandidate(text, 0.3) for text in STRANGE]

    scores = reranker.scores("\ud83d x\x00 " + "queen " * 900, pages)

    assert len(STRANGE) == len(scores)
    assert all(0 <= score <= 1 for score in scores)


def test_no_pages_have_no_scores(reranker: Reranker) -> None:
    assert [] == list(reranker.scores(QUESTION, []))


def test_the_end_of_a_long_page_is_read_if_the_model_reads_parts(reranker: Reranker) -> None:
    if isinstance(reranker, FeatureReranker | ModelReranker):
        pytest.skip("reads the beginning, or nothing")
    long = PageCandidate("Copper prices rose, again. " * 80 + FITTING.text, 0.5)

    end, none = reranker.scores(QUESTION, [long, PageCandidate("Copper prices rose, again. " * 80, 0.5)])

    assert none < end


def test_it_has_a_name(reranker: Reranker) -> None:
    assert reranker.name.strip()
