"""Every path that the commands create in a home, replaced by a link that leads out, by a FIFO, or by the wrong kind of thing."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import frozen

from tests.faults.table import Row, Scale
from tests.warm_start.command import python

LEAST = 7
"""Replacements of the shortest run."""

TIMEOUT = 120
"""Seconds after which a trial counts as one that hangs."""

TEXT = "# Bees\n\nThe queen bee lays eggs in the hive.\n\n## Honey\n\nWorkers gather nectar and make honey.\n"
PROSE = "The queen bee lays eggs in the hive while workers gather nectar and pollen for honey. " * 30

CREATING: tuple[tuple[str, ...], ...] = (
    ("ingest", "bees.md", "--id", "bees"),
    ("ingest", "loose.txt", "--id", "spare"),
    ("resolve", "text://bees#lines=1-3"),
    ("verify-quote", "text://bees#lines=1-7", "The queen bee lays eggs"),
    ("search", "honey"),
    ("library", "ingest-file", "loose.txt", "--title", "Loose", "--author", "Ada"),
    ("library", "query", "queen", "--threshold", "0"),
    ("validate", "bees", "--fix"),
    ("list",),
)
"""The commands that fill a home."""

AGAIN: tuple[tuple[str, ...], ...] = (
    ("list",),
    ("ingest", "bees.md", "--id", "bees", "--force"),
    ("structure", "bees"),
    ("resolve", "text://bees#lines=1-3"),
    ("resolve", "text://bees#lines=5-7"),
    ("verify", ".citekit_output"),
    ("verify-quote", "text://bees#lines=1-7", "The queen bee lays eggs"),
    ("verify-quote", "spare", "gather nectar and pollen"),
    ("search", "honey"),
    ("outline",),
    ("versions", "bees"),
    ("adapt", "foreign.json", "--adapter", "generic", "--force"),
    ("validate", "bees"),
    ("validate", "faulty", "--fix"),
    ("library", "stats"),
    ("library", "query", "queen", "--threshold", "0"),
    ("library", "ingest-file", "bees.md", "--title", "Bees", "--author", "Bo"),
    ("library", "rebuild"),
    ("library", "remove", "--file", "loose.txt"),
    ("cache", "stats"),
    ("cache", "verify"),
    ("cache", "prune", "--limit", "1"),
    ("cache", "clear"),
    ("doctor",),
    ("remove", "spare"),
)
"""The commands that use it, write to it and clean it."""

HOW = ("linked to a copy", "linked to files of the user", "linked to nothing", "a FIFO", "of the wrong kind")

SECRET_FOLDERS = ("my-project", "ab", "12", "notes")
"""Names of folders of the user, some of which look like those in a cache."""


@frozen
class Trial:
    """`path`, relative to the home, is replaced `how`."""

    path: str
    how: str

    def __str__(self) -> str:
        return f"{self.path} {self.how}"


def run(scale: Scale) -> Sequence[Row]:
    """A tenth of `scale.inputs` replacements, the same ones each time; all of them are about 400."""
    with tempfile.TemporaryDirectory(prefix="citekit-links-") as folder:
        place = Place.filled(Path(folder).resolve())
        trials = sorted(place.trials(), key=str)
        random.Random(3).shuffle(trials)
        trials = list(scale.share(trials[: max(scale.inputs // 10, LEAST)]))
        wrong = {trial: fault for trial in trials if (fault := place.wrong_with(trial)) is not None}
    for trial, fault in wrong.items():
        sys.stderr.write(f"{trial}: {fault}\n")
    note = " / ".join(f"{trial}: {fault}" for trial, fault in list(wrong.items())[:5])
    return [
        Row(
            "links",
            "paths of a home replaced by links, FIFOs and the like",
            len(trials),
            len(trials) - len(wrong),
            note,
        )
    ]


@frozen
class Place:
    """A filled home to copy from, the home, and a folder outside of it whose files nobody may touch."""

    template: Path
    home: Path
    outside: Path

    @classmethod
    def filled(cls, folder: Path) -> Place:
        """All commands have run once."""
        place = cls(folder / "template", folder / "home", folder / "outside")
        home = place.home
        home.mkdir()
        (home / "bees.md").write_text(TEXT)
        (home / "loose.txt").write_text(PROSE)
        answer = place.call((), CREATING)
        told = [json.loads(line) for line in answer.stdout.splitlines()]
        assert len(told) == len(CREATING), answer.stderr
        assert not any(each["code"] for each in told), told
        stored = json.loads((home / ".resource_maps" / "bees.json").read_text())
        (home / "foreign.json").write_text(json.dumps({**stored, "resource_id": "foreign"}))
        stored["nodes"][0]["title"] = "Bees\x07"
        (home / ".resource_maps" / "faulty.json").write_text(json.dumps({**stored, "resource_id": "faulty"}))
        home.rename(place.template)
        return place

    def trials(self) -> Iterator[Trial]:
        """Every replacement of every path that CiteKit made; of the vector engine's own files, one folder deep."""
        for path in self.template.rglob("*"):
            name = path.relative_to(self.template).as_posix()
            if name.startswith(".") and len(name.partition("/segments/")[2].split("/")) < 3:
                yield from (Trial(name, how) for how in HOW)

    def wrong_with(self, trial: Trial, commands: Sequence[tuple[str, ...]] = AGAIN) -> str | None:
        """What went wrong when all commands ran in a home in which that path was replaced."""
        self._prepare(trial)
        before = _looks(self.outside)
        try:
            answer = self.call((), commands)
        except subprocess.TimeoutExpired:
            return "it hangs"
        if _looks(self.outside) != before:
            changed = sorted(set(before.items()) ^ set(_looks(self.outside).items()))
            return f"files of the user were changed: {[name for name, _ in changed][:5]}"
        if answer.returncode or "Traceback" in answer.stdout + answer.stderr or "unexpected error" in answer.stdout:
            return f"it broke: {(answer.stdout + answer.stderr)[-600:]}"
        return _unclear(answer.stdout)

    def said(self, trial: Trial, words: tuple[str, ...]) -> str:
        """What a command writes to standard error in such a home."""
        self._prepare(trial)
        return self.call(words).stderr

    def _prepare(self, trial: Trial) -> None:
        for folder in (self.home, self.outside):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.template, self.home, symlinks=True)
        self._replace(trial)

    def _replace(self, trial: Trial) -> None:
        path, target = self.home / trial.path, self.outside / "canary"
        self.outside.mkdir()
        is_folder = path.is_dir()
        match trial.how:
            case "linked to a copy":
                (shutil.copytree if is_folder else shutil.copy2)(path, target)
            case "linked to files of the user" if is_folder:
                _fill(target)
            case "linked to files of the user":
                target.write_text("precious words of the user\n" * 50)
        shutil.rmtree(path) if is_folder else path.unlink()
        match trial.how:
            case "a FIFO":
                os.mkfifo(path)
            case "of the wrong kind" if is_folder:
                path.write_text("a file where a folder should be")
            case "of the wrong kind":
                path.mkdir()
            case _:
                path.symlink_to(target)

    def call(
        self, words: tuple[str, ...], commands: Sequence[tuple[str, ...]] = ()
    ) -> subprocess.CompletedProcess[str]:
        """One command, or several in one process."""
        return subprocess.run(
            python("-m", "tests.faults.links", str(self.home), json.dumps([*commands] or [words])),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
            env={**os.environ, "CITEKIT_PARSERS": "inline", "CITEKIT_EMBEDDER": "hashing", "CITEKIT_MAPPER": "local"},
        )


def _fill(folder: Path) -> None:
    """Files of the user, some with names and ages that a cleaning CiteKit looks for."""
    folder.mkdir()
    for name in SECRET_FOLDERS:
        (folder / name).mkdir()
        (folder / name / "letter.json").write_text('{"precious": true}')
        (folder / name / ("0" * 62)).write_text("precious")
    for name in (".old.tmp", "bees.json", "cache.db", "uses", "seal", "places", "run.lock"):
        (folder / name).write_text("precious")
        os.utime(folder / name, (0, 0))


def _looks(folder: Path) -> dict[str, str]:
    """Everything in a folder, with all that a write, a removal or a touch would change."""
    return {
        str(path.relative_to(folder)): f"{path.lstat().st_mode} {path.lstat().st_mtime_ns} "
        + (path.read_bytes().hex() if path.is_file() else "")
        for path in sorted(folder.rglob("*"))
    }


def _unclear(stdout: str) -> str | None:
    """A refusal that is not one sentence of ours."""
    for line in stdout.splitlines():
        told = json.loads(line)
        if told["code"] not in (0, 1, 2) or (told["code"] and not told["said"].strip()):
            return f"{' '.join(told['words'])} ended with {told['code']}: {told['said'][:300]}"
    return None


def _main() -> None:
    """Run the commands in a home, and tell of each how it ended."""
    import contextlib
    import io

    from citekit.entrypoints.cli.program import run as called

    os.chdir(sys.argv[1])
    last = 0
    commands = json.loads(sys.argv[2])
    for words in commands:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            last = called(words)
        print(json.dumps({"words": words, "code": last, "said": err.getvalue(), "out": out.getvalue()}))
    if len(commands) == 1:
        sys.stderr.write(err.getvalue())
        raise SystemExit(last)


if __name__ == "__main__":
    _main()
