"""A map is corrected by hand: the original is kept, and the corrected one stays in use."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from citekit.container import Container, bootstrap
from citekit.domain.errors import NodeMissing, RequestRefused
from citekit.domain.locations import Lines
from citekit.domain.map_editing import EditKind, MapEdit
from citekit.domain.mapper_identity import EDITED, MapperIdentity


@pytest.fixture
def app(tmp_path: Path) -> Container:
    (tmp_path / "notes.md").write_text("# One\n\nText.\n\n# Two\n\nMore.\n\n# Three\n")
    app = bootstrap(home=tmp_path)
    app.ingest(tmp_path / "notes.md")
    return app


def test_an_edited_map_is_an_edition_and_the_original_can_be_used_again(app: Container) -> None:
    original = app.maps.get("notes_md")
    node = original.nodes[1].id
    changed = app.edit_map("notes_md", MapEdit(EditKind.RENAME, node, "Second"))
    assert (EDITED, original.mapper) == (changed.mapper, changed.structure_by)
    assert "Second" == bootstrap(home=app.settings.home).maps.get("notes_md").find(node).title
    app.edit_map("notes_md", MapEdit(EditKind.LOWER, node))
    assert [EDITED, original.mapper] == [each.mapper for each in app.maps.editions("notes_md")]
    assert original == app.edit_map.original("notes_md")
    assert {EDITED, original.mapper} == {each.mapper for each in app.maps.editions("notes_md")}
    with pytest.raises(RequestRefused, match="no edit to undo"):
        app.edit_map.original("notes_md")


def test_a_missing_node_is_one_of_the_resource(app: Container) -> None:
    with pytest.raises(NodeMissing) as caught:
        app.edit_map("notes_md", MapEdit(EditKind.RENAME, "none", "a"))
    assert ("notes_md", "none") == (caught.value.resource_id, caught.value.node_id)


def test_edits_are_undone_one_by_one(app: Container) -> None:
    original = app.maps.get("notes_md")
    node = original.nodes[1].id
    app.edit_map("notes_md", MapEdit(EditKind.RENAME, node, "a"))
    app.edit_map("notes_md", MapEdit(EditKind.RENAME, node, "b"))
    assert "a" == app.edit_map.undo("notes_md").find(node).title
    assert original == app.edit_map.undo("notes_md")
    with pytest.raises(RequestRefused, match="no edit to undo"):
        app.edit_map.undo("notes_md")


def test_edits_of_an_earlier_process_are_undone(app: Container) -> None:
    original = app.maps.get("notes_md")
    first, second, _ = (each.id for each in original.nodes)
    states = [original]
    edits = (
        MapEdit(EditKind.RENAME, second, "Second"),
        MapEdit(EditKind.ADD, first, "Between", "lines=3-4"),
        MapEdit(EditKind.MOVE, second, place="lines=6-8"),
        MapEdit(EditKind.LOWER, second),
        MapEdit(EditKind.RAISE, second),
        MapEdit(EditKind.REMOVE, first),
    )
    states.extend(app.edit_map("notes_md", edit) for edit in edits)
    for state in reversed(states[:-1]):
        assert state.nodes == bootstrap(home=app.settings.home).edit_map.undo("notes_md").nodes
    assert original == app.maps.get("notes_md")


def test_edits_of_another_map_are_not_undone(app: Container) -> None:
    original = app.maps.get("notes_md")
    second = original.nodes[1].id
    edited = app.edit_map("notes_md", MapEdit(EditKind.RENAME, second, "Second"))
    other = evolve(original, nodes=original.nodes[:2])
    app.maps.put(other)
    app.maps.put(edited)
    with pytest.raises(RequestRefused, match="has changed since"):
        app.edit_map.undo("notes_md")
    assert other == app.edit_map.original("notes_md")


@pytest.mark.parametrize("missing", ["mapper", "source_hash"])
def test_a_map_of_which_no_original_would_be_kept_is_not_edited(app: Container, missing: str) -> None:
    original = app.maps.get("notes_md")
    handed = evolve(original, metadata={key: each for key, each in original.metadata.items() if key != missing})
    app.maps.put(handed)
    with pytest.raises(RequestRefused, match="could not restore the original"):
        app.edit_map("notes_md", MapEdit(EditKind.RENAME, original.nodes[1].id, "Second"))
    assert handed == app.maps.get("notes_md")


def test_an_edit_is_possible_in_a_map_that_had_issues_before(app: Container) -> None:
    original = app.maps.get("notes_md")
    outside = evolve(original.nodes[2], location=Lines(9, 500))
    app.maps.put(evolve(original, nodes=(*original.nodes[:2], outside)))
    first = original.nodes[0].id
    assert 4 == len(app.edit_map("notes_md", MapEdit(EditKind.ADD, first, "New", "lines=3-4")).nodes)


def test_a_new_version_of_the_mapper_does_not_replace_what_a_person_corrected(app: Container) -> None:
    original = app.maps.get("notes_md")
    node, path = original.nodes[1].id, Path(original.source_path)
    changed = app.edit_map("notes_md", MapEdit(EditKind.RENAME, node, "Second"))
    assert original.mapper is not None
    older = MapperIdentity(original.mapper.name, "0")
    app.maps.put(evolve(changed, metadata={**changed.metadata, "structure_by": older.to_metadata()}))
    assert not app.ingest(path).mapped_now
    assert "Second" == app.maps.get("notes_md").find(node).title
    assert app.ingest(path, force=True).mapped_now
    assert "Two" == app.maps.get("notes_md").find(node).title
    assert EDITED in {each.mapper for each in app.maps.editions("notes_md")}
    path.write_text("# Other\n")
    assert ["Other"] == [each.title for each in app.ingest(path).resource_map.nodes]


def test_an_edit_that_would_make_the_map_invalid_changes_nothing(app: Container) -> None:
    original = app.maps.get("notes_md")
    node = original.nodes[0].id
    with pytest.raises(RequestRefused, match="The map would be invalid: "):
        app.edit_map("notes_md", MapEdit(EditKind.MOVE, node, place="lines=1-500"))
    with pytest.raises(NodeMissing):
        app.edit_map("notes_md", MapEdit(EditKind.RENAME, "nothing", "x"))
    assert original == app.maps.get("notes_md")
