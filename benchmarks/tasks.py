"""What is cut, for every kind of file: the places, and who else can cut them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from benchmarks import bare, material
from benchmarks.material import Material

Location = Mapping[str, Any]


@frozen
class Task:
    """`place` gives another part of the same size for every number; `bare` who cuts it with a library alone."""

    name: str
    material: Material
    type: str
    place: Callable[[int], Location]
    bare: Callable[[Path, Location], dict[str, bare.Cut]]
    goal: str
    accurate: bool = False
    of_peer: bool = True
    rounds: int = 5


def tasks() -> list[Task]:
    """All of them, in the order of the tables."""
    nine, large = material.text_9(), material.text_26()
    return [
        Task("PDF, 4 of 900 pages", material.pdf_900(), "document", _pages(880), _pdf, "pdf"),
        Task("PDF, 4 of 2,400 pages", material.pdf_2400(), "document", _pages(2380), _pdf, "pdf", rounds=4),
        Task("film, 30 s", material.film(), "video", _span("video", 560), _clip, "clip"),
        Task(
            "film, 30 s, accurate",
            material.film(),
            "video",
            _span("video", 560),
            _exact,
            "accurate",
            True,
            False,
            rounds=2,
        ),
        Task("sound, 30 s", material.sound(), "audio", _span("audio", 560), _clip, "any"),
        Task("photo, a quarter of 20 MP", material.photo(), "image", _box, _crop, "any"),
        Task("16-bit TIFF, a quarter of 12 MP", material.tiff(), "image", _box, _crop, "any"),
        Task("text, 40 lines of 9 MB", nine, "text", _lines(_count(nine)), _text, "any"),
        Task("text, 40 lines of 26 MB", large, "text", _lines(_count(large)), _text, "any"),
        Task("EPUB, a chapter", material.book(), "document", _chapter, _epub, "any", of_peer=False),
    ]


def _count(text: Material) -> int:
    return text.path.read_bytes().count(b"\n")


def _pages(count: int) -> Callable[[int], Location]:
    def place(number: int) -> Location:
        first = 20 + 37 * number % (count - 30)
        return {"modality": "document", "pages": list(range(first, first + 4))}

    return place


def _span(modality: str, seconds: int) -> Callable[[int], Location]:
    def place(number: int) -> Location:
        start = 10 + 41.3 * number % (seconds - 40)
        return {"modality": modality, "start": round(start, 1), "end": round(start + 30, 1)}

    return place


def _box(number: int) -> Location:
    left, top = 0.02 * (number % 20) + 0.03, 0.02 * (number * 7 % 20) + 0.03
    return {"modality": "image", "bbox": [round(each, 3) for each in (left, top, left + 0.5, top + 0.5)]}


def _lines(count: int) -> Callable[[int], Location]:
    def place(number: int) -> Location:
        first = count // 2 + 5003 * number % (count // 3)
        return {"modality": "text", "lines": [first, first + 39]}

    return place


def _chapter(number: int) -> Location:
    return {"modality": "document", "chapter": 10 + number % 80}


def _pdf(path: Path, place: Location) -> dict[str, bare.Cut]:
    return bare.pdf(path, place["pages"])


def _clip(path: Path, place: Location) -> dict[str, bare.Cut]:
    return bare.clip(path, place["start"], place["end"], video=place["modality"] == "video")


def _exact(path: Path, place: Location) -> dict[str, bare.Cut]:
    return bare.exact_clip(path, place["start"], place["end"])


def _crop(path: Path, place: Location) -> dict[str, bare.Cut]:
    left, top, right, bottom = place["bbox"]
    return bare.crop(path, (left, top, right, bottom))


def _text(path: Path, place: Location) -> dict[str, bare.Cut]:
    return bare.lines(path, *place["lines"])


def _epub(path: Path, place: Location) -> dict[str, bare.Cut]:
    return bare.chapter(path, place["chapter"])
