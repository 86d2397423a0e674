"""The format handler for data files."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from citekit.adapters.formats.handler import Services, Task, TextHandler
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.formats import Format
from citekit.domain.ports.extractor import Extractor


class DataHandler(TextHandler):
    """Handles data files. They are outlined by their top-level structure, and otherwise treated as text."""

    def uses_native_code(self, task: Task, format: Format) -> bool:
        """See `FormatHandler.uses_native_code`. Only outlining XML does, because the parser expat is compiled."""
        return task is Task.OUTLINE and format.name == "xml"

    def outliner(self, format: Format, services: Services) -> Outliner:
        """See `FormatHandler.outliner`. Raise `KeyError` if the format is not a data format."""
        return _OUTLINERS[format.name](services.plain_outliner())

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """See `FormatHandler.extractors`."""
        return {"data_lines": _data_lines, "table_rows": _table_rows}


def _data_lines(_: Services) -> Extractor:
    from citekit.adapters.formats.data.calendar import calendar_part
    from citekit.adapters.formats.data.notebook import notebook_part
    from citekit.adapters.formats.shared.line_extractor import TextExtractor
    from citekit.adapters.formats.shared.line_parts import LinePartExtractor
    from citekit.domain.evidence import ExtractorIdentity

    parts = {"notebook": notebook_part, "calendar": calendar_part}
    return LinePartExtractor(ExtractorIdentity("data-lines", "1"), parts, TextExtractor())


def _table_rows(_: Services) -> Extractor:
    from citekit.adapters.formats.data.csv import table_part
    from citekit.adapters.formats.shared.line_extractor import TextExtractor
    from citekit.adapters.formats.shared.line_parts import LinePartExtractor
    from citekit.domain.evidence import ExtractorIdentity, Form

    parts = {"csv": table_part, "tsv": table_part}
    return LinePartExtractor(ExtractorIdentity("table-rows", "1"), parts, TextExtractor(), Form.TABLE)


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


def _calendar(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.calendar import CalendarOutliner

    return CalendarOutliner(plain)


def _bibtex(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.bibtex import BibtexOutliner

    return BibtexOutliner(plain)


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
    "calendar": _calendar,
    "bibtex": _bibtex,
    "log": _log,
    "xml": _xml,
}

HANDLER = DataHandler()
