"""`list`, `structure`, `inspect`, `search`, `validate`, `remove`: what maps say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from citekit.domain.locations import Box, Chapter, Lines, Location, Pages, TimeSpan, Virtual
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.formatting import clock, lasted, place, size
from tests.cli.program import Cli


def a_map(resource_id: str = "hand", **changes: Any) -> dict[str, Any]:
    """A map as a person would write it."""
    node = {"id": "one", "title": "One", "type": "part", "location": {"modality": "text", "lines": [1, 2]}}
    plain = {"resource_id": resource_id, "type": "text", "title": "By hand", "source_path": "", "nodes": [node]}
    return {**plain, **changes}


def test_resources_are_listed_with_the_state_of_their_source(cli: Cli) -> None:
    for name in ("same.py", "changed.py", "gone.py"):
        cli.write(name, f"# {name}\nx = 1\n")
        cli("ingest", name)
    cli.write("changed.py", "# other\n")
    (cli.here / "gone.py").unlink()
    cli.write(".resource_maps/hand.json", json.dumps(a_map()))
    cli.write(".resource_maps/torn.json", "{")

    answer = cli("list", "--json")

    states = {row["resource_id"]: row["source"] for row in answer.document["resources"]}
    assert {
        "changed_py": "changed",
        "gone_py": "missing",
        "hand": "unknown",
        "same_py": "unchanged",
        "torn": "damaged",
    } == states
    assert 0 == answer.code


def test_nodes_are_listed_with_their_place(mapped: Cli) -> None:
    assert ["first", "Second", "Second.third"] == [node["id"] for node in mapped.json("list", "code_py")["nodes"]]


def test_a_map_is_drawn_as_a_tree(mapped: Cli) -> None:
    lines = mapped("structure", "code_py").out.splitlines()

    assert [
        "code  (text, 3 nodes)",
        "├─ first  lines 1-3",
        "└─ Second  lines 6-10",
        "   └─ Second.third  lines 9-10",
    ] == lines


def test_a_tree_is_cut_at_a_depth_and_begun_at_a_node(mapped: Cli) -> None:
    flat = mapped.json("structure", "code_py", "--depth", "1")
    below = mapped.json("structure", "--resource", "code_py", "--node", "Second")

    assert [[], []] == [node["children"] for node in flat["nodes"]]
    assert ["Second"] == [node["id"] for node in below["nodes"]]


@pytest.mark.parametrize(
    "words", [["code_py", "Second.third"], ["code_py.Second.third"], ["-res", "code_py", "Second.third"]]
)
def test_a_node_is_named_in_three_ways(mapped: Cli, words: list[str]) -> None:
    found = mapped.json("inspect", *words)

    assert ("Second.third", "Second", "text://code_py#lines=9-10") == (found["id"], found["parent"], found["address"])


def test_one_word_that_means_two_nodes_is_refused_with_both(cli: Cli) -> None:
    node = a_map()["nodes"][0]
    cli.write(".resource_maps/a.json", json.dumps(a_map("a", nodes=[{**node, "id": "b.c"}])))
    cli.write(".resource_maps/a.b.json", json.dumps(a_map("a.b", nodes=[{**node, "id": "c"}])))

    answer = cli("inspect", "a.b.c")

    assert answer.code == 2
    assert "'a b.c' or 'a.b c'" in answer.err
    assert "c" == cli.json("inspect", "a.b", "c")["id"]


def test_an_unknown_node_is_answered_with_the_nearest(mapped: Cli) -> None:
    answer = mapped("inspect", "code_py", "Second.thrid", "--json")

    assert answer.code == 1
    assert "NodeMissing" == answer.document["error"]["type"]
    assert "Second.third" in answer.document["error"]["nearest"]
    assert "Error: Node 'Second.thrid' not found. Did you mean 'Second.third'" in answer.err


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (["nobody", "x"], 1, "No map found for resource 'nobody'. Expected at: .resource_maps/nobody.json"),
        (["nobody.x"], 1, "No map found for resource 'nobody'"),
        (["code_py"], 2, "is a resource. Name one of its nodes"),
        (["code_py.nothing"], 1, "Node 'nothing' not found. To list the nodes, run: citekit list code_py"),
        (["a", "b", "c"], 2, "Name exactly one node"),
        (["../../etc/passwd", "x"], 2, "contains a slash"),
        (["x" * 10_000, "x"], 2, "is too long"),
        (["\u202egnp", "x"], 2, "direction-changing"),
    ],
)
def test_a_part_that_is_not_there_is_one_sentence(mapped: Cli, words: list[str], code: int, reason: str) -> None:
    answer = mapped.within("inspect", *words)

    assert (code, "", 1) == (answer.code, answer.out, len(answer.err.splitlines()))
    assert reason in answer.err


def test_words_are_found_in_titles_and_summaries(mapped: Cli) -> None:
    assert "Second" == mapped.json("find", "--titles", "follows")["titles"][0]["node_id"]
    assert [] == mapped.json("find", "--titles", "nowhere")["titles"]


def test_no_title_drives_the_terminal(cli: Cli) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J \u202etxt.exe \x9b31m"
    node = {**a_map()["nodes"][0], "title": evil, "summary": evil, "id": f"n{evil}"}
    cli.write(".resource_maps/hand.json", json.dumps(a_map(title=evil, nodes=[node])))

    outputs = [
        cli(*words) for words in (["list"], ["structure", "hand"], ["list", "hand"], ["find", "--titles", "owned"])
    ]
    outputs.append(cli("inspect", "hand", f"n{evil}"))
    outputs.append(cli("inspect", "hand", evil))

    assert not [each for each in outputs if set(each.out + each.err) & {"\x1b", "\x07", "\x9b", "\u202e"}]
    assert "\\x1b[2J \\u202etxt.exe" in outputs[1].out


def test_a_removed_map_is_gone_and_its_source_is_not(cli: Cli) -> None:
    cli.write("code.py")
    cli("ingest", "code.py")

    answer = cli("remove", "code_py")

    assert "Evidence that was extracted from it stays in the cache" in answer.out
    assert [] == cli.json("list")["resources"]
    assert (cli.here / "code.py").exists()
    assert 1 == cli("remove", "code_py").code


def test_a_sound_map_file_is_said_to_be_sound(mapped: Cli) -> None:
    found = mapped.json("validate", ".resource_maps/code_py.json")

    assert (True, [], []) == (found["sound"], found["faults"], found["warnings"])


def test_boxes_are_read_as_they_are_said_to_be_meant(cli: Cli) -> None:
    node = {"id": "n", "title": "N", "type": "region", "location": {"modality": "image", "bbox": [0.5, 0.5, 0.4, 0.4]}}
    cli.write("m.json", json.dumps(a_map(type="image", nodes=[node])))

    assert 1 == cli("validate", "m.json").code
    assert 0 == cli("validate", "m.json", "--bbox", "xywh").code


def _deep(levels: int) -> str:
    return "[" * levels + "]" * levels


def _nested(levels: int) -> dict[str, Any]:
    node: dict[str, Any] = a_map()["nodes"][0]
    for level in range(levels):
        node = {**a_map()["nodes"][0], "id": f"n{level}", "children": [node]}
    return a_map(nodes=[node])


def _with_location(**location: Any) -> str:
    return json.dumps(a_map(nodes=[{"id": "n", "title": "N", "type": "p", "location": location}]))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"resource_id": "a", "nodes": [', "not valid JSON"),
        (_deep(100_000), ""),
        (json.dumps(_nested(80)), "deep"),
        (json.dumps(a_map(metadata={"map_version": 99})), "metadata.map_version: must be 1, not 99"),
        (json.dumps(a_map(nodes=[a_map()["nodes"][0]] * 2)), "the ID 'one' is already used by"),
        (json.dumps(a_map(metadata={"line_count": 1})), "nodes[0].location"),
        (json.dumps(a_map(nodes=[{"id": "n", "title": "N", "type": "p"}])), "location"),
        (_with_location(modality="document", pages=[0]), "no page 0"),
        (_with_location(modality="document", pages=[-3]), "no page -3"),
        (_with_location(modality="text", lines=[9, 3]), "reversed"),
        (_with_location(modality="video", start=9, end=3), "must be after"),
        (_with_location(modality="video", start=-1), "must be a finite number of at least 0 seconds"),
        ('{"resource_id": "a", "metadata": {"duration": NaN}, "nodes": []}', "NaN"),
        (_with_location(modality="image", bbox=[0, 0, 2, 2]), ""),
        ("[]", "a map must be a JSON object"),
        ("\ufffe\x00", ""),
        ("", "not valid JSON"),
    ],
)
def test_what_is_wrong_with_a_map_is_told_line_by_line(cli: Cli, text: str, reason: str) -> None:
    cli.write("m.json", text)

    answer = cli.within("validate", "m.json", "--json")

    assert answer.code == 1
    assert [each for each in answer.document["faults"] if reason in each]
    assert 1 == len(answer.err.splitlines())
    assert {"m.json"} == cli.everything()


@pytest.mark.parametrize("file", ["missing.json", ".", "/dev/null"])
def test_what_is_no_file_is_no_map(cli: Cli, file: str) -> None:
    answer = cli("validate", file)

    assert (1, "") == (answer.code, answer.out)
    assert file in answer.err


@pytest.mark.parametrize(
    ("location", "words"),
    [
        (Pages((12,)), "p. 12"),
        (Pages((3, 5, 6, 7)), "pp. 3, 5-7"),
        (Pages((12,), Box(0.1, 0.2, 0.9, 0.4)), "p. 12, 10-90% across, 20-40% down"),
        (Lines(10, 50), "lines 10-50"),
        (Lines(4, 4), "line 4"),
        (TimeSpan(145, 200), "2:25-3:20"),
        (TimeSpan(3745.5), "from 1:02:25.5"),
        (Chapter(7, (120, 980)), "ch. 7, chars 120-980"),
        (Virtual("virtual://x"), "virtual://x"),
    ],
)
def test_places_are_short(location: Location, words: str) -> None:
    assert words == place(location)


def test_sizes_and_times_are_in_words() -> None:
    assert ["1 byte", "999 bytes", "12.3 kB", "1 MB", "10 GB"] == [size(n) for n in (1, 999, 12_345, 999_999, 10**10)]
    assert ["less than 1 ms", "12 ms", "1.0 s", "2 min 5 s"] == [lasted(s) for s in (0.0004, 0.0123, 0.9999, 125)]
    assert "0:05.125" == clock(5.125)
    assert "a\\x00\\u202eb\\ud800" == printable("a\0\u202eb\ud800")
