"""Files become maps, once, under ids that nobody loses."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Generator
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import pytest
from attrs import evolve

from citekit.application.ingest_many import files_below, in_lines
from citekit.container import Container, bootstrap
from citekit.domain.digest import Digest
from citekit.domain.errors import (
    Cancelled,
    MapCorrupt,
    RequestRefused,
    ResourceIdRefused,
    SourceChanged,
    SourceUnreadable,
    SourceUnsupported,
)
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from citekit.settings import Settings
from tests.doubles.mapper import ScriptedMapper
from tests.stories.conftest import World, by_paragraph


def test_a_file_is_mapped_under_the_slug_of_its_name(world: World) -> None:
    done = world.app.ingest(world.file("My Notes.txt"))

    assert ("my_notes_txt", True) == (done.resource_map.resource_id, done.mapped_now)
    assert done.resource_map == world.app.maps.get("my_notes_txt")


def test_the_same_bytes_are_not_mapped_twice(world: World) -> None:
    path = world.file("a.txt")
    world.app.ingest(path)

    again = world.app.ingest(path)

    assert not again.mapped_now
    assert 1 == len(world.mapper.mapped)


def test_force_maps_again(world: World) -> None:
    path = world.file("a.txt")
    world.app.ingest(path)

    assert world.app.ingest(path, force=True).mapped_now
    assert ["a_txt"] == world.app.maps.ids()


def test_a_changed_file_is_mapped_again_under_its_id(world: World) -> None:
    path = world.file("a.txt", "old\n")
    world.app.ingest(path)
    world.file("a.txt", "new\nlonger\n")

    again = world.app.ingest(path)

    assert ("a_txt", True) == (again.resource_map.resource_id, again.mapped_now)
    assert 2 == again.resource_map.find("all").location.last  # type: ignore[union-attr]


def test_files_of_the_same_name_take_the_names_of_their_folders(world: World) -> None:
    files = ["x/report.txt", "y/report.txt", "z/y/report.txt"]

    made = [world.app.ingest(world.file(name, f"{name}\n")).resource_map.resource_id for name in files]

    assert ["report_txt", "y_report_txt", "z_y_report_txt"] == made
    assert "x/report.txt" == world.app.maps.get("report_txt").find("all.line_1").title
    assert made == [world.app.ingest(world.folder / name).resource_map.resource_id for name in files]


def test_a_file_with_a_number_in_its_id_keeps_it(world: World) -> None:
    world.app.ingest(world.file("x/report.txt", "first\n"))
    world.app.ingest(world.file("y/report.txt", "second\n"), wanted_id="report_txt_2")

    assert "report_txt_2" == world.app.ingest(world.folder / "y/report.txt").resource_map.resource_id


def test_files_of_the_same_name_in_folders_of_the_same_names_get_numbers(world: World) -> None:
    files = [f"{above}/a/b/report.txt" for above in "wxyz"]

    made = [world.app.ingest(world.file(name, f"{name}\n")).resource_map.resource_id for name in files]

    assert ["report_txt", "b_report_txt", "a_b_report_txt", "report_txt_2"] == made


def test_a_copy_under_another_name_is_mapped_without_the_mapper(world: World) -> None:
    world.app.ingest(world.file("a.txt"))

    copy = world.app.ingest(world.file("b.txt"))

    assert ("b_txt", False) == (copy.resource_map.resource_id, copy.mapped_now)
    assert str(world.folder / "b.txt") == copy.resource_map.source_path
    assert 1 == len(world.mapper.mapped)


def test_a_moved_file_keeps_its_map_and_gets_its_new_path(world: World) -> None:
    world.app.ingest(world.file("x/a.txt"))
    (world.folder / "y").mkdir()
    moved = Path(shutil.move(world.folder / "x/a.txt", world.folder / "y/a.txt"))

    done = world.app.ingest(moved)

    assert ("a_txt", str(moved)) == (done.resource_map.resource_id, done.resource_map.source_path)
    assert str(moved) == world.app.maps.get("a_txt").source_path


def test_a_renamed_file_keeps_its_id_and_a_copy_gets_its_own(world: World) -> None:
    world.app.ingest(world.file("a.txt"))
    renamed = Path(shutil.move(world.folder / "a.txt", world.folder / "z.txt"))

    for _ in range(2):
        done = world.app.ingest(renamed)
        assert ("a_txt", str(renamed)) == (done.resource_map.resource_id, done.resource_map.source_path)
    copied = Path(shutil.copy(renamed, world.folder / "copy.txt"))
    assert "copy_txt" == world.app.ingest(copied).resource_map.resource_id
    assert "named" == world.app.ingest(renamed, wanted_id="named").resource_map.resource_id


def test_another_mapper_is_asked_anew(world: World) -> None:
    path = world.file("a.txt")
    world.app.ingest(path)
    better = ScriptedMapper(by_paragraph, MapperIdentity("better", "1"))
    app = bootstrap(world.app.settings, maps=world.app.maps, mapper=better)

    assert app.ingest(path).mapped_now
    assert ["a_txt"] == world.app.maps.ids()


def test_going_back_to_an_earlier_mapper_costs_nothing(world: World) -> None:
    path = world.file("a.txt")
    first = world.app.ingest(path).resource_map
    better = ScriptedMapper(by_paragraph, MapperIdentity("better", "1"))
    bootstrap(world.app.settings, maps=world.app.maps, mapper=better).ingest(path)

    back = world.app.ingest(path)

    assert (first, False) == (back.resource_map, back.mapped_now)
    assert first == world.app.maps.get("a_txt")
    assert ["scripted", "better"] == [each.mapper.name for each in world.app.maps.editions("a_txt") if each.mapper]


def test_a_wanted_id_is_used_and_a_taken_one_refused(world: World) -> None:
    world.app.ingest(world.file("a.txt", "a\n"), wanted_id="Mein Buch")

    with pytest.raises(RequestRefused, match="belongs to"):
        world.app.ingest(world.file("b.txt", "b\n"), wanted_id="Mein Buch")
    assert ["Mein Buch"] == world.app.maps.ids()


@pytest.mark.parametrize("bad", ["", " ", "a/b", "..", "a\0b", "x" * 10_000, "abc\u202ecba", "a\\b"])
def test_an_unsafe_id_is_refused_before_anything_is_read(world: World, bad: str) -> None:
    with pytest.raises(ResourceIdRefused):
        world.app.ingest(world.file("a.txt"), wanted_id=bad)
    assert [] == world.mapper.mapped


def test_a_file_of_another_kind_than_wanted_is_refused(world: World) -> None:
    with pytest.raises(SourceUnsupported, match="not video"):
        world.app.ingest(world.file("a.txt"), modality=Modality.VIDEO)


def test_one_failure_does_not_stop_the_rest(world: World) -> None:
    paths = [world.file(f"{n}.txt", f"{n}\n") for n in range(5)]
    missing = world.folder / "missing.txt"

    outcomes = {outcome.path: outcome for outcome in world.app.ingest_many([*paths[:2], missing, *paths[2:]])}

    assert isinstance(outcomes[missing].error, SourceUnreadable)
    assert all(outcomes[path].ingested for path in paths)
    assert 5 == len(world.app.maps.ids())


def test_ids_of_a_folder_do_not_depend_on_the_number_of_threads(world: World) -> None:
    paths = [world.file(f"{letter}/same.txt", f"{letter}\n" * (9 - n)) for n, letter in enumerate("abcdefgh")]

    outcomes = {each.path: each for each in world.app.ingest_many(paths, concurrency=8)}

    found = [each.ingested.resource_map.resource_id for path in paths if (each := outcomes[path]).ingested]
    assert ["same_txt", *(f"{letter}_same_txt" for letter in "bcdefgh")] == found


def test_a_folder_gives_the_files_whose_names_are_known(world: World) -> None:
    wanted = [world.file("one.txt"), world.file("b/two.md")]
    world.file("b/unknown.xyz")
    world.file(".hidden/three.txt")
    world.file("home/four.txt")

    assert wanted == list(files_below([world.folder], skip=[world.folder / "home"]))
    assert [world.folder / "b/unknown.xyz"] == list(files_below([world.folder / "b/unknown.xyz"]))


def test_a_fault_of_the_mapper_costs_only_its_own_file(world: World) -> None:
    good, bad = world.file("good.txt", "fine\n"), world.file("bad.txt", "\u0085breaks\n")

    def sometimes(source: Source) -> list[Node]:
        if source.path == bad:
            raise ZeroDivisionError("a bug")
        return by_paragraph(source)

    world.mapper.script = sometimes
    outcomes = {outcome.path: outcome for outcome in world.app.ingest_many([bad, good])}

    assert outcomes[good].ingested
    assert "(ZeroDivisionError: a bug)" in str(outcomes[bad].error)


def test_a_file_that_changes_while_it_is_mapped_gets_no_map(world: World) -> None:
    path = world.file("a.txt", "short\n")

    def swapping(source: Source) -> list[Node]:
        world.file("a.txt", "other and longer\n")
        return by_paragraph(source)

    def removing(source: Source) -> list[Node]:
        path.unlink()
        return by_paragraph(source)

    for script in (swapping, removing):
        world.mapper.script = script
        with pytest.raises(SourceChanged, match="changed or removed while it was being mapped"):
            world.app.ingest(path)
    assert [] == world.app.maps.ids()


def test_the_same_bytes_as_another_format_are_mapped_anew(world: World) -> None:
    world.mapper.facts = {"format": "text"}
    world.app.ingest(world.file("a.txt"))

    assert world.app.ingest(world.file("b.md")).mapped_now


def test_a_copy_is_called_by_its_own_name(world: World) -> None:
    world.app.ingest(world.file("first.txt"))

    assert "second" == world.app.ingest(world.file("second.txt")).resource_map.title


def test_a_map_with_a_relative_path_is_that_of_its_file(world: World) -> None:
    path = world.app.settings.home / "notes.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"new\n")
    old = world.app.ingest(world.file("notes.txt", "old\n")).resource_map
    world.app.maps.put(evolve(old, source_path="notes.txt", metadata={}))

    again = world.app.ingest(path)

    assert ("notes_txt", True) == (again.resource_map.resource_id, again.mapped_now)


def test_new_subtitles_beside_a_recording_make_a_new_map(tmp_path: Path) -> None:
    sample = files("citekit") / "samples" / "lena.ogg"
    (tmp_path / "talk.ogg").write_bytes(sample.read_bytes())
    app = bootstrap(home=tmp_path)
    app.ingest(tmp_path / "talk.ogg")
    (tmp_path / "talk.srt").write_text("1\n00:00:01,000 --> 00:00:03,000\nHello there.\n")

    again, third = app.ingest(tmp_path / "talk.ogg"), app.ingest(tmp_path / "talk.ogg")

    assert (True, False) == (again.mapped_now, third.mapped_now)
    assert ["Hello there."] == [node.title for node in again.resource_map.walk()]


@pytest.mark.long
def test_a_video_is_no_recording(tmp_path: Path) -> None:
    app = bootstrap(home=tmp_path)
    sample = Path(str(files("citekit") / "samples" / "run.mp4"))

    for _ in range(2):
        with pytest.raises(SourceUnsupported, match="not audio"):
            app.ingest(sample, modality=Modality.AUDIO)
        app.ingest(sample)


def test_a_damaged_map_is_overwritten_only_by_force(tmp_path: Path) -> None:
    app = bootstrap(home=tmp_path)
    (tmp_path / "a.txt").write_text("one\n")
    app.ingest(tmp_path / "a.txt")
    (tmp_path / ".resource_maps" / "a_txt.json").write_text("{")

    with pytest.raises(MapCorrupt):
        app.ingest(tmp_path / "a.txt")
    made = app.ingest(tmp_path / "a.txt", force=True)

    assert "a_txt" == made.resource_map.resource_id


def counted(world: World) -> Counter[str]:
    """Counts from now on how often maps are read whole, turns are taken, and files are read for their bytes."""
    counts: Counter[str] = Counter()

    def counting(owner: object, name: str) -> Callable[..., Any]:
        plain = getattr(owner, name)
        return lambda *rest, **more: counts.update([name]) or plain(*rest, **more)

    ingest = world.app.ingest
    for owner, names in (
        (ingest.maps, ("get", "put", "ids")),
        (ingest.locks, ("holding",)),
        (ingest.sources, ("identify",)),
    ):
        for name in names:
            setattr(owner, name, counting(owner, name))
    return counts


def test_an_unchanged_file_costs_a_look_and_no_turn(world: World) -> None:
    path = world.file("a.txt")
    first = world.app.ingest(path)
    counts = counted(world)

    again = world.app.ingest(path)

    assert (first.card, False) == (again.card, again.mapped_now)
    assert {"identify": 1} == counts


def test_the_map_of_an_unchanged_file_is_read_when_it_is_asked_for(world: World) -> None:
    path = world.file("a.txt")
    first = world.app.ingest(path)
    counts = counted(world)
    again = world.app.ingest(path)
    before = counts["get"]

    found = again.resource_map

    assert (first.resource_map, 0, 1) == (found, before, counts["get"])


@pytest.mark.long
def test_a_numbered_map_of_an_unchanged_file_is_found_by_a_look(world: World) -> None:
    paths = [world.file(f"{number}/a/b/same.txt", f"{number}\n") for number in range(60)]
    ids = [world.app.ingest(path).card.resource_id for path in paths]
    counts = counted(world)

    again = [world.app.ingest(path).card.resource_id for path in paths]

    assert ids == again
    assert ["same_txt", "b_same_txt", "a_b_same_txt", *(f"same_txt_{number}" for number in range(2, 59))] == ids
    assert {"identify": 60} == counts


@pytest.mark.long
def test_files_that_may_get_the_same_id_are_mapped_one_after_the_other() -> None:
    same = [Path("/a/metadata/utils.py"), Path("/b/utils.py"), Path("/c/metadata_utils.py"), Path("/d/utils_py.pdf")]
    other = [Path("/a/metadata_other.py"), Path("/a/readme.md")]

    lines = in_lines([same[0], other[0], *same[1:], other[1]])

    assert sorted([same, other[:1], other[1:]]) == sorted(map(list, lines.values()))


def test_many_new_files_never_ask_for_all_the_ids(world: World) -> None:
    paths = [world.file(f"{number}/same.txt", f"{number}\n") for number in range(60)]
    counts = counted(world)

    for path in paths:
        world.app.ingest(path)

    assert 0 == counts["ids"]


def kit(home: Path) -> Container:
    """As another process has it: nothing is in memory."""
    return bootstrap(Settings(home=home), mapper=ScriptedMapper(by_paragraph))


def rewritten(path: Path) -> None:
    path.write_text(path.read_text().replace("two", "owt"))


def rewritten_with_its_old_times(path: Path) -> None:
    status = path.stat()
    rewritten(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def exchanged(path: Path) -> None:
    new = path.with_name("new.txt")
    new.write_text(path.read_text().replace("two", "owt"))
    os.utime(new, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    new.replace(path)


@pytest.mark.parametrize("change", [rewritten, rewritten_with_its_old_times, exchanged])
@pytest.mark.parametrize("restarted", [False, True])
def test_a_changed_file_of_the_same_size_is_never_taken_for_unchanged(
    tmp_path: Path, change: Callable[[Path], None], restarted: bool
) -> None:
    path, app = tmp_path / "a.txt", kit(tmp_path / "home")
    path.write_text("one\ntwo\nthree\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    app.ingest(path)
    app.ingest(path)
    change(path)

    again = (kit(tmp_path / "home") if restarted else app).ingest(path)

    assert again.mapped_now
    assert "owt" in [node.title for node in again.resource_map.walk()]


def edited(home: Path) -> None:
    place = home / ".resource_maps" / "a_txt.json"
    place.write_text(place.read_text().replace(SHA, "0" * 64))


def of_another_file(home: Path) -> None:
    place = home / ".resource_maps" / "a_txt.json"
    place.write_text(place.read_text().replace(SHA, "0" * 64).replace("a.txt", "b.txt"))


def removed(home: Path) -> None:
    (home / ".resource_maps" / "a_txt.json").unlink()


def all_gone(home: Path) -> None:
    shutil.rmtree(home)


SHA = Digest.of_bytes(b"one\ntwo\n").hex


@pytest.mark.parametrize(
    ("change", "place"), [(edited, "a_txt"), (of_another_file, "here_a_txt"), (removed, "a_txt"), (all_gone, "a_txt")]
)
@pytest.mark.parametrize("restarted", [False, True])
def test_a_map_that_is_no_longer_that_of_the_file_is_made_again(
    tmp_path: Path, change: Callable[[Path], None], place: str, restarted: bool
) -> None:
    path, home = tmp_path / "here" / "a.txt", tmp_path / "home"
    path.parent.mkdir()
    path.write_bytes(b"one\ntwo\n")
    app = kit(home)
    app.ingest(path)
    app.ingest(path)
    change(home)

    again = (kit(home) if restarted else app).ingest(path)

    assert (place, True) == (again.card.resource_id, again.mapped_now)


def test_a_title_that_was_edited_by_hand_is_told_and_kept(tmp_path: Path) -> None:
    path, app = tmp_path / "a.txt", kit(tmp_path / "home")
    path.write_bytes(b"one\ntwo\n")
    app.ingest(path)
    place = tmp_path / "home" / ".resource_maps" / "a_txt.json"
    place.write_text(place.read_text().replace('"title": "a"', '"title": "Mine"'))

    again = app.ingest(path)

    assert ("Mine", "Mine", False) == (again.card.title, again.resource_map.title, again.mapped_now)


def test_the_cache_may_go_while_the_program_runs(tmp_path: Path) -> None:
    path, app = tmp_path / "a.txt", kit(tmp_path / "home")
    path.write_bytes(b"one\ntwo\n")
    first = app.ingest(path)
    shutil.rmtree(tmp_path / "home" / ".citekit_cache")

    again = app.ingest(path)

    assert (first.card, False) == (again.card, again.mapped_now)


def test_another_version_of_the_mapper_does_not_take_the_old_map(world: World) -> None:
    path = world.file("a.txt")
    world.app.ingest(path)
    newer = ScriptedMapper(by_paragraph, MapperIdentity("scripted", "2"))
    app = bootstrap(world.app.settings, maps=world.app.maps, mapper=newer)

    assert [True, False] == [app.ingest(path).mapped_now for _ in range(2)]


def test_an_unchanged_file_of_another_kind_than_wanted_is_refused(world: World) -> None:
    path = world.file("a.txt")
    world.app.ingest(path)

    with pytest.raises(SourceUnsupported, match="not video"):
        world.app.ingest(path, modality=Modality.VIDEO)


def test_a_maps_folder_that_cannot_be_read_is_an_error_even_by_force(tmp_path: Path) -> None:
    path, app = tmp_path / "a.txt", kit(tmp_path / "home")
    path.write_bytes(b"one\ntwo\n")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".resource_maps").write_text("a file")

    for force in (False, True):
        with pytest.raises(MapCorrupt, match="cannot be read"):
            app.ingest(path, force=force)


def test_whoever_stops_taking_outcomes_stops_the_work(world: World) -> None:
    paths = [world.file(f"{number}.txt", f"{number}\n") for number in range(300)]

    outcomes = iter(world.app.ingest_many(paths, concurrency=2))
    next(outcomes)
    cast("Generator[Any]", outcomes).close()

    assert 1 <= len(world.app.maps.ids()) < 100


class _SlowMapper(ScriptedMapper):
    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        for _ in range(500 if source.path.stem == "slow" else 0):
            progress(0)
            time.sleep(0.01)
        return super().map(source, resource_id, progress)


def test_whoever_stops_taking_outcomes_cancels_the_files_in_progress(world: World) -> None:
    app = bootstrap(home=world.folder / "home", mapper=_SlowMapper(by_paragraph))
    paths = [world.file("slow.txt"), world.file("quick.txt", "other\n")]

    outcomes = iter(app.ingest_many(paths, concurrency=2))
    assert paths[1] == next(outcomes).path
    cast("Generator[Any]", outcomes).close()

    assert ["quick_txt"] == list(app.maps.ids())


def test_work_that_is_cancelled_is_an_outcome_for_each_file(world: World) -> None:
    def stopping(done: float, total: float | None = None, message: str = "") -> None:
        raise Cancelled("stopped")

    def script(source: Source) -> list[Node]:
        stopping(0)
        return []

    world.mapper.script = script
    paths = [world.file(f"{number}.txt", f"{number}\n") for number in range(5)]

    outcomes = list(world.app.ingest_many(paths, progress=stopping))

    assert [Cancelled] * 5 == [type(outcome.error) for outcome in outcomes]
