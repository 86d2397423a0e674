"""Tree-sitter: syntax trees of source code, in one grammar package a language, all loaded on first use.

A tree is walked with a cursor and never with a query: the time of a query grows with the square of the siblings in a file
that does not parse, the time of a cursor only with their number.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from citekit.domain.errors import CiteKitError, MapperUnavailable
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Point, Tree

CHUNK = 1 << 20
DEPTH_LIMIT = 400
"""Levels of a tree that are looked into; below it lie only expressions that no person wrote."""


def exceptions() -> dict[type[Exception], type[CiteKitError]]:
    """The driver's exceptions and what becomes of them; a subclass stands before its parent."""
    from tree_sitter import QueryError

    return {
        QueryError: MapperUnavailable,
        ImportError: MapperUnavailable,
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


@lru_cache(maxsize=64)
def grammar(package: str, function: str = "language") -> Language:
    """The grammar that `package` brings. Raises `MapperUnavailable` where it is missing or does not fit."""
    with translated(package.removeprefix("tree_sitter_")):
        from tree_sitter import Language

        return Language(getattr(import_module(package), function)())


def parse(language: Language, data: bytes, progress: Progress) -> Tree:
    """The syntax tree of `data` (UTF-8, or another encoding that holds ASCII as it is). Errors in it are nodes.

    `progress` is told the bytes read so far, and may raise.
    """
    from tree_sitter import Parser

    def read(offset: int, _point: Point) -> bytes | None:
        progress(offset, len(data), "reading the code")
        return data[offset : offset + CHUNK] or None

    with translated(language.name or "this"):
        return Parser(language).parse(read)


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
