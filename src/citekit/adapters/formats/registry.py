"""Maps each format to the package of `formats` that handles it.

To add a format, write a package with a `handler` module, and add the format to `FORMATS` and to the suffixes in
`domain.formats`. An installed package adds a format through the entry-point group `citekit.formats`
(docs/how-to/add-a-format.md).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from citekit.adapters.formats.handler import FormatHandler, InstalledFormat, Services
from citekit.domain.errors import SourceUnsupported
from citekit.domain.formats import Format, by_name
from citekit.domain.locations import Box, Cells, Chapter, Lines, Pages, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.ports.extractor import Extractor

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_log = logging.getLogger(__name__)

GROUP = "citekit.formats"
"""The entry-point group in which packages publish formats."""

CODE = frozenset(
    """
    bash c cpp csharp css dart elixir go haskell java javascript julia kotlin lua objc perl php powershell python ruby rust
    scala scss sql swift tsx typescript zig
    """.split()  # noqa: SIM905
)
"""The names of the source-code formats."""

FORMATS: Mapping[str, str] = {
    "pdf": "pdf",
    **dict.fromkeys(("epub", "mobi", "fb2"), "epub"),
    **dict.fromkeys(("eml", "mbox"), "mail"),
    "docx": "docx",
    "pptx": "pptx",
    "xlsx": "xlsx",
    "cbz": "comic",
    "markdown": "markdown",
    "html": "html",
    **dict.fromkeys(("asciidoc", "latex", "org", "rst"), "markup"),
    **dict.fromkeys(("ssa", "subtitles"), "subtitles"),
    "text": "plain_text",
    **dict.fromkeys(
        ("bibtex", "calendar", "csv", "ini", "json", "jsonl", "log", "notebook", "toml", "tsv", "xml", "yaml"), "data"
    ),
    **dict.fromkeys(CODE, "code"),
}
"""The package that handles each format. Those for images, video, and audio are in `_BY_MODALITY`."""

_BY_MODALITY = {Modality.IMAGE: "image", Modality.VIDEO: "media", Modality.AUDIO: "media"}

EXTRACTORS: Mapping[str, tuple[type, str]] = {
    "pages": (Pages, "pdf"),
    "slides": (Pages, "pptx"),
    "lines": (Lines, "plain_text"),
    "xml_lines": (Lines, "html"),
    "html_lines": (Lines, "html"),
    "data_lines": (Lines, "data"),
    "table_rows": (Lines, "data"),
    "subtitles": (Lines, "subtitles"),
    "regions": (Box, "image"),
    "clips": (TimeSpan, "media"),
    "ffmpeg": (TimeSpan, "media"),
    "stills": (TimeSpan, "media"),
    "transcripts": (TimeSpan, "media"),
    "mails": (Chapter, "mail"),
    "chapters": (Chapter, "epub"),
    "cells": (Cells, "xlsx"),
    "comics": (Pages, "comic"),
}
"""The location type and the package of each extractor, in order of precedence."""


def handler_of(format: Format) -> FormatHandler:
    """Return the handler of a format.

    Raise `SourceUnsupported` if no installed package provides the format.
    """
    package = FORMATS.get(format.name) or _BY_MODALITY.get(format.modality)
    if package is not None:
        return _handler_in(package)
    for installed in installed_formats():
        if installed.format.name == format.name:
            return installed
    raise SourceUnsupported(
        f"No handler is installed for {format.name} files. Install the package that provides the format."
    )


def extractor_of(name: str, services: Services) -> Extractor:
    """Return the extractor named `name`. Raise `KeyError` if there is no extractor with this name."""
    if name in EXTRACTORS:
        return _handler_in(EXTRACTORS[name][1]).extractors()[name](services)
    for installed in installed_formats():
        if name in (makers := installed.extractors()):
            return makers[name](services)
    raise KeyError(name)


def format_of_name(file_name: str) -> Format | None:
    """Return the built-in or installed format for the suffix of `file_name`, or None."""
    known = by_name(file_name)
    if known is not None:
        return known
    suffix = PurePath(file_name).suffix.lower()
    return next((each.format for each in installed_formats() if suffix in each.suffixes), None)


def installed_formats() -> Sequence[InstalledFormat]:
    """Return the formats of installed packages, which the first call finds and loads.

    Entry points that cannot be loaded or are not handlers are left out, with a warning in the log.
    """
    with _LOADING:
        return _installed_formats()


_LOADING = threading.Lock()


@cache
def _installed_formats() -> tuple[InstalledFormat, ...]:
    from importlib.metadata import entry_points  # imports more modules than most commands need

    return tuple(_loaded(entry_points(group=GROUP)))


def _loaded(entries: Iterable[EntryPoint]) -> Iterator[InstalledFormat]:
    for entry in entries:
        try:
            handler = entry.load()
        except Exception as error:
            reason = f"cannot be loaded: {type(error).__name__}: {error}"
        else:
            lacking = [name for name in _MEMBERS if not hasattr(handler, name)]
            if not lacking:
                yield cast("InstalledFormat", handler)
                continue
            reason = f"is not a format handler (missing: {', '.join(lacking)})"
        _log.warning(
            "The format '%s' (%s) %s. Update or remove the package that provides it.", entry.name, entry.value, reason
        )


_MEMBERS = ("format", "suffixes", "uses_native_code", "outliner", "measure", "text_reader", "extractors")


class InstalledExtractors(Sequence[Extractor]):
    """The extractors in order of precedence: `built_in`, then those of installed packages.

    The latter are created when they are first needed, and passed to `wrap` with their names.
    """

    def __init__(
        self,
        built_in: Sequence[Extractor],
        wrap: Callable[[str, Extractor], Extractor],
        services: Callable[[], Services],
    ) -> None:
        self._built_in = tuple(built_in)
        self._wrap, self._services = wrap, services

    def __iter__(self) -> Iterator[Extractor]:
        yield from self._built_in
        yield from self._installed

    @cached_property
    def _installed(self) -> Sequence[Extractor]:
        return tuple(
            self._wrap(name, make(self._services()))
            for each in installed_formats()
            for name, make in each.extractors().items()
        )

    def __len__(self) -> int:
        return len(self._built_in) + len(self._installed)

    def __getitem__(self, index: int | slice) -> Extractor | Sequence[Extractor]:  # type: ignore[override]
        return (*self._built_in, *self._installed)[index]


def _handler_in(package: str) -> FormatHandler:
    handler: FormatHandler = import_module(f"citekit.adapters.formats.{package}.handler").HANDLER
    return handler
