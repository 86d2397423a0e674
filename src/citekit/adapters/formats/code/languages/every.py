"""For every language: which package parses it, and which of its syntax nodes are the parts of a program."""

from __future__ import annotations

from citekit.adapters.formats.code.grammar import Grammar
from citekit.adapters.formats.code.languages import braces, c_family, declarative, scripts, web

GRAMMARS: dict[str, Grammar] = {
    **scripts.GRAMMARS,
    **web.GRAMMARS,
    **braces.GRAMMARS,
    **c_family.GRAMMARS,
    **declarative.GRAMMARS,
}
