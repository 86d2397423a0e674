"""Tree-sitter: syntax trees of source code, with one grammar package per language, all loaded on first use.

A tree is walked with a cursor and never with a query: the time of a query grows with the square of the siblings in a file
that does not parse, the time of a cursor only with their number.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING

from attrs import define, field

from citekit.domain.errors import CiteKitError, DriverMissing, MapperUnavailable
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Point, Tree


_STATM = Path("/proc/self/statm")


def resident_bytes() -> int:
    """Bytes of memory that this process holds now; 0 where the system does not say. Costs some ten microseconds."""
    try:
        return int(_STATM.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


CHUNK = 1 << 13

PARSE_SECONDS = 3.0
"""Processor time for all parses of one file of up to `USUAL_BYTES` bytes; larger files get more in proportion.

Parsers take about a second for a megabyte of a real program in the slowest grammar. Ambiguous or unfinished input can take
them the square of that time, so the time is measured instead of guessed from the input."""

USUAL_BYTES = 1 << 20

PARSE_MEMORY = (128 << 20, 400)
"""Bytes that the parses of one file may occupy: so many for any file, and so many more for each of its bytes. The tree of a
real program takes about 60 bytes for each byte of source, that of a long list of numbers 200."""

CALLS_PER_CHECK = 64
"""Calls of the parser between two looks at the clock and at the memory."""

DEPTH_LIMIT = 400
"""Levels of a tree that are looked into; below it lie only expressions that no person wrote."""


def exceptions() -> dict[type[Exception], type[CiteKitError]]:
    """The driver's exceptions and what becomes of them; a subclass stands before its parent."""
    from tree_sitter import QueryError

    return {
        QueryError: MapperUnavailable,
        ImportError: MapperUnavailable,  # or DriverMissing, where an extra brings the package
        ValueError: MapperUnavailable,
        TypeError: MapperUnavailable,
    }


@contextmanager
def translated(language: str) -> Iterator[None]:
    """Within it, the driver's exceptions become ours."""
    try:
        yield
    except ImportError as error:
        raise MapperUnavailable(
            f"The grammar of {language} is not installed ({error}): install citekit again."
        ) from error
    except (ValueError, TypeError) as error:
        raise MapperUnavailable(f"The grammar of {language} does not work here ({error}).") from error


class ParseBudgetExceeded(Exception):  # noqa: N818 - says what the file is; never leaves the mapper
    """A file that a parser goes over again and again."""


@lru_cache(maxsize=64)
def grammar(package: str, function: str = "language", extra: str | None = None) -> Language:
    """The grammar that `package` brings.

    Raises `MapperUnavailable` where it is missing or does not fit, `DriverMissing` where the `extra` installs it.
    """
    if extra is not None and find_spec(package) is None:
        raise DriverMissing(f"The structure of {package.removeprefix('tree_sitter_')}", extra)
    with translated(package.removeprefix("tree_sitter_")):
        from tree_sitter import Language

        return Language(_capsule(getattr(import_module(package), function)()))


def _capsule(language: object) -> object:
    """What a grammar's package gives, as tree-sitter wants it: older packages give the bare address as a number."""
    if not isinstance(language, int):
        return language
    import ctypes

    made = ctypes.pythonapi.PyCapsule_New
    made.restype, made.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    capsule: object = made(language, b"tree_sitter.Language", None)
    return capsule


@define
class ParseBudget:
    """What all parses of one file may cost together. Make one for each file."""

    seconds: float
    memory: int
    _held: int = field(factory=lambda: resident_bytes())

    @classmethod
    def of(cls, size: int) -> ParseBudget:
        """The budget of a file of `size` bytes."""
        return cls(PARSE_SECONDS * max(1.0, size / USUAL_BYTES), PARSE_MEMORY[0] + PARSE_MEMORY[1] * size)

    def check(self, spent: float) -> None:
        """Raise `ParseBudgetExceeded` if `spent` seconds of processor time or the memory used since the start exceed it."""
        if spent > self.seconds or resident_bytes() - self._held > self.memory:
            raise ParseBudgetExceeded("Parsing the file takes too much time or memory.")


def parse(language: Language, data: bytes, progress: Progress, budget: ParseBudget | None = None) -> Tree:
    """The syntax tree of `data` (UTF-8, or another encoding that holds ASCII as it is). Errors in it are nodes.

    `progress` receives the number of bytes read so far, and may raise. The processor time of this parse is deducted from
    `budget`. Raises `ParseBudgetExceeded` for a file that needs more than what is left of it.
    """
    from tree_sitter import Parser

    budget = budget or ParseBudget.of(len(data))
    reader = _Reader(data, progress, budget)
    begun = thread_time()
    try:
        with translated(language.name or "this"):
            tree = Parser(language).parse(reader, progress_callback=reader.is_over)
    except MapperUnavailable:
        if reader.failure is None:
            raise
        raise reader.failure from None
    finally:
        budget.seconds -= thread_time() - begun
    if reader.failure is not None:
        raise reader.failure
    return tree


@define
class _Reader:
    """Hands out a program in chunks. What goes wrong in it is kept: the parser cannot be left by an exception."""

    data: bytes
    progress: Progress
    budget: ParseBudget
    begun: float = field(factory=thread_time)
    calls: int = 0
    told: int = -1
    failure: Exception | None = None

    def __call__(self, offset: int, _point: Point) -> bytes | None:
        if self.is_over():
            return None
        if offset > self.told:
            self.told = offset
            try:
                self.progress(offset, len(self.data), "reading the code")
            except Exception as error:
                self.failure = error
                return None
        return self.data[offset : offset + CHUNK] or None

    def is_over(self, _offset: int = 0, _has_error: bool = False) -> bool:
        """Whether the parser has to stop: it asks from time to time."""
        self.calls += 1
        if self.failure is None and self.calls % CALLS_PER_CHECK == 0:
            try:
                self.budget.check(thread_time() - self.begun)
            except ParseBudgetExceeded as error:
                self.failure = error
        return self.failure is not None


def first_error(tree: Tree) -> int | None:
    """The byte where the first piece of text that does not fit the grammar begins; None where all of it fits."""
    cursor = tree.walk()
    node = cursor.node
    if node is None or not node.has_error:
        return None
    for _ in range(DEPTH_LIMIT):
        if node is None or node.is_error or node.is_missing or not cursor.goto_first_child():
            break
        node = cursor.node
        while node is not None and not node.has_error and cursor.goto_next_sibling():
            node = cursor.node
    return None if node is None else node.start_byte


def walk(tree: Tree, wanted: Container[str]) -> Iterator[Node]:
    """The nodes of the `wanted` types, in the order they begin in the file, parents before their children."""
    cursor = tree.walk()
    depth = 0
    while True:
        node = cursor.node
        if node is not None and node.type in wanted and node.is_named:
            yield node
        if depth < DEPTH_LIMIT and cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1
