"""What is derived from a file is never more readable than the file, whatever was derived from others before."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from citekit.adapters.storage.object_store.folder import FolderObjectStore
from citekit.adapters.system import home_seal
from citekit.adapters.system.home_seal import HomeSeal
from citekit.container import Container, bootstrap
from citekit.domain.address import parse_address
from citekit.domain.object_key import ObjectKey
from citekit.entrypoints.sdk import CiteKit
from citekit.settings import Settings
from tests.cli.program import Cli
from tests.contracts import small_files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such permissions")

WITHOUT_WORDS = ("evidence.db", "evidence.db-wal", "evidence.db-shm", "alexandria.holder")
"""Files that others may read, since nothing in them is from a file."""


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def readable_by_others(home: Path) -> list[str]:
    """Files with content in the home that somebody other than their owner can reach and read."""
    found = []
    for folder, folders, files in os.walk(home):
        folders[:] = [name for name in folders if mode(Path(folder, name)) & 0o055]
        for name in files:
            path = Path(folder, name)
            if mode(path) & 0o044 and path.stat().st_size and name not in WITHOUT_WORDS:
                found.append(str(path.relative_to(home)))
    return found


def app_in(folder: Path) -> Container:
    return bootstrap(Settings(home=folder / "home", parsers="inline"))


@pytest.mark.parametrize("name", ["pdf", "text", "png", "wav", "mp4", "epub"])
def test_nothing_that_is_made_of_a_private_file_is_readable_by_others(tmp_path: Path, name: str) -> None:
    small_files.make(name, tmp_path)
    (source,) = (each for each in tmp_path.iterdir() if each.is_file())
    source.chmod(0o600)
    kit = CiteKit(tmp_path / "home")
    resource = kit.ingest(source)
    made = kit.resolve(resource.resource_id, resource.nodes[0].id)
    kit.search(resource.title)
    if name in ("pdf", "text", "epub"):
        kit.verify_quote(resource.resource_id, "no such words")
    kit.ingest(source, force=True)

    assert [] == readable_by_others(tmp_path / "home")
    assert made.output_path is not None
    assert 0o400 == mode(made.output_path)


def test_what_is_made_of_a_public_file_stays_readable(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    source = tmp_path / "t.txt"
    source.write_text("one\ntwo\n")
    app.ingest(source)
    made = app.resolve(parse_address("text://t_txt#lines=1"))
    assert made.output_path is not None

    receipt = made.output_path.parent / ".receipts" / f"{made.output_path.name}.json"

    assert [0o444, 0o644, 0o644] == [
        mode(made.output_path), mode(receipt), mode(app.settings.maps_folder / "t_txt.json")
    ]  # fmt: skip


@pytest.mark.parametrize("public_first", [True, False])
def test_the_same_bytes_of_a_public_and_a_private_file_are_private(tmp_path: Path, public_first: bool) -> None:
    app = app_in(tmp_path)
    for name, permissions in (("public.txt", 0o644), ("private.txt", 0o600)):
        (tmp_path / name).write_text(f"the same\n{name}\n")
        (tmp_path / name).chmod(permissions)
        app.ingest(tmp_path / name)

    order = ("public", "private") if public_first else ("private", "public")
    made = [app.resolve(parse_address(f"text://{name}_txt#lines=1")).output_path for name in order]

    assert [0o400, 0o400] == [mode(path) for path in made if path is not None]


def test_what_was_made_of_a_file_that_was_public_becomes_private_when_it_is_asked_for(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    source = tmp_path / "t.txt"
    source.write_text("one\ntwo\n")
    app.ingest(source)
    address = parse_address("text://t_txt#lines=1")
    app.resolve(address)
    app.verify_quote("t_txt", "two")
    source.chmod(0o600)

    app.resolve(address)
    app.verify_quote("t_txt", "two")
    app.ingest(source, force=True)

    assert [] == readable_by_others(tmp_path / "home")


def test_the_umask_counts_too(tmp_path: Path) -> None:
    os.umask(0o027)
    app = app_in(tmp_path)
    source = tmp_path / "t.txt"
    source.write_text("one\n")
    source.chmod(0o644)
    app.ingest(source)

    made = app.resolve(parse_address("text://t_txt#lines=1")).output_path

    assert made is not None
    assert (0o440, 0o640) == (mode(made), mode(app.settings.maps_folder / "t_txt.json"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files to other groups")
def test_the_readers_of_another_group_are_not_ours(tmp_path: Path) -> None:
    app = app_in(tmp_path)
    source = tmp_path / "t.txt"
    source.write_text("one\n")
    os.chown(source, -1, os.getegid() + 1)
    source.chmod(0o640)
    app.ingest(source)

    made = app.resolve(parse_address("text://t_txt#lines=1")).output_path

    assert made is not None
    assert (0o400, 0o600) == (mode(made), mode(app.settings.maps_folder / "t_txt.json"))


@pytest.mark.parametrize(("permissions", "copied"), [(0o600, 0o600), (0o644, 0o644), (0o640, 0o640)])
def test_a_copy_of_evidence_has_the_readers_of_its_source(tmp_path: Path, permissions: int, copied: int) -> None:
    cli = Cli(tmp_path)
    source = cli.write("t.txt", "one\n")
    source.chmod(permissions)
    cli.within("ingest", "t.txt")

    cli.within("resolve", "text://t_txt#lines=1", "-o", "copy.txt")

    assert copied == mode(tmp_path / "copy.txt")


def test_outputs_that_are_copies_are_private_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(Path, "hardlink_to", no_links)
    app = app_in(tmp_path)
    source = tmp_path / "t.txt"
    source.write_text("one\n")
    app.ingest(source)
    address = parse_address("text://t_txt#lines=1")
    made = app.resolve(address).output_path
    assert made is not None
    before = mode(made)
    source.chmod(0o600)

    app.resolve(address)

    assert (0o444, 0o400) == (before, mode(made))


@pytest.mark.parametrize("form", ["file", "folder"])
def test_a_map_that_was_imported_from_private_data_is_private(tmp_path: Path, form: str) -> None:
    cli = Cli(tmp_path)
    data = tmp_path / "storage" / "docstore.json"
    data.parent.mkdir()
    data.write_text('[{"id_": "one", "class_name": "TextNode", "text": "A secret."}]')
    data.chmod(0o600)
    named = str(data if form == "file" else data.parent)

    cli.within("import", named, "--adapter", "llamaindex", "--id", "stored")
    cli.within("import", named, "--adapter", "llamaindex", "--id", "written", "-o", "written.json")

    stored = tmp_path / ".resource_maps" / "stored.json"
    assert all("A secret." in path.read_text() for path in (stored, tmp_path / "written.json"))
    assert [0o600, 0o600] == [mode(stored), mode(tmp_path / "written.json")]


def test_a_repaired_copy_of_a_private_map_is_private(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    cli.write("m.json", '{"resource_id": "m", "type": "text", "title": "", "source_path": "", "nodes": []}')
    (tmp_path / "m.json").chmod(0o600)

    cli("validate", "m.json", "--fix", "-o", "repaired.json")

    assert 0o600 == mode(tmp_path / "repaired.json")


def test_a_shared_store_that_is_created_is_private_and_one_that_exists_follows_the_umask(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(0o750)

    os.umask(0o027)
    for name in ("there", "created"):
        FolderObjectStore(tmp_path / name).put(ObjectKey("maps/one"), b"words")

    assert (0o700, 0o750) == (mode(tmp_path / "created"), mode(tmp_path / "there"))
    assert 0o440 == mode(tmp_path / "there" / "maps" / "one")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root has the seal of root")
@pytest.mark.parametrize("shared", [False, True])
def test_the_seal_of_root_counts_for_others_only_where_nobody_else_can_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: bool
) -> None:
    code = HomeSeal(tmp_path / "cache").code(b"row")
    (tmp_path / "cache").chmod(0o775 if shared else 0o755)
    monkeypatch.setattr(home_seal, "_USER", 4321)

    assert shared != HomeSeal(tmp_path / "cache").holds(code, b"row")


@pytest.mark.long
def test_the_library_keeps_what_is_in_books_to_itself(tmp_path: Path) -> None:
    pytest.importorskip("qdrant_edge")
    book = tmp_path / "bees.md"
    book.write_text("# Bees\n\n" + "The queen lays eggs all summer long. " * 40)
    book.chmod(0o600)
    kit = CiteKit(tmp_path / "home")
    library = kit.library()
    library.ingest(book, author="A. Beekeeper")
    library.ask("queen", limit=1)

    assert [] == readable_by_others(tmp_path / "home")
    shutil.rmtree(tmp_path / "home")
