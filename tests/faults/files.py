"""Files of every format, whole, broken and damaged, fed to one process that has to live through all of them.

An input has a name, `FOLDER/FILE` for a file as it is, and `FOLDER/FILE#12` for the twelfth way to damage it, which is the
same on every machine with the same files: `python -m tests.faults.files NAME ...` feeds it again.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from tests.contracts import small_files
from tests.faults.mutations import mutated, seeded

LARGEST_WHOLE = 3 * 2**20
LARGEST_DAMAGED = 2**20
"""Bytes of the files that are fed as they are, and damaged."""

DEADLINE = 120.0
"""Seconds after which a process that did not answer has failed."""

_BROKEN = ("broken", "fuzz", "invalid", "bomb", "truncated", "empty", "bad-", "dos", "enc-", "too-short", "circular")


@frozen
class Input:
    """A file to feed: its name, the name that it has on the disk, and its bytes. `format` is the suffix of what it was made of."""

    name: str
    file: str
    data: bytes
    kind: str
    """What was done to it."""
    format: str


@define
class Pantry:
    """The files that inputs are made of, by name."""

    files: dict[str, Path]
    _read: dict[str, bytes] = field(factory=dict, init=False)

    @classmethod
    def of_small_files(cls, folder: Path, formats: Sequence[str] = ()) -> Pantry:
        """One small file of every format, or of those named."""
        made = {}
        for name in formats or sorted(small_files.FORMATS):
            place = folder / name
            place.mkdir(parents=True)
            path = small_files.make(name, place)
            made[f"small/{path.name.replace('small', name)}"] = path
        return cls(made)

    def with_corpus(self, corpus: Path) -> Pantry:
        """With those of the corpus, too, which are not too large."""
        found = {}
        for folder in ("pdf", "book", "image", "audio", "video", "text", "subtitle"):
            for path in sorted((corpus / folder).glob("*")):
                if path.is_file() and path.stat().st_size <= LARGEST_WHOLE:
                    found[f"{folder}/{path.name}"] = path
        return Pantry({**self.files, **found})

    @cached_property
    def whole(self) -> list[str]:
        """Every file as it is, the broken ones first."""
        return sorted(self.files, key=lambda name: (not any(word in name for word in _BROKEN), name))

    @cached_property
    def damageable(self) -> dict[str, list[str]]:
        """By suffix, the files that can be damaged."""
        found: dict[str, list[str]] = {}
        for name, path in sorted(self.files.items()):
            if 0 < path.stat().st_size <= LARGEST_DAMAGED:
                found.setdefault(path.suffix.lower(), []).append(name)
        return found

    def damaged(self, count: int, first: int = 0) -> Iterator[str]:
        """Names of `count` damaged inputs: every suffix in turn, and of it every file in turn."""
        suffixes = sorted(self.damageable)
        for number in range(first, first + count):
            files = self.damageable[suffixes[number % len(suffixes)]]
            turn = number // len(suffixes)
            yield f"{files[turn % len(files)]}#{turn}"

    def input(self, name: str) -> Input:
        """The input of that name."""
        whole, hash_, _ = name.partition("#")
        path, data = self.files[whole], self.bytes(whole)
        suffix = path.suffix.lower()
        if not hash_:
            return Input(name, f"input{suffix}", data, "whole", suffix)
        chance = seeded(name)
        others = [self.bytes(each) for each in chance.sample(self.damageable[suffix], k=1)]
        kind, damaged = mutated(chance, data, others)
        if chance.random() < 0.05:
            kind, suffix = f"{kind}+renamed", chance.choice(sorted(self.damageable))
        return Input(name, f"input{suffix}", damaged, kind, path.suffix.lower())

    def bytes(self, name: str) -> bytes:
        """What a file holds."""
        if name not in self._read:
            self._read[name] = self.files[name].read_bytes()
        return self._read[name]


@frozen
class Fed:
    """An input, what the process told of it (None where it did not), and what was not as promised."""

    name: str
    told: dict[str, Any] | None
    faults: tuple[str, ...]


@define
class Server:
    """The process of `devouring`, in a place of its own below `root`."""

    root: Path
    process: subprocess.Popen[bytes]
    around: str

    @classmethod
    @contextmanager
    def at(cls, root: Path) -> Iterator[Server]:
        """A process, which is gone afterwards."""
        for name in ("home", "tmp", "around/deep", "inputs"):
            (root / name).mkdir(parents=True, exist_ok=True)
        (root / "around" / "precious.txt").write_text("precious")
        (root / "around" / "deep" / "input.txt").write_text("precious, too")
        server = cls(root, _started(root), state(root))
        try:
            yield server
        finally:
            server.end()

    def feed(self, given: Input) -> Fed:
        """Feed one input. Where the process dies over it, that is a fault, and another one is started."""
        path = self.root / "inputs" / given.file
        path.write_bytes(given.data)
        faults, told = [], None
        try:
            told = self._ask({"name": given.name, "path": str(path)})
            faults += told["faults"]
        except (EOFError, OSError, TimeoutError) as error:
            faults.append(f"THE SERVER: {type(error).__name__} {error} ({self.process.poll()})")
            self.end()
            self.process = _started(self.root)
        if path.read_bytes() != given.data:
            faults.append("the source was changed")
        path.unlink()
        return Fed(given.name, told, tuple(faults))

    def changed_around(self) -> bool:
        """Whether anything outside of the home and the temporary folder is not as it was."""
        return state(self.root) != self.around

    def left_over(self) -> list[str]:
        """What lies in the temporary folder."""
        return sorted(each.name for each in (self.root / "tmp").iterdir())

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE)
        if not ready:
            raise TimeoutError(f"no answer within {DEADLINE:g} s")
        line = self.process.stdout.readline()
        if not line:
            self.process.wait(5)
            raise EOFError("it is gone")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        """End the process; its children end with it."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def _started(root: Path) -> subprocess.Popen[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CITEKIT", "PYTEST"))}
    here = str(Path(__file__).parents[2])
    environment = {
        **kept,
        "TMPDIR": str(root / "tmp"),
        "HOME": str(root / "around"),
        "PYTHONPATH": os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH")))),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "tests.faults.devouring", str(root / "home"), str(root / "inputs")]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if "CITEKIT_FAULTS_VERBOSE" not in os.environ else None,
        env=environment,
        cwd=root / "around",
    )


def state(root: Path) -> str:
    """A digest of every name and byte around the home: files, folders, links."""
    found = sha256()
    for path in sorted(root.rglob("*")):
        if path.relative_to(root).parts[0] in ("home", "tmp", "inputs"):
            continue
        data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found.update(f"{path} {path.lstat().st_mode:o} {sha256(data).hexdigest()}\n".encode())
    return found.hexdigest()


def corpus() -> Path | None:
    """The folder of large real files, where there is one."""
    folder = Path(os.environ.get("CITEKIT_CORPUS") or Path(__file__).parents[2] / ".corpus" / "dev").expanduser()
    return folder if folder.is_dir() else None


def whole_pantry(folder: Path) -> Pantry:
    """Small files of every format, and those of the corpus, where there is one."""
    small = Pantry.of_small_files(folder)
    place = corpus()
    return small if place is None else small.with_corpus(place)


def main() -> None:
    """Feed the inputs that are named, and tell what came of them."""
    with tempfile.TemporaryDirectory(prefix="citekit-inputs-") as folder:
        root = Path(folder).resolve()
        pantry = whole_pantry(root / "small")
        with Server.at(root / "server") as server:
            for name in sys.argv[1:]:
                print(
                    json.dumps(
                        {"kind": pantry.input(name).kind, **(server.feed(pantry.input(name)).told or {})}, indent=2
                    )
                )


if __name__ == "__main__":
    main()
