"""How much each operation may cost, as it was counted when that was last written down.

    python -m tests.speed.ceilings

writes down what they cost now; what rose then shows in the difference.
"""

from __future__ import annotations

import json
import platform
import tempfile
import time
from pathlib import Path

from attrs import asdict

from tests.speed.counting import Cost, cost
from tests.speed.operations import operations, write_home

FILE = Path(__file__).with_name("ceilings.json")
FEW, MANY = 10, 1_000

MARGIN = 1.15
"""How many times what was written down is still borne."""

ELSEWHERE = 1.6
"""The same where another version of Python compiles to other instructions."""

SOON = 0.1
"""Seconds after which the same holds for files of ours, on file systems that tell fine times."""

SETTLED = 2.2
"""Seconds after which the times of a file tell whether it changed."""


def costs(*sizes: int) -> dict[int, dict[str, Cost]]:
    """What the operations cost now, on homes of so many maps."""
    with tempfile.TemporaryDirectory() as folder:
        homes = {maps: Path(folder) / str(maps) for maps in sizes}
        for maps, home in homes.items():
            write_home(home, maps)
        done = {maps: operations(home) for maps, home in homes.items()}
        for _ in range(2):  # what is written by the first time has to be settled, too, before it is believed
            time.sleep(SETTLED)
            for each in done.values():
                for run in (*each.values(), *each.values()):
                    run()
        time.sleep(SOON)
        return {maps: {name: cost(run) for name, run in each.items()} for maps, each in done.items()}


def allowed() -> dict[str, Cost]:
    """The ceilings, with the margin for this version of Python."""
    kept = json.loads(FILE.read_text("utf-8"))
    margin = MARGIN if kept["python"] == version() else ELSEWHERE
    return {
        name: Cost(int(each["instructions"] * margin), int(each["bytes"] * margin))
        for name, each in kept["costs"].items()
    }


def version() -> str:
    """The version of Python whose instructions are counted."""
    return ".".join(platform.python_version_tuple()[:2])


def main() -> None:
    """Write the costs down."""
    kept = {"python": version(), "costs": {name: asdict(each) for name, each in costs(MANY)[MANY].items()}}
    FILE.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
