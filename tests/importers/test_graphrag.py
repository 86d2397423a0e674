"""GraphRAG's output as a map."""

from __future__ import annotations

import copy
import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from citekit.container import Container, bootstrap
from citekit.domain.errors import SourceUnreadable
from citekit.domain.locations import Chapter, Lines, Pages, Virtual
from citekit.domain.resource_map import ResourceMap
from citekit.domain.validation import map_issues
from citekit.wire import maps
from tests.foreign_indexes import GRAPHRAG, TEXT, UNITS, write_graphrag
from tests.made_files import make_epub


@pytest.fixture
def app(tmp_path: Path) -> Container:
    return bootstrap(home=tmp_path / "home")


def adapted(app: Container, data: object, source: Path | None = None) -> ResourceMap:
    known = None if source is None else app.sources.identify(source)
    return app.adapter_called("graphrag").adapt(data, "graph", known)


def tables(**changed: Any) -> dict[str, Any]:
    return {**copy.deepcopy(GRAPHRAG), **changed}


def write_story(folder: Path, text: str = TEXT) -> Path:
    path = folder / "story.txt"
    path.write_bytes(text.encode())
    return path


def outline(made: ResourceMap) -> dict[str, list[str]]:
    return {node.id: [child.id for child in node.children] for node in made.walk() if node.type != "text_unit"}


def test_communities_lie_in_communities_and_entities_in_the_deepest(app: Container) -> None:
    made = adapted(app, GRAPHRAG)

    assert outline(made) == {
        "community_0": ["community_1", "community_2"],
        "community_1": ["community_1.alice", "community_1.bob"],
        "community_1.alice": ["community_1.alice.text_0"],
        "community_1.bob": ["community_1.bob.text_0", "community_1.bob.text_3"],
        "community_2": ["community_2.carol"],
        "community_2.carol": ["community_2.carol.text_1"],
        "lyon": ["lyon.text_1"],
    }
    assert ("text_2", "text_unit") == (made.nodes[-1].id, made.nodes[-1].type)


def test_a_table_that_is_a_link_out_of_the_folder_is_not_read(app: Container, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    (tmp_path / "private.json").write_text('[{"id": "1", "title": "A secret"}]')
    (folder / "entities.json").symlink_to(tmp_path / "private.json")

    with pytest.raises(SourceUnreadable, match=r"entities\.json: it is a link to a file outside"):
        adapted(app, folder)


def test_a_community_has_the_title_and_summary_of_its_report(app: Container) -> None:
    made = adapted(app, GRAPHRAG)

    reported, unreported = made.find("community_1"), made.find("community_2")

    assert ("Alice and Bob", "Two friends in Paris.") == (reported.title, reported.summary)
    assert ("Community 2", None) == (unreported.title, unreported.summary)


def test_text_units_are_found_whatever_their_whitespace(app: Container, tmp_path: Path) -> None:
    made = adapted(app, GRAPHRAG, write_story(tmp_path))

    places = {name: made.find(name).location for name in ("community_1.alice.text_0", "lyon.text_1", "text_2")}

    assert places == {"community_1.alice.text_0": Lines(1, 3), "lyon.text_1": Lines(5, 6), "text_2": Lines(8, 8)}
    assert "Text units found word for word in the source: 3 of 4." in made.metadata["notes"]


def test_a_community_covers_its_text_units_and_blank_lines_between(app: Container, tmp_path: Path) -> None:
    made = adapted(app, GRAPHRAG, write_story(tmp_path))

    assert (Lines(1, 6), Lines(1, 3)) == (made.find("community_0").location, made.find("community_1").location)
    assert [] == map_issues(made)


def test_a_text_unit_of_another_document_gets_a_virtual_location(app: Container, tmp_path: Path) -> None:
    made = adapted(app, GRAPHRAG, write_story(tmp_path))

    assert Virtual("graph://text_unit/t-3") == made.find("community_1.bob.text_3").location


def test_passages_that_no_range_of_lines_holds_make_a_virtual_entity(app: Container, tmp_path: Path) -> None:
    data = tables()
    data["entities"][0]["text_unit_ids"] = ["t-0", "t-2"]

    made = adapted(app, data, write_story(tmp_path))

    assert Virtual("graph://e-0") == made.find("community_1.alice").location
    assert [Lines(1, 3), Lines(8, 8)] == [child.location for child in made.find("community_1.alice").children]


def test_a_text_that_comes_twice_is_found_behind_the_unit_before_it(app: Container, tmp_path: Path) -> None:
    text = "Again.\nFirst part.\nAgain.\nSecond part.\nAgain.\n"
    units = ["Again.\nFirst part.", "Again.\nSecond part.", "Second part.\nAgain.", "Again."]
    data = tables(text_units=[{"id": f"t-{n}", "human_readable_id": n, "text": unit} for n, unit in enumerate(units)])

    made = adapted(app, data, write_story(tmp_path, text))

    assert [(1, 2), (3, 4)] == [
        (place.first, place.last)
        for name in ("community_1.alice.text_0", "community_2.carol.text_1")
        if isinstance(place := made.find(name).location, Lines)
    ]
    assert Lines(5, 5) == made.find("community_1.bob.text_3").location


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_lines_are_found_in_every_encoding_and_with_every_line_ending(
    app: Container, tmp_path: Path, end: str, encoding: str
) -> None:
    path = tmp_path / "story.txt"
    path.write_bytes(TEXT.replace("\n", end).encode(encoding))

    made = adapted(app, GRAPHRAG, path)

    assert Lines(5, 6) == made.find("lyon.text_1").location


def test_pages_of_a_pdf_are_found_by_their_text(app: Container, tmp_path: Path) -> None:
    pymupdf: Any = importlib.import_module("pymupdf")
    path = tmp_path / "story.pdf"
    document = pymupdf.open()
    for text in ("Nothing of it.", UNITS[0], UNITS[1].partition("It ran")[0], "It ran for eleven days."):
        document.new_page().insert_text((72, 72), text, fontsize=11)
    document.save(path)

    made = adapted(app, GRAPHRAG, path)

    assert (Pages((2,)), Pages((3, 4))) == (made.find("community_1").location, made.find("lyon.text_1").location)
    assert Pages((2, 3, 4)) == made.find("community_0").location
    assert 4 == made.metadata["page_count"]
    assert [] == map_issues(made)


def test_characters_of_a_chapter_are_found_in_a_book(app: Container, tmp_path: Path) -> None:
    book = make_epub(tmp_path / "book.epub")
    data = tables(
        text_units=[{"id": "t-0", "text": "It begins  with words."}, {"id": "t-1", "text": "The End It begins"}]
    )

    made = adapted(app, data, book)
    place = made.find("community_1.alice.text_0").location

    assert isinstance(place, Chapter)
    assert place.chars is not None
    chapter = app.reader.read(book).chapters[0].text
    assert "It begins with words." == " ".join(chapter[slice(*place.chars)].split())
    assert [] == map_issues(made)


def test_json_lines_and_old_names_are_read(app: Container, tmp_path: Path) -> None:
    old = tmp_path / "output"
    old.mkdir()
    entities = [{"id": "e", "name": '"ALICE"', "type": '"PERSON"', "description": "A person.", "text_unit_ids": ["t"]}]
    write_rows(old / "create_final_entities.json", entities)
    write_rows(old / "create_final_text_units.json", [{"id": "t", "text": UNITS[0]}])
    write_rows(old / "create_final_nodes.json", [
        {"title": '"ALICE"', "community": 3.0, "level": 0}, {"title": '"ALICE"', "community": None, "level": 1},
    ])  # fmt: skip
    write_rows(old / "create_final_communities.json", [{"id": "3", "title": "Community 3", "level": 0}])
    write_rows(old / "create_final_community_reports.json", [{"community": "3", "title": "Report", "summary": "S"}])

    made = adapted(app, tmp_path, write_story(tmp_path))

    assert {"community_3": ["community_3.alice"], "community_3.alice": ["community_3.alice.text_0"]} == outline(made)
    assert ("Report", "ALICE", "person") == (
        made.find("community_3").title, made.find("community_3.alice").title, made.find("community_3.alice").type,
    )  # fmt: skip


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_columns_as_pandas_writes_them_are_read(app: Container, tmp_path: Path) -> None:
    rows = GRAPHRAG["entities"]
    columns = {name: {str(n): row[name] for n, row in enumerate(rows)} for name in rows[0]}
    (tmp_path / "entities.json").write_text(json.dumps(columns))

    made = adapted(app, tmp_path / "entities.json")

    assert ["alice", "bob", "carol", "lyon"] == [node.id for node in made.nodes]


def test_one_table_alone_is_a_map(app: Container, tmp_path: Path) -> None:
    folder = write_graphrag(tmp_path / "output")

    entities = adapted(app, folder / "entities.json")
    reports = adapted(app, folder / "community_reports.json")

    assert (4, 2) == (entities.node_count, reports.node_count)
    assert [("community_0", "community_1")] == [(top.id, top.children[0].id) for top in reports.nodes]


@pytest.mark.parametrize(
    "parents",
    [{0: 0}, {0: 1, 1: 0}, {0: 1, 1: 2, 2: 0}, {0: 99}, {1: float("nan")}, {0: -1, 1: -1, 2: -1}, {1: "0", 2: 0.0}],
)
def test_parents_in_circles_and_parents_that_are_not_there_do_no_harm(
    app: Container, parents: Mapping[int, Any]
) -> None:
    data = tables()
    for row in data["communities"]:
        row["parent"], row["children"] = parents.get(row["community"]), []
    data["community_reports"] = []

    made = adapted(app, data)

    assert {"community_0", "community_1", "community_2"} == {n.id for n in made.walk() if n.type == "community"}


@pytest.mark.long
@pytest.mark.parametrize("order", [1, -1])
def test_very_deep_communities_stay_within_what_a_map_may_hold(app: Container, order: int) -> None:
    rows = [{"community": n, "parent": n - 1, "level": n, "title": f"C {n}", "entity_ids": []} for n in range(3000)]

    made = adapted(app, {"communities": rows[::order]})

    assert 3000 == made.node_count
    assert made == maps.from_json(maps.to_json(made), "text")


@pytest.mark.parametrize("title", ["", "\x00\x1b[31m", "🙂" * 100, "a/b", "..", "x" * 5000, 5, None])
def test_odd_titles_make_usable_ids(app: Container, title: object) -> None:
    data = tables()
    for row in data["entities"]:
        row["title"] = title

    made = adapted(app, data)

    entities = [node for node in made.walk() if node.type in ("person", "geo")]
    assert 4 == len(entities)
    assert all(node.title.isprintable() and node.title for node in made.walk())
