"""Which outliner maps which format of markup and of data."""

from __future__ import annotations

from collections.abc import Callable

from citekit.adapters.mapping.local.outline import Outliner


def _asciidoc(plain: Outliner) -> Outliner:
    from citekit.adapters.mapping.local.markup.asciidoc import asciidoc

    return asciidoc(plain)


def _org(plain: Outliner) -> Outliner:
    from citekit.adapters.mapping.local.markup.org import org

    return org(plain)


def _latex(plain: Outliner) -> Outliner:
    from citekit.adapters.mapping.local.markup.latex import latex

    return latex(plain)


def _json(plain: Outliner) -> Outliner:
    from citekit.adapters.mapping.local.data.json import JsonOutliner

    return JsonOutliner(plain)


def _jsonl(plain: Outliner) -> Outliner:
    from citekit.adapters.mapping.local.data.jsonl import JsonLinesOutliner

    return JsonLinesOutliner(plain, _json(plain))


def _notebook(plain: Outliner) -> Outliner:
    from citekit.adapters.mapping.local.data.notebook import NotebookOutliner

    return NotebookOutliner(_json(plain))


def _yaml(plain: Outliner) -> Outliner:
    from citekit.adapters.mapping.local.data.yaml import YamlOutliner

    return YamlOutliner(plain, _json(plain))


def _toml(plain: Outliner) -> Outliner:
    from citekit.adapters.mapping.local.data.toml import TomlOutliner

    return TomlOutliner(plain)


def _ini(plain: Outliner) -> Outliner:
    from citekit.adapters.mapping.local.data.ini import IniOutliner

    return IniOutliner(plain)


def _csv(plain: Outliner) -> Outliner:
    from citekit.adapters.mapping.local.data.csv import CsvOutliner

    return CsvOutliner(plain)


def _log(plain: Outliner) -> Outliner:
    from citekit.adapters.mapping.local.data.log import LogOutliner

    return LogOutliner(plain)


def _xml(plain: Outliner) -> Outliner:
    from citekit.adapters.mapping.local.data.xml import XmlOutliner

    return XmlOutliner(plain)


TEXTS: dict[str, Callable[[Outliner], Outliner]] = {
    "asciidoc": _asciidoc,
    "org": _org,
    "latex": _latex,
    "json": _json,
    "jsonl": _jsonl,
    "notebook": _notebook,
    "yaml": _yaml,
    "toml": _toml,
    "ini": _ini,
    "csv": _csv,
    "tsv": _csv,
    "log": _log,
    "xml": _xml,
}
"""By the name of the format: what makes its outliner, given the one for texts without structure."""


def outliner_of(name: str, plain: Outliner) -> Outliner:
    """The outliner of the format `name`, one of `TEXTS`."""
    return TEXTS[name](plain)
