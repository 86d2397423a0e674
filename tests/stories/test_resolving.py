"""Nodes and addresses become evidence with a receipt, found again at once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from citekit.application.resolve import NodeName
from citekit.domain.address import parse_address
from citekit.domain.digest import Digest
from citekit.domain.errors import (
    FormUnsupported,
    LocationOutside,
    NodeMissing,
    RequestRefused,
    ResourceMissing,
    SourceChanged,
    SourceMoved,
)
from citekit.domain.evidence import Form, Options
from citekit.domain.locations import Lines
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


def test_a_form_that_is_not_to_be_had_names_those_that_are(world: World) -> None:
    world.app.ingest(world.file("a.txt"))

    with pytest.raises(FormUnsupported, match="native, text"):
        world.app.resolve(NodeName("a_txt", "all"), options=Options(Form.FRAME))


def test_a_changed_source_is_said_to_be_stale_and_refused_until_it_is_remapped(world: World) -> None:
    world.app.ingest(world.file("a.txt"))
    world.file("a.txt", "ONE\nTWO\n")

    virtual = world.app.resolve(NodeName("a_txt", "all"), virtual=True)
    with pytest.raises(SourceChanged, match="--remap"):
        world.app.resolve(NodeName("a_txt", "all"))
    remapped = world.app.resolve(NodeName("a_txt", "all"), remap=True)

    assert "the source has changed since it was mapped" == virtual.stale
    assert remapped.output_path is not None
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
    assert world.app.verify.receipt(written).genuine
    evidence.output_path.unlink()
    evidence.output_path.write_bytes(b"forged\n")
    assert world.app.verify.file(evidence.output_path).refuted


def test_a_receipt_whose_parts_were_exchanged_is_refuted(world: World) -> None:
    world.app.ingest(world.file("a.txt"))
    evidence = world.app.resolve(NodeName("a_txt", "all.line_2"))
    assert evidence.receipt is not None
    plain = receipts.to_plain(evidence.receipt)

    moved = receipts.from_plain({**plain, "location": {"modality": "text", "lines": [3, 3]}}, "receipt")
    other = receipts.from_plain({**plain, "evidence_digest": Digest.of_bytes(b"three\n").hex}, "receipt")

    assert world.app.verify.receipt(moved).refuted
    assert world.app.verify.receipt(other).refuted


def test_a_receipt_of_a_changed_source_is_neither_proved_nor_refuted(world: World) -> None:
    world.app.ingest(world.file("a.txt"))
    evidence = world.app.resolve(NodeName("a_txt", "all.line_2"))
    assert evidence.receipt is not None
    world.file("a.txt", "changed\n")

    verdict = world.app.verify.receipt(evidence.receipt)

    assert (False, False) == (verdict.genuine, verdict.refuted)
