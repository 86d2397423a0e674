"""Hostile contents, each made on the fly and fed to a process that is traced: it ends in something right or one clear error.

No other file is opened, nothing is written outside the home, no address is asked, no program but ffmpeg is run, and
processor time, memory and the size of what is written stay within bounds.
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from tests.faults.hostile.bait import laid
from tests.faults.hostile.case import WORD, Bait, Case
from tests.faults.hostile.feeding import ENDED, OWNER
from tests.faults.hostile.pdf_files import pages, pdf
from tests.faults.hostile.tracing import CALLS, cases, trespasses
from tests.faults.table import BRIEF, Row, Scale

FAMILIES = ("maps", "markup", "archives", "images", "pdfs", "media", "texts")
"""The modules of `hostile` that have `CASES`."""

_PATIENCE = 4.0
"""Seconds of the clock for one second of processor time that a case may take: the machine may be busy."""


_RESTED = 700
"""Megabytes from which on the next case gets a new process."""


@frozen
class Result:
    """A case, what the process told of it (None where it died or was given up), and what is wrong."""

    case: Case
    told: dict[str, Any] | None
    faults: tuple[str, ...]


def all_cases() -> list[Case]:
    """Every case of every family."""
    return [case for family in FAMILIES for case in import_module(f"tests.faults.hostile.{family}").CASES]


def run(scale: Scale) -> Sequence[Row]:
    """A row for each family; the note names what did not end as promised. All cases are tried from 1,200 inputs on."""
    chosen = _chosen(scale.inputs)
    with tempfile.TemporaryDirectory(prefix="citekit-hostile-") as folder:
        results = tried(chosen, Path(folder))
    return [_row(family, [each for each in results if each.case.family == family]) for family in _families(chosen)]


def _chosen(at_most: int) -> list[Case]:
    """The brief cases; and in a long run about `at_most` of the others, at equal distances."""
    cases = all_cases()
    others = [case for case in cases if not case.brief]
    step = max(1, -(-len(others) // at_most))
    wanted = {id(case) for case in others[::step]} if at_most > BRIEF.inputs else set()
    return [case for case in cases if case.brief or id(case) in wanted]


def _families(chosen: Sequence[Case]) -> list[str]:
    return list(dict.fromkeys(case.family for case in chosen))


def _row(family: str, results: Sequence[Result]) -> Row:
    kept = [each for each in results if not each.faults]
    broken = "; ".join(f"{each.case.name}: {each.faults[0]}" for each in results if each.faults)
    mapped = sum(1 for each in results if each.told and each.told["cut"])
    return Row(
        "contents", f"hostile {family}", len(results), len(kept), broken or f"{mapped} mapped, the others refused"
    )


def tried(chosen: Sequence[Case], folder: Path) -> list[Result]:
    """Feed all of them, one after another, and hold what happened against what may happen."""
    with laid(folder / "baits") as (bait, server):
        log = folder / "trace"
        sources: dict[str, tuple[Path, ...]] = {}
        told = _fed(chosen, folder, bait, log, sources)
        lines = cases(log) if log.exists() else {}
        found = []
        for case in chosen:
            place = folder / case.family / case.name
            faults = _faults(case, told[case.name], place)
            may_read, may_change = (*sources.get(case.name, ()), place), (_home_of(case, place), folder / "tmp")
            seen = [*trespasses(lines.get(case.name, []), may_read, may_change)]
            owners = trespasses(lines.get(f"{case.name}{OWNER}", []), may_read, may_change)
            seen += [each for each in owners if not each.startswith(("opened the bait:", "read:"))]
            faults += list(dict.fromkeys(seen))[:3]
            outcome = told[case.name]
            found.append(Result(case, outcome if isinstance(outcome, dict) else None, tuple(faults)))
        if server.asked:
            found.append(Result(chosen[0], None, (f"the server was asked {len(server.asked)} times",)))
    return found


def _fed(
    chosen: Sequence[Case], folder: Path, bait: Bait, log: Path, sources: dict[str, tuple[Path, ...]]
) -> dict[str, dict[str, Any] | str]:
    told: dict[str, dict[str, Any] | str] = {}
    with _Eater.at_work(log) as eater:
        for case in chosen:
            place = folder / case.family / case.name
            for name in ("home", "in"):
                (place / name).mkdir(parents=True)
            path = case.make(place / "in", bait)
            sources[case.name] = (path,)
            told[case.name] = said = eater.eat(case, path, place / "home")
            if os.environ.get("CITEKIT_HOSTILE_VERBOSE"):
                print(case.family, case.name, str(said)[:600], file=sys.stderr, flush=True)
            if isinstance(said, dict):
                if ENDED.search(str(said)):
                    _goes_on(eater, said, place)
                _weigh(case, said, place)
                left = [each.name for each in (folder / "tmp").iterdir()]
                said["faults"] += [f"left in the temporary folder: {left[:3]}"] if left else []
            shutil.rmtree(folder / "tmp", ignore_errors=True)
            (folder / "tmp").mkdir()
            shutil.rmtree(place / "in", ignore_errors=True)
            shutil.rmtree(place / "home", ignore_errors=True)
    return told


def _home_of(case: Case, place: Path) -> Path:
    return place / "in" / "home" if case.way == "home" else place / "home"


def _goes_on(eater: _Eater, told: dict[str, Any], place: Path) -> None:
    """After a parser was ended, the same process must map and cut an honest file."""
    path = place / "in" / "honest.pdf"
    path.write_bytes(pdf(pages()))
    after = eater.eat(Case("", "", lambda folder, _: folder), path, place / "home")
    if not isinstance(after, dict) or not after["cut"] or after["errors"]:
        told["faults"].append(f"nothing goes on afterwards: {str(after)[:300]}")


def _weigh(case: Case, told: dict[str, Any], place: Path) -> None:
    """Note how much was written, and whether what must not be there is."""
    files = [path for path in (place / "home").rglob("*") if path.is_file() and not path.is_symlink()]
    sizes = {path.stat().st_ino: path.stat().st_blocks * 512 for path in files}  # a hard link takes no space of its own
    told["output"] = sum(sizes.values()) >> 20
    wanted = {WORD.encode(), *case.absent}
    evidence = {Path(path) for path in told["written"]}
    for path in files:
        data = _unpacked(path.read_bytes()) if path.stat().st_size < 2**28 else b""
        there = {word for word in wanted if word in data}
        there = {word for word in there if word == WORD.encode() or path in evidence}
        told["faults"] += [f"{word!r} is in {path.name}" for word in there]
        told["faults"] += _carried(path, data) if path in evidence and data.startswith(b"%PDF-") else []


def _carried(path: Path, data: bytes) -> list[str]:
    """What another engine finds in a mini-PDF that must not be there."""
    import pypdfium2
    import pypdfium2.raw as pdfium

    with suppress(pypdfium2.PdfiumError):
        document = pypdfium2.PdfDocument(path)
        counts = {
            "attached files": pdfium.FPDFDoc_GetAttachmentCount(document),
            "scripts": pdfium.FPDFDoc_GetJavaScriptActionCount(document),
            "signatures": pdfium.FPDF_GetSignatureCount(document),
        }
        document.close()
        return [f"{count} {what} in {path.name}" for what, count in counts.items() if count > 0]
    return [] if b"/Page" not in data else [f"{path.name} cannot be opened by PDFium"]


def _unpacked(data: bytes) -> bytes:
    """The bytes of a file, and those of a PDF's deflated streams behind them."""
    if not data.startswith(b"%PDF-"):
        return data
    streams = []
    for found in re.finditer(rb"stream\r?\n", data):
        with suppress(zlib.error):
            streams.append(zlib.decompressobj().decompress(data[found.end() :], 2**24))
    return b"\n".join([data, *streams])


def _faults(case: Case, told: dict[str, Any] | str, place: Path) -> list[str]:
    if isinstance(told, str):
        return [told]
    faults = list(told["faults"])
    if not told["errors"] and not told["maps"] and case.way != "receipt":
        faults.append("neither a map nor an error")
    if told["cpu"] > case.seconds:
        faults.append(f"took {told['cpu']} s of at most {case.seconds}")
    if told["megabytes"] > case.megabytes:
        faults.append(f"took {told['megabytes']} MB of at most {case.megabytes}")
    if told["output"] > case.output:
        faults.append(f"wrote {told['output']} MB of at most {case.output}")
    if case.refused is not None and case.refused == bool(told["cut"]):
        faults.append("was cut and must be refused" if case.refused else f"was refused: {told['errors'][:1]}")
    return faults


@define
class _Eater:
    """The process that is fed; started anew after a death."""

    log: Path
    process: subprocess.Popen[bytes] | None = None
    pid: int = 0
    starts: Counter[str] = field(factory=Counter)

    @classmethod
    @contextmanager
    def at_work(cls, log: Path) -> Iterator[_Eater]:
        eater = cls(log)
        try:
            yield eater
        finally:
            eater.end()

    def eat(self, case: Case, path: Path, home: Path) -> dict[str, Any] | str:
        """What the process tells of a case, or how it ended."""
        if self.process is None:
            self.start()
        asked = {"name": case.name, "path": str(path), "home": str(home), "way": case.way}
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(asked).encode() + b"\n")
        self.process.stdin.flush()
        line = self._line(case.seconds * _PATIENCE)
        if line:
            found: dict[str, Any] = json.loads(line)
            if found["held"] + found["megabytes"] > _RESTED:
                self.end()
            return found
        how = "did not end in time" if line is None else "the process died"
        self.end()
        return how

    def start(self) -> None:
        """Start the process, traced where strace is installed."""
        command = [sys.executable, "-m", "tests.faults.hostile.feeding"]
        strace = shutil.which("strace")
        if strace:
            part = self.log.with_suffix(f".{self.starts.total()}")
            self.starts["all"] += 1
            command = [
                strace,
                "-f",
                "-y",
                "-qq",
                "--seccomp-bpf",
                "-s",
                "4096",
                "-e",
                f"trace={CALLS}",
                "-e",
                "signal=none",
                "-o",
                str(part),
                *command,
            ]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment(self.log.parent)
        )
        self.pid = json.loads(self._line(60.0) or b"{}")["pid"]

    def _line(self, seconds: float) -> bytes | None:
        """A line of the answer; None where none came in time, empty where none will."""
        assert self.process is not None
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline() if ready else None

    def end(self) -> None:
        """End the process and what it started."""
        if self.process is None:
            return
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(0.5)
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.process.kill()
        self.process.wait()
        self.process = None
        with self.log.open("ab") as whole:
            for part in sorted(self.log.parent.glob(f"{self.log.name}.*")):
                whole.write(part.read_bytes())
                part.unlink()
        time.sleep(0)


def _environment(folder: Path) -> dict[str, str]:
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CITEKIT", "PYTEST"))}
    here = str(Path(__file__).parents[2])
    return {
        **kept,
        "CITEKIT_PARSER_TIMEOUT": "20",
        "CITEKIT_PARSER_MEMORY": "1G",
        "TMPDIR": str(temporary),
        "PYTHONPATH": os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH")))),
        "HOME": str(folder / "nobody"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLCONFIGDIR": str(temporary),
    }
