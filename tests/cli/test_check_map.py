"""`validate`: each fault is told by its path, and what is safe is put right."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Cli

LINES = "".join(f"line {number}\n" for number in range(1, 21))

Break = Callable[[dict[str, Any]], object]


def a_node(name: str, first: int, last: int, *children: dict[str, Any], **more: Any) -> dict[str, Any]:
    location = {"modality": "text", "lines": [first, last]}
    return {"id": name, "title": name.title(), "type": "part", "location": location, "children": [*children], **more}


@pytest.fixture
def here(cli: Cli) -> Cli:
    """A text of 20 lines, mapped as `t_txt`, and the map's file beside it as `m.json`, with nodes of our own."""
    cli.write("t.txt", LINES)
    assert 0 == cli.within("ingest", "t.txt").code
    plain = json.loads((cli.here / ".resource_maps/t_txt.json").read_bytes())
    plain["nodes"] = [a_node("one", 1, 10, a_node("one.a", 1, 4), a_node("one.b", 5, 10)), a_node("two", 11, 20)]
    cli.write("m.json", json.dumps(plain))
    return cli


def broken(cli: Cli, change: Break) -> dict[str, Any]:
    """The map in `m.json` after it was changed."""
    plain: dict[str, Any] = json.loads((cli.here / "m.json").read_bytes())
    change(plain)
    cli.write("m.json", json.dumps(plain))
    return plain


def at(*path: str | int) -> Callable[[Any], Break]:
    """`at("nodes", 1, "title")("X")` puts X there."""

    def to(value: Any) -> Break:
        def change(plain: dict[str, Any]) -> None:
            holder: Any = plain
            for step in path[:-1]:
                holder = holder[step]
            if value is None:
                del holder[path[-1]]
            else:
                holder[path[-1]] = value

        return change

    return to


FIRST, LAST = ("nodes", 0, "children", 1), ("nodes", 1)

FIXED: dict[str, tuple[Break, str, tuple[str, Any, Any]]] = {
    "past the end": (
        at(*LAST, "location", "lines")([11, 400]),
        "nodes[1].location: only the part lines=11-20 of the location is inside the file",
        ("nodes[1].location.lines", [11, 400], [11, 20]),
    ),
    "outside its parent": (
        at(*FIRST, "location", "lines")([5, 15]),
        "nodes[0].children[1].location: 'one.b' is not inside its parent 'one'",
        ("nodes[0].children[1].location.lines", [5, 15], [5, 10]),
    ),
    "places beside the location": (
        lambda plain: (plain["nodes"][1].pop("location"), plain["nodes"][1].update(lines=[11, 99])),
        "nodes[1].location: only the part lines=11-20 of the location is inside the file",
        ("nodes[1].lines", [11, 99], [11, 20]),
    ),
    "states a longer file": (
        at("metadata", "line_count")(99),
        "metadata.line_count: 99, but the file has 20",
        ("metadata.line_count", 99, 20),
    ),
    "an empty title": (at(*FIRST, "title")(" "), "nodes[0].children[1].title: is empty", ("nodes[0].children[1].title", " ", "b")),
    "controls in a title": (
        at(*LAST, "title")("a\x1b[2Jb\u202ec"),
        "nodes[1].title: contains control characters",
        ("nodes[1].title", "a\x1b[2Jb\u202ec", "a [2Jb c"),
    ),
    "controls in the map's title": (at("title")("a\nb"), "title: contains control characters", ("title", "a\nb", "a b")),
}  # fmt: skip

LEFT: dict[str, tuple[Break, str]] = {
    "wholly beyond the end": (at(*LAST, "location", "lines")([21, 22]), "nodes[1].location: line 21 is beyond the end"),
    "begins before its parent": (at(*FIRST, "location", "lines")([11, 12]), "is not inside its parent 'one'"),
    "reversed": (at(*LAST, "location", "lines")([9, 3]), "nodes[1].location: the line range 9-3 is reversed"),
    "line 0": (at(*LAST, "location", "lines")([0, 3]), "nodes[1].location: lines are numbered from 1, so there is no line 0"),
    "no numbers": (at(*LAST, "location", "lines")(["a", 3]), "nodes[1].location.lines: must be a whole number, not 'a'"),
    "another kind of place": (
        at(*LAST, "location")({"modality": "document", "pages": [1]}),
        "nodes[1].location: the modality of the location is document, but the type of the map is text",
    ),
    "no such modality": (at(*LAST, "location", "modality")("smell"), "nodes[1].location.modality: must be one of"),
    "no place": (at(*LAST, "location")(None), "nodes[1].location: is missing"),
    "two of one id": (
        at(*FIRST, "id")("two"),
        "nodes[1].id: the ID 'two' is already used by nodes[0].children[1]",
    ),
    "no id": (at(*LAST, "id")(None), "nodes[1].id: is missing"),
    "an id that is no text": (at(*LAST, "id")(7), "nodes[1].id: must be a string, not 7"),
    "controls in an id": (at(*LAST, "id")("a\x07"), "nodes[1].id: contains control characters"),
    "the map is of another type": (at("type")("document"), "type: document, but the type of the file is text (format text)"),
    "no such type": (at("type")("smell"), "type: must be one of"),
    "the bytes of another file": (at("metadata", "source_hash")("0" * 64), "metadata.source_hash: the file at"),
    "no digest": (at("metadata", "source_hash")("abc"), "metadata.source_hash: must be a SHA-256 digest (64 lowercase hexadecimal digits), not 'abc'"),
    "a node that is none": (at("nodes", 1)("two"), "nodes[1]: must be a JSON object, not 'two'"),
    "children that are none": (at(*LAST, "children")("two"), "nodes[1].children: must be a list, not 'two'"),
    "no time": (at("created_at")("yesterday"), "created_at: must be a time in ISO 8601, not 'yesterday'"),
    "an extent that such a file has not": (at("metadata", "page_count")(9), "metadata.page_count: 9, but files of this type"),
}  # fmt: skip


@pytest.mark.parametrize("name", FIXED)
def test_what_is_safe_is_told_and_put_right(here: Cli, name: str) -> None:
    change, fault, expected = FIXED[name]
    before = broken(here, change)

    told = here.within("validate", "m.json", "--json")
    fixed = here.within("validate", "m.json", "--fix", "--json")

    assert 1 == told.code
    assert [each for each in told.document["faults"] if fault in each]
    assert (0, [expected]) == (fixed.code, [(e["path"], e["before"], e["after"]) for e in fixed.document["changes"]])
    assert told.document["fixable"] == fixed.document["changes"]
    assert before == json.loads((here.here / "m.json.bak").read_bytes())
    assert 0 == here.within("validate", "m.json").code


@pytest.mark.parametrize("name", LEFT)
def test_what_cannot_be_put_right_safely_is_told_and_left(here: Cli, name: str) -> None:
    change, fault = LEFT[name]
    before = broken(here, change)

    told = here.within("validate", "m.json", "--json")
    left = here.within("validate", "m.json", "--fix", "--json")

    assert [each for each in told.document["faults"] if fault in each]
    assert (1, 1, []) == (told.code, left.code, left.document["changes"])
    assert (told.document["faults"], None) == (left.document["faults"], left.document["written"])
    assert before == json.loads((here.here / "m.json").read_bytes())
    assert not (here.here / "m.json.bak").exists()


def test_every_fault_of_a_map_is_told_at_once(here: Cli) -> None:
    for change, _ in list(LEFT.values())[:3]:
        broken(here, change)
    broken(here, at(*FIRST, "location", "lines")([5, 15]))
    broken(here, at("title")(""))

    answer = here.within("validate", "m.json", "--json")

    paths = [each.partition(": ")[0] for each in answer.document["faults"]]
    assert ["nodes[1].location", "nodes[0].children[1].location", "title"] == paths


def test_fixing_again_changes_nothing_and_keeps_the_first_original(here: Cli) -> None:
    before = broken(here, FIXED["past the end"][0])
    assert 0 == here.within("validate", "m.json", "--fix").code
    fixed = (here.here / "m.json").read_bytes()

    again = here.within("validate", "m.json", "--fix", "--json")

    assert ([], None, None) == tuple(again.document[name] for name in ("changes", "written", "backup"))
    assert fixed == (here.here / "m.json").read_bytes()
    assert before == json.loads((here.here / "m.json.bak").read_bytes())
    assert ["m.json", "m.json.bak"] == sorted(path.name for path in here.here.glob("m.json*"))


def test_an_older_copy_is_never_written_over(here: Cli) -> None:
    here.write("m.json.bak", "mine")
    broken(here, FIXED["past the end"][0])

    answer = here.within("validate", "m.json", "--fix", "--json")

    assert str(here.here / "m.json.bak2") == answer.document["backup"]
    assert "mine" == (here.here / "m.json.bak").read_text()


def test_nothing_else_in_the_file_is_touched(here: Cli) -> None:
    broken(here, at("colour")("red"))
    broken(here, at(*FIRST, "note")({"a": [1, None]}))
    before = broken(here, FIXED["past the end"][0])

    answer = here.within("validate", "m.json", "--fix", "--json")

    expected = copy.deepcopy(before)
    expected["nodes"][1]["location"]["lines"] = [11, 20]
    assert expected == json.loads((here.here / "m.json").read_bytes())
    assert ["colour: unknown field, ignored", "nodes[0].children[1].note: unknown field, ignored"] == [
        warning for warning in answer.document["warnings"] if "unknown" in warning
    ]  # fmt: skip


def test_the_rest_is_left_and_told_where_some_was_put_right(here: Cli) -> None:
    broken(here, FIXED["past the end"][0])
    broken(here, at(*FIRST, "location", "lines")([11, 12]))

    answer = here.within("validate", "m.json", "--fix")

    assert 1 == answer.code
    assert (
        "(fixed) nodes[1].location.lines: [11, 400] -> [11, 20] (the location extended beyond the end of the file)"
        in answer.out
    )
    assert "m.json has 1 fault left: nodes[0].children[1].location" in answer.err


def test_the_fixed_map_can_be_written_elsewhere(here: Cli) -> None:
    before = broken(here, FIXED["past the end"][0])

    answer = here.within("validate", "m.json", "--fix", "-o", "fixed.json", "--json")

    assert (0, None) == (answer.code, answer.document["backup"])
    assert before == json.loads((here.here / "m.json").read_bytes())
    assert 0 == here.within("validate", "fixed.json").code


def test_another_file_is_written_over_only_by_force(here: Cli) -> None:
    broken(here, FIXED["past the end"][0])
    here.write("fixed.json", "mine")

    refused = here.within("validate", "m.json", "--fix", "-o", "fixed.json")
    itself = here.within("validate", "m.json", "--fix", "-o", "m.json", "--force")
    forced = here.within("validate", "m.json", "--fix", "-o", "fixed.json", "--force")

    assert (2, 2, 0) == (refused.code, itself.code, forced.code)


def test_a_map_of_the_home_is_named_by_its_id_and_resolves_when_it_is_fixed(here: Cli) -> None:
    plain = broken(here, FIXED["past the end"][0])
    here.write(".resource_maps/t_txt.json", json.dumps(plain))

    told = here.within("validate", "t_txt", "--json")
    fixed = here.within("validate", "t_txt", "--fix", "--json")
    found = here.within("resolve", "t_txt", "two", "--json")

    assert (1, 0, 0) == (told.code, fixed.code, found.code)
    assert "text://t_txt#lines=11-20" == found.document["address"]
    assert ["t_txt"] == [each["resource_id"] for each in here.within("list", "--json").document["resources"]]


def test_a_map_without_its_file_is_held_against_itself_and_not_put_right(here: Cli) -> None:
    broken(here, FIXED["past the end"][0])
    (here.here / "t.txt").unlink()

    answer = here.within("validate", "m.json", "--fix", "--json")

    assert (1, False, []) == (answer.code, answer.document["measured"], answer.document["changes"])
    assert [each for each in answer.document["warnings"] if each.startswith("source_path: the source is no longer at")]


def test_a_file_that_is_not_where_the_map_says_is_told_with_where_it_was_found(here: Cli) -> None:
    (here.here.parent / "other.txt").write_text("other")
    broken(here, at("source_path")("../other.txt"))

    answer = here.within("validate", "m.json", "--json")

    assert (0, True) == (answer.code, answer.document["measured"])
    assert [
        "source_path: the file at ../other.txt is not the file that was mapped; an identical file "
        f"was found at {here.here / 't.txt'}"
    ] == answer.document["warnings"]


def test_nodes_out_of_order_are_worth_a_warning(here: Cli) -> None:
    broken(here, lambda plain: plain["nodes"].reverse())

    answer = here.within("validate", "m.json", "--json")

    assert (0, True) == (answer.code, answer.document["measured"])
    assert ["nodes[1]: 'one' begins before its previous sibling"] == answer.document["warnings"]


def test_a_link_to_a_map_is_followed(here: Cli) -> None:
    broken(here, FIXED["past the end"][0])
    (here.here / "link.json").symlink_to("m.json")

    assert 0 == here.within("validate", "link.json", "--fix").code
    assert (here.here / "link.json").is_symlink()
    assert 0 == here.within("validate", "m.json").code


@pytest.mark.parametrize("arguments", [["-o", "x.json"], ["--force"], ["--fix", "--bbox", "xywh"]])
def test_what_makes_no_sense_together_is_refused(here: Cli, arguments: list[str]) -> None:
    assert 2 == here.within("validate", "m.json", *arguments).code


def test_no_escape_of_a_title_reaches_the_terminal(here: Cli) -> None:
    broken(here, FIXED["controls in a title"][0])
    broken(here, at("co\x1blour")("red"))

    answers = [here.within("validate", "m.json", *more) for more in ([], ["--fix"])]

    assert not [each for each in answers if set(each.out + each.err) & {"\x1b", "\u202e"}]


@pytest.mark.long
def test_a_folder_that_cannot_be_written_keeps_the_map(here: Cli) -> None:
    before = broken(here, FIXED["past the end"][0])
    (here.here / "closed").mkdir()
    (here.here / "m.json").rename(here.here / "closed/m.json")
    (here.here / "closed").chmod(0o555)

    answer = here.as_anybody("validate", "closed/m.json", "--fix")

    (here.here / "closed").chmod(0o755)
    assert 1 == answer.code
    assert "Cannot write" in answer.err
    assert before == json.loads(Path(here.here / "closed/m.json").read_bytes())


@pytest.mark.long
def test_of_very_many_faults_a_person_sees_the_first_and_a_program_all(here: Cli) -> None:
    broken(here, at("nodes")([a_node(f"n{number}", 1, 999) for number in range(1_500)]))

    seen, read = here.within("validate", "m.json"), here.within("validate", "m.json", "--json")

    assert "... and 500 more faults. To see all of them, use --json." in seen.out
    assert 1_001 <= len(seen.out.splitlines()) <= 1_010
    assert "nodes[1499].location" in read.out + read.err
