"""A process that stops at a named point of its work: `python -m tests.faults.holder PLAN`, a JSON object.

Prints a line for each thing that happens: `at POINT` (then it waits for a line on its standard input), `waiting MESSAGE`
for each other message of its progress, and in the end `done`, or `failed TYPE: TEXT`.
"""

from __future__ import annotations

import faulthandler
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import define, field

from citekit import CiteKit
from citekit.domain.errors import Cancelled
from tests.faults.audited import Log, audited

HANGS = 90.0
"""Seconds after which a process that has not ended shows its stacks, and ends."""


def say(*words: object) -> None:
    """One line to whoever started this."""
    sys.stdout.write(" ".join(map(str, words)).replace("\n", " ") + "\n")
    sys.stdout.flush()


@define
class Watched:
    """A `Progress` that says each message once, and gives up when it was told to wait for the time `cancel_at`."""

    cancel_at: int | None
    looks: int = 0
    said: set[str] = field(factory=set)

    def __call__(self, done: float, total: float | None = None, message: str = "") -> None:
        if "waiting" not in message:
            return
        self.looks += 1
        if message not in self.said:
            self.said.add(message)
            say("waiting", message)
        if self.cancel_at is not None and self.looks >= self.cancel_at:
            raise Cancelled("enough")


def stopping(point: str | None) -> Callable[[str], object]:
    """Waits at that point, once."""
    left = [point]

    def at(here: str) -> None:
        if here in left:
            left.remove(here)
            say("at", here)
            sys.stdin.readline()

    return at


def before(owner: Any, name: str, point: str, at: Callable[[str], object]) -> None:
    """Pass that point before each call of a function of the product."""
    inner = getattr(owner, name)

    def passing(*args: Any, **named: Any) -> Any:
        at(point)
        return inner(*args, **named)

    setattr(owner, name, passing)


def points(kit: CiteKit, at: Callable[[str], object]) -> None:
    """The points beside those of `audited`: whoever is there holds a lock."""
    from citekit.adapters.storage import objects, outputs

    before(kit.app.maps, "put", "storing", at)
    before(outputs, "_link_or_copy", "placing", at)
    inner = objects.Objects.take_in

    def take_in(self: objects.Objects, *args: Any) -> Any:
        at("taking in")
        return inner(self, *args)

    objects.Objects.take_in = take_in  # type: ignore[method-assign, assignment]


def main() -> None:
    """The plan says where, what is done, and where it stops."""
    plan: dict[str, Any] = json.loads(sys.argv[1])
    faulthandler.dump_traceback_later(HANGS, exit=True)
    at = stopping(plan.get("stop"))
    kit = audited(Path(plan["home"]), Log(Path(plan["log"])), at)
    points(kit, at)
    progress = Watched(plan.get("cancel"))
    say("ready")
    sys.stdin.readline()
    try:
        if "address" in plan:
            kit.resolve(plan["address"], progress=progress)
        elif "book" in plan:
            kit.library("shared").ingest(plan["book"], title="Guest", author="Nobody", progress=progress)
            at("index open")
        else:
            kit.ingest(plan["path"], resource_id=plan.get("name"), progress=progress)
    except Exception as error:
        say("failed", f"{type(error).__name__}: {error}")
    else:
        say("done")


if __name__ == "__main__":
    main()
