"""What the inner layers may import, and what start-up may not."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.modules import imports

SOURCES = Path(__file__).parents[2] / "src" / "citekit"
INNER = sorted(path for layer in ("domain", "application") for path in (SOURCES / layer).rglob("*.py"))
HEAVY = [
    "pymupdf",
    "fitz",
    "av",
    "PIL",
    "numpy",
    "lxml",
    "selectolax",
    "tree_sitter",
    "mcp",
    "openai",
    "google.genai",
    "rich",
    "ffmpeg",
    "charset_normalizer",
    "markdown_it",
]


def imported(tree: ast.AST) -> Iterator[str]:
    """The full names of all modules that a module imports anywhere in it; relative imports begin with dots."""
    for node in imports(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def is_allowed(layer: str, module: str) -> bool:
    top, _, rest = module.partition(".")
    if top == "citekit":
        return rest.split(".")[0] in {"domain": ("domain",), "application": ("domain", "application")}[layer]
    return top == "attrs" or top == "attr" or top in sys.stdlib_module_names


def test_inner_layers_import_only_the_standard_library_attrs_and_inner_layers() -> None:
    strangers = [
        (str(path.relative_to(SOURCES)), name)
        for path in INNER
        for name in imported(ast.parse(path.read_text("utf-8")))
        if not is_allowed(path.relative_to(SOURCES).parts[0], name)
    ]

    assert strangers == []


def test_the_inner_layers_are_seen() -> None:
    assert {"domain", "application"} == {path.relative_to(SOURCES).parts[0] for path in INNER}


def test_a_stranger_would_be_noticed() -> None:
    tree = ast.parse("def f():\n    import numpy.linalg\n    from citekit.wire import x\n    from . import y\n")

    assert [name for name in imported(tree) if not is_allowed("domain", name)] == ["numpy.linalg", "citekit.wire", "."]


@pytest.mark.parametrize("module", ["citekit", "citekit.domain.exchange", "citekit.container"])
def test_start_up_imports_nothing_heavy(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"there is no {module} yet")
    program = f"import sys, {module}; print(*[name for name in {HEAVY!r} if name in sys.modules])"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.strip() == ""


@pytest.mark.parametrize("module", ["citekit", "citekit.domain.exchange"])
def test_importing_prints_nothing(module: str) -> None:
    done = subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, text=True, timeout=60)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
