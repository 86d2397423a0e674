"""One long-lived process that maps, cuts and verifies whatever file it is given, as the server does for its clients.

`python -m tests.faults.devouring HOME`, with a request of JSON a line (`name`, `path`), and an answer a line. It keeps a list
of what it did outside of `HOME` and the temporary folder: an audit hook sees each file that is opened, each program and each
connection. What its children do, the system restricts.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from attrs import asdict, define, field

PATIENCE = 30.0
"""Seconds after which the client of this server gives an input up."""

SETTINGS = {
    "CITEKIT_PARSERS": "subprocess",
    "CITEKIT_MAPPER": "local",
    "CITEKIT_OCR": "off",
    "CITEKIT_PARSER_TIMEOUT": "15",
    "CITEKIT_PARSER_MEMORY": "2G",
    "CITEKIT_CACHE_LIMIT": "300M",
}

ENDS = {
    "it crashed the worker process": "died",
    "the worker process was terminated": "died",
    "the worker process ended": "died",
    "no progress was made for": "silent",
    "more memory than is allowed": "memory",
    "the output would exceed": "size",
    "returned an invalid answer": "nonsense",
}
"""Of what the errors of a child's limits say: which it was."""


@define
class Meal:
    """What came of one input."""

    name: str
    nodes: int = 0
    cut: int = 0
    map: str = ""
    parts: dict[str, str] = field(factory=dict)
    refusals: list[str] = field(factory=list)
    limits: list[str] = field(factory=list)
    faults: list[str] = field(factory=list)
    seconds: float = 0.0
    held: int = 0

    def attempt(self, what: str, work: Callable[[], Any]) -> Any:
        """What `work` gives; None where it raises one of our errors, which is noted. Any other is a fault."""
        from citekit.domain.errors import CiteKitError

        try:
            return work()
        except CiteKitError as error:
            said = str(error)
            self.refusals.append(f"{what}: {type(error).__name__}: {said[:300]}")
            self.limits += [kind for words, kind in ENDS.items() if words in said]
            if not 0 < len(said) <= 5000:
                self.faults.append(f"{what}: an error of {len(said)} characters")
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-3:]
            where = " < ".join(f"{Path(each.filename).name}:{each.lineno}" for each in reversed(last))
            self.faults.append(f"{what}: {type(error).__name__}: {str(error)[-600:]} at {where}")
        return None


@define
class Watch:
    """Writes outside of `allowed`, programs and connections: an audit hook, which nothing can take off again."""

    allowed: tuple[str, ...]
    trespasses: list[str] = field(factory=list)
    _opening: threading.local = field(factory=threading.local)

    def follow_descriptors(self) -> None:
        """Learn the folder of files that are opened relative to a descriptor: the event `open` gives their name alone."""
        real = os.open

        def opened(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            self._opening.folder = -1 if dir_fd is None else dir_fd
            try:
                return real(path, flags, mode, dir_fd=dir_fd)
            finally:
                self._opening.folder = -1

        os.supports_dir_fd.add(opened)
        os.open = opened

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """See `sys.addaudithook`."""
        if event == "open":
            path, mode, flags = arguments
            changes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC) if isinstance(flags, int) else 0
            if changes or (isinstance(mode, str) and set(mode) & set("wax+")):
                self._look(event, path, getattr(self._opening, "folder", -1))
        elif event in _CHANGES:
            for path, folder in zip(arguments[: _CHANGES[event]], reversed(arguments), strict=False):
                self._look(event, path, folder if isinstance(folder, int) else -1)
        elif event in ("os.system", "socket.connect", "os.exec", "os.startfile"):
            self.trespasses.append(f"{event} {arguments[:2]!r}"[:300])
        elif event == "subprocess.Popen" and arguments[0] != sys.executable:
            self.trespasses.append(f"{event} {arguments[0]!r}"[:300])

    def _look(self, event: str, path: Any, folder: int = -1) -> None:
        """`folder` is the descriptor of the one that `path` starts at, or -1 for the current one."""
        if isinstance(path, int) or path is None:
            return
        start = os.readlink(f"/proc/self/fd/{folder}") if folder > 2 else os.getcwd()
        place = os.path.normpath(os.path.join(start, os.fsdecode(path)))
        if place != os.devnull and not any(place == each or place.startswith(f"{each}/") for each in self.allowed):
            self.trespasses.append(f"{event} {place}"[:300])


_CHANGES = {
    "os.mkdir": 1, "os.remove": 1, "os.rmdir": 1, "os.rename": 2, "os.link": 2, "os.symlink": 2, "os.truncate": 1, "os.chmod": 1,
    "os.chown": 1, "os.utime": 1, "shutil.copyfile": 0, "shutil.rmtree": 1, "os.mkfifo": 1,
}  # fmt: skip
"""Events, and how many of their first arguments are paths that change."""


def eat(app: Any, owner: Any, name: str, path: Path) -> Meal:
    """Map the file, cut its first, middle and last node in every form, verify one piece, forget it again.

    `app` is that of clients, `owner` that of the owner of the same home, who alone may verify what lies in the cache.
    """
    meal = Meal(name)
    begun = monotonic()
    ingested = meal.attempt("map", lambda: app.ingest(path, wanted_id="input", progress=_impatient(begun)))
    if ingested is not None:
        found = ingested.resource_map
        meal.nodes = sum(1 for _ in found.walk())
        meal.map = _digest(json.dumps(_lasting(found), sort_keys=True).encode("utf-8", "surrogatepass"))
        _cut(app, owner, found, meal, begun)
        meal.attempt("forget", lambda: app.remove(found.resource_id))
    meal.seconds = round(monotonic() - begun, 2)
    meal.held = _held()
    return meal


def _impatient(begun: float) -> Callable[..., None]:
    from citekit.domain.errors import Cancelled

    def progress(*_: object) -> None:
        if monotonic() - begun > PATIENCE:
            raise Cancelled("The client waits no longer.")

    return progress


def _lasting(found: Any) -> dict[str, Any]:
    """The map without what differs from day to day and from place to place."""
    from citekit.wire.maps import to_plain_map

    plain = to_plain_map(found)
    return {key: value for key, value in plain.items() if key not in ("created_at", "source_path")}


def _cut(app: Any, owner: Any, found: Any, meal: Meal, begun: float) -> None:
    from citekit.domain.evidence import Form, Options
    from citekit.domain.formats import format_named
    from citekit.domain.node import NodeName

    nodes = list(found.walk())
    format = format_named(str(found.metadata.get("format")))
    for node in {id(each): each for each in (*nodes[:1], *nodes[len(nodes) // 2 :][:1], *nodes[-1:])}.values():
        name = NodeName(found.resource_id, node.id)
        for form in (app.resolve.forms(format, node.location) if format else ()) or (Form.NATIVE,):
            cut = partial(app.resolve, name, options=Options(form=form), progress=_impatient(begun))
            made = meal.attempt(f"cut {form}", cut)
            if made is None or made.output_path is None:
                continue
            meal.parts[f"{node.id} {form}"] = _digest(made.output_path.read_bytes())
            if not meal.cut:
                verdict = meal.attempt("verify", partial(owner.verify.file, made.output_path))
                if verdict is not None and verdict.refuted:
                    meal.faults.append(f"evidence is not genuine: {verdict.checks}"[:600])
            meal.cut += 1


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _held() -> int:
    """Megabytes that this process holds."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS")), 0)


def main() -> None:
    """Answer until the input ends."""
    from citekit.container import bootstrap
    from citekit.settings import settings_from

    home = Path(sys.argv[1])
    inputs = sys.argv[2]
    owner = bootstrap(settings_from({**SETTINGS, "CITEKIT_ROOTS": inputs}, home))
    app = owner.for_clients()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    watch = Watch((str(home), os.path.realpath(tempfile.gettempdir())))
    watch.follow_descriptors()
    sys.addaudithook(watch)
    for line in sys.stdin:
        asked = json.loads(line)
        meal = eat(app, owner, asked["name"], Path(asked["path"]))
        meal.faults += [f"outside of the home: {each}" for each in watch.trespasses]
        watch.trespasses.clear()
        print(json.dumps(asdict(meal)), file=answers, flush=True)


if __name__ == "__main__":
    main()
