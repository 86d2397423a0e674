"""The embedded index on the disk: what survives a kill, what is said of damage, and what two processes may do."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from operator import mul
from pathlib import Path

import pytest

from citekit.adapters.libraries import qdrant_edge as driver
from citekit.adapters.search.vector_index import edge_shard
from citekit.adapters.search.vector_index.edge import EdgeVectorIndex
from citekit.domain.errors import CiteKitError, IndexCorrupt, IndexUnavailable, RequestRefused
from citekit.domain.library.vectors import EmbedderIdentity, Entry, Question, SparseVector, Where

pytest.importorskip("qdrant_edge")

MODEL = EmbedderIdentity("static", "1", 16)
RANDOM = random.Random(3)

WORKER = """
import sys, uuid
from pathlib import Path
from citekit.adapters.search.vector_index.edge import EdgeVectorIndex
from tests.search.test_edge import MODEL, an_entry, a_question
index = EdgeVectorIndex(Path(sys.argv[1]))
start, count, step = map(int, sys.argv[2:5])
index.create("books", MODEL)
for number in range(start, start + count, step):
    index.put("books", [an_entry(one) for one in range(number, number + step)])
    assert index.search("books", a_question(number)).dense
    if "settle" in sys.argv:
        index.flush("books")
        print(number + step, flush=True)
index.close()
"""


def an_entry(number: int) -> Entry:
    values = random.Random(number)
    raw = [values.gauss(0, 1) for _ in range(MODEL.dimensions)]
    length = sum(value * value for value in raw) ** 0.5
    words = SparseVector((number % 50, 100 + number), (1.0, 2.0))
    payload = {"language": "eng" if number % 2 else "deu", "book_id": number // 10, "text": "x" * 300}
    return Entry(str(uuid.UUID(int=number)), "g", [value / length for value in raw], words, payload)


def a_question(number: int, limit: int = 10) -> Question:
    entry = an_entry(number)
    return Question(entry.vector, entry.words, limit)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection that was put in order, with some entries after that."""
    folder = tmp_path_factory.mktemp("filled")
    index = EdgeVectorIndex(folder)
    index.create("books", MODEL)
    index.put("books", map(an_entry, range(5000)))
    index.flush("books")
    index.put("books", map(an_entry, range(5000, 5200)))
    index.close()
    return folder


@pytest.fixture
def copy(filled: Path, tmp_path: Path) -> Callable[[], Path]:
    def make() -> Path:
        return Path(shutil.copytree(filled, tmp_path / uuid.uuid4().hex))

    return make


@pytest.mark.long
def test_reopened_by_another_object_everything_is_there(filled: Path) -> None:
    index = EdgeVectorIndex(filled)

    found = index.search("books", a_question(4711))

    assert str(uuid.UUID(int=4711)) == found.dense[0].id == found.lexical[0].id
    assert 5200 == index.count("books")
    assert 2600 == index.count("books", Where({"language": ("deu",)}))
    assert 10 == len(index.matching("books", Where({"book_id": (77,)})))
    index.close()


@pytest.mark.long
def test_a_collection_that_was_put_in_order_answers_exactly(filled: Path) -> None:
    index = EdgeVectorIndex(filled)
    stored = [an_entry(number) for number in range(5200)]

    for number in range(0, 5200, 520):
        question = a_question(number)
        assert question.vector is not None
        cosines = {entry.id: sum(map(mul, entry.vector or (), question.vector)) for entry in stored}
        found = index.search("books", question).dense

        assert sorted(cosines.values(), reverse=True)[:10] == pytest.approx([hit.score for hit in found], abs=1e-3)
        assert [cosines[hit.id] for hit in found] == pytest.approx([hit.score for hit in found], abs=1e-3)
    index.close()


@pytest.mark.long
def test_after_tidying_up_the_removed_no_longer_count(folder: Path) -> None:
    index, fresh = EdgeVectorIndex(folder), EdgeVectorIndex(folder.with_name("fresh"))
    for one, numbers in ((index, range(6000)), (fresh, range(0, 6000, 2))):
        one.create("books", MODEL)
        one.put("books", map(an_entry, numbers))
    index.flush("books")

    index.remove("books", Where({"language": ("eng",)}))
    index.put("books", map(an_entry, range(0, 6000, 2)))
    index.flush("books")

    ours, theirs = (one.search("books", a_question(8)) for one in (index, fresh))
    assert [hit.id for hit in theirs.lexical] == [hit.id for hit in ours.lexical]
    assert theirs.ceiling == pytest.approx(ours.ceiling, rel=1e-4)
    index.close()
    fresh.close()


@pytest.mark.long
def test_opening_and_searching_leaves_the_seal_whole(copy: Callable[[], Path]) -> None:
    folder = copy()
    for _ in range(3):
        index = EdgeVectorIndex(folder)
        assert 5200 == index.count("books")
        assert index.search("books", a_question(1)).dense
        index.close()

    assert (folder / "books" / edge_shard.SEAL).exists()


def _damage(folder: Path, how: str) -> None:
    shard = folder / "books" / "shard"
    segments = sorted(path for path in (shard / "segments").iterdir())
    match how:
        case "segment deleted":
            shutil.rmtree(segments[0])
        case "all segments deleted":
            shutil.rmtree(shard / "segments")
        case "shard deleted":
            shutil.rmtree(shard)
        case "every large file truncated":
            for path in shard.rglob("*.dat"):
                os.truncate(path, path.stat().st_size // 2)
        case "description deleted":
            (folder / "books" / "collection.json").unlink()
        case "description garbage":
            (folder / "books" / "collection.json").write_bytes(b"\xff\0{")
        case "description of something else":
            (folder / "books" / "collection.json").write_text('{"form": 1, "model": [], "settings": 3}')
        case "seal garbage":
            (folder / "books" / "seal.json").write_text("[")
        case "config garbage":
            (shard / "edge_config.json").write_text("{")


DAMAGES = [
    "segment deleted",
    "all segments deleted",
    "shard deleted",
    "every large file truncated",
    "description deleted",
    "description garbage",
    "description of something else",
    "seal garbage",
    "config garbage",
]


@pytest.mark.long
@pytest.mark.parametrize("how", DAMAGES)
def test_damage_is_one_error_that_tells_the_way_out(copy: Callable[[], Path], how: str) -> None:
    folder = copy()
    _damage(folder, how)
    index = EdgeVectorIndex(folder)

    for call in (lambda: index.search("books", a_question(1)), lambda: index.facts("books")):
        with pytest.raises(IndexCorrupt, match="citekit library rebuild"):
            call()

    assert ["books"] == list(index.collections())
    index.drop("books")
    index.create("books", MODEL)
    assert 0 == index.count("books")
    index.close()


def test_a_collection_has_no_log_besides_its_entries(folder: Path) -> None:
    index = EdgeVectorIndex(folder)
    index.create("books", MODEL)
    index.put("books", map(an_entry, range(100)))
    index.close()

    assert not (folder / "books" / "shard" / "wal").exists()


def test_vectors_take_two_bytes_per_number(folder: Path) -> None:
    index = EdgeVectorIndex(folder)
    index.create("books", MODEL)

    described = json.loads((folder / "books" / "shard" / "edge_config.json").read_text())

    assert "float16" == described["vectors"][driver.DENSE]["datatype"]
    index.close()


def test_a_collection_with_a_log_from_an_earlier_version_works(folder: Path) -> None:
    index = EdgeVectorIndex(folder)
    index.create("books", MODEL)
    index.close()
    shard = folder / "books" / "shard"
    shutil.rmtree(shard)
    (folder / "books" / edge_shard.SEAL).unlink(missing_ok=True)
    without = driver.config(MODEL.dimensions, driver.EdgeSettings())
    vectors = driver.engine().EdgeVectorParams(MODEL.dimensions, driver.engine().Distance.Dot)
    earlier = driver.engine().EdgeConfig(vectors={driver.DENSE: vectors}, sparse_vectors=without.sparse_vectors)
    driver.engine().EdgeShard.create(str(shard), earlier).close()

    index.put("books", map(an_entry, range(100)))
    index.flush("books")
    index.close()

    assert any((shard / "wal").iterdir())
    assert 100 == index.count("books")
    assert str(uuid.UUID(int=7)) == index.search("books", a_question(7)).dense[0].id
    index.close()
    for path in (shard / "wal").iterdir():
        path.write_bytes(b"\xff" * 1000)
    with pytest.raises(IndexCorrupt, match="citekit library rebuild"):
        index.count("books")


@pytest.mark.parametrize("put", [os.mkfifo, Path.touch])
def test_what_stands_in_place_of_a_collection_is_dropped(put: Callable[[Path], None], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    put(folder / "books")

    EdgeVectorIndex(folder).drop("books")

    assert not [*folder.glob("books"), *folder.glob(".dropped-*")]


def test_a_newer_form_is_left_alone(copy: Callable[[], Path]) -> None:
    folder = copy()
    description = folder / "books" / "collection.json"
    description.write_text(json.dumps(json.loads(description.read_text()) | {"form": 99}))

    with pytest.raises(IndexCorrupt, match=r"later version of CiteKit\. Update CiteKit \(pip") as raised:
        EdgeVectorIndex(folder).count("books")

    assert "rebuild" not in str(raised.value)


@pytest.mark.long
def test_each_truncated_file_is_noticed(copy: Callable[[], Path]) -> None:
    folder = copy()
    files = [path for path in (folder / "books" / "shard" / "segments").rglob("*") if path.is_file()]
    for path in [one for one in files if one.stat().st_size][::7]:
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])

        with pytest.raises(IndexCorrupt, match=path.name):
            EdgeVectorIndex(folder).count("books")

        path.write_bytes(whole)
    index = EdgeVectorIndex(folder)
    assert 5200 == index.count("books")
    index.close()


def test_a_panic_of_the_engine_is_damage_and_the_next_call_opens_anew(copy: Callable[[], Path]) -> None:
    index = EdgeVectorIndex(copy())
    q = driver.engine()
    bad = q.Point(str(uuid.UUID(int=1)), {"words": q.SparseVector([5, 3, 3], [1.0, 1.0])}, {})

    with pytest.raises(IndexCorrupt), index._open("books") as held:
        held.shard.update(q.UpdateOperation.upsert_points([bad]))

    assert not index._turn("books").is_open


@pytest.mark.long
def test_what_was_settled_survives_a_kill_at_any_moment(folder: Path) -> None:
    for round_number in range(2):
        command = [sys.executable, "-c", WORKER, str(folder), str(round_number * 100_000), "100000", "100", "settle"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        durable = [int(process.stdout.readline()) for _ in range(5)]
        time.sleep(RANDOM.random() * 0.3)
        os.kill(process.pid, signal.SIGKILL)
        durable += [int(line) for line in process.stdout.read().split()]
        process.wait()
        process.stdout.close()

        index = EdgeVectorIndex(folder)
        for number in range(round_number * 100_000, durable[-1], 37):
            assert str(uuid.UUID(int=number)) == index.search("books", a_question(number)).dense[0].id
        assert len(index.fetch("books", [str(uuid.UUID(int=n)) for n in range(durable[-1] - 100, durable[-1])])) == 100
        index.close()


@pytest.mark.long
def test_a_kill_while_it_is_put_in_order_loses_nothing(copy: Callable[[], Path]) -> None:
    code = (
        "import sys; from pathlib import Path; from citekit.adapters.search.vector_index.edge import EdgeVectorIndex\n"
        "index = EdgeVectorIndex(Path(sys.argv[1]))\n"
        "with index._open('books') as held:\n    print('go', flush=True)\n    held.optimise()\n"
        "print('done', flush=True); input()"
    )
    for delay in (0.05, 0.4):
        folder = copy()
        index = EdgeVectorIndex(folder)
        index.put("books", map(an_entry, range(5200, 9200)))
        index.close()
        process = subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert "go\n" == process.stdout.readline()
        time.sleep(delay)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()

        assert 9200 == index.count("books")
        assert str(uuid.UUID(int=9000)) == index.search("books", a_question(9000)).dense[0].id
        index.close()


@pytest.mark.long
def test_two_processes_put_and_search_by_turns(folder: Path) -> None:
    commands = [[sys.executable, "-c", WORKER, str(folder), str(start), "600", "20"] for start in (0, 1000)]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]

    ends = [(process.communicate(timeout=120)[1], process.returncode) for process in processes]

    assert [("", 0), ("", 0)] == ends
    index = EdgeVectorIndex(folder)
    assert 1200 == index.count("books")
    assert str(uuid.UUID(int=1599)) == index.search("books", a_question(1599)).dense[0].id
    index.close()


@pytest.mark.long
def test_two_objects_of_one_process_share_by_turns(folder: Path) -> None:
    one, other = EdgeVectorIndex(folder), EdgeVectorIndex(folder)
    one.create("books", MODEL)

    one.put("books", [an_entry(1)])
    other.put("books", [an_entry(2)])

    assert (2, 2) == (one.count("books"), other.count("books"))
    other.drop("books")
    assert one.facts("books") is None
    one.close()
    other.close()


@pytest.mark.long
def test_a_full_disk_is_said_before_it_hurts(copy: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    index = EdgeVectorIndex(copy())
    monkeypatch.setattr(edge_shard, "SPARE", 2**60)

    with pytest.raises(IndexUnavailable, match="of disk space is free"):
        index.put("books", [an_entry(9999)])

    assert 5200 == index.count("books")
    index.close()


@pytest.mark.long
def test_files_that_may_not_grow_are_one_error(copy: Callable[[], Path]) -> None:
    folder = copy()
    code = (
        "import sys, resource, signal; from pathlib import Path\n"
        "from citekit.adapters.search.vector_index.edge import EdgeVectorIndex\n"
        "from citekit.domain.errors import IndexUnavailable\n"
        "from tests.search.test_edge import an_entry\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))\n"
        "index = EdgeVectorIndex(Path(sys.argv[1]))\n"
        "import os, attrs\n"
        "texts = (attrs.evolve(an_entry(n), payload={'text': os.urandom(4000).hex()}) for n in range(10_000, 20_000))\n"
        "try:\n    index.put('books', texts)\n"
        "except IndexUnavailable as error:\n    print(error)\n"
    )

    done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, timeout=120)

    assert (0, True) == (done.returncode, "not enough disk space" in done.stdout), done.stderr
    index = EdgeVectorIndex(folder)
    assert index.count("books") >= 5200
    assert str(uuid.UUID(int=5199)) == index.search("books", a_question(5199)).dense[0].id
    index.close()


def test_a_folder_that_cannot_be_written_is_one_error(copy: Callable[[], Path]) -> None:
    folder = copy()
    shutil.rmtree(folder / ".turns")
    (folder / ".turns").write_text("in the way")

    with pytest.raises(IndexUnavailable, match=r"cannot be opened\. Cannot write"):
        EdgeVectorIndex(folder).count("books")


def test_a_killed_creation_leaves_no_collection(folder: Path) -> None:
    (folder / ".new-0123456789abcdef" / "shard").mkdir(parents=True)
    index = EdgeVectorIndex(folder)

    assert [] == list(index.collections())
    index.create("books", MODEL)
    assert 0 == index.count("books")
    index.close()


def test_every_exception_of_the_engine_is_sorted() -> None:
    q = driver.engine()
    found: list[BaseException] = []
    for call in (
        lambda: q.EdgeShard.load("/nowhere/at/all"),
        lambda: q.Point("no uuid", {}, {}),
        lambda: q.Point(-1, {}, {}),
        lambda: q.Filter(must=3),
        lambda: q.SparseVector([2**40], [1.0]),
    ):
        try:
            call()
        except BaseException as error:
            found.append(error)

    assert 5 == len(found)
    assert None not in [driver.kind_of(error) for error in found]
    assert [None, None] == [driver.kind_of(KeyboardInterrupt()), driver.kind_of(RequestRefused("ours"))]


@pytest.mark.parametrize(("words", "kind"), [(words, kind) for words, kind in driver.WORDINGS.items()])
def test_the_words_of_the_engine_are_ours(words: str, kind: driver.Kind, tmp_path: Path) -> None:
    error = edge_shard.translated(driver.Trouble(driver.kind_of(Exception(f"it: {words}")) or kind, words), tmp_path)

    assert kind is driver.kind_of(Exception(f"Service runtime error: {words} (os error)"))
    assert isinstance(error, CiteKitError)
    assert not isinstance(error, IndexCorrupt)
