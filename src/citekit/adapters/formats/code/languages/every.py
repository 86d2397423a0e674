"""Lists the grammars of all supported programming languages by language name."""

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
