"""What tools other than the ones that made it say about a piece of evidence.

PDFs are read with PDFium, pictures and media with an ffmpeg binary, HTML with the standard library, texts by cutting the
source's bytes anew.
"""

from __future__ import annotations

import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

from citekit.domain.evidence import Evidence
from citekit.domain.locations import Box, Chapter, Lines, Pages, TimeSpan
from citekit.domain.source import Source

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


def faults(evidence: Evidence, source: Source) -> str | None:
    """None where a second tool confirms the evidence, else what it objects to."""
    path, receipt = evidence.output_path, evidence.receipt
    if path is None or receipt is None:
        return "no evidence"
    match evidence.location:
        case Pages(numbers=numbers, region=region):
            return _pdf(path, source.path, numbers) if region is None else _pdf(path, None, numbers)
        case Lines() as lines:
            return _text(path, source.path, lines)
        case Box():
            size = _decoded_size(path)
            return None if size else "ffmpeg cannot decode the picture"
        case TimeSpan():
            extent = receipt.extent
            return _media(path, extent.duration if isinstance(extent, TimeSpan) else evidence.location.duration)
        case Chapter():
            return _html(path)
    return None


def _pdf(path: Path, source: Path | None, numbers: tuple[int, ...]) -> str | None:
    import pypdfium2

    with pypdfium2.PdfDocument(path) as cut:
        if len(cut) != len(numbers):
            return f"PDFium counts {len(cut)} pages, not {len(numbers)}"
        if source is None:
            return None
        with pypdfium2.PdfDocument(source) as whole:
            for index, number in enumerate(numbers[:5]):
                ours, theirs = (page.get_textpage().get_text_bounded() for page in (cut[index], whole[number - 1]))
                if "".join(ours.split()) != "".join(theirs.split()):
                    return f"PDFium reads another text on page {number}"
    return None


def _text(path: Path, source: Path, lines: Lines) -> str | None:
    data = source.read_bytes()
    if path.suffix == ".html":
        return _html_words(path, data, lines)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "surrogatepass")
        want = "".join(re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+", text)[lines.first - 1 : lines.last])
        order = "utf-16-le" if data.startswith(b"\xff\xfe") else "utf-16-be"
        got = path.read_bytes().decode(order, "surrogatepass")
        return None if got.lstrip("\ufeff") == want.lstrip("\ufeff") else "other lines"
    expected = b"".join(_LINE.findall(data)[lines.first - 1 : lines.last])
    return None if path.read_bytes() == expected else "other bytes than those lines of the source"


def _html_words(path: Path, data: bytes, lines: Lines) -> str | None:
    """Whether every word of a document made of lines of HTML is on those lines, or in its own head."""
    shown, there = _Text(), _Text()
    shown.feed(path.read_text("utf-8").partition("<body>")[2])
    there.feed(b"".join(_LINE.findall(data)[lines.first - 1 : lines.last]).decode("utf-8", "replace"))
    missing = set(shown.words) - set(there.words)
    return f"words that are not on those lines: {sorted(missing)[:5]}" if missing or shown.foreign else None


def _ffmpeg(*arguments: str) -> subprocess.CompletedProcess[str]:
    import imageio_ffmpeg

    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-nostdin", "-hide_banner", *arguments]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300, check=False)


def _decoded_size(path: Path) -> tuple[int, int] | None:
    done = _ffmpeg("-i", str(path), "-frames:v", "1", "-f", "null", "-")
    found = re.search(r"Stream #0:0.*?Video:.*? (\d+)x(\d+)", done.stderr)
    return (int(found[1]), int(found[2])) if found and done.returncode == 0 else None


def _media(path: Path, seconds: float) -> str | None:
    done = _ffmpeg("-v", "info", "-i", str(path), "-f", "null", "-")
    if done.returncode:
        return f"ffmpeg cannot decode it: {done.stderr.strip().splitlines()[-1][:80]}"
    times = re.findall(r"time=(\d+):(\d+):([\d.]+)", done.stderr)
    if not times:
        return "ffmpeg decodes nothing"
    hours, minutes, rest = times[-1]
    played = int(hours) * 3600 + int(minutes) * 60 + float(rest)
    return None if abs(played - seconds) <= 0.3 else f"ffmpeg plays {played:.2f} s, the receipt says {seconds:.2f} s"


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.foreign: list[str] = []

    def handle_data(self, data: str) -> None:
        self.words.extend(data.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script" or any(
            name in ("src", "srcset") and not (value or "").startswith("data:") for name, value in attrs
        ):
            self.foreign.append(tag)


def _html(path: Path) -> str | None:
    parser = _Text()
    parser.feed(path.read_text("utf-8"))
    return f"it refers to the outside: {parser.foreign[:3]}" if parser.foreign else None
