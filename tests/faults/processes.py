"""Processes at once on one home, and a world that changes under them."""

from __future__ import annotations

from collections.abc import Sequence

from tests.faults import crowd, holders, moments, uprooted, versions, world
from tests.faults.changes import LOCKED, OF_MAPS, OF_SOURCES, OF_STORES
from tests.faults.table import Row, Scale


def run(scale: Scale) -> Sequence[Row]:
    """Half of the time is for the processes at once; what is counted, not timed, is all done once."""
    commands = scale.seconds >= 30
    return [
        *crowd.run(scale.seconds / 2),
        *holders.run(scale.seconds / 4),
        world.row("stores changed under a server, a program and commands", OF_STORES, commands=commands),
        world.row("maps changed under them", OF_MAPS, commands=commands),
        world.row("sources changed under them", OF_SOURCES, commands=commands),
        world.row("databases locked by another process", [LOCKED], commands=False, slow=True),
        *uprooted.rows(),
        *moments.rows(),
        *versions.rows(scale.seconds / 20),
    ]
