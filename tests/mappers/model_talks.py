"""Model mappers on scripted services, and the answers that a perfect model would give."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from attrs import evolve

from citekit.adapters.formats.epub.reader import EpubReader
from citekit.adapters.formats.media.probe import PyAvProbe
from citekit.adapters.mappers.llm.codec_chapters import ParagraphCodec
from citekit.adapters.mappers.llm.codec_pages_lines import LineCodec, PageCodec
from citekit.adapters.mappers.llm.codec_time_image import BoxCodec, TimeCodec
from citekit.adapters.mappers.llm.location_codec import LocationCodec
from citekit.adapters.mappers.llm.mapper import ModelMapper
from citekit.adapters.mappers.llm.messages import Question, TextPart
from citekit.adapters.mappers.local import LocalMapper
from citekit.container.parsers import Parsers
from citekit.domain.detection import HEAD_SIZE, detect
from citekit.domain.digest import Digest
from citekit.domain.locations import Box, Chapter, Lines, Location, Pages, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from tests.doubles.model_service import Line, ScriptedService

ANSWERS = Path(__file__).with_name("model_answers")


class FixedClock:
    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)


class CachingMapper(LocalMapper):
    """The local mapper, which maps each file once."""

    known: ClassVar[dict[Digest, ResourceMap]] = {}

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        if source.digest not in self.known:
            self.known[source.digest] = super().map(source, "x", progress)
        return evolve(self.known[source.digest], resource_id=resource_id, source_path=str(source.path))


LOCAL = CachingMapper(Parsers(ocr=False), FixedClock())


def recorded(name: str) -> str:
    """A sample of model output, as it came."""
    return (ANSWERS / name).read_text("utf-8")


def source_of(path: Path) -> Source:
    data = path.read_bytes()
    format = detect(path.name, data[:HEAD_SIZE])
    assert format is not None
    return Source(path, Digest.of_bytes(data), len(data), format)


def model_mapper(service: ScriptedService | Sequence[Line], **more: Any) -> ModelMapper:
    """A mapper on a service, or on one that says these lines."""
    given = service if isinstance(service, ScriptedService) else ScriptedService(list(service))
    return ModelMapper(service=given, local=LOCAL, reader=EpubReader(), probe=PyAvProbe(), **more)


def codec_of(known: ResourceMap, source: Source) -> LocationCodec:
    if source.format.name == "epub":
        return ParagraphCodec.of(EpubReader().read(source.path))
    if known.modality is Modality.IMAGE:
        return BoxCodec()
    if known.modality in (Modality.VIDEO, Modality.AUDIO):
        return TimeCodec(known.extent.seconds or 0, known.modality)
    if known.modality is Modality.DOCUMENT:
        return PageCodec(known.extent.pages or 0)
    return LineCodec(known.extent.lines or 0)


def answer_of(known: ResourceMap, source: Source) -> str:
    """What a model would say that sees the file as the local mapper does."""
    codec = codec_of(known, source)
    nodes = [record for node in known.nodes for record in _records(node, 1, codec)]
    return json.dumps({"title": known.title, "nodes": nodes}, ensure_ascii=False)


def _records(node: Node, level: int, codec: LocationCodec) -> list[Mapping[str, Any]]:
    location = codec.from_location(node.location)
    assert location is not None
    record = {"level": level, "title": node.title, "type": node.type, "summary": node.summary or ""}
    return [
        {**record, **codec.to_fields(location)},
        *(each for child in node.children for each in _records(child, level + 1, codec)),
    ]


def nodes(*given: tuple[Any, ...], unit: str = "page", title: str = "A File") -> str:
    """An answer of nodes (level, title, first, last)."""
    keys = ("start", "end") if unit == "second" else (f"first_{unit}", f"last_{unit}")
    return json.dumps(
        {
            "title": title,
            "nodes": [
                {
                    "level": level,
                    "title": name,
                    "type": "section",
                    "summary": "",
                    **dict(zip(keys, location, strict=True)),
                }
                for level, name, *location in given
            ],
        }
    )


def rows_of(made: ResourceMap) -> list[tuple[int, str, Any]]:
    """(level, title, place) of every node; pages as (first, last)."""
    rows: list[tuple[int, str, Any]] = []

    def grow(node: Node, level: int) -> None:
        rows.append((level, node.title, _place(node.location)))
        for child in node.children:
            grow(child, level + 1)

    for node in made.nodes:
        grow(node, 1)
    return rows


def _place(location: Location) -> tuple[Any, ...]:
    match location:
        case Pages(numbers=numbers):
            return numbers[0], numbers[-1]
        case Lines(first=first, last=last):
            return first, last
        case TimeSpan(start=start, end=end):
            return start, end
        case Chapter(number=number, last=last, chars=chars):
            return number, last, chars
        case Box():
            return location.corners
        case _:
            raise AssertionError(location)


def prompt_text(question: Question) -> str:
    """All words of a question."""
    parts = [part.text for part in question.parts if isinstance(part, TextPart)]
    return "\n".join([*parts, *(turn.follow_up for turn in question.turns)])


def write_pdf(path: Path, pages: Sequence[str], toc: Sequence[tuple[int, str, int]] = ()) -> Path:
    """A PDF whose pages hold these texts; the first line of a page stands large."""
    document: Any = importlib.import_module("pymupdf").open()
    for text in pages:
        page = document.new_page()
        head, _, rest = text.partition("\n")
        if head:
            page.insert_text((72, 90), head, fontsize=18, fontname="hebo")
        for number, line in enumerate(rest.splitlines()):
            page.insert_text((72, 130 + 16 * number), line, fontsize=10)
    if toc:
        document.set_toc([list(row) for row in toc])
    document.save(str(path))
    document.close()
    return path
