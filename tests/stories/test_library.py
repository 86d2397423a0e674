"""A library in memory: books go in, questions find places that open, books come out again."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve

from citekit import CiteKit
from citekit.adapters.catalogs.in_memory import MemoryLibrary
from citekit.adapters.search.embedders.hashing import HashingEmbedder
from citekit.adapters.search.sentence_splitters import SentencexSplitter
from citekit.application.library.answers import AskRequest, ContextMode
from citekit.application.library.batch import BatchRequest, Status
from citekit.application.library.ingest_book import BookRequest
from citekit.application.library.narrow_books import Narrowing
from citekit.application.library.remove_book import BookName
from citekit.container import Container, bootstrap
from citekit.domain.address import parse_address
from citekit.domain.digest import Digest
from citekit.domain.errors import (
    AlreadyIngested,
    Cancelled,
    EmbedderUnavailable,
    IndexUnavailable,
    MetadataMissing,
    ModelMismatch,
    PathNotAllowed,
    RequestRefused,
    SourceUnsupported,
)
from citekit.domain.evidence import Form, Options
from citekit.domain.library.books import BookFilter, BookRecord
from citekit.domain.library.chunking import ChunkingParams
from citekit.domain.library.ledger import Deed
from citekit.domain.library.vectors import EmbedderIdentity, Entry, Vector, Where
from citekit.domain.locations import Lines, TimeSpan
from citekit.domain.node import Node
from citekit.settings import LibrarySettings, Settings
from tests.doubles.ledger import MemoryLedger
from tests.doubles.stores import InMemoryEvidenceStore, InMemoryMapStore
from tests.doubles.vector_index import MemoryVectorIndex
from tests.formats.epub.books import write_book
from tests.formats.media.media_samples import write_video
from tests.formats.media.speech_samples import write_sound
from tests.formats.office.office_files import write_pptx, write_xlsx
from tests.stories.test_screen_text import Reading, slide
from tests.stories.test_spoken_words import TALK, Scripted

HERE = "alexandria"

WHALES = """# Whales

Captain Boomer lost an arm to the white whale. His ship is the Samuel Enderby of London, and he laughs about it.

## The Spout

The spout of the whale is vapour, and not water, say most of the hunters. Others swear that it blinds whoever it touches.

## The Tail

The tail of the sperm whale strikes a boat with more force than any ram. No hunter stands before it twice.
"""

TREES = """Title: Of Trees
Author: Ann Wood

The oak grows for three hundred years, stands for three hundred, and dies for three hundred.

The birch peels its bark in white strips, on which letters were written in the north.
"""


@define
class Shelf:
    """The use cases of a library in memory, and a folder for files."""

    app: Container
    folder: Path
    index: MemoryVectorIndex
    ledger: MemoryLedger

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, "utf-8")
        return path

    def ingest(self, path: Path, **wanted: Any) -> str:
        """The id of the resource that the book became."""
        usual = BookRequest(
            path=path, collection=HERE, title=path.stem, author="Somebody", params=ChunkingParams(1.0, 10, 60)
        )
        return self.app.alexandria.ingest_book(evolve(usual, **wanted)).entry.resource_id

    def ask(self, query: str, **wanted: Any) -> AskRequest:
        return evolve(AskRequest(query=query, collection=HERE, threshold=0.0), **wanted)


MakeShelf = Callable[..., Shelf]


@pytest.fixture
def make_shelf(tmp_path: Path) -> MakeShelf:
    def make(
        records: Sequence[BookRecord] = (),
        index: MemoryVectorIndex | None = None,
        transcriber: Scripted = Scripted(()),  # noqa: B008
        screen_reader: Reading = Reading(()),  # noqa: B008
    ) -> Shelf:
        folder = tmp_path / "files"
        folder.mkdir(exist_ok=True)
        kept, ledger, embedder = index or MemoryVectorIndex(), MemoryLedger(), HashingEmbedder()
        app = bootstrap(
            Settings(home=tmp_path / "home", library=LibrarySettings(folder=tmp_path / "library", browse=folder)),
            maps=InMemoryMapStore(),
            evidence=InMemoryEvidenceStore(),
            library=MemoryLibrary(records),
            index=kept,
            ledger=ledger,
            embedder=embedder,
            similarity=embedder,
            splitter=SentencexSplitter(),
            transcriber=transcriber,
            screen_reader=screen_reader,
        )
        return Shelf(app, folder, kept, ledger)

    return make


@pytest.fixture
def shelf(make_shelf: MakeShelf) -> Shelf:
    return make_shelf()


def test_a_question_finds_the_place_and_the_place_opens(shelf: Shelf) -> None:
    shelf.ingest(shelf.file("whales.md", WHALES))

    answers = shelf.app.alexandria.ask(shelf.ask("What is the spout of a whale made of?"))

    best = answers.hits[0]
    evidence = shelf.app.resolve(parse_address(best.chunk.address), options=Options(Form.TEXT))
    assert "Whales" == best.chunk.section
    assert "vapour, and not water" in best.chunk.text
    assert evidence.output_path is not None
    assert "vapour, and not water" in evidence.output_path.read_text("utf-8")


def test_chunks_are_leaves_of_the_map_below_their_chapters(shelf: Shelf) -> None:
    name = shelf.ingest(shelf.file("whales.md", WHALES))

    made = shelf.app.maps.get(name)

    chunks = [node for node in made.walk() if node.type == "chunk"]
    assert {"whales.chunk_1", "whales.the_tail.chunk_1"} <= {node.id.rpartition("_")[0] for node in chunks}
    for node in chunks:
        above = made.parent(node.id)
        assert above is not None
        assert above.location.contains(node.location)
        assert node.id.startswith(f"{above.id}.chunk_")


def test_all_of_the_text_is_in_exactly_one_chunk(shelf: Shelf) -> None:
    path = shelf.file("whales.md", WHALES)

    name = shelf.ingest(path)

    where = shelf.index.matching(HERE, shelf.app.alexandria.narrow(Narrowing(resources=(name,)), HERE))
    texts = sorted(
        (entry.payload["start"], entry.payload["text"]) for entry in where if entry.payload["kind"] == "chunk"
    )
    whole = shelf.app.alexandria.text.read(shelf.app.sources.identify(path)).text
    assert "".join(whole.split()) == "".join("".join(text.split()) for _, text in texts)


def test_the_same_bytes_are_not_taken_in_twice_whatever_the_file_is_called(shelf: Shelf) -> None:
    shelf.ingest(shelf.file("whales.md", WHALES))
    points = shelf.index.count(HERE)

    with pytest.raises(AlreadyIngested, match="'whales' already ingested in collection 'alexandria'"):
        shelf.ingest(shelf.file("copy.md", WHALES))

    assert points == shelf.index.count(HERE)


def test_force_replaces_what_is_there(shelf: Shelf) -> None:
    path = shelf.file("whales.md", WHALES)
    shelf.ingest(path)
    points = shelf.index.count(HERE)

    shelf.ingest(path, force=True)

    assert points == shelf.index.count(HERE)
    assert 1 == len(shelf.ledger.books(HERE))


@pytest.mark.long
def test_a_book_that_is_taken_in_again_is_cut_as_before(shelf: Shelf) -> None:
    bodies = [f"<h1>Part {n}</h1><h2>Chapter {n}</h2><p>{f'The tower {n} stands. ' * 60}</p>" for n in range(1, 5)]
    path = write_book(shelf.folder / "book.epub", bodies)
    name = shelf.ingest(path)
    before = (shelf.app.maps.get(name).nodes, _sections(shelf))

    shelf.ingest(path, force=True)

    assert before == (shelf.app.maps.get(name).nodes, _sections(shelf))


def test_a_file_says_its_own_title_and_author(shelf: Shelf) -> None:
    path = shelf.file("t.txt", TREES)

    entry = shelf.app.alexandria.ingest_book(BookRequest(path=path, collection=HERE)).entry

    assert ("Of Trees", "Ann Wood") == (entry.title, entry.author)


def test_a_file_that_says_nothing_of_itself_is_asked_for(shelf: Shelf) -> None:
    path = shelf.file("nameless.txt", "Once upon a time there was a sentence.")

    with pytest.raises(MetadataMissing) as caught:
        shelf.app.alexandria.ingest_book(BookRequest(path=path, collection=HERE, author="unknown"))

    assert ("title", "author") == caught.value.missing
    assert [] == list(shelf.index.collections())


def test_a_file_without_text_is_refused_and_nothing_is_kept(shelf: Shelf) -> None:
    path = shelf.file("blank.txt", " \n\n \n")

    with pytest.raises(SourceUnsupported, match="has no text"):
        shelf.ingest(path)

    assert [] == list(shelf.ledger.history())


@pytest.mark.long
def test_what_fails_while_it_is_stored_is_taken_back(make_shelf: MakeShelf) -> None:
    class Full(MemoryVectorIndex):
        full = False

        def flush(self, collection: str) -> None:
            if self.full:
                raise IndexUnavailable("The disk is full.")

    index = Full()
    shelf = make_shelf(index=index)
    shelf.ingest(shelf.file("trees.txt", TREES))
    points, index.full = index.count(HERE), True

    with pytest.raises(IndexUnavailable, match="The disk is full"):
        shelf.ingest(shelf.file("whales.md", WHALES))

    assert points == index.count(HERE)
    assert [Deed.FAILED, Deed.STARTED] == [entry.deed for entry in shelf.ledger.history()][:2]


def test_who_gives_up_leaves_nothing_behind(shelf: Shelf) -> None:
    def give_up(done: float, total: float | None = None, message: str = "") -> None:
        if message == "storing":
            raise Cancelled("given up")

    request = BookRequest(path=shelf.file("whales.md", WHALES), collection=HERE, title="Whales", author="Somebody")

    with pytest.raises(Cancelled):
        shelf.app.alexandria.ingest_book(request, give_up)

    assert ([], []) == (list(shelf.index.collections()), list(shelf.ledger.history()))
    assert "chunk" not in {node.type for node in shelf.app.maps.get("whales_md").walk()}


def test_what_is_broken_off_while_it_is_stored_is_taken_back(make_shelf: MakeShelf) -> None:
    class Interrupted(MemoryVectorIndex):
        def flush(self, collection: str) -> None:
            raise KeyboardInterrupt

    shelf = make_shelf(index=Interrupted())

    with pytest.raises(KeyboardInterrupt):
        shelf.ingest(shelf.file("whales.md", WHALES))

    assert 0 == shelf.index.count(HERE)
    assert ([], Deed.FAILED) == (list(shelf.ledger.unfinished(HERE)), shelf.ledger.history()[0].deed)


def test_a_book_whose_index_was_deleted_can_be_taken_in_again(shelf: Shelf) -> None:
    path = shelf.file("whales.md", WHALES)
    shelf.ingest(path)
    shelf.index.drop(HERE)

    shelf.ingest(path)

    assert shelf.app.alexandria.ask(shelf.ask("the tail of the whale")).hits


def test_what_a_killed_ingest_left_is_not_shown_and_is_replaced(shelf: Shelf) -> None:
    path = shelf.file("whales.md", WHALES)
    shelf.ingest(path)
    finished = shelf.ledger.books(HERE)[0]
    shelf.ledger.append(evolve(finished, deed=Deed.STARTED))

    hidden = shelf.app.alexandria.ask(shelf.ask("the tail of the whale")).hits
    shelf.ingest(path)
    shown = shelf.app.alexandria.ask(shelf.ask("the tail of the whale")).hits

    assert ((), True) == (hidden, bool(shown))


def test_a_chapter_stands_beside_its_hits_where_context_is_wanted(shelf: Shelf) -> None:
    text = "\n\n".join(f"Number {n} is a sentence about the {n}th lighthouse of the coast." for n in range(60))
    shelf.ingest(shelf.file("coast.md", f"# Lighthouses\n\n{text}\n"), params=ChunkingParams(0.99, 20, 60))
    query = "the 30th lighthouse"

    precise, contextual, comprehensive = (
        shelf.app.alexandria.ask(shelf.ask(query, mode=mode, limit=1)) for mode in ContextMode
    )

    assert ((), ()) == (precise.parents, precise.hits[0].siblings)
    assert 1 == len(contextual.parents)
    assert contextual.hits[0].chunk.text in contextual.parents[0].full_text
    assert "".join(text.split()) in "".join(contextual.parents[0].full_text.split())
    here = comprehensive.hits[0].chunk.sequence
    assert [here - 2, here - 1, here + 1, here + 2] == [chunk.sequence for chunk in comprehensive.hits[0].siblings]
    assert [hit.chunk.id for hit in precise.hits] == [hit.chunk.id for hit in comprehensive.hits]


def test_a_flat_book_has_no_chapters(shelf: Shelf) -> None:
    shelf.ingest(shelf.file("whales.md", WHALES), hierarchical=False)

    answers = shelf.app.alexandria.ask(shelf.ask("the white whale", mode=ContextMode.CONTEXTUAL))

    assert (None, ()) == (answers.hits[0].parent_id, answers.parents)


def test_only_the_books_that_are_meant_are_asked(shelf: Shelf) -> None:
    shelf.ingest(shelf.file("whales.md", WHALES), author="Herman Melville", tags=("Sea",), language="eng")
    trees = shelf.ingest(shelf.file("trees.txt", TREES), author="Ann Wood", tags=("Land",), language="eng")
    narrow = shelf.app.alexandria.narrow

    for narrowing in (Narrowing(author="wood"), Narrowing(tags=("land",)), Narrowing(resources=(trees,))):
        hits = shelf.app.alexandria.ask(shelf.ask("white", where=narrow(narrowing, HERE))).hits
        assert {trees} == {hit.chunk.resource_id for hit in hits}
    with pytest.raises(RequestRefused, match="No book in the collection"):
        narrow(Narrowing(author="Nobody"), HERE)


def test_a_book_comes_out_again_and_its_map_stays(shelf: Shelf) -> None:
    name = shelf.ingest(shelf.file("whales.md", WHALES))
    shelf.ingest(shelf.file("trees.txt", TREES))

    removed = shelf.app.alexandria.remove_book(BookName(resource_id=name), HERE)

    assert removed.entries > 0
    assert ["trees"] == [entry.title for entry in shelf.ledger.books(HERE)]
    assert {"trees"} == {hit.chunk.book_title for hit in shelf.app.alexandria.ask(shelf.ask("whale")).hits}
    assert {"section"} == {node.type for node in shelf.app.maps.get(name).walk()}
    with pytest.raises(RequestRefused, match="is not in the collection"):
        shelf.app.alexandria.remove_book(BookName(resource_id=name), HERE)


@pytest.mark.long
def test_who_waits_for_another_who_has_the_book_is_told_and_may_give_up(shelf: Shelf) -> None:
    path = shelf.file("whales.md", WHALES)
    name, library = shelf.ingest(path), shelf.app.alexandria
    told: list[str] = []

    def give_up(done: float, total: float | None = None, message: str = "") -> None:
        told.append(message)
        raise Cancelled("enough")

    with shelf.app.locks.holding(f"book:{HERE}:{shelf.app.sources.digest(path)}"):
        with pytest.raises(Cancelled):
            library.remove_book(BookName(resource_id=name), HERE, give_up)
        with pytest.raises(Cancelled):
            library.ingest_book(BookRequest(path=path, collection=HERE, force=True), give_up)

    assert 2 == len(told)
    assert all("waiting for another process" in each for each in told)
    assert ["whales"] == [entry.title for entry in library.ledger.books(HERE)]


def test_a_batch_goes_on_where_it_was_interrupted(make_shelf: MakeShelf, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "whales.md").write_text(WHALES, "utf-8")
    (files / "trees.txt").write_text(TREES, "utf-8")
    (files / "pictures.txt").write_text("   ", "utf-8")
    records = [
        BookRecord(id=1, title="Whales", authors=("A",), files={"MD": files / "whales.md"}),
        BookRecord(id=2, title="Trees", authors=("B",), files={"TXT": files / "trees.txt"}),
        BookRecord(id=3, title="Gone", authors=("C",), files={"EPUB": files / "gone.epub"}),
        BookRecord(id=4, title="Pictures", authors=("D",), files={"TXT": files / "pictures.txt"}),
        BookRecord(id=5, title="Comic", authors=("E",), files={"CBR": files / "comic.cbr"}),
    ]
    shelf = make_shelf(records)
    batch, request = shelf.app.alexandria.batch_ingest, BatchRequest(collection=HERE, book_ids=(1, 2, 3, 4, 5, 99))
    next(iter(batch(batch.books(request), request)))

    outcomes = {outcome.record.id: outcome for outcome in batch(batch.books(request), request)}

    assert [1, 2, 3, 4, 5] == sorted(outcomes)
    assert (Status.SKIPPED, "Already ingested") == (outcomes[1].status, outcomes[1].reason)
    assert (Status.SUCCESS, None) == (outcomes[2].status, outcomes[2].reason)
    assert (Status.SKIPPED, "File not found") == (outcomes[3].status, outcomes[3].reason)
    assert Status.FAILED == outcomes[4].status
    assert (Status.SKIPPED, "No readable format") == (outcomes[5].status, outcomes[5].reason)


def test_an_author_that_the_library_does_not_know_is_no_reason_to_refuse(make_shelf: MakeShelf, tmp_path: Path) -> None:
    path = tmp_path / "whales.md"
    path.write_text(WHALES, "utf-8")
    shelf = make_shelf([BookRecord(id=1, title="Whales", files={"MD": path})])
    batch, request = shelf.app.alexandria.batch_ingest, BatchRequest(collection=HERE, wanted=BookFilter(title="whale"))

    [outcome] = batch(batch.books(request), request)

    assert outcome.ingested is not None
    assert "Unknown" == outcome.ingested.entry.author


def test_another_embedder_is_refused_until_the_collection_is_rebuilt(make_shelf: MakeShelf) -> None:
    shelf = make_shelf()
    shelf.ingest(shelf.file("whales.md", WHALES))
    other = _with_embedder(shelf, HashingEmbedder(dimensions=64))

    with pytest.raises(ModelMismatch, match="citekit library rebuild"):
        other.alexandria.ask(shelf.ask("the white whale"))
    with pytest.raises(ModelMismatch):
        other.alexandria.ingest_book(
            BookRequest(path=shelf.file("trees.txt", TREES), collection=HERE, title="Trees", author="A")
        )
    rebuild = other.alexandria.rebuild
    done = list(rebuild(rebuild.books(HERE), HERE))

    assert [None] == [each.error for each in done]
    assert other.alexandria.ask(shelf.ask("the white whale")).hits


def test_what_is_being_replaced_is_searched_until_its_replacement_is_complete(make_shelf: MakeShelf) -> None:
    seen: list[tuple[list[str], list[str]]] = []

    class Watched(MemoryVectorIndex):
        watching = False

        def flush(self, collection: str) -> None:
            if self.watching:
                seen.append((places(), [each.state.value for each in own.app.alexandria.list_books(HERE)]))
                raise IndexUnavailable("The disk is full.")

    def places() -> list[str]:
        hits = own.app.alexandria.ask(own.ask("the spout of the whale", limit=9)).hits
        return sorted(hit.chunk.address for hit in hits)

    index = Watched()
    own = make_shelf(index=index)
    path = own.file("whales.md", WHALES)
    own.ingest(path)
    points, before, index.watching = index.count(HERE), places(), True

    with pytest.raises(IndexUnavailable):
        own.ingest(path, force=True, params=ChunkingParams(1.0, 5, 15), title="Again")

    index.watching = False
    [listed] = own.app.alexandria.list_books(HERE)
    assert [(before, ["replacing"])] == seen
    assert ("ready", "whales", "The disk is full.") == (listed.state.value, listed.entry.title, listed.entry.error)
    assert (points, before) == (index.count(HERE), places())


def test_a_third_ingest_takes_the_place_of_the_second(shelf: Shelf) -> None:
    path = shelf.file("whales.md", WHALES)
    shelf.ingest(path)
    points = shelf.index.count(HERE)

    shelf.ingest(path, force=True, title="Second")
    shelf.ingest(path, force=True, title="Third")

    hits = shelf.app.alexandria.ask(shelf.ask("the white whale")).hits
    assert (points, {"Third"}) == (shelf.index.count(HERE), {hit.chunk.book_title for hit in hits})
    assert shelf.app.alexandria.remove_book(BookName(resource_id="whales_md"), HERE).entries == points
    assert 0 == shelf.index.count(HERE)


def test_the_list_says_which_books_are_unfinished_changed_missing_or_unmapped(shelf: Shelf) -> None:
    names = ["ready", "changed", "mapped", "missing", "unmapped"]
    files = {name: shelf.file(f"{name}.md", f"{WHALES}\n{name}\n") for name in names}
    ids = {name: shelf.ingest(path) for name, path in files.items()}
    started = evolve(shelf.ledger.books(HERE)[0], deed=Deed.STARTED, digest=Digest("0" * 64))
    shelf.ledger.append(evolve(started, resource_id="unfinished"))
    for name in ("changed", "mapped"):
        files[name].write_text(f"{WHALES}\nother words\n")
    shelf.app.ingest(files["mapped"])
    files["missing"].unlink()
    shelf.app.maps.remove(ids["unmapped"])

    listed = {each.entry.resource_id: each.state.value for each in shelf.app.alexandria.list_books(HERE)}

    assert {
        ids["ready"]: "ready",
        ids["changed"]: "changed",
        ids["mapped"]: "mapped again",
        ids["missing"]: "missing",
        ids["unmapped"]: "not mapped",
        "unfinished": "unfinished",
    } == listed


def test_an_embedder_that_knows_another_language_finds_the_passage(make_shelf: MakeShelf) -> None:
    class Bilingual(HashingEmbedder):
        @property
        def identity(self) -> EmbedderIdentity:
            return evolve(super().identity, name="bilingual")

        def query(self, text: str) -> Vector:
            return super().query("spout of the whale, vapour, water" if "Fontaene" in text else text)

    empty = make_shelf()
    shelf = evolve(empty, app=_with_embedder(empty, Bilingual()))
    shelf.ingest(shelf.file("whales.md", WHALES))
    shelf.ingest(shelf.file("trees.txt", TREES))

    best, *_ = shelf.app.alexandria.ask(shelf.ask("Captain: woraus besteht die Fontaene?")).hits

    assert "The spout of the whale is vapour" in best.chunk.text


def test_a_book_whose_file_is_gone_stays_in_a_rebuild_with_the_same_embedder(shelf: Shelf) -> None:
    path = shelf.file("whales.md", WHALES)
    shelf.ingest(path)
    path.unlink()
    rebuild = shelf.app.alexandria.rebuild

    [done] = rebuild(rebuild.books(HERE), HERE)

    assert done.error is not None
    assert 1 == len(shelf.ledger.books(HERE))
    assert shelf.app.alexandria.ask(shelf.ask("the white whale")).hits


def test_a_rebuild_reads_no_other_file_that_only_the_ledger_names(shelf: Shelf, tmp_path: Path) -> None:
    """A ledger that came with a home may name any file of its new owner."""
    shelf.ingest(shelf.file("whales.md", WHALES))
    diary = tmp_path / "private" / "diary.md"
    diary.parent.mkdir()
    diary.write_text("# Diary\n\nThe safe opens with the number four seven one one.\n")
    [entry] = shelf.ledger.books(HERE)
    rebuild = _with_embedder(shelf, HashingEmbedder(dimensions=64)).alexandria.rebuild

    [refused] = rebuild([evolve(entry, path=str(diary))], HERE)
    [moved] = rebuild([evolve(entry, path=str(shutil.copy(shelf.file("whales.md", WHALES), diary)))], HERE)

    assert isinstance(refused.error, RequestRefused)
    assert moved.error is None


def test_a_book_whose_file_is_gone_waits_for_the_next_rebuild_with_another(shelf: Shelf) -> None:
    path = shelf.file("whales.md", WHALES)
    shelf.ingest(path)
    path.unlink()
    rebuild = _with_embedder(shelf, HashingEmbedder(dimensions=64)).alexandria.rebuild

    [done] = rebuild(rebuild.books(HERE), HERE)

    assert done.error is not None
    assert (0, 1) == (len(shelf.ledger.books(HERE)), len(rebuild.books(HERE)))


def test_nothing_is_dropped_for_an_embedder_that_does_not_work(shelf: Shelf) -> None:
    class Broken(HashingEmbedder):
        def query(self, text: str) -> Vector:
            raise EmbedderUnavailable("The service is down.")

    shelf.ingest(shelf.file("whales.md", WHALES))
    points = shelf.index.count(HERE)
    rebuild = _with_embedder(shelf, Broken(dimensions=64)).alexandria.rebuild

    with pytest.raises(EmbedderUnavailable):
        list(rebuild(rebuild.books(HERE), HERE))

    assert (points, 1) == (shelf.index.count(HERE), len(shelf.ledger.books(HERE)))


def test_a_file_that_changed_takes_the_place_of_what_it_was(shelf: Shelf) -> None:
    path = shelf.file("whales.md", WHALES)
    name = shelf.ingest(path)
    before = shelf.app.alexandria.ask(shelf.ask("the white whale")).hits[0]
    path.write_text(WHALES.replace("white whale", "grey shark"), "utf-8")
    shelf.app.ingest(path)
    stale = shelf.app.alexandria.ask(shelf.ask("the white whale")).hits[0]

    assert name == shelf.ingest(path)

    hits = shelf.app.alexandria.ask(shelf.ask("the white whale")).hits
    assert (False, True, False) == (before.stale, stale.stale, hits[0].stale)
    assert not [hit for hit in hits if "white whale" in hit.chunk.text]
    assert 1 == len(shelf.ledger.books(HERE))


def test_a_failed_replacement_is_taken_in_by_the_next_rebuild(make_shelf: MakeShelf) -> None:
    class Full(MemoryVectorIndex):
        full = False

        def flush(self, collection: str) -> None:
            if self.full:
                raise IndexUnavailable("The disk is full.")

    index = Full()
    shelf = make_shelf(index=index)
    path = shelf.file("whales.md", WHALES)
    shelf.ingest(path)
    index.full = True
    with pytest.raises(IndexUnavailable):
        shelf.ingest(path, force=True)
    index.full = False
    rebuild = shelf.app.alexandria.rebuild

    [done] = rebuild(rebuild.books(HERE), HERE)

    assert done.error is None
    assert shelf.app.alexandria.ask(shelf.ask("the white whale")).hits


def test_the_map_of_another_mapper_keeps_its_nodes_and_comes_back(shelf: Shelf) -> None:
    path = shelf.file("whales.md", WHALES)
    name = shelf.app.ingest(path).resource_map.resource_id
    theirs = evolve(
        shelf.app.maps.get(name),
        nodes=(Node("all", "Everything", "part", Lines(1, 11)),),
        metadata={**shelf.app.maps.get(name).metadata, "mapper": {"name": "gemini", "version": "1", "model": "m"}},
    )
    shelf.app.maps.put(theirs)

    shelf.ingest(path)
    chunks = [node.id for node in shelf.app.maps.get(name).walk() if node.type == "chunk"]
    shelf.app.alexandria.remove_book(BookName(resource_id=name), HERE)

    assert chunks
    assert all(each.startswith("all.chunk_") for each in chunks)
    assert theirs == shelf.app.maps.get(name)


def test_every_file_of_a_book_is_removed(shelf: Shelf) -> None:
    shelf.ingest(shelf.file("whales.md", WHALES), book_id=7)
    shelf.ingest(shelf.file("whales.txt", TREES), book_id=7)

    removed = shelf.app.alexandria.remove_book(BookName(book_id=7), HERE)

    assert (2, 0) == (len(removed.books), shelf.index.count(HERE))


def test_a_book_that_its_library_calls_unknown_is_taken_in(shelf: Shelf) -> None:
    path = shelf.file("nameless.txt", "Once upon a time there was a sentence.")

    entry = shelf.app.alexandria.ingest_book(
        BookRequest(path=path, collection=HERE, title="Unknown", author="Unknown", book_id=3)
    ).entry

    assert ("Unknown", "Unknown") == (entry.title, entry.author)


@pytest.mark.long
def test_who_wants_context_gets_a_share_of_each_chapter_with_its_hit(shelf: Shelf) -> None:
    for name in ("lighthouse", "harbour", "ferry"):
        text = "\n\n".join(f"Number {n} is a sentence about the {n}th {name} of the coast." for n in range(900))
        shelf.ingest(shelf.file(f"{name}.md", f"# {name}\n\n{text}\n"), params=ChunkingParams(0.99, 20, 60))

    answers = shelf.app.alexandria.ask(shelf.ask("the 450th ferry of the coast", mode=ContextMode.CONTEXTUAL, limit=9))

    whole = {parent.id: parent for parent in answers.parents}
    assert sum(len(parent.full_text) for parent in answers.parents) <= 50_000
    best = {hit.parent_id: hit for hit in reversed(answers.hits)}
    for parent, hit in best.items():
        assert parent is not None
        assert hit.chunk.text in whole[parent].full_text
    assert all(hit.around is not None and hit.chunk.text in hit.around for hit in answers.hits)
    assert any(parent.truncated for parent in answers.parents)


@pytest.mark.long
def test_an_epub_is_read_chapter_by_chapter(shelf: Shelf) -> None:
    path = shelf.folder / "book.epub"
    _two_chapters(path)
    name = shelf.ingest(path)

    best = shelf.app.alexandria.ask(shelf.ask("Who feeds the raven?")).hits[0]

    evidence = shelf.app.resolve(parse_address(best.chunk.address), options=Options(Form.TEXT))
    assert f"doc://{name}#chapter=2&chars=" in best.chunk.address
    assert evidence.output_path is not None
    assert best.chunk.text == evidence.output_path.read_text("utf-8")


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "write", "question", "place"),
    [
        ("deck.pptx", write_pptx, "Body of 5", "#pages=5"),
        ("book.xlsx", write_xlsx, "How many people live in Wien?", "#sheet=Q1%20Plan&cells=A1:G8"),
    ],
)
def test_slides_and_sheets_are_books_of_the_library(
    shelf: Shelf, name: str, write: Callable[[Path], Path], question: str, place: str
) -> None:
    listed = shelf.app.alexandria.browse(write(shelf.folder / name).parent)
    shelf.ingest(listed.files[0].path)

    best = shelf.app.alexandria.ask(shelf.ask(question)).hits[0]

    evidence = shelf.app.resolve(parse_address(best.chunk.address), options=Options(Form.TEXT))
    assert best.chunk.address.endswith(place)
    assert evidence.output_path is not None
    assert re.findall(r"\w+", best.chunk.text) == re.findall(r"\w+", evidence.output_path.read_text("utf-8"))


def _recording(shelf: Shelf, name: str = "night_talk.wav") -> Path:
    """A silent recording of five minutes with a sentence every six seconds, over two subtitles, in a sidecar file."""
    path = write_sound(shelf.folder / name, [0] * 3000, 10)
    subjects = ["whales", "oak trees", "winter honey", "glass lenses", "salt roads"]
    halves = [half for n in range(50) for half in (f"Number {n} in this talk is about", f"the {subjects[n // 10]}.")]
    cues = "".join(f"{n + 1}\n{_at(3 * n)} --> {_at(3 * n + 2.9)}\n{half}\n\n" for n, half in enumerate(halves))
    path.with_suffix(".srt").write_text(cues, "utf-8")
    return path


def _at(seconds: float) -> str:
    return f"00:{int(seconds) // 60:02}:{int(seconds) % 60:02},{round(seconds % 1 * 1000):03}"


def test_a_recording_is_a_book_whose_hits_name_the_minute(shelf: Shelf) -> None:
    name = shelf.ingest(_recording(shelf))

    best = shelf.app.alexandria.ask(shelf.ask("What was said about glass lenses?")).hits[0]

    whole, passage = (parse_address(each).location for each in (best.chunk.address, best.passage_address or ""))
    assert isinstance(whole, TimeSpan)
    assert isinstance(passage, TimeSpan)
    assert whole.contains(passage)
    assert 180 <= whole.start < (whole.end or 0) <= 240
    assert best.chunk.address.startswith(f"audio://{name}#t=")
    assert 30 < whole.duration <= 61
    verdict = shelf.app.verify_quote(name, best.passage or "")
    assert verdict.holds
    assert best.passage_address == str(verdict.places[0].address)
    evidence = shelf.app.resolve(parse_address(best.chunk.address), options=Options(Form.TEXT))
    assert evidence.output_path is not None
    assert best.chunk.text.split() == evidence.output_path.read_text("utf-8").split()


def test_all_that_is_said_in_a_recording_is_in_exactly_one_chunk_of_its_map(shelf: Shelf) -> None:
    name = shelf.ingest(_recording(shelf))

    entries = shelf.index.matching(HERE, Where({}))
    chunks = [str(entry.payload["text"]) for entry in entries if entry.payload["kind"] == "chunk"]
    nodes = [node for node in shelf.app.maps.get(name).walk() if node.type == "chunk"]
    assert 50 == sum(text.count("Number") for text in chunks)
    assert len(chunks) == len(nodes)
    assert all(isinstance(node.location, TimeSpan) and node.location.duration <= 61 for node in nodes)


def test_recognized_words_are_searched_like_subtitles(make_shelf: MakeShelf) -> None:
    shelf = make_shelf(transcriber=Scripted(TALK))
    path, app = write_sound(shelf.folder / "talk.wav", [0] * 40_000, 1000), shelf.app

    app.alexandria.ingest_book(BookRequest(path=path, collection=HERE))
    best = app.alexandria.ask(shelf.ask("What do bees eat in winter?")).hits[0]

    assert "Winter food is honey." in best.chunk.text
    assert "Unknown speaker" == best.chunk.author
    assert app.verify_quote("talk", "Winter food is honey.").holds


@pytest.mark.long
def test_text_on_the_screen_is_searched_beside_recognized_words(make_shelf: MakeShelf) -> None:
    slides = (slide(0, 20, "Goal", "Count the bees of a hive"), slide(20, 38, "Means", "Scales below the hive"))
    shelf = make_shelf(transcriber=Scripted(TALK), screen_reader=Reading(slides))
    path, app = write_video(shelf.folder / "talk.mp4", seconds=40, rate=2, gop=20), shelf.app

    app.alexandria.ingest_book(BookRequest(path=path, collection=HERE))
    shown = app.alexandria.ask(shelf.ask("scales below the hive")).hits[0].chunk
    said = app.alexandria.ask(shelf.ask("What do bees eat in winter?")).hits[0].chunk

    assert "Scales below the hive" in shown.text
    assert "Winter food is honey." in said.text
    assert app.verify_quote("talk", "Scales below the hive").holds


def test_a_recording_without_words_is_refused_and_nothing_is_kept(shelf: Shelf) -> None:
    with pytest.raises(SourceUnsupported, match="no speech was recognized"):
        shelf.ingest(write_sound(shelf.folder / "song.wav", [0] * 1000, 100))

    assert [] == list(shelf.ledger.history())


def test_an_agent_names_no_file_outside_the_folders_that_it_may_read(shelf: Shelf, tmp_path: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("secret", "utf-8")
    (shelf.folder / "link.txt").symlink_to(outside)
    confined = shelf.app.for_clients().alexandria

    for path in (outside, shelf.folder / "link.txt", shelf.folder / ".." / "secret.txt"):
        with pytest.raises(PathNotAllowed, match="CITEKIT_ROOTS"):
            confined.allowed.check(path)
    assert outside == shelf.app.alexandria.allowed.check(outside)


def test_a_program_takes_books_in_asks_them_and_takes_them_out(shelf: Shelf) -> None:
    kit = CiteKit(home=shelf.app.settings.home)
    kit.app = shelf.app
    library = kit.library()

    done = library.ingest(shelf.file("t.txt", TREES))
    hits = library.ask("What was written on birch bark?", threshold=0.0, context="contextual").hits
    evidence = kit.resolve(hits[0].chunk.address)
    library.remove(done.entry.resource_id)

    assert "birch" in (hits[0].passage or "")
    assert evidence.output_path is not None
    assert "birch" in evidence.output_path.read_text("utf-8")
    assert [] == list(library.books())


def test_an_empty_question_is_refused(shelf: Shelf) -> None:
    shelf.ingest(shelf.file("whales.md", WHALES))

    with pytest.raises(RequestRefused, match="The question is empty"):
        shelf.app.alexandria.ask(shelf.ask(" \n"))


def test_entries_have_the_same_ids_whenever_a_book_is_taken_in(make_shelf: MakeShelf) -> None:
    first, second = make_shelf(), make_shelf(index=MemoryVectorIndex())
    path = first.file("whales.md", WHALES)

    first.ingest(path)
    second.ingest(path)

    assert _ids(first) == _ids(second) != []


def _ids(shelf: Shelf) -> list[str]:
    everything: Sequence[Entry] = shelf.index.matching(HERE, shelf.app.alexandria.narrow(Narrowing(author="S"), HERE))
    return [entry.id for entry in everything]


def _sections(shelf: Shelf) -> list[tuple[str, str]]:
    found = shelf.index.matching(HERE, shelf.app.alexandria.narrow(Narrowing(author="S"), HERE))
    return sorted(
        (entry.payload["section_name"], entry.payload["address"]) for entry in found if "text" in entry.payload
    )


def _with_embedder(shelf: Shelf, embedder: HashingEmbedder) -> Container:
    """Another process with the same stores, and another embedder."""
    return bootstrap(
        shelf.app.settings,
        maps=shelf.app.maps,
        evidence=shelf.app.evidence,
        index=shelf.index,
        ledger=shelf.ledger,
        embedder=embedder,
        similarity=embedder,
    )


def _two_chapters(path: Path) -> None:
    write_book(path, ["<h1>One</h1><p>The tower stands.</p>", "<h1>Two</h1><p>Ann feeds the raven.</p>"])


BEES = "The queen bee lays the eggs of the hive, up to two thousand a day, in summer and in warm springs alike. "
WASPS = "A queen of the wasps lays eggs, too, but in a paper nest that no other queen ever comes back to. "


def test_copies_of_a_text_are_one_hit_that_names_the_others(shelf: Shelf) -> None:
    for number, name in enumerate(("One", "Two", "Three"), 1):
        shelf.ingest(shelf.file(f"{name}.txt", f"{BEES}{name} of us copied this."))
        shelf.ingest(shelf.file(f"{name} again.txt", BEES + "\n" * number))
    shelf.ingest(shelf.file("wasps.txt", WASPS))

    hits = shelf.app.alexandria.ask(shelf.ask("queen bee eggs", limit=10)).hits

    texts = [" ".join(hit.chunk.text.split()) for hit in hits]
    assert len(set(texts)) == len(texts) == 5  # three of them say more than the text they share
    assert 2 == sum(len(hit.copies) for hit in hits)
    assert WASPS.strip() in texts


@pytest.mark.long
def test_copies_without_number_take_no_place_from_other_texts(shelf: Shelf) -> None:
    shelf.ingest(shelf.file("bees.txt", f"{BEES}\n\n" * 150), params=ChunkingParams(1.0, 10, 25))
    shelf.ingest(shelf.file("wasps.txt", WASPS))

    hits = shelf.app.alexandria.ask(shelf.ask("queen bee eggs", limit=2)).hits

    assert [BEES.strip(), WASPS.strip()] == [hit.chunk.text for hit in hits]
    assert hits[0].copies


@pytest.mark.parametrize("times", [2, 5, 40])
def test_a_text_that_is_repeated_ranks_no_higher_than_one_that_says_it_once(make_shelf: MakeShelf, times: int) -> None:
    shelf = make_shelf()
    question = shelf.ask("queen wasps nest", limit=5)
    shelf.ingest(shelf.file("once.txt", WASPS + "It is grey, and hangs in the roof."))
    shelf.ingest(shelf.file("repeated.txt", "Queen wasps sting. " * times + "Nobody knows why they do."))

    (once,) = (each for each in shelf.app.alexandria.ask(question).hits if "grey" in each.chunk.text)
    repeated = [each for each in shelf.app.alexandria.ask(question).hits if "sting" in each.chunk.text]

    assert all((each.lexical or 0) <= (once.lexical or 0) for each in repeated)
