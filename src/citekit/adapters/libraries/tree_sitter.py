"""Parses source code with Tree-sitter, which is imported on first use, with one package per language.

Syntax trees are walked with a cursor instead of queries, whose time grows with the square of the number of siblings in
a file with syntax errors.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, thread_time
from typing import TYPE_CHECKING

from attrs import define, field

from citekit.domain.distribution import DISTRIBUTION
from citekit.domain.errors import CiteKitError, DriverMissing, MapperUnavailable
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Point, Tree


_STATM = Path("/proc/self/statm")


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes; 0 if it is unknown. A call takes ten microseconds."""
    try:
        return int(_STATM.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


CHUNK = 1 << 13

PARSE_SECONDS = 3.0
"""Maximum CPU time, in seconds, of all parses of a file of up to `USUAL_BYTES` bytes. Larger files get more.

The time is measured, not estimated: ordinary code takes up to a second per megabyte, but ambiguous or unfinished input
takes quadratic time.
"""

USUAL_BYTES = 1 << 20

PARSE_MEMORY = (128 << 20, 400)
"""Maximum bytes of memory for the parses of a file: a constant, plus a number of bytes for each byte of source.

The tree of ordinary code takes about 60 bytes per byte, and that of a long list of numbers 200.
"""

CALLS_PER_CHECK = 64
"""Number of parser callbacks between two checks of the time and the memory."""

SECONDS_PER_CHECK = 0.1
"""Seconds since the last check after which any callback checks, because callbacks may be rare for ambiguous input."""

DEPTH_LIMIT = 400
"""Maximum depth to which trees are walked. Usually, only expressions in generated code are deeper."""


def exceptions() -> dict[type[Exception], type[CiteKitError]]:
    """Map the exceptions of the library to CiteKit errors. Subclasses come before their base classes."""
    from tree_sitter import QueryError

    return {
        QueryError: MapperUnavailable,
        ImportError: MapperUnavailable,  # or DriverMissing, if an extra provides the package
        ValueError: MapperUnavailable,
        TypeError: MapperUnavailable,
    }


@contextmanager
def translated(language: str, extra: str | None = None) -> Iterator[None]:
    """Convert the library's exceptions inside the block to `MapperUnavailable`.

    For the message, `language` names the grammar, and `extra` the extra that provides it.
    """
    package = DISTRIBUTION if extra is None else f"'{DISTRIBUTION}[{extra}]'"
    reinstall = f"reinstall the package (pip install --force-reinstall {package})"
    try:
        yield
    except ImportError as error:
        raise MapperUnavailable(f"The grammar of {language} cannot be loaded ({error}); {reinstall}.") from error
    except (ValueError, TypeError) as error:
        raise MapperUnavailable(
            f"The grammar of {language} is incompatible with the installed tree-sitter ({error}); {reinstall}."
        ) from error


class ParseBudgetExceeded(Exception):  # noqa: N818 - describes the file; never leaves the mapper
    """Parsing a file takes more time or memory than its budget allows."""


@lru_cache(maxsize=64)
def grammar(package: str, function: str = "language", extra: str | None = None) -> Language:
    """Load the grammar that the Python package `package` exports as `function`.

    Raise `MapperUnavailable` if it is missing or incompatible, but `DriverMissing` if it is missing and the extra
    `extra` provides it.
    """
    if extra is not None and find_spec(package) is None:
        raise DriverMissing(f"Parsing {package.removeprefix('tree_sitter_')}", extra)
    with translated(package.removeprefix("tree_sitter_"), extra):
        from tree_sitter import Language

        return Language(_capsule(getattr(import_module(package), function)()))


def _capsule(language: object) -> object:
    """Return the grammar `language` as Tree-sitter expects it; older packages return an address."""
    if not isinstance(language, int):
        return language
    import ctypes

    made = ctypes.pythonapi.PyCapsule_New
    made.restype, made.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    capsule: object = made(language, b"tree_sitter.Language", None)
    return capsule


@define
class ParseBudget:
    """The CPU time in seconds and the memory in bytes for all parses of one file."""

    seconds: float
    memory: int
    _held: int = field(factory=lambda: resident_bytes())

    @classmethod
    def of(cls, size: int) -> ParseBudget:
        """Return the budget for a file of `size` bytes. Large files get more time and memory."""
        return cls(PARSE_SECONDS * max(1.0, size / USUAL_BYTES), PARSE_MEMORY[0] + PARSE_MEMORY[1] * size)

    def check(self, spent: float) -> None:
        """Raise `ParseBudgetExceeded` if the budget is exceeded. `spent` is the CPU time of the current parse in
        seconds.

        The memory is the increase in the memory of the process since the budget was created.
        """
        if spent > self.seconds or resident_bytes() - self._held > self.memory:
            raise ParseBudgetExceeded("Parsing the file takes too much time or memory.")


def parse(language: Language, data: bytes, progress: Progress, budget: ParseBudget | None = None) -> Tree:
    """Return the syntax tree of `data` (UTF-8 or another superset of ASCII). Syntax errors are nodes of the tree.

    `progress` receives the number of bytes read so far, and errors that it raises stop the parse. The CPU time is
    deducted from `budget` (None: a new one). Raise `ParseBudgetExceeded` if the budget is exceeded.
    """
    from tree_sitter import Parser

    budget = budget or ParseBudget.of(len(data))
    reader = _Reader(data, progress, budget)
    begun = thread_time()
    try:
        with translated(language.name or "the language"):
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
    """Passes source code to the parser in chunks, reports progress, and checks the budget.

    `failure` stores an exception, which cannot propagate through the parser.
    """

    data: bytes
    progress: Progress
    budget: ParseBudget
    begun: float = field(factory=thread_time)
    checked: float = field(factory=monotonic)
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
        """Return whether the parser must stop. The parser calls this method periodically."""
        self.calls += 1
        is_due = self.calls % CALLS_PER_CHECK == 0 or monotonic() - self.checked > SECONDS_PER_CHECK
        if self.failure is None and is_due:
            self.checked = monotonic()
            try:
                self.budget.check(thread_time() - self.begun)
            except ParseBudgetExceeded as error:
                self.failure = error
        return self.failure is not None


def first_error(tree: Tree) -> int | None:
    """Return the byte offset of the first syntax error in `tree`; None if `tree` has no error."""
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


def walk(tree: Tree, wanted: Container[str]) -> Iterator[tuple[Node, Node | None]]:
    """Yield the named nodes whose type is in `wanted`, with their parents, in document order, down to `DEPTH_LIMIT`.

    `Node.parent` and `Node.next_sibling` are not used, because each call takes time in proportion to the number of
    siblings.
    """
    cursor = tree.walk()
    parents: list[Node | None] = [None]
    while True:
        node = cursor.node
        if node is not None and node.type in wanted and node.is_named:
            yield node, parents[-1]
        if len(parents) <= DEPTH_LIMIT and cursor.goto_first_child():
            parents.append(node)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            parents.pop()
