"""Quick ways through the syntax trees of the package: `ast.walk` over all modules takes seconds each time."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a tree, outer ones first."""
    found = [tree]
    for node in found:  # the list grows meanwhile
        yield node
        for value in node.__dict__.values():
            if isinstance(value, ast.AST):
                found.append(value)
            elif type(value) is list:
                found += [each for each in value if isinstance(each, ast.AST)]


def imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """All imports of a tree, also those inside functions and conditions. Expressions have none and are left out."""
    found = [tree]
    for node in found:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        for value in node.__dict__.values():
            if type(value) is list:
                found += [each for each in value if isinstance(each, ast.stmt | ast.excepthandler | ast.match_case)]
