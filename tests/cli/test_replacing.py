"""Copies that somebody asked for: whole, or what was there before, whoever is killed meanwhile."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from citekit.entrypoints.cli import output_files
from citekit.entrypoints.cli import output_files as map_files
from citekit.entrypoints.cli.output_files import LEFT_AFTER

posix = pytest.mark.skipif(sys.platform == "win32", reason="a process is forked")


def die_in_the_middle(module: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a file is on the disk when the process ends."""

    def copy(source: object, target: object) -> None:
        target.write(source.read()[:3])  # type: ignore[attr-defined]
        target.flush()  # type: ignore[attr-defined]
        os._exit(9)

    monkeypatch.setattr(module, "copyfileobj", copy)


def forked(act: object) -> None:
    process = os.fork()
    if process == 0:
        try:
            act()  # type: ignore[operator]
        finally:
            os._exit(1)
    assert 9 == os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@posix
def test_a_copy_is_whole_or_what_was_there_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence, target = tmp_path / "evidence.txt", tmp_path / "out" / "copy.txt"
    evidence.write_bytes(b"evidence")
    target.parent.mkdir()
    target.write_bytes(b"before")
    with monkeypatch.context() as dying:
        die_in_the_middle(shutil, dying)
        forked(lambda: output_files.copy_evidence(evidence, str(target), [evidence], force=True))
    (left,) = target.parent.glob(".citekit-*.tmp")
    there = target.read_bytes()
    os.utime(left, (left.stat().st_mtime - LEFT_AFTER - 1,) * 2)

    output_files.copy_evidence(evidence, str(target), [evidence], force=True)

    assert (b"before", b"evidence", ["copy.txt"]) == (there, target.read_bytes(), os.listdir(target.parent))


@posix
def test_a_map_that_was_being_fixed_has_no_torn_copy_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "map.json"
    place.write_bytes(b'{"title": 1}')
    with monkeypatch.context() as dying:
        die_in_the_middle(shutil, dying)
        forked(lambda: map_files.replace_map({}, place))
    beside, there = list(tmp_path.glob("*.bak*")), place.read_bytes()

    _, backup = map_files.replace_map({}, place)

    assert ([], b'{"title": 1}', b'{"title": 1}') == (beside, there, backup.read_bytes())
