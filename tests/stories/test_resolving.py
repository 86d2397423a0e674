"""Nodes and addresses become evidence with a receipt, found again at once."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen

from citekit.adapters.formats.shared.line_extractor import TextExtractor
from citekit.container import bootstrap
from citekit.domain.address import parse_address
from citekit.domain.digest import Digest
from citekit.domain.errors import (
    DriverMissing,
    FaultyAnswer,
    FormUnsupported,
    LocationOutside,
    NodeMissing,
    PathNotAllowed,
    RequestRefused,
    ResourceMissing,
    SourceChanged,
    SourceMoved,
)
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Lines, Location
from citekit.domain.node import NodeName
from citekit.domain.source import Source
from citekit.wire import receipts
from tests.stories.conftest import World


def test_a_node_is_cut_out_with_a_receipt_that_says_what_it_is(world: World) -> None:
    source = world.file("a.txt")
    world.app.ingest(source)

    evidence = world.app.resolve(NodeName("a_txt", "all.line_2"))

    assert evidence.output_path is not None
    assert evidence.receipt is not None
    assert b"two\n" == evidence.output_path.read_bytes()
    assert "text://a_txt#lines=2" == str(evidence.address)
    assert "a_txt_all_line_2.txt" == evidence.output_path.name
    assert Digest.of_bytes(b"two\n") == evidence.receipt.evidence_digest
    assert (str(source), Lines(2, 2)) == (evidence.receipt.source_path, evidence.receipt.extent)


def test_the_second_time_nothing_is_cut(world: World) -> None:
    world.app.ingest(world.file("a.txt"))
    first = world.app.resolve(NodeName("a_txt", "all"))

    again = world.app.resolve(NodeName("a_txt", "all"))

    assert (True, False) == (first.made_now, again.made_now)
    assert first.output_path == again.output_path


def test_an_exact_cut_of_a_text_is_the_usual_one(world: World) -> None:
    world.app.ingest(world.file("a.txt"))
    usual = world.app.resolve(NodeName("a_txt", "all"))

    exact = world.app.resolve(NodeName("a_txt", "all"), options=Options(accurate=True))

    assert (usual.output_path, False) == (exact.output_path, exact.made_now)


def test_a_virtual_answer_has_an_address_and_no_path(world: World) -> None:
    world.app.ingest(world.file("a.txt"))

    evidence = world.app.resolve(NodeName("a_txt", "all"), virtual=True)

    assert (None, None, None) == (evidence.output_path, evidence.receipt, evidence.stale)
    assert "text://a_txt#lines=1-3" == str(evidence.address)


def test_any_address_is_resolved_and_names_the_innermost_node(world: World) -> None:
    world.app.ingest(world.file("a.txt"))

    inside = world.app.resolve(parse_address("text://a_txt#lines=3"))
    across = world.app.resolve(parse_address("text://a_txt#lines=2-3"))

    assert inside.node is not None
    assert across.node is not None
    assert ("all.line_3", "all") == (inside.node.id, across.node.id)
    assert across.output_path is not None
    assert b"two\nthree\n" == across.output_path.read_bytes()


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("text://a_txt#lines=99", LocationOutside),
        ("text://a_txt#lines=2-99", LocationOutside),
        ("doc://a_txt#pages=1", RequestRefused),
        ("text://other#lines=1", ResourceMissing),
    ],
)
def test_an_address_that_names_nothing_is_refused(world: World, address: str, error: type[Exception]) -> None:
    world.app.ingest(world.file("a.txt"))

    with pytest.raises(error):
        world.app.resolve(parse_address(address))


def test_an_unknown_node_names_the_nearest_ones(world: World) -> None:
    world.app.ingest(world.file("a.txt"))

    with pytest.raises(NodeMissing, match=r"Did you mean 'all\.line_2'"):
        world.app.resolve(NodeName("a_txt", "all.line2"))


def test_the_last_part_of_an_id_and_its_case_are_recognised(world: World) -> None:
    world.app.ingest(world.file("a.txt"))

    with pytest.raises(NodeMissing, match=r"Did you mean 'all\.line_2'"):
        world.app.resolve(NodeName("a_txt", "LINE_2"))
    with pytest.raises(ResourceMissing, match="Did you mean 'a_txt'"):
        world.app.resolve(NodeName("A_TXT", "all"))


def test_a_form_that_is_not_to_be_had_names_those_that_are(world: World) -> None:
    world.app.ingest(world.file("a.txt"))

    with pytest.raises(FormUnsupported, match="native, text"):
        world.app.resolve(NodeName("a_txt", "all"), options=Options(Form.FRAME))


def test_a_changed_source_is_said_to_be_stale_and_refused_until_it_is_remapped(world: World) -> None:
    world.app.ingest(world.file("a.txt"))
    world.app.resolve(NodeName("a_txt", "all"))
    world.file("a.txt", "ONE\nTWO\n")

    virtual = world.app.resolve(NodeName("a_txt", "all"), virtual=True)
    with pytest.raises(SourceChanged, match="--remap"):
        world.app.resolve(NodeName("a_txt", "all"))
    remapped = world.app.resolve(NodeName("a_txt", "all"), remap=True)

    assert "the source has changed since it was mapped" == virtual.stale
    assert remapped.output_path is not None
    assert "a_txt_all.txt" == remapped.output_path.name
    assert b"ONE\nTWO\n" == remapped.output_path.read_bytes()


def test_a_moved_source_is_found_by_its_bytes_under_a_given_root(world: World, tmp_path: Path) -> None:
    world.app.ingest(world.file("a.txt"))
    elsewhere = tmp_path / "elsewhere" / "deep"
    elsewhere.mkdir(parents=True)
    shutil.move(world.folder / "a.txt", elsewhere / "renamed.txt")

    with pytest.raises(SourceMoved, match="--root"):
        world.app.resolve(NodeName("a_txt", "all"))
    found = world.app.resolve(NodeName("a_txt", "all"), roots=[tmp_path / "elsewhere"])

    assert found.output_path is not None
    assert b"one\ntwo\nthree\n" == found.output_path.read_bytes()
    assert found.moved is not None
    assert str(elsewhere / "renamed.txt") in found.moved
    assert world.app.resolve(NodeName("a_txt", "all")).moved is None


def test_two_nodes_whose_names_fold_to_one_file_name_get_two_files(world: World) -> None:
    world.app.ingest(world.file("x/a.txt", "first\n"), wanted_id="a_all")
    world.app.ingest(world.file("y/a.txt", "zero\nsecond\n"), wanted_id="a")

    first = world.app.resolve(NodeName("a_all", "all.line_1"))
    second = world.app.resolve(parse_address("text://a#lines=2"))
    third = world.app.resolve(NodeName("a", "all.line_2"))

    contents = {
        evidence.output_path: evidence.output_path.read_bytes()
        for evidence in (first, second, third)
        if evidence.output_path
    }
    assert [b"first\n", b"second\n"] == sorted(set(contents.values()))


def test_edited_evidence_is_made_again(world: World) -> None:
    world.app.ingest(world.file("a.txt"))
    path = world.app.resolve(NodeName("a_txt", "all")).output_path
    assert path is not None
    path.unlink()
    path.write_bytes(b"forged")

    again = world.app.resolve(NodeName("a_txt", "all")).output_path

    assert path == again
    assert b"one\ntwo\nthree\n" == again.read_bytes()


def test_genuine_evidence_is_verified_and_forged_refuted(world: World, tmp_path: Path) -> None:
    world.app.ingest(world.file("a.txt"))
    evidence = world.app.resolve(NodeName("a_txt", "all.line_2"))
    assert evidence.output_path is not None
    assert evidence.receipt is not None
    copy = Path(shutil.copy(evidence.output_path, tmp_path / "copy.txt"))
    written = receipts.from_json(json.dumps(receipts.to_plain(evidence.receipt)), "receipt")

    assert world.app.verify.file(evidence.output_path).genuine
    assert world.app.verify.file(copy).genuine
    assert world.app.verify.file(copy, receipt=written).genuine
    evidence.output_path.unlink()
    evidence.output_path.write_bytes(b"forged\n")
    assert world.app.verify.file(evidence.output_path).refuted


def test_a_receipt_whose_parts_were_exchanged_is_refuted(world: World) -> None:
    world.app.ingest(world.file("a.txt"))
    evidence = world.app.resolve(NodeName("a_txt", "all.line_2"))
    assert evidence.receipt is not None
    plain = receipts.to_plain(evidence.receipt)

    third = {"location": {"modality": "text", "lines": [3, 3]}, "address": "text://a_txt#lines=3"}
    moved = receipts.from_plain({**plain, **third}, "receipt")
    other = receipts.from_plain({**plain, "evidence_digest": Digest.of_bytes(b"three\n").hex}, "receipt")

    assert world.app.verify.receipt(moved).refuted
    assert world.app.verify.receipt(other).refuted


@pytest.mark.parametrize(
    ("lie", "named"),
    [
        ({"extent": {"modality": "text", "lines": [1, 2]}}, "its extent"),
        ({"media_type": "text/html"}, "its media type"),
        ({"evidence_size": 5}, "its size"),
        ({"source_size": 5}, "has the wrong size"),
        ({"notes": ["signed"]}, "its notes"),
    ],
)
def test_a_receipt_that_misstates_its_evidence_is_refuted(world: World, lie: dict[str, Any], named: str) -> None:
    world.app.ingest(world.file("a.txt"))
    evidence = world.app.resolve(NodeName("a_txt", "all.line_2"))
    assert evidence.receipt is not None

    verdict = world.app.verify.receipt(receipts.from_plain({**receipts.to_plain(evidence.receipt), **lie}, "receipt"))

    assert verdict.refuted
    assert any(named in check.detail for check in verdict.checks)


def test_a_receipt_whose_address_is_another_is_no_receipt(world: World) -> None:
    world.app.ingest(world.file("a.txt"))
    evidence = world.app.resolve(NodeName("a_txt", "all.line_2"))
    assert evidence.receipt is not None

    with pytest.raises(FaultyAnswer, match="address"):
        receipts.from_plain({**receipts.to_plain(evidence.receipt), "address": "text://a_txt#lines=9"}, "receipt")


def test_a_receipt_of_a_changed_source_is_neither_proved_nor_refuted(world: World) -> None:
    world.app.ingest(world.file("a.txt"))
    evidence = world.app.resolve(NodeName("a_txt", "all.line_2"))
    assert evidence.receipt is not None
    world.file("a.txt", "changed\n")

    verdict = world.app.verify.receipt(evidence.receipt)

    assert (False, False) == (verdict.genuine, verdict.refuted)


def test_a_source_that_changes_while_it_is_cut_gives_no_evidence(world: World) -> None:
    path = world.file("a.txt", "good\n")
    world.app.ingest(path)
    text = TextExtractor()

    def swap_and_cut(*arguments: Any, **named: Any) -> Extraction:
        world.file("a.txt", "evil and longer\n")
        return text.extract(*arguments, **named)

    swapping = bootstrap(
        world.app.settings, maps=world.app.maps, evidence=world.app.evidence, extractors=[Swapping(text, swap_and_cut)]
    )
    with pytest.raises(SourceChanged):
        swapping.resolve(NodeName("a_txt", "all"))
    world.file("a.txt", "good\n")
    evidence = world.app.resolve(NodeName("a_txt", "all"))

    assert evidence.output_path is not None
    assert b"good\n" == evidence.output_path.read_bytes()


@frozen
class Swapping:
    """The text extractor, with something that happens in between."""

    inner: TextExtractor
    extract: Callable[..., Extraction]

    @property
    def identity(self) -> ExtractorIdentity:
        return self.inner.identity

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        return self.inner.forms(format, location)


def test_a_driver_that_is_missing_does_not_refute_evidence(world: World) -> None:
    world.app.ingest(world.file("a.txt"))
    evidence = world.app.resolve(NodeName("a_txt", "all"))
    assert evidence.receipt is not None

    def missing(*arguments: Any, **named: Any) -> Extraction:
        raise DriverMissing("This", "extra")

    app = bootstrap(world.app.settings, maps=world.app.maps, extractors=[Swapping(TextExtractor(), missing)])
    verdict = app.verify.receipt(evidence.receipt)

    assert (False, False) == (verdict.genuine, verdict.refuted)


def test_a_moved_source_is_found_although_another_file_took_its_place(world: World, tmp_path: Path) -> None:
    world.app.ingest(world.file("a.txt"))
    (tmp_path / "archive").mkdir()
    shutil.move(world.folder / "a.txt", tmp_path / "archive" / "a.txt")
    world.file("a.txt", "another file\n")

    found = world.app.resolve(NodeName("a_txt", "all"), roots=[tmp_path / "archive"])

    assert found.output_path is not None
    assert b"one\ntwo\nthree\n" == found.output_path.read_bytes()


@pytest.mark.parametrize("path", ["/etc/passwd", "../../../../../../etc/passwd"])
def test_a_map_that_does_not_know_its_file_reads_nothing_outside(world: World, path: str) -> None:
    world.app.ingest(world.file("a.txt"))
    stranger = evolve(world.app.maps.get("a_txt"), resource_id="evil", source_path=path, metadata={})
    world.app.maps.put(stranger)

    with pytest.raises(RequestRefused, match="has no digest of its file"):
        world.app.resolve(NodeName("evil", "all"))


def test_a_map_that_does_not_know_its_file_reads_below_the_home(world: World) -> None:
    world.app.ingest(world.file("a.txt"))
    world.app.settings.home.mkdir(exist_ok=True)
    (world.app.settings.home / "old.txt").write_bytes(b"one\ntwo\nthree\n")
    world.app.maps.put(
        evolve(world.app.maps.get("a_txt"), resource_id="old", source_path="old.txt", metadata={"line_count": 3})
    )

    evidence = world.app.resolve(NodeName("old", "all.line_2"))

    assert evidence.output_path is not None
    assert b"two\n" == evidence.output_path.read_bytes()


def test_an_agent_may_have_a_changed_file_mapped_again_that_its_owner_ingested(world: World) -> None:
    world.app.ingest(world.file("a.txt"))
    world.file("a.txt", "changed\n")

    evidence = world.app.for_clients().resolve(NodeName("a_txt", "all"), remap=True)

    assert evidence.output_path is not None
    assert b"changed\n" == evidence.output_path.read_bytes()


def test_an_agent_cannot_have_a_file_mapped_again_that_only_a_map_names(world: World) -> None:
    world.app.ingest(world.file("a.txt"), named=False)
    world.file("a.txt", "changed\n")

    with pytest.raises(PathNotAllowed, match="citekit ingest"):
        world.app.for_clients().resolve(NodeName("a_txt", "all"), remap=True)


@pytest.mark.parametrize(
    ("name", "suffix", "media_type"),
    [
        ("a.py", ".py", "text/x-python"),
        ("a.hpp", ".hpp", "text/x-c++"),
        ("a.CSV", ".csv", "text/csv"),
        ("README", ".txt", "text/plain"),
        ("a.very long suffix", ".txt", "text/plain"),
    ],
)
def test_lines_keep_the_suffix_of_their_source(world: World, name: str, suffix: str, media_type: str) -> None:
    made = world.app.ingest(world.file(name)).resource_map

    found = world.app.resolve(NodeName(made.resource_id, "all"))

    assert found.output_path is not None
    assert found.receipt is not None
    assert (suffix, media_type) == (found.output_path.suffix, found.receipt.media_type)


def test_the_same_lines_of_two_formats_keep_their_own_suffixes(world: World) -> None:
    world.mapper.facts = {}
    world.app.ingest(world.file("a.md"))
    world.app.ingest(world.file("b.log"))

    found = [world.app.resolve(NodeName(name, "all")) for name in ("a_md", "b_log")]

    assert [".md", ".log"] == [each.output_path.suffix for each in found if each.output_path]
    assert ["text/markdown", "text/plain"] == [each.receipt.media_type for each in found if each.receipt]
    assert all(world.app.verify.file(each.output_path).genuine for each in found if each.output_path)


class Touching(TextExtractor):
    """Cuts, and each of the first `times` times somebody touches the file meanwhile."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def extract(self, source: Source, *rest: Any, **more: Any) -> Extraction:
        made = super().extract(source, *rest, **more)
        if self.times:
            self.times -= 1
            os.utime(source.path, (self.times, self.times))
        return made


@pytest.mark.parametrize(("times", "is_cut"), [(1, True), (3, True), (99, False)])
def test_a_file_that_is_only_touched_while_it_is_cut_is_cut_again(world: World, times: int, is_cut: bool) -> None:
    app = bootstrap(world.app.settings, maps=world.app.maps, mapper=world.mapper, extractors=[Touching(times)])
    made = app.ingest(world.file("a.txt")).resource_map

    if is_cut:
        assert app.resolve(NodeName(made.resource_id, made.nodes[0].id)).output_path is not None
    else:
        with pytest.raises(SourceChanged):
            app.resolve(NodeName(made.resource_id, made.nodes[0].id))
