"""LlamaIndex's nodes as a map."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from citekit.container import Container, bootstrap
from citekit.domain.errors import SourceUnreadable
from citekit.domain.locations import Lines, Location, Pages, Virtual
from citekit.domain.modality import Modality
from citekit.domain.resource_map import ResourceMap
from citekit.domain.validation import map_issues
from citekit.wire import maps
from tests.foreign_indexes import TEXT, docstore, llama_node, related, story_nodes


@pytest.fixture
def app(tmp_path: Path) -> Container:
    return bootstrap(home=tmp_path / "home")


@pytest.fixture
def story(tmp_path: Path) -> Path:
    path = tmp_path / "elsewhere" / "story.txt"
    path.parent.mkdir()
    path.write_bytes(TEXT.encode())
    return path


def adapted(app: Container, data: object, source: Path | None = None) -> ResourceMap:
    known = None if source is None else app.sources.identify(source)
    return app.adapter_called("llamaindex").adapt(data, "nodes", known)


def persisted(folder: Path, nodes: list[dict[str, Any]], index: object = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "docstore.json").write_text(json.dumps(docstore(nodes)))
    (folder / "index_store.json").write_text(json.dumps(index or {"index_store/data": {}}))
    (folder / "default__vector_store.json").write_text('{"embedding_dict": {}}')
    return folder


def places(made: ResourceMap) -> dict[str, Location]:
    return {node.id: node.location for node in made.walk()}


def make_pdf(path: Path, pages: list[str], labels: list[dict[str, Any]] | None = None) -> Path:
    pymupdf: Any = importlib.import_module("pymupdf")
    document = pymupdf.open()
    for text in pages:
        document.new_page().insert_text((72, 72), text, fontsize=11)
    if labels:
        document.set_page_labels(labels)
    document.save(path)
    return path


def test_relationships_make_the_tree_and_next_the_order(app: Container, story: Path) -> None:
    made = adapted(app, story_nodes(), story)

    assert [("n-top", ["n-one", "n-two"]), ("n-last", [])] == [
        (top.id, [child.id for child in top.children]) for top in made.nodes
    ]


def test_characters_become_lines(app: Container, story: Path) -> None:
    made = adapted(app, story_nodes(), story)

    assert {"n-top": Lines(1, 6), "n-one": Lines(1, 3), "n-two": Lines(5, 6), "n-last": Lines(8, 8)} == places(made)
    assert ["Nodes located in the source: 4 of 4."] == made.metadata["notes"]


def test_characters_that_do_not_hold_the_text_are_not_believed(app: Container, story: Path) -> None:
    nodes = [
        llama_node("shifted", "They spoke of engines", start_char_idx=60, end_char_idx=80),
        llama_node("beyond", "Nobody came back.", start_char_idx=9000, end_char_idx=9017),
        llama_node("gone", "This stands nowhere in it.", start_char_idx=0, end_char_idx=26),
        llama_node("reversed", "of rivers", start_char_idx=50, end_char_idx=40),
    ]

    made = adapted(app, nodes, story)

    assert {
        "shifted": Lines(2, 2),
        "beyond": Lines(8, 8),
        "gone": Virtual("llamaindex://node/gone"),
        "reversed": Lines(3, 3),
    } == places(made)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_characters_are_those_of_the_file_with_its_own_line_ends(app: Container, story: Path, end: str) -> None:
    text = TEXT.replace("\n", end)
    story.write_bytes(text.encode())
    start = text.index("Chapter two")
    node = llama_node("n", text[start : start + 50], start_char_idx=start, end_char_idx=start + 50)

    assert {"n": Lines(5, 6)} == places(adapted(app, [node], story))


def test_a_file_in_the_folder_of_the_data_is_the_source(app: Container, tmp_path: Path) -> None:
    folder = persisted(tmp_path / "storage", story_nodes("docs/story.txt"))
    (folder / "docs").mkdir()
    (folder / "docs" / "story.txt").write_text(TEXT)

    made = adapted(app, folder)

    assert str(folder / "docs" / "story.txt") == made.source_path
    assert (Modality.TEXT, 8) == (made.modality, made.metadata["line_count"])
    assert Lines(1, 6) == made.find("n-top").location
    assert made.source_digest is not None


@pytest.mark.parametrize("form", ["absolute", "upwards", "link", "null", "long"])
def test_a_file_elsewhere_is_never_followed(app: Container, tmp_path: Path, story: Path, form: str) -> None:
    name = {
        "absolute": str(story),
        "upwards": "../elsewhere/story.txt",
        "link": "link.txt",
        "null": "a\0b",
        "long": "a" * 5000,
    }[form]
    folder = persisted(tmp_path / "storage", story_nodes(name))
    (folder / "link.txt").symlink_to(story)

    made = adapted(app, folder)

    assert "" == made.source_path
    assert all(isinstance(place, Virtual) for place in places(made).values())
    assert "not in the folder of the data. Pass that file as the source" in made.metadata["notes"][0]


@pytest.mark.parametrize("name", ["docstore.json", "index_store.json"])
def test_data_that_is_a_link_out_of_the_folder_is_not_read(app: Container, tmp_path: Path, name: str) -> None:
    folder = persisted(tmp_path / "storage", story_nodes("story.txt"))
    (folder / name).unlink(missing_ok=True)
    (tmp_path / "private.json").write_text('{"docstore/data": {}}')
    (folder / name).symlink_to(tmp_path / "private.json")

    with pytest.raises(SourceUnreadable, match=f"{name}: it is a link to a file outside"):
        adapted(app, folder)


def test_a_page_label_is_the_printed_number_not_the_physical_one(app: Container, tmp_path: Path) -> None:
    labels = [{"startpage": 0, "style": "r", "firstpagenum": 1}, {"startpage": 2, "style": "D", "firstpagenum": 1}]
    path = make_pdf(tmp_path / "book.pdf", ["Preface words.", "More of it.", "Chapter one.", "Chapter two."], labels)
    nodes = [
        llama_node("preface", "Preface words.", metadata={"page_label": "i", "file_name": "book.pdf"}),
        llama_node("one", "Chapter one.", metadata={"page_label": "1", "file_name": "book.pdf"}),
        llama_node("unlike", "Text as another program saw it", metadata={"page_label": "2", "file_name": "book.pdf"}),
        llama_node("mislabelled", "More of it.", metadata={"page_label": "1", "file_name": "book.pdf"}),
        llama_node("unknown", "Nowhere", metadata={"page_label": "99", "file_name": "book.pdf"}),
    ]

    made = adapted(app, nodes, path)

    assert {
        "preface": Pages((1,)),
        "one": Pages((3,)),
        "unlike": Pages((4,)),
        "mislabelled": Pages((2,)),
        "unknown": Virtual("llamaindex://node/unknown"),
    } == places(made)
    assert ["Nodes located in the source: 4 of 5.",
            "Nodes located only by page label, because their text was not found in the source: 1."] == made.metadata["notes"]  # fmt: skip


def test_a_page_label_without_a_source_is_a_page_that_nobody_checked(app: Container) -> None:
    nodes = [
        llama_node("a", "x", metadata={"page_label": "12"}),
        llama_node("b", "y", metadata={"page_label": "iv"}),
        llama_node("c", "z", metadata={"page_label": "0"}),
        llama_node("d", "z", metadata={"source": "7", "total_pages": 9}),
    ]

    made = adapted(app, nodes)

    assert [Pages((12,)), Pages((7,))] == [place for place in places(made).values() if isinstance(place, Pages)]
    assert Modality.DOCUMENT is made.modality
    assert "no source was used: 2." in made.metadata["notes"][-1]


def test_nodes_of_several_files_are_grouped_by_file(app: Container, story: Path) -> None:
    other = llama_node(
        "o", "They spoke of engines", metadata={"file_path": "/other/notes.txt", "file_name": "notes.txt"}
    )

    made = adapted(app, [*story_nodes("/docs/story.txt"), other], story)

    assert ["story.txt", "notes.txt"] == [top.title for top in made.nodes]
    assert [Lines(1, 8), Virtual("llamaindex:///other/notes.txt")] == [top.location for top in made.nodes]
    assert Virtual("llamaindex://node/o") == made.find("o").location
    assert [] == map_issues(made)


def test_a_parent_is_widened_to_hold_its_children(app: Container, story: Path) -> None:
    nodes = [
        llama_node("up", "They spoke of engines", relationships={"5": [related("down")]}),
        llama_node("down", "They spoke of engines\n  and of rivers for an hour."),
    ]

    made = adapted(app, nodes, story)

    assert {"up": Lines(2, 3), "down": Lines(2, 3)} == places(made)


def test_a_tree_index_gives_children_too(app: Container, tmp_path: Path) -> None:
    nodes = [llama_node("root", "All of it"), llama_node("leaf", "A part")]
    graph = {"index_id": "i", "node_id_to_children_ids": {"root": ["leaf"], "leaf": []}}
    index = {"index_store/data": {"i": {"__type__": "tree", "__data__": json.dumps(graph)}}}

    made = adapted(app, persisted(tmp_path / "storage", nodes, index))

    assert [("root", ["leaf"])] == [(top.id, [child.id for child in top.children]) for top in made.nodes]


@frozen
class Node:
    """An object with `to_dict`, as LlamaIndex's nodes are."""

    plain: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return self.plain


SHAPES: dict[str, Any] = {
    "list": [llama_node("a", "Text")],
    "objects": [Node(llama_node("a", "Text"))],
    "one node": llama_node("a", "Text"),
    "nodes": {"nodes": [llama_node("a", "Text")]},
    "docstore": docstore([llama_node("a", "Text")]),
    "storage context": {"docstore": docstore([llama_node("a", "Text")])},
    "by id": {"a": {"text": "Text"}},
    "data as text": {"docstore/data": {"a": {"__type__": "1", "__data__": json.dumps(llama_node("a", "Text"))}}},
    "legacy": {
        "docstore/data": {"a": {"__type__": "1", "__data__": {"doc_id": "a", "text": "Text", "extra_info": {}}}}
    },
    "vector store": [{"metadata": {"_node_content": json.dumps(llama_node("a", "Text"))}}],
    "text resource": [{"id_": "a", "text_resource": {"text": "Text"}, "class_name": "Node"}],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_in_which_nodes_come_is_read(app: Container, shape: str) -> None:
    made = adapted(app, SHAPES[shape])

    assert [("a", "Text")] == [(node.id, node.summary) for node in made.walk()]


def relations(**pairs: str) -> list[dict[str, Any]]:
    return [llama_node(name, name, relationships={"4": related(parent)}) for name, parent in pairs.items()]


@pytest.mark.parametrize(
    "nodes",
    [
        relations(a="a"),
        relations(a="b", b="a"),
        relations(a="b", b="c", c="a"),
        relations(a="gone"),
        [
            llama_node("a", "a", relationships={"3": related("b")}),
            llama_node("b", "b", relationships={"3": related("a")}),
        ],
        [llama_node("a", "a", relationships={"5": "b", "4": 7, "3": []}), llama_node("b", "b", relationships=[])],
        [llama_node("a", "a"), llama_node("a", "again")],
    ],
)
def test_relationships_in_circles_or_to_nowhere_do_no_harm(app: Container, nodes: list[dict[str, Any]]) -> None:
    made = adapted(app, nodes)

    assert {node["id_"] for node in nodes} == {node.id for node in made.walk()}


@pytest.mark.long
@pytest.mark.parametrize("order", [1, -1])
def test_a_chain_of_thousands_stays_within_what_a_map_may_hold(app: Container, order: int) -> None:
    nodes = [llama_node(str(n), "x", relationships={"4": related(str(n - 1))}) for n in range(3000)]

    made = adapted(app, nodes[::order])

    assert 3000 == made.node_count
    assert made == maps.from_json(maps.to_json(made), "text")


@pytest.mark.parametrize("name", ["/home/me/file.txt_part_0", "..", "a" * 500, "with space", "ü" * 90, "a\nb"])
def test_an_id_that_no_file_name_takes_is_made_one(app: Container, name: str) -> None:
    made = adapted(app, [llama_node(name, "Text"), llama_node("plain", "Text")])

    first = made.nodes[0].id
    assert first
    assert "/" not in first
    assert len(first.encode()) <= 120
    assert "plain" in made
