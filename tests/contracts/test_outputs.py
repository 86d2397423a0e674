"""What laying out evidence promises."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.storage import outputs as friendly_outputs
from citekit.adapters.storage.object_store.folder import FolderObjectStore
from citekit.adapters.storage.outputs import FriendlyOutputs
from citekit.adapters.storage.shared_outputs import SharedOutputs
from citekit.adapters.system.file_locks import Locks
from citekit.domain.digest import Digest
from citekit.domain.errors import Cancelled, EvidenceCorrupt, HomeUnwritable
from citekit.domain.evidence import (
    EvidenceKey,
    Extraction,
    ExtractorIdentity,
    Form,
    Options,
    Receipt,
    StoredEvidence,
)
from citekit.domain.locations import Pages
from citekit.domain.ports.outputs import Outputs
from tests.doubles.stores import InMemoryEvidenceStore

EXTRACTOR = ExtractorIdentity("PyMuPdfExtractor", "1")


@pytest.fixture(scope="session")
def evidence() -> Callable[..., tuple[StoredEvidence, Receipt]]:
    """Evidence with the bytes `data` for some pages of some resource, and its receipt."""
    store = InMemoryEvidenceStore()

    def obtain(
        data: bytes = b"pages", resource: str = "book", page: int = 1, form: Form = Form.NATIVE, suffix: str = ".pdf"
    ) -> tuple[StoredEvidence, Receipt]:
        place, options, source = Pages.of([page]), Options(form), Digest.of_bytes(b"source of " + data)
        extraction = Extraction(suffix=suffix, media_type="application/pdf", extent=place, notes=("a note",))
        key = EvidenceKey.of(source, place, EXTRACTOR, options)

        def make(target: Path) -> Extraction:
            target.write_bytes(data)
            return extraction

        stored = evolve(store.obtain(key, make), extraction=extraction)
        receipt = Receipt(
            key=key,
            source_digest=source,
            source_path="/books/book.pdf",
            source_size=100,
            resource_id=resource,
            location=place,
            extractor=EXTRACTOR,
            options=options,
            evidence_digest=stored.digest,
            evidence_size=stored.size,
            media_type=extraction.media_type,
            extent=place,
            notes=extraction.notes,
            created=stored.created,
        )
        return stored, receipt

    return obtain


Obtain = Callable[..., tuple[StoredEvidence, Receipt]]


@pytest.fixture(params=["link", "copy", "shared"])
def outputs(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outputs:
    if request.param == "copy":

        def refuse(self: Path, target: Path) -> None:
            raise OSError("this file system has no links")

        monkeypatch.setattr(Path, "hardlink_to", refuse)
    files = FriendlyOutputs(tmp_path / ".citekit_output")
    return SharedOutputs(files, FolderObjectStore(tmp_path / "store")) if request.param == "shared" else files


def edit(path: Path, data: bytes) -> None:
    path.unlink()
    path.write_bytes(data)


class TestOutputs:
    def test_evidence_lies_under_the_name_that_was_asked_for(
        self, outputs: Outputs, evidence: Obtain, tmp_path: Path
    ) -> None:
        path = outputs.place(*evidence(b"pages"), "lecture_01_chapter_1_intro")

        assert tmp_path / ".citekit_output" / "lecture_01_chapter_1_intro.pdf" == path
        assert (b"pages", True) == (path.read_bytes(), path.is_absolute())

    def test_who_waits_for_another_who_lays_out_the_same_name_may_give_up(
        self, outputs: Outputs, evidence: Obtain, tmp_path: Path
    ) -> None:
        def give_up() -> None:
            raise Cancelled("enough")

        outputs.place(*evidence(b"old"), "book")
        locks = Locks(tmp_path / ".citekit_output" / friendly_outputs.RECEIPTS / ".locks")
        (name,) = (each.name for each in locks._folder.iterdir())
        with locks.hold(name), pytest.raises(Cancelled):
            outputs.place(*evidence(b"new"), "book", None, give_up)

        assert b"old" == (tmp_path / ".citekit_output" / "book.pdf").read_bytes()

    def test_the_receipt_is_kept(self, outputs: Outputs, evidence: Obtain) -> None:
        stored, receipt = evidence()
        path = outputs.place(stored, receipt, "book")

        assert receipt == outputs.receipt(path)

    def test_a_file_that_nobody_placed_has_no_receipt(self, outputs: Outputs, evidence: Obtain, tmp_path: Path) -> None:
        path = outputs.place(*evidence(), "book")
        (path.parent / "other.pdf").write_bytes(b"mine")

        assert outputs.receipt(path.parent / "other.pdf") is None
        assert outputs.receipt(tmp_path / "book.pdf") is None
        assert outputs.receipt(tmp_path / "missing" / "book.pdf") is None

    def test_the_receipt_is_found_by_the_bytes_wherever_they_lie_now(
        self, outputs: Outputs, evidence: Obtain, tmp_path: Path
    ) -> None:
        stored, receipt = evidence(b"older")
        moved = outputs.place(stored, receipt, "book").rename(tmp_path / "moved.pdf")
        outputs.place(*evidence(b"newer"), "book")

        found = outputs.receipt_of(Digest.of_bytes(moved.read_bytes()))

        assert receipt == found

    def test_a_receipt_that_is_not_allowed_is_not_found(self, outputs: Outputs, evidence: Obtain) -> None:
        stored, receipt = evidence(b"pages")
        outputs.place(stored, receipt, "book")

        assert receipt == outputs.receipt_of(stored.digest, lambda each: each.source_path == receipt.source_path)
        assert outputs.receipt_of(stored.digest, lambda each: each.source_path != receipt.source_path) is None

    def test_bytes_that_nobody_placed_have_no_receipt(self, outputs: Outputs, evidence: Obtain) -> None:
        outputs.place(*evidence(b"pages"), "book")

        assert outputs.receipt_of(Digest.of_bytes(b"others")) is None

    def test_placing_again_changes_nothing(self, outputs: Outputs, evidence: Obtain) -> None:
        stored, receipt = evidence()
        path = outputs.place(stored, receipt, "book")
        before = [os.stat(each).st_mtime_ns for each in (path, path.parent / ".receipts" / "book.pdf.json")]

        again = outputs.place(stored, receipt, "book")

        assert path == again
        assert before == [os.stat(each).st_mtime_ns for each in (path, path.parent / ".receipts" / "book.pdf.json")]

    def test_what_was_placed_and_not_touched_still_is(self, outputs: Outputs, evidence: Obtain) -> None:
        stored, receipt = evidence()
        path = outputs.place(stored, receipt, "book", "the node 1 of book")
        time.sleep(0.1)  # another change of the files shows only then
        outputs.place(stored, receipt, "book", "the node 1 of book")

        assert outputs.is_unchanged(path, stored, receipt)
        assert not outputs.is_unchanged(path, stored, evolve(receipt, source_path="/elsewhere"))
        assert not outputs.is_unchanged(path.with_name("other.pdf"), stored, receipt)

    def test_what_was_edited_is_not_still_what_was_placed(self, outputs: Outputs, evidence: Obtain) -> None:
        stored, receipt = evidence(b"pages")
        path = outputs.place(stored, receipt, "book")
        time.sleep(0.1)
        outputs.place(stored, receipt, "book")
        edit(path, b"EDITS")

        assert not outputs.is_unchanged(path, stored, receipt)

    def test_an_edited_file_is_replaced(self, outputs: Outputs, evidence: Obtain) -> None:
        stored, receipt = evidence(b"pages")
        edit(outputs.place(stored, receipt, "book"), b"EDITS")

        assert b"pages" == outputs.place(stored, receipt, "book").read_bytes()

    def test_a_removed_file_is_laid_again(self, outputs: Outputs, evidence: Obtain) -> None:
        stored, receipt = evidence(b"pages")
        outputs.place(stored, receipt, "book").unlink()

        assert b"pages" == outputs.place(stored, receipt, "book").read_bytes()

    def test_newer_content_of_the_same_place_replaces_the_older(self, outputs: Outputs, evidence: Obtain) -> None:
        older = outputs.place(*evidence(b"older"), "book")
        stored, receipt = evidence(b"newer")

        newer = outputs.place(stored, receipt, "book")

        assert (older, b"newer", receipt) == (newer, newer.read_bytes(), outputs.receipt(newer))

    @pytest.mark.parametrize("other", [{"resource": "b"}, {"page": 2}, {"form": Form.TEXT}])
    def test_the_evidence_of_another_place_gets_a_name_of_its_own(
        self, outputs: Outputs, evidence: Obtain, other: dict[str, object]
    ) -> None:
        first = outputs.place(*evidence(b"one"), "a_b_c")
        second = outputs.place(*evidence(b"two", **other), "a_b_c")

        again = [outputs.place(*evidence(b"one"), "a_b_c"), outputs.place(*evidence(b"two", **other), "a_b_c")]

        assert [first, second] == again
        assert first != second
        assert (b"one", b"two") == (first.read_bytes(), second.read_bytes())
        assert second.name.startswith("a_b_c_")
        assert len("a_b_c_12345678.pdf") == len(second.name)

    @given(name=st.text(max_size=400), suffix=st.sampled_from([".pdf", ".mp4", "", "./../x", ".tar.gz"]))
    def test_no_name_leads_out_or_is_too_long(
        self, tmp_path_factory: pytest.TempPathFactory, evidence: Obtain, name: str, suffix: str
    ) -> None:
        folder = tmp_path_factory.mktemp("home") / "out"
        outputs = FriendlyOutputs(folder)
        stored, receipt = evidence(suffix=suffix)

        path = outputs.place(stored, receipt, name)

        assert (folder, True) == (path.parent, len(os.fsencode(path.name)) <= 255)
        assert (receipt, path) == (outputs.receipt(path), outputs.place(stored, receipt, name))
        assert [path.name] == [each.name for each in folder.iterdir() if not each.name.startswith(".")]

    def test_two_long_names_that_differ_at_the_end_stay_apart(self, outputs: Outputs, evidence: Obtain) -> None:
        one = outputs.place(*evidence(b"one", page=1), "x" * 300 + "1")
        two = outputs.place(*evidence(b"two", page=2), "x" * 300 + "2")

        assert (b"one", b"two") == (one.read_bytes(), two.read_bytes())

    def test_a_damaged_receipt_is_written_again(self, outputs: Outputs, evidence: Obtain) -> None:
        stored, receipt = evidence()
        path = outputs.place(stored, receipt, "book")
        (path.parent / ".receipts" / "book.pdf.json").write_text("{")

        before, after = outputs.receipt(path), outputs.receipt(outputs.place(stored, receipt, "book"))

        assert (None, receipt) == (before, after)

    def test_evidence_that_was_evicted_meanwhile_is_said_to_be_gone(self, outputs: Outputs, evidence: Obtain) -> None:
        stored, receipt = evidence()

        with pytest.raises(EvidenceCorrupt, match="Resolve its address again"):
            outputs.place(evolve(stored, path=stored.path.with_name("gone")), receipt, "book")

    def test_a_file_stays_good_when_its_object_was_made_again(
        self, outputs: Outputs, evidence: Obtain, tmp_path: Path
    ) -> None:
        stored, receipt = evidence(b"pages")
        outputs.place(stored, receipt, "book")
        anew = tmp_path / "anew"
        anew.write_bytes(b"pages")

        path = outputs.place(evolve(stored, path=anew), receipt, "book")

        assert b"pages" == path.read_bytes()

    def test_a_folder_in_the_way_is_one_clear_error(self, outputs: Outputs, evidence: Obtain, tmp_path: Path) -> None:
        (tmp_path / ".citekit_output" / "book.pdf").mkdir(parents=True)

        with pytest.raises(HomeUnwritable, match="there is a folder with that name"):
            outputs.place(*evidence(), "book")

    def test_many_at_once_never_share_a_path(self, outputs: Outputs, evidence: Obtain) -> None:
        wanted = [evidence(f"page {page}".encode(), page=page) for page in range(1, 9)] * 3

        with ThreadPoolExecutor(8) as pool:
            paths = list(pool.map(outputs.place, *zip(*wanted, strict=True), ["same"] * len(wanted)))

        assert [stored.path.read_bytes() for stored, _ in wanted] == [path.read_bytes() for path in paths]
        assert 8 == len(set(paths))

    def test_nothing_temporary_is_left(self, outputs: Outputs, evidence: Obtain, tmp_path: Path) -> None:
        for data in (b"one", b"two"):
            outputs.place(*evidence(data), "book")

        names = sorted(each.name for each in (tmp_path / ".citekit_output").iterdir())
        assert [".receipts", "book.pdf"] == names


def test_a_home_that_cannot_be_written_is_said(tmp_path: Path, evidence: Obtain) -> None:
    (tmp_path / "home").write_text("a file")

    with pytest.raises(HomeUnwritable, match="not a folder"):
        FriendlyOutputs(tmp_path / "home" / "out").place(*evidence(), "book")


def test_a_file_is_a_link_to_the_object_where_links_are_possible(tmp_path: Path, evidence: Obtain) -> None:
    stored, receipt = evidence()

    path = FriendlyOutputs(tmp_path / "out").place(stored, receipt, "book")

    if os.stat(tmp_path).st_dev == os.stat(stored.path).st_dev:
        assert path.samefile(stored.path)


def test_receipts_by_content_stay_bounded_and_leftovers_go(
    tmp_path: Path, evidence: Obtain, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    placed = [evidence(f"page {page}".encode(), page=page) for page in range(1, 8)]
    for stored, receipt in placed[:6]:
        FriendlyOutputs(folder).place(stored, receipt, f"page {receipt.location}")
    by_content = folder / ".receipts" / ".by_content"
    for age, (stored, _) in enumerate(placed[:6]):
        os.utime(by_content.joinpath(*stored.digest.fan_out).with_suffix(".json"), (1000 + age, 1000 + age))
    left = next(by_content.iterdir()) / ".killed.tmp"
    left.write_text("half")
    os.utime(left, (1, 1))
    monkeypatch.setattr(friendly_outputs, "CONTENT_LIMIT", 4)

    outputs = FriendlyOutputs(folder)
    outputs.place(*placed[6], "page 7")
    found = [outputs.receipt_of(stored.digest) is not None for stored, _ in placed]

    assert ([False, False, True, True, True, True, True], False) == (found, left.exists())
    assert 7 == len([path for path in folder.iterdir() if outputs.receipt(path)]), "what lies here keeps its receipt"


def test_other_machines_find_every_receipt_of_shared_outputs(tmp_path: Path, evidence: Obtain) -> None:
    objects = FolderObjectStore(tmp_path / "store")
    first, second = (SharedOutputs(FriendlyOutputs(tmp_path / name), objects) for name in ("one", "two"))
    stored, receipt = evidence(b"the same words")
    other = evolve(receipt, source_path="/books/copy.pdf", resource_id="copy")
    for each in (receipt, other, evolve(receipt, created=receipt.created + timedelta(days=1))):
        first.place(stored, each, each.resource_id)
    (damaged, _) = objects.listing("receipts")
    assert receipt == second.receipt_of(stored.digest, lambda each: each.resource_id != "copy")
    assert other == second.receipt_of(stored.digest, lambda each: each.resource_id == "copy")

    objects.remove(damaged.key)
    objects.put(damaged.key, b"{")

    assert second.receipt_of(stored.digest) in (receipt, other)
