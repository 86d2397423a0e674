"""What a file costs: each step of the work on it measured in a process of its own, which is killed when it takes too much.

`python -m tests.faults.bill_meter FILE ...` prints the bill of files. As a server, it reads one JSON object a line (`path`)
and answers with the bill. All parsers run in the measured process, so that nothing they do escapes the meter.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

from attrs import define, frozen

SECONDS = 5.0
MEGABYTES = 1024
"""What one step may cost for a file below `SMALL` bytes: processor time, and memory beyond that of an idle process."""

SMALL = 2**20

PATIENCE = 3.0
"""Seconds of the clock that a step may take for each second of processor time that it is allowed: the machine may be busy."""

SETTINGS = {
    "CITEKIT_PARSERS": "inline",
    "CITEKIT_MAPPER": "local",
    "CITEKIT_OCR": "off",
    "CITEKIT_CACHE_LIMIT": "300M",
}

QUOTES = {
    "quote": "words that stand nowhere at all",
    "quote of letters": " ... ".join("etoisauydmbcfghk"),
    "quote of equal letters": " ... ".join("a" * 50),
    "long quote": "a " * 9990,
}
"""What is looked for in each file: quotes that are nowhere, or whose pieces are everywhere."""

_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


@frozen
class Step:
    """`name` is what was done: `map`, `measure`, `resolve`, `quote`; `said` is an error, empty where there was none."""

    name: str
    seconds: float
    megabytes: int
    said: str = ""


@frozen
class Bill:
    """What each step took, in order. `died` names the step during which the process was killed, and why."""

    steps: tuple[Step, ...]
    died: str = ""

    @property
    def seconds(self) -> float:
        """Those of the dearest step."""
        return max((step.seconds for step in self.steps), default=0.0)

    @property
    def megabytes(self) -> int:
        """Those of the hungriest step."""
        return max((step.megabytes for step in self.steps), default=0)

    def fault(self, size: int) -> str:
        """What exceeds the limits for a file of `size` bytes; empty for none."""
        scale = max(1.0, size / SMALL)
        if self.died:
            return self.died
        for step in self.steps:
            if step.seconds > SECONDS * scale or step.megabytes > MEGABYTES * scale:
                return f"{step.name} took {step.seconds:.1f} s, {step.megabytes} MB"
        return ""


@define
class Meter:
    """The server, from which each measured process is forked: whatever they import is loaded once."""

    process: subprocess.Popen[bytes]

    @classmethod
    @contextmanager
    def started(cls) -> Iterator[Meter]:
        """A meter, which is ended afterwards."""
        here = str(Path(__file__).parents[2])
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CITEKIT", "PYTEST"))}
        command = [sys.executable, "-m", "tests.faults.bill_meter", "--serve"]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**kept, "PYTHONPATH": here}, cwd=here
        )
        try:
            yield cls(process)
        finally:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()
            process.stdout.close()

    def bill(self, path: Path, seconds: float = 2 * SECONDS, megabytes: int = 2 * MEGABYTES) -> Bill:
        """What mapping the file, measuring it, cutting three of its nodes and looking for a quote costs.

        A process that needs more than `seconds` of processor time in one step, or more than `megabytes`, is killed.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(
            json.dumps({"path": str(path), "seconds": seconds, "megabytes": megabytes}).encode() + b"\n"
        )
        self.process.stdin.flush()
        told = json.loads(self.process.stdout.readline())
        return Bill(tuple(Step(**step) for step in told["steps"]), told["died"])


def _spent() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _peak() -> int:
    """Megabytes: the most that this process held since `_settled`."""
    found = _PEAK.search(Path("/proc/self/status").read_text())
    return int(found[1]) // 1024 if found else 0


def _settled() -> int:
    """Forget the peak of memory; what is held now, in megabytes."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _measured(path: Path, home: Path, tell: Callable[[dict[str, Any]], None]) -> None:
    """Do all steps with the file, and tell of each when it begins and when it is done."""
    from citekit.container import bootstrap
    from citekit.domain.errors import CiteKitError
    from citekit.domain.evidence import Form, Options
    from citekit.domain.formats import format_named
    from citekit.domain.node import NodeName
    from citekit.settings import settings_from

    app = bootstrap(settings_from(SETTINGS, home))
    idle = _settled()

    def step(name: str, work: Callable[[], Any]) -> Any:
        tell({"begun": name})
        _settled()
        before, said, found = _spent(), "", None
        try:
            found = work()
        except CiteKitError as error:
            said = f"{type(error).__name__}: {error}"[:500]
        except MemoryError:
            said = "MemoryError"
        tell({"name": name, "seconds": round(_spent() - before, 3), "megabytes": max(0, _peak() - idle), "said": said})
        return found

    mapped = step("map", lambda: app.ingest(path, wanted_id="input"))
    if mapped is None:
        return
    found = mapped.resource_map
    source = app.sources.identify(path)
    step("measure", lambda: app.parsers.measurer.measure(source))
    nodes = list(found.walk())
    format = format_named(str(found.metadata.get("format")))
    chosen = {id(each): each for each in (*nodes[:1], *nodes[len(nodes) // 2 :][:1], *nodes[-1:])}.values()
    for node in chosen:
        name = NodeName("input", node.id)
        for form in (app.resolve.forms(format, node.location) if format else ()) or (Form.NATIVE,):
            step(f"resolve {form}", partial(app.resolve, name, options=Options(form=form)))
    for kind, quote in QUOTES.items():
        step(kind, partial(app.verify_quote, "input", quote))


def _warm(folder: Path) -> None:
    """Load what the measured processes would load, so that it is not counted as work on a file."""
    from tests.contracts import small_files

    for name in ("pdf", "epub", "docx", "xlsx", "pptx", "png", "python", "html", "markdown", "xml", "notebook"):
        if name not in small_files.FORMATS:
            continue
        place = folder / name
        (place / "home").mkdir(parents=True)
        with suppress(Exception):
            _measured(small_files.make(name, place), place / "home", lambda _: None)
    with suppress(ImportError):
        from citekit.adapters.formats.pdf.document.open_documents import close_all

        close_all()


def _in_child(path: Path, seconds: float, megabytes: int) -> dict[str, Any]:
    """Fork, measure, and end what takes more than `seconds` in one step or more than `megabytes`."""
    home = Path(tempfile.mkdtemp(prefix="citekit-bill-"))
    receiver, sender = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(receiver)
        _child(path, home, sender, megabytes)
    os.close(sender)
    try:
        with os.fdopen(receiver, "rb") as stream:
            return _watched(pid, stream, seconds)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _child(path: Path, home: Path, sender: int, megabytes: int) -> None:
    os.setsid()
    room = megabytes * 2**20 + int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir(home)
    try:
        with FileIO(sender, "wb") as stream:
            _measured(path, home, partial(_told, stream))
    except BaseException as error:
        with suppress(OSError):
            os.write(2, f"{path.name}: {type(error).__name__}: {error}\n".encode()[:2000])
        os._exit(1)
    os._exit(0)


def _told(stream: FileIO, said: dict[str, Any]) -> None:
    stream.write(json.dumps(said).encode() + b"\n")


def _watched(pid: int, stream: BinaryIO, seconds: float) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    step, died, begun, held = "start", "", _processor(pid), b""
    last = time.monotonic()
    while True:
        ready, _, _ = select.select([stream], [], [], 0.1)
        data = os.read(stream.fileno(), 65536) if ready else None
        if data == b"":
            break
        *lines, held = (held + (data or b"")).split(b"\n")
        for line in lines:
            said = json.loads(line)
            step, begun, last = said.get("begun", step), _processor(pid), time.monotonic()
            steps += [said] if "begun" not in said else []
        spent = _processor(pid) - begun
        if spent > seconds or time.monotonic() - last > seconds * PATIENCE:
            died = f"{step} was stopped after {spent:.1f} s"
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            break
    _, status, used = os.wait4(pid, 0)
    if not died and status:
        died = f"{step} ended the process ({status})"
    if died:
        steps.append(
            {"name": step, "seconds": round(_of(used) if step == "map" else seconds, 2), "megabytes": 0, "said": died}
        )
    return {"steps": steps, "died": died}


def _of(used: resource.struct_rusage) -> float:
    return used.ru_utime + used.ru_stime


def _processor(pid: int) -> float:
    """Seconds that a process has had of the processor."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _serve() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory(prefix="citekit-bill-") as folder:
        _warm(Path(folder))
        for line in sys.stdin:
            asked = json.loads(line)
            bill = _in_child(Path(asked["path"]), asked["seconds"], asked["megabytes"])
            print(json.dumps(bill), file=answers, flush=True)


def shown(bill: Bill) -> str:
    """A line for each kind of step, the dearest of each."""
    best: dict[str, Step] = {}
    for step in bill.steps:
        kind = step.name
        if kind not in best or step.seconds > best[kind].seconds:
            best[kind] = step
    said = next((step.said for step in bill.steps if step.said), "")
    return "; ".join(f"{each.name} {each.seconds:.2f} s {each.megabytes} MB" for each in best.values()) + (
        f" [{said[:200]}]" if said else ""
    )


def main(arguments: Sequence[str]) -> None:
    """Serve, or print the bills of the files named."""
    if arguments[:1] == ["--serve"]:
        _serve()
        return
    with contextlib.ExitStack() as stack:
        meter = stack.enter_context(Meter.started())
        for name in arguments:
            path = Path(name).absolute()
            print(f"{path.name} ({path.stat().st_size:,} bytes): {shown(meter.bill(path, 80.0, 4096))}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
