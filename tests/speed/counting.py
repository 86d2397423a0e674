"""What an operation costs in figures that are the same on every machine and in every run."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any

from attrs import frozen

WARM = 3
"""Times that an operation runs before it is counted: what it keeps for the next time is kept by then."""

COUNTED = 3
"""Times that it is counted; the least counts, for now and then something is due that is not due every time."""


@frozen
class Cost:
    """Bytecode instructions that one thread executed, and the most bytes that it held at once beyond those before."""

    instructions: int
    bytes: int


def cost(run: Callable[[], object]) -> Cost:
    """The cost of one run of a warm operation."""
    for _ in range(WARM):
        run()
    gc.collect()
    gc.disable()
    try:
        return Cost(min(_instructions(run) for _ in range(COUNTED)), min(_bytes(run) for _ in range(COUNTED)))
    finally:
        gc.enable()


def _instructions(run: Callable[[], object]) -> int:
    count = 0

    def traced(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode":
            count += 1
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        run()
    finally:
        sys.settrace(before)
    return count


def _bytes(run: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        run()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
