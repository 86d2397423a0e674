"""Sources whose every part is known beforehand, and what an answer about them must be: computed here, not by CiteKit."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

from attrs import frozen

from citekit import Address
from citekit.domain.evidence import Evidence

LINES, PAGES, SIDE = 120, 8, 64
"""Of the texts, of the PDFs, and of the square pictures in pixels."""


@frozen
class Known:
    """A source of one kind (`text`, `doc`, `image`): `name` is the id of its map and decides on all that is in it."""

    name: str
    kind: str

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.name}{ {'text': '.txt', 'doc': '.pdf', 'image': '.png'}[self.kind] }"

    def data(self, edition: int = 0) -> bytes:
        """The bytes of its file; another edition of the same text has the same size and other words."""
        match self.kind:
            case "text":
                return "".join(self.line(number, edition) for number in range(1, LINES + 1)).encode()
            case "doc":
                return _pdf(self.name, edition)
        return _png(self.name, edition)

    def line(self, number: int, edition: int = 0) -> str:
        """One line of a text."""
        return f"line {number:03d} of {self.name}, edition {edition}\n"

    def write(self, folder: Path, edition: int = 0) -> Path:
        """Its file, written in the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.file
        path.write_bytes(self.data(edition))
        return path

    def part(self, number: int) -> str:
        """The address of one of its parts; each number means another one, again after some."""
        match self.kind:
            case "text":
                first = number % (LINES - 10) + 1
                return f"text://{self.name}#lines={first}-{first + 3 + number % 5}"
            case "doc":
                first = number % (PAGES - 1) + 1
                return f"doc://{self.name}#pages={first}-{first + 1}"
        left = number % 8 / 16
        return f"image://{self.name}#bbox={left:g},0.25,{left + 0.5:g},0.75"


def text(name: str) -> Known:
    """A text."""
    return Known(name, "text")


def shelf() -> list[Known]:
    """Some of each kind."""
    return [text("letters"), text("notes"), Known("book", "doc"), Known("report", "doc"), Known("plan", "image")]


def wrong_with(given: Evidence, known: Known, address: str, source: Path, edition: int = 0) -> Iterator[str]:
    """What is wrong with an answer: its receipt against what is known of the source, its file against its receipt."""
    receipt, path = given.receipt, given.output_path
    if receipt is None or path is None:
        yield f"{address}: no receipt"
        return
    data, original = path.read_bytes(), known.data(edition)
    digest, place = hashlib.sha256(original).hexdigest(), address.replace(f"//{known.name}#", "//x#")
    parts = [digest, place, receipt.extractor.name, receipt.extractor.version, "native", False]
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    said = {
        "source": (receipt.source_digest.hex, digest),
        "size of the source": (receipt.source_size, len(original)),
        "path": (receipt.source_path, str(source)),
        "place": (str(Address("x", receipt.location)), place),
        "key": (receipt.key.digest.hex, key),
        "evidence": (receipt.evidence_digest.hex, hashlib.sha256(data).hexdigest()),
        "size of the evidence": (receipt.evidence_size, len(data)),
    }
    yield from (f"{address}: {name} is {is_}, not {should}" for name, (is_, should) in said.items() if is_ != should)
    shown, right = shown_in(data, known.kind), _content(known, address, edition)
    if shown != right:
        yield f"{address}: shows {str(shown)[:60]!r}, not {str(right)[:60]!r}"


def shown_in(data: bytes, kind: str) -> object:
    """What a piece of evidence shows, read by another library than the one that cut it where there is one."""
    match kind:
        case "text":
            return data.decode()
        case "doc":
            import pypdfium2

            with pypdfium2.PdfDocument(data) as document:
                return [document[number].get_textpage().get_text_range() for number in range(len(document))]
    return _pixels(data)


def _content(known: Known, address: str, edition: int) -> object:
    numbers = [float(each) for each in re.findall(r"[\d.]+", address.partition("=")[2])]
    match known.kind:
        case "text":
            return "".join(known.line(number, edition) for number in range(int(numbers[0]), int(numbers[1]) + 1))
        case "doc":
            return [_page(known.name, number, edition) for number in range(int(numbers[0]), int(numbers[1]) + 1)]
    return _pixels(known.data(edition), tuple(int(each * SIDE) for each in numbers))


def _page(name: str, number: int, edition: int) -> str:
    return f"page {number} of {name}, edition {edition}"


@cache
def _pdf(name: str, edition: int) -> bytes:
    import pymupdf

    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        for number in range(1, PAGES + 1):
            document.new_page().insert_text((72, 72), _page(name, number, edition))
        made: bytes = document.tobytes(no_new_id=True)
    return made


@cache
def _png(name: str, edition: int) -> bytes:
    import io

    from PIL import Image

    pixels = Random(f"{name} {edition}").randbytes(SIDE * SIDE * 3)
    target = io.BytesIO()
    Image.frombytes("RGB", (SIDE, SIDE), pixels).save(target, "PNG")
    return target.getvalue()


def _pixels(data: bytes, box: tuple[int, ...] | None = None) -> bytes:
    import io

    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        shown = image.convert("RGB")
        return (shown.crop((box[0], box[1], box[2], box[3])) if box else shown).tobytes()
