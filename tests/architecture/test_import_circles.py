"""No module imports itself through others, not even for type checkers or inside functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.architecture.modules import imports

SOURCES = Path(__file__).parents[2] / "src"


@cache
def trees_of(folder: Path) -> Mapping[str, ast.AST]:
    """The syntax trees of all modules below a folder by their full names; a package is named like its folder."""
    return {
        ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__"): ast.parse(path.read_bytes())
        for path in folder.rglob("*.py")
    }


def imported(tree: ast.AST, known: Mapping[str, ast.AST]) -> Iterator[str]:
    """The known modules that a module imports anywhere in it. A package is imported only by who takes a name from it."""
    for node in imports(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names if alias.name in known)
            case ast.ImportFrom(module=str() as module, names=names, level=0):
                full = [f"{module}.{alias.name}" for alias in names]
                yield from (name if name in known else module for name in full if name in known or module in known)


def circle(trees: Mapping[str, ast.AST]) -> list[str]:
    """The names of modules that import each other in turn, or an empty list."""
    try:
        TopologicalSorter({name: set(imported(tree, trees)) for name, tree in trees.items()}).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other() -> None:
    trees = trees_of(SOURCES)

    assert len(trees) > 500
    assert sum(len(list(imported(tree, trees))) for tree in trees.values()) > 2000
    assert circle(trees) == []


def test_imports_are_absolute() -> None:
    relative = [name for name, tree in trees_of(SOURCES).items() if _has_relative_import(tree)]

    assert relative == []


def _has_relative_import(tree: ast.AST) -> bool:
    return any(isinstance(node, ast.ImportFrom) and node.level > 0 for node in imports(tree))


@pytest.mark.parametrize(
    "back",
    [
        "from p import b",
        "import p.b",
        "from p.b import Name",
        "if TYPE_CHECKING:\n    from p.b import Name",
        "def f():\n    from p.b import Name",
    ],
)
def test_a_circle_is_noticed(back: str) -> None:
    modules = {"p": "", "p.a": back, "p.b": "from p.c import Name", "p.c": "from p.a import Name"}

    assert set(circle({name: ast.parse(code) for name, code in modules.items()})) == {"p.a", "p.b", "p.c"}


def test_a_package_that_offers_names_of_its_modules_is_no_circle() -> None:
    modules = {"p": "from p.a import Name", "p.a": "from p.b import Name", "p.b": ""}

    assert circle({name: ast.parse(code) for name, code in modules.items()}) == []
