"""The whole home goes away under a server and a program, and comes back; or cannot be written meanwhile; or has an odd name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.faults.crowd import AREA, ROOT
from tests.faults.table import Row
from tests.faults.world import World

NAMES = (b"two  spaces ", "\u00fc \u0436 \u72c2".encode(), b"new\nline", b"%41?#&", b"-rf", b"odd \xff\xfe")
"""Of homes; the last is no UTF-8."""

Gone = Callable[[Path, Path], object]


def _renamed(home: Path, aside: Path) -> None:
    home.rename(aside)


def _deleted(home: Path, aside: Path) -> None:
    subprocess.run(["cp", "-a", str(home), str(aside)], check=True)
    shutil.rmtree(home)


def _emptied(home: Path, aside: Path) -> None:
    home.rename(aside)
    home.mkdir()


def _a_file(home: Path, aside: Path) -> None:
    home.rename(aside)
    home.write_bytes(b"no folder")


WAYS: tuple[tuple[str, Gone], ...] = (
    ("renamed", _renamed),
    ("deleted, and put back as a copy", _deleted),
    ("replaced by an empty folder", _emptied),
    ("replaced by a file", _a_file),
)


def away(world: World, aside: Path, go: Gone) -> Iterator[str]:
    """What is wrong while the home is away, and when it is back."""
    home = world.home
    go(home, aside)
    yield from (f"meanwhile {each}" for each in world.wrong(refusal="found | Not a directory", command=True))
    if home.is_dir() and any(home.iterdir()):
        yield f"something was made where the home was: {sorted(each.name for each in home.iterdir())}"
    if home.is_dir():
        shutil.rmtree(home)
    home.unlink(missing_ok=True)
    aside.rename(home)
    yield from (f"afterwards {each}" for each in world.wrong(command=True))
    world.warm()


def read_only(world: World) -> Iterator[str]:
    """What was cut is there to be had, what was not is refused; and nothing is wrong when all may be written again."""
    with _mounted(world.home):
        world.parts = (3,)
        yield from (f"meanwhile {each}" for each in world.wrong(command=True))
        world.parts = (6,)
        yield from (f"meanwhile {each}" for each in world.wrong(refusal="read-only", command=True))
    world.parts = (3, 6)
    yield from (f"afterwards {each}" for each in world.wrong(command=True))


@contextmanager
def _mounted(home: Path) -> Iterator[None]:
    """The folder over itself, read-only, whoever has files of it open. Raises `CalledProcessError` where it may not be."""
    subprocess.run(["mount", "--bind", str(home), str(home)], check=True, capture_output=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(home)], check=True, capture_output=True)
        yield
    finally:
        subprocess.run(["umount", "-l", str(home)], check=True)


def named(folder: Path, name: bytes) -> Iterator[str]:
    """What is wrong with commands in a home of that name."""
    home = Path(os.fsdecode(os.fsencode(folder) + b"/" + name))
    home.mkdir()
    source = folder / "notes.md"
    source.write_text("# Notes\n\nOne line.\n", "utf-8")
    (home / "inside.md").write_text("# Inside\n", "utf-8")
    part = "text://notes_md#lines=1-2"
    can = [["ingest", str(source)], ["resolve", part], ["resolve", part, "--json"], ["cache", "verify"], ["doctor"]]
    for words in can:
        yield from _wrong(words, home, 0)
    yield from _wrong(["ingest", "inside.md"], home, 1 if b"\xff" in name else 0)


def _wrong(words: Sequence[str], home: Path, code: int) -> Iterator[str]:
    environment = {**os.environ, "CITEKIT_PARSERS": "inline", "PYTHONPATH": os.pathsep.join([*sys.path, str(ROOT)])}
    command = [sys.executable, "-m", "citekit", *words]
    done = subprocess.run(command, capture_output=True, cwd=home, env=environment, timeout=60, check=False)
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    if done.returncode != code or "unexpected error" in said:
        yield f"{words[0]}: exit {done.returncode}: {said[-300:]}"


def rows() -> Sequence[Row]:
    """Every way in which a home goes, a home that cannot be written (as root), and every name."""
    found: list[tuple[str, str, list[str]]] = []
    with tempfile.TemporaryDirectory(prefix="citekit-faults-") as folder, World.opened(Path(folder) / "home") as world:
        for name, go in WAYS:
            found.append(
                ("the home goes, and comes back, under a server", name, list(away(world, Path(folder) / "aside", go)))
            )
        if not os.geteuid():
            found.append(("the home cannot be written for a while", "mounted read-only", list(read_only(world))))
    for each in NAMES:
        with tempfile.TemporaryDirectory(prefix="citekit-faults-") as folder:
            found.append(("homes of odd names", ascii(each), list(named(Path(folder), each))))
    return [
        _row(what, [each[1:] for each in found if each[0] == what]) for what in dict.fromkeys(one[0] for one in found)
    ]


def _row(what: str, found: Sequence[tuple[str, list[str]]]) -> Row:
    wrong = [f"{name}: {faults[0]}" for name, faults in found if faults]
    return Row(AREA, what, len(found), len(found) - len(wrong), " / ".join(wrong).replace("\n", " "))
