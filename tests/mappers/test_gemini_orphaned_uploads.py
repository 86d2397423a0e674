from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from citekit.adapters.mappers.llm.gemini.uploads import LIFETIME, owner_of
from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUpload, OrphanedUploads
from citekit.domain.errors import MapperUnavailable
from citekit.domain.progress import silent
from tests.services.gemini_faults import Fault, file_for, question_about, service_for
from tests.services.gemini_server import KEY, Answer, gemini_server

ROOT = Path(__file__).parents[2]


def leftover(name: str, owner: str = "me", until: float = 200.0) -> OrphanedUpload:
    return OrphanedUpload("gemini", name, owner, until)


def abandoned(leftovers: OrphanedUploads, *files: OrphanedUpload) -> None:
    """As after a run that could not delete its files."""
    with leftovers.run() as run:
        for each in files:
            run.remember(each)


def notes(folder: Path) -> list[Path]:
    """All files but the seal."""
    return [path for path in folder.iterdir() if not path.name.startswith("seal")]


def test_what_a_living_run_has_is_no_leftover(tmp_path: Path) -> None:
    here, elsewhere = OrphanedUploads(tmp_path, lambda: 100.0), OrphanedUploads(tmp_path, lambda: 100.0)

    with here.run() as run:
        run.remember(leftover("a"))
        during = (
            elsewhere.pending(),
            here.pending(),
            elsewhere.sweep("gemini", "me", lambda _: True),
        )

    assert ([], [], 0) == during
    assert [leftover("a")] == elsewhere.pending()


def test_a_run_that_forgets_all_leaves_no_file(tmp_path: Path) -> None:
    with OrphanedUploads(tmp_path).run() as run:
        run.remember(leftover("a"))
        run.remember(leftover("b"))
        run.forget("a")
        run.forget("b")
        run.remember(leftover("c"))
        run.forget("c")
        run.forget("never was")

    assert [] == notes(tmp_path)


@pytest.mark.long
def test_only_the_owners_files_are_deleted_and_only_those_gone_are_forgotten(tmp_path: Path) -> None:
    leftovers = OrphanedUploads(tmp_path, lambda: 100.0)
    abandoned(leftovers, leftover("gone"), leftover("stays"), leftover("theirs", owner="you"))

    count = leftovers.sweep("gemini", "me", lambda name: name == "gone")

    assert 1 == count
    assert [leftover("stays"), leftover("theirs", owner="you")] == leftovers.pending()


def test_what_has_expired_is_forgotten_without_asking(tmp_path: Path) -> None:
    leftovers = OrphanedUploads(tmp_path, lambda: 300.0)
    abandoned(leftovers, leftover("old"))

    assert [] == leftovers.pending()
    assert 0 == leftovers.sweep("gemini", "me", lambda _: pytest.fail("asked for an expired file"))
    assert [] == notes(tmp_path)


def test_a_note_that_came_with_a_home_or_was_edited_has_no_file_deleted(tmp_path: Path) -> None:
    here, copy = tmp_path / "here", tmp_path / "copy"
    abandoned(OrphanedUploads(here), leftover("genuine", until=1e12))
    shutil.copytree(here, copy)
    (note,) = here.glob("*.json")
    note.write_text(note.read_text().replace("genuine", "other"))

    swept = [OrphanedUploads(folder).sweep("gemini", "me", lambda _: pytest.fail("deleted")) for folder in (here, copy)]

    assert [0, 0] == swept


@pytest.mark.parametrize("damage", [b"", b"[{", b"{}", b'[{"name": 1}]', b"[1]", b'{"a": "b"}', b"\xff\xfe", b"null"])
def test_a_damaged_note_is_dropped(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "0123.json").write_bytes(damage)
    leftovers = OrphanedUploads(tmp_path)

    assert [] == leftovers.pending()
    assert 0 == leftovers.sweep("gemini", "me", lambda _: True)
    assert [] == notes(tmp_path)


def test_a_home_that_cannot_be_written_is_no_hindrance(tmp_path: Path) -> None:
    in_the_way = tmp_path / "a file"
    in_the_way.write_text("not a folder")
    part = file_for(Fault(name="any"), tmp_path)

    with gemini_server() as server:
        service = service_for(server, OrphanedUploads(in_the_way / "leftovers"), lambda _: None)
        with service.session() as session:
            reply = session.ask(question_about(part), silent)

        assert '{"nodes": []}' == reply.text
        assert {} == server.files
        assert [] == service.orphaned_uploads.pending()


LOWERCASE_KEY = "local-test-key"


@pytest.mark.parametrize(
    "name",
    [f"x-{LOWERCASE_KEY}-x", LOWERCASE_KEY, "../../models/x?a=b", "\x1b[31mred", "a" * 1_000_000, "Upper", "end-"],
    ids=lambda name: ascii(name[:20]),
)
def test_a_name_that_no_file_can_have_is_not_stored_shown_or_deleted(tmp_path: Path, name: str) -> None:
    keyed = Fault(name="any", key=LOWERCASE_KEY)
    part = file_for(keyed, tmp_path)
    named = {"name": f"files/{name}", "uri": "u", "mimeType": part.media_type, "state": "ACTIVE"}
    with gemini_server() as server:
        server.key = LOWERCASE_KEY
        server.on("upload", Answer(200, {"file": named}, {"X-Goog-Upload-Status": "final"}, after=True))
        server.on("delete", *[Answer(500)] * 4)
        service = service_for(server, OrphanedUploads(tmp_path / "leftovers"), lambda _: None, keyed)
        with pytest.raises(MapperUnavailable, match="not valid for Gemini") as caught, service.session() as session:
            session.ask(question_about(part), silent)
        notes_left = "".join(path.read_text() for path in (tmp_path / "leftovers").glob("*.json"))
        (left,) = service.orphaned_uploads.pending()

    assert left.name.startswith("citekit-")
    assert name[:30] not in notes_left + str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
    assert {f"/v1beta/files/{left.name}"} == {request.path for request in server.of("delete")}
    assert [] == server.of("generate")


def test_a_note_holds_neither_key_nor_file_name(tmp_path: Path) -> None:
    part = file_for(Fault(name="any"), tmp_path)
    with gemini_server() as server:
        service = service_for(server, OrphanedUploads(tmp_path / "leftovers"), lambda _: None)
        with service.session() as session:
            session.ask(question_about(part), silent)
            (note,) = (path.read_text() for path in (tmp_path / "leftovers").glob("*.json"))

    assert KEY not in note
    assert "book" not in note
    assert owner_of(KEY, server.url) in note


KILLED = """
import os, signal, sys
from pathlib import Path
from citekit.adapters.mappers.llm.gemini.service import GeminiService
from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUploads
from tests.services.gemini_faults import FilePart, question_about
from tests.services.gemini_server import KEY

def progress(done, total=None, message=""):
    if message.startswith("asking"):
        os.kill(os.getpid(), signal.SIGKILL)

url, folder, path = sys.argv[1:]
service = GeminiService(KEY, base_url=url, orphaned_uploads=OrphanedUploads(Path(folder)))
with service.session() as session:
    session.ask(question_about(FilePart(Path(path), "application/pdf")), progress)
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill that cannot be caught")
def test_the_files_of_a_killed_process_are_deleted_by_the_next(tmp_path: Path) -> None:
    part = file_for(Fault(name="any"), tmp_path)
    leftovers = OrphanedUploads(tmp_path / "leftovers")
    with gemini_server() as server:
        arguments = [server.url, str(tmp_path / "leftovers"), str(part.path)]
        killed = subprocess.run(
            [sys.executable, "-c", KILLED, *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
        )
        left, pending = list(server.files), [each.name for each in leftovers.pending()]

        with service_for(server, leftovers, lambda _: None).session():
            pass

        assert -signal.SIGKILL == killed.returncode
        assert 1 == len(left)
        assert left == pending
        assert {} == server.files
        assert [] == leftovers.pending()
        assert LIFETIME == 48 * 3600
