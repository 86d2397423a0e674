"""An answer that was given before is given again only while a program that remembers nothing would give it, too."""

from __future__ import annotations

import gc
import os
import shutil
import time
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from citekit.adapters.sources import digest_cache
from citekit.adapters.storage import evidence_record, map_cache
from citekit.application.resolve_cache import Asked
from citekit.container import Container, bootstrap
from citekit.domain.errors import CiteKitError
from citekit.domain.evidence import Evidence, Options
from citekit.domain.node import NodeName
from citekit.domain.progress import silent
from citekit.entrypoints.mcp.tools import Tools
from citekit.settings import Settings
from tests.doubles.mapper import ScriptedMapper
from tests.representatives import representatives
from tests.stories.conftest import by_paragraph

WINDOW = 0.02
"""Seconds, in place of the windows within which a file may change unseen: longer than a tick of the file system's clock."""

NODE = NodeName("a_txt", "all.line_2")


@pytest.fixture(autouse=True)
def short_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (digest_cache, map_cache):
        monkeypatch.setattr(module, "RACY", WINDOW)
    monkeypatch.setattr(evidence_record, "WINDOW", WINDOW)


@frozen
class Place:
    """A home with a mapped text, and a program that has answered everything twice already."""

    folder: Path
    app: Container

    @classmethod
    def made(cls, folder: Path) -> Place:
        folder.mkdir(parents=True)
        place = cls(folder, fresh(folder))
        place.source.write_bytes(b"one\ntwo\nthree\n")
        wait()
        place.app.ingest(place.source)
        wait()
        for virtual in (True, False, True, False):
            place.app.resolve(NODE, virtual=virtual)
            wait()
        return place

    @property
    def source(self) -> Path:
        return self.folder / "a.txt"

    @property
    def map_file(self) -> Path:
        return self.folder / ".resource_maps" / "a_txt.json"

    @property
    def output(self) -> Path:
        return self.folder / ".citekit_output" / "a_txt_all_line_2.txt"

    @property
    def receipt(self) -> Path:
        return self.output.parent / ".receipts" / f"{self.output.name}.json"

    def objects(self) -> list[Path]:
        return [path for path in (self.folder / ".citekit_cache" / "evidence" / "objects").rglob("*") if path.is_file()]

    def cached(self, *, virtual: bool) -> Evidence | None:
        return self.app.resolve.cached(Asked(NODE, virtual, Options()))

    def anew(self, *, virtual: bool) -> tuple[object, ...]:
        """What a program that has just started answers."""
        return told(lambda: fresh(self.folder).resolve(NODE, virtual=virtual))


def fresh(folder: Path) -> Container:
    return bootstrap(Settings(home=folder), mapper=ScriptedMapper(by_paragraph))


def told(ask: Callable[[], Evidence]) -> tuple[object, ...]:
    """What an answer says to a person, the bytes of its file included."""
    try:
        found = ask()
    except CiteKitError as error:
        return (type(error),)
    receipt = found.receipt
    content = found.output_path.read_bytes() if found.output_path is not None else None
    return (
        found.node,
        str(found.address),
        found.output_path,
        content,
        found.stale,
        receipt and receipt.evidence_digest,
    )


def wait() -> None:
    time.sleep(WINDOW * 1.5)


def replace(path: Path, data: bytes) -> None:
    """Another file under the same name, of the same time of modification."""
    if not path.parent.is_dir():
        return
    status = path.stat() if path.exists() else None
    beside = path.with_name("beside")
    beside.write_bytes(data)
    if status is not None:
        os.utime(beside, ns=(status.st_atime_ns, status.st_mtime_ns))
    beside.replace(path)


def edit(path: Path, old: bytes, new: bytes) -> None:
    """In place, to the same size, with the time of modification put back: only the inode's time of change tells."""
    if not path.exists():
        return
    status = path.stat()
    data = path.read_bytes()
    path.chmod(0o644)
    with path.open("r+b") as file:
        file.write(data.replace(old, new))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def clock_back(path: Path) -> None:
    """As after the clock was set: the file is older than when it was read."""
    if path.exists():
        os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 3600))


def each(paths: list[Path], action: Callable[[Path], None]) -> None:
    for path in paths:
        action(path)


MISHAPS: dict[str, Callable[[Place], object]] = {
    "nothing": lambda place: None,
    "the source is edited in place": lambda place: edit(place.source, b"two", b"TWO"),
    "the source is edited back": lambda place: edit(place.source, b"TWO", b"two"),
    "the source is replaced by rename": lambda place: replace(place.source, b"one\n2wo\nthree\n"),
    "the source is put back": lambda place: replace(place.source, b"one\ntwo\nthree\n"),
    "the source is removed": lambda place: place.source.unlink(missing_ok=True),
    "the clock of the source goes back": lambda place: clock_back(place.source),
    "the map is edited in place": lambda place: edit(place.map_file, b'"two"', b'"owt"'),
    "the map's lines are edited in place": lambda place: edit(place.map_file, b"2,\n", b"3,\n"),
    "the map is replaced by rename": lambda place: (
        replace(place.map_file, place.map_file.read_bytes().replace(b'"two"', b'"TWO"'))
        if place.map_file.exists()
        else None
    ),
    "the map is removed": lambda place: place.map_file.unlink(missing_ok=True),
    "the map is made again": lambda place: (
        place.source.exists() and fresh(place.folder).ingest(place.source, force=True)
    ),
    "the output is edited in place": lambda place: edit(place.output, b"two", b"!!!"),
    "the output is replaced by rename": lambda place: replace(place.output, b"!!!\n"),
    "the output is removed": lambda place: place.output.unlink(missing_ok=True),
    "the receipt is removed": lambda place: place.receipt.unlink(missing_ok=True),
    "the receipt is edited in place": lambda place: edit(place.receipt, b"local", b"LOCAL"),
    "the output folder is removed": lambda place: shutil.rmtree(place.output.parent, ignore_errors=True),
    "the objects are removed": lambda place: each(place.objects(), Path.unlink),
    "the objects are edited in place": lambda place: each(place.objects(), lambda path: edit(path, b"two", b"???")),
    "the cache folder is removed": lambda place: shutil.rmtree(place.folder / ".citekit_cache", ignore_errors=True),
    "another process clears the evidence": lambda place: fresh(place.folder).evidence.clear(),
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Place]:
    root = tmp_path_factory.mktemp("places")
    numbers = iter(range(10_000))
    return lambda: Place.made(root / str(next(numbers)))


def test_after_an_answer_the_same_one_is_at_hand(places: Callable[[], Place]) -> None:
    place = places()

    virtual, cut = place.cached(virtual=True), place.cached(virtual=False)

    assert virtual is not None
    assert cut is not None
    assert place.anew(virtual=True) == told(lambda: virtual)
    assert place.anew(virtual=False) == told(lambda: cut)
    assert not cut.made_now
    assert cut is place.cached(virtual=False)


def test_nothing_is_at_hand_of_what_was_not_asked(places: Callable[[], Place]) -> None:
    place = places()

    other = place.app.resolve.cached(Asked(NodeName("a_txt", "all"), False, Options()))
    otherwise = place.app.resolve.cached(Asked(NODE, False, Options(accurate=True)))

    assert (None, None) == (other, otherwise)


@pytest.mark.long
@pytest.mark.parametrize("mishap", representatives(MISHAPS, 12))
def test_what_is_at_hand_after_a_mishap_is_what_a_new_program_would_say(
    places: Callable[[], Place], mishap: str
) -> None:
    place = places()
    MISHAPS[mishap](place)
    wait()

    for virtual in (True, False):
        known = place.cached(virtual=virtual)
        seen = None if known is None else told(lambda: known)  # noqa: B023

        assert seen in (None, place.anew(virtual=virtual))


@pytest.mark.long
@given(st.lists(st.sampled_from(sorted(MISHAPS)), min_size=2, max_size=5), st.booleans())
@settings(max_examples=8)
def test_mishaps_in_any_order_are_no_different(places: Callable[[], Place], mishaps: list[str], virtual: bool) -> None:
    place = places()
    for mishap in mishaps:
        MISHAPS[mishap](place)
        wait()

        known = place.cached(virtual=virtual)
        seen = None if known is None else told(lambda: known)  # noqa: B023
        again = told(lambda: place.app.resolve(NODE, virtual=virtual))

        assert seen in (None, again)
        assert place.anew(virtual=virtual) == again
        wait()


@pytest.mark.long
def test_no_map_is_kept_in_memory_for_the_sake_of_an_answer(
    places: Callable[[], Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = places()
    other = place.folder / "b.txt"
    other.write_bytes(b"four\nfive\n")
    place.app.ingest(other)
    wait()
    monkeypatch.setattr(map_cache, "HOT_LIMIT", 1)
    tools = Tools(place.app).bound()
    for name in ("getNode", "getStructure", "resolve"):
        arguments = {"resource_id": NODE.resource_id} | ({} if name == "getStructure" else {"node_id": NODE.node_id})
        tools[name].run(arguments, silent)
    known = weakref.ref(place.app.maps.get(NODE.resource_id))

    place.app.maps.get("b_txt")
    gc.collect()

    assert known() is None
    assert place.cached(virtual=True) is None
