"""The format handler for data files."""

from __future__ import annotations

from collections.abc import Callable

from citekit.adapters.formats.handler import Services, Task, TextHandler
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.formats import Format


class DataHandler(TextHandler):
    """Handles data files. They are outlined by their top-level structure, and otherwise treated as text."""

    def uses_native_code(self, task: Task, format: Format) -> bool:
        """Return True for outlining XML, which is parsed by the compiled library expat.

        Other tasks use no native code.
        """
        return task is Task.OUTLINE and format.name == "xml"

    def outliner(self, format: Format, services: Services) -> Outliner:
        """See `FormatHandler.outliner`. Raise `KeyError` if the format is not a data format."""
        return _OUTLINERS[format.name](services.plain_outliner())


def _json(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.json import JsonOutliner

    return JsonOutliner(plain)


def _jsonl(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.jsonl import JsonLinesOutliner

    return JsonLinesOutliner(plain, _json(plain))


def _notebook(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.notebook import NotebookOutliner

    return NotebookOutliner(_json(plain))


def _yaml(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.yaml import YamlOutliner

    return YamlOutliner(plain, _json(plain))


def _toml(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.toml import TomlOutliner

    return TomlOutliner(plain)


def _ini(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.keyed_sections import IniOutliner

    return IniOutliner(plain)


def _csv(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.csv import CsvOutliner

    return CsvOutliner(plain)


def _log(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.log import LogOutliner

    return LogOutliner(plain)


def _xml(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.xml import XmlOutliner

    return XmlOutliner(plain)


_OUTLINERS: dict[str, Callable[[Outliner], Outliner]] = {
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

HANDLER = DataHandler()
