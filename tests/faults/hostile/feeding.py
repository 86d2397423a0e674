"""The process that hostile contents are fed to: reads one request a line, answers with what came of it.

A request is JSON: `name`, `path`, `home`, `way`. The ways: `file` (ingest it, cut out parts in every form, verify them),
`ffmpeg` (the same, with the program of that name cutting), `map` (check it, put it into the home, let an agent read it and
cut), `receipt` (verify it), `graphrag`, `llamaindex`, `generic` (adapt it, let an agent use the map), `home` (the folder is
a home: let an agent use it). The checks and `adapt` are commands of the owner, who may have any file read; agents may not.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import io
import json
import os
import re
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import define, field

from citekit.entrypoints.cli import NEW_OBJECTS
from tests.faults.hostile.case import WORD

MARK = "/@case"
"""What a look at tells the tracer that a case begins: `/@case/NAME`, or goes on as its owner: `/@case/NAME#owner`."""

OWNER = "#owner"

ENDED = re.compile(r"the worker process,? (ended|was|which was)|no progress was made|returned an invalid answer")
"""How errors say that a parser was ended; nothing more is asked of a content that had one ended while it was cut."""

PARTS = 4
"""Nodes of a map that are cut out."""

_MEMORY = 8 * 2**30
_FILE = 2**30


@define
class Outcome:
    """What came of one content."""

    maps: int = 0
    nodes: int = 0
    cut: int = 0
    errors: list[str] = field(factory=list)
    faults: list[str] = field(factory=list)
    written: list[str] = field(factory=list)
    name: str = ""

    @contextlib.contextmanager
    def as_owner(self) -> Iterator[None]:
        """What is done inside is the owner's own command."""
        os.path.exists(f"{MARK}/{self.name}{OWNER}")
        yield
        os.path.exists(f"{MARK}/{self.name}")

    def attempt(self, what: str, work: Callable[[], Any]) -> Any:
        """What `work` gives; None where it raises one of our errors, which is noted. Any other is a fault."""
        from citekit.domain.errors import CiteKitError

        try:
            return work()
        except CiteKitError as error:
            self.errors.append(f"{type(error).__name__}: {error}")
            if not 0 < len(str(error)) <= 2000:
                self.faults.append(f"{what}: an error of {len(str(error))} characters")
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-4:]
            where = " < ".join(f"{Path(each.filename).name}:{each.lineno}" for each in reversed(last))
            self.faults.append(f"{what}: {type(error).__name__}: {str(error)[-300:]} at {where}")
        return None


def feed(way: str, path: Path, home: Path, name: str = "") -> Outcome:
    """Feed the content at `path`."""
    from citekit.container import bootstrap

    done = Outcome(name=name)
    os.environ["CITEKIT_MEDIA"] = "ffmpeg" if way == "ffmpeg" else "pyav"
    if way in ("file", "ffmpeg"):
        _file(bootstrap(home=home), path, done)
    elif way == "home":
        _home(bootstrap(home=path).for_clients(), done)
    elif way == "map":
        _run(["--home", str(home), "validate", str(path)], done)
        maps = bootstrap(home=home).settings.maps_folder
        maps.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, maps / path.name)
        _home(bootstrap(home=home).for_clients(), done)
    elif way == "receipt":
        _run(["--home", str(home), "verify", str(path)], done)
    else:
        source = [word for file in path.parent.glob("source.*") for word in ("--source", str(file))]
        _run(["--home", str(home), "adapt", str(path), "--adapter", way, *source], done)
        _home(bootstrap(home=home).for_clients(), done)
    return done


def _file(app: Any, path: Path, done: Outcome) -> None:
    ingested = done.attempt("ingest", lambda: app.ingest(path))
    if ingested is None:
        return
    found = done.attempt("read the map", lambda: ingested.resource_map)
    report = found and done.attempt("check the map", lambda: app.check_map(found))
    if report and report.faults:
        done.faults.append(f"the map is unsound: {report.faults[0]}")
    if found is not None:
        _cut(app, found, done)


def _home(app: Any, done: Outcome) -> None:
    for resource_id in done.attempt("list", app.maps.ids) or ():
        found = done.attempt("read the map", partial(app.maps.get, resource_id))
        _tools(app, resource_id, found, done)
        if found is not None:
            _cut(app, found, done, verify=False)


def _tools(app: Any, resource_id: str, found: Any, done: Outcome) -> None:
    """The MCP tools on one map."""
    from citekit.domain.progress import silent
    from citekit.entrypoints.mcp.tools import Tools

    bound = Tools(app).bound()
    nodes = [node.id for node in _chosen(found)] if found is not None else ["x"]
    calls = [("getStructure", {"resource_id": resource_id})]
    calls += [
        (name, {"resource_id": resource_id, "node_id": each}) for name in ("getNode", "resolve") for each in nodes
    ]
    for name, arguments in calls:
        tool = bound.get(name)
        if tool is not None:
            said = done.attempt(name, partial(tool.run, arguments, silent))
            if WORD in repr(said):
                done.faults.append(f"{name} tells what is in a file outside")


def _cut(app: Any, found: Any, done: Outcome, *, verify: bool = True) -> None:
    from citekit.domain.evidence import Form, Options
    from citekit.domain.formats import format_named
    from citekit.domain.node import NodeName

    done.maps += 1
    done.nodes += sum(1 for _ in found.walk())
    format = format_named(str(found.metadata.get("format")))
    for node in _chosen(found):
        name = NodeName(found.resource_id, node.id)
        done.attempt("resolve", partial(app.resolve, name, virtual=True))
        forms: Sequence[Form] = (app.resolve.forms(format, node.location) if format else ()) or (Form.NATIVE,)
        for form in forms:
            if any(map(ENDED.search, done.errors)):
                return
            made = done.attempt(f"cut {form}", partial(app.resolve, name, options=Options(form=form)))
            if made is not None and made.output_path is not None:
                done.cut += 1
                done.written.append(str(made.output_path))
                verify = verify and _verified(app, Path(made.output_path), done)


def _verified(app: Any, path: Path, done: Outcome) -> bool:
    """Verify a first evidence; False, so that no further one is."""
    verdict = done.attempt("verify", lambda: app.verify.file(path))
    if verdict is not None and verdict.refuted:
        done.faults.append(f"evidence is not genuine: {verdict.checks}")
    return False


def _chosen(found: Any) -> list[Any]:
    """Nodes from the beginning, the middle and the end of a map."""
    nodes = list(found.walk())
    step = max(1, len(nodes) // (PARTS - 1))
    return list({id(node): node for node in [*nodes[::step][: PARTS - 1], *nodes[-1:]]}.values())


def _run(words: list[str], done: Outcome) -> None:
    """A command of the program, in this process."""
    import click

    from citekit.domain.errors import CiteKitError
    from citekit.entrypoints.cli.errors import CommandError
    from citekit.entrypoints.cli.program import PROGRAM

    def work() -> None:
        try:
            PROGRAM.main(words, prog_name="citekit", standalone_mode=False)
        except (CommandError, click.ClickException) as error:
            raise CiteKitError(str(error)[:2000]) from error

    with done.as_owner(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        done.attempt(words[2], work)


_FIELD = re.compile(r"^(\w+):\s+(\d+) kB$", re.MULTILINE)
_TICKS = os.sysconf("SC_CLK_TCK")


def _family() -> list[Path]:
    """This process and its children, as folders of /proc."""
    lists = Path("/proc/self/task").glob("*/children")
    return [Path("/proc/self"), *(Path("/proc", number) for each in lists for number in each.read_text().split())]


def _peak() -> int:
    """The most memory that this process and each of its children held since `_settle`, in megabytes."""
    total = 0
    for each in _family():
        with contextlib.suppress(OSError):
            total += int(dict(_FIELD.findall((each / "status").read_text())).get("VmHWM", 0))
    return total // 1024


def _dead() -> int:
    """The most memory that any child held that is gone, in megabytes."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024


def _settle() -> int:
    """Give back what is free, so that a case is not charged for the one before; what is held, in megabytes."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    for each in _family():
        with contextlib.suppress(OSError):
            (each / "clear_refs").write_text("5")
    return _peak()


def _spent() -> float:
    """Seconds of the processor that this process and its children, living and gone, have taken."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    total = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    for each in _family()[1:]:
        with contextlib.suppress(OSError):
            total += sum(map(int, (each / "stat").read_text().rpartition(")")[2].split()[11:15])) / _TICKS
    return total


def _end_workers() -> None:
    """End the workers of this case: one that was started in advance opens the folders of its home whenever it comes to it."""
    for each in _family()[1:]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(each.name), signal.SIGKILL)


def main() -> None:
    """Answer until the input ends."""
    import citekit.entrypoints.cli.session  # noqa: F401 - what every case needs is not counted for the first

    gc.set_threshold(NEW_OBJECTS)  # as every program of ours does
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE, _FILE))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(json.dumps({"pid": os.getpid()}), file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        os.path.exists(f"{MARK}/{asked['name']}")
        held, gone = _settle(), _dead()
        before, began = _spent(), time.monotonic()
        done = feed(asked["way"], Path(asked["path"]), Path(asked["home"]), asked["name"])
        told = {
            "maps": done.maps,
            "nodes": done.nodes,
            "cut": done.cut,
            "errors": done.errors[:50],
            "faults": done.faults[:50],
            "written": done.written,
            "cpu": round(_spent() - before, 2),
            "seconds": round(time.monotonic() - began, 2),
            "megabytes": max(_peak() - held, _dead() if _dead() > gone else 0),
            "held": held,
        }
        os.path.exists(f"{MARK}/")
        _end_workers()
        print(json.dumps(told), file=answers, flush=True)


if __name__ == "__main__":
    main()
