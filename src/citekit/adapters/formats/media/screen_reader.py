"""Reads the text that a video shows: finds stable pictures, recognizes their text with OCR, and joins successive
pictures of one slide.

A slide whose lines appear one after another, or a terminal that scrolls, is one slide, and each line has the time at
which it appears.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen

from citekit.adapters.formats.image.outliner import OCR_SIZE, RecognizedText, read_text
from citekit.adapters.formats.media.outline.stable_pictures import StablePicture, find_stable_pictures
from citekit.adapters.formats.shared.ocr import OcrLine, OcrReader, version_of_ocr
from citekit.adapters.system.installed_packages import version_of
from citekit.domain.ports.media_probe import MediaProbe
from citekit.domain.progress import Progress, silent
from citekit.domain.screen_text import ScreenLine, ScreenText, Slide
from citekit.domain.source import Source

if TYPE_CHECKING:
    from citekit.adapters.libraries.sqlite.key_value_cache import Index

VERSION = "1"
"""Change this whenever the same video would result in a different text."""

MOST = 60
"""The maximum number of pictures that are read in a short video."""

SECONDS_PER_PICTURE = 10.0
"""The maximum number of pictures that are read in a video of more than 10 minutes is its duration divided by this."""

SECONDS_PER_BUDGET = 60.0
"""The number of seconds of a video after which the caller may extend its time budget."""

_MAX_GAP = 3.0
"""The maximum number of seconds between two pictures of one slide: the time of an animation."""

_SAME_SLIDE = 0.7
"""The minimum number of common lines of two pictures of one slide, as a share of the lines of the shorter one."""

_SAME_LINE = 0.8
"""The minimum similarity (0 to 1) of two recognized lines that count as the same line."""

_MIN_CHARACTER_WIDTH = 0.15
"""The minimum width of a character as a share of its height. Narrow fonts have about 0.3."""

_MIN_CHARACTERS = 3
"""The minimum number of letters and digits of a slide. Fewer are often marks that OCR misreads."""


@frozen
class OcrScreenReader:
    """A `ScreenReader` that uses OCR. Results are cached in `index`.

    `before` is called regularly while the video is decoded, so that the caller can extend its time budget.
    """

    probe: MediaProbe
    ocr: OcrReader
    index: Index | None = field(default=None, repr=False)
    before: Callable[[], object] = field(default=lambda: None, repr=False)

    @property
    def name(self) -> str:
        """See `ScreenReader.name`."""
        return f"RapidOCR {version_of('rapidocr')}"

    @property
    def version(self) -> str:
        """See `ScreenReader.version`."""
        return f"{VERSION} {version_of_ocr()}"

    def read(self, source: Source, progress: Progress = silent) -> ScreenText:
        """See `ScreenReader.read`."""
        key = f"screen {self.version} {source.digest.hex}"
        stored = None if self.index is None else self.index.get(key)
        if stored is not None:
            return ScreenText(slides=map(_slide_from, stored["slides"]), reader=self.name, is_incomplete=stored["more"])
        facts = self.probe.probe(source.path)
        if facts.video_codec is None or facts.size is None:
            return ScreenText(slides=(), reader=self.name)
        limit = max(MOST, round(facts.duration / SECONDS_PER_PICTURE))
        pictures = find_stable_pictures(
            source.path, facts.duration, facts.frame_rate, facts.size, _Extending(progress, self.before)
        )
        read: list[Slide] = []
        is_incomplete = False
        for number, picture in enumerate(pictures):
            if number == limit:
                is_incomplete = True
                break
            progress(picture.end, facts.duration, "reading the slides")
            read += self._slide(picture)
        slides = list(joined(read))
        if self.index is not None:
            self.index.put(key, {"slides": [_plain(each) for each in slides], "more": is_incomplete})
        return ScreenText(slides=slides, reader=self.name, is_incomplete=is_incomplete)

    def _slide(self, picture: StablePicture) -> Iterator[Slide]:
        """Yield the text of a picture as a slide, or nothing if it has too little text."""
        copy = picture.image.convert("RGB")
        copy.thumbnail((OCR_SIZE, OCR_SIZE))
        found = read_text(self.ocr, copy) or RecognizedText()
        found = RecognizedText([line for line in found.lines if _is_upright(line, copy.size)])
        start, end = round(picture.start, 3), round(picture.end, 3)
        lines = [ScreenLine(start, end, line.text) for line in found.lines]
        if sum(map(str.isalnum, "".join(line.text for line in lines))) >= _MIN_CHARACTERS:
            yield Slide(start=start, end=end, title=found.title() or lines[0].text, lines=lines)


def _is_upright(line: OcrLine, size: tuple[int, int]) -> bool:
    """Return whether a line is upright. OCR misreads lines that are turned by 90 degrees, as in diagrams."""
    width, height = (line.box.x2 - line.box.x1) * size[0], (line.box.y2 - line.box.y1) * size[1]
    return width >= _MIN_CHARACTER_WIDTH * height * len(line.text)


@frozen
class _Extending:
    """A `Progress` that calls `before` at the first report, and then after each `SECONDS_PER_BUDGET` of the video."""

    inner: Progress
    before: Callable[[], object]
    _reached: list[float] = field(factory=list, init=False)

    def __call__(self, done: float, total: float | None = None, message: str = "") -> None:
        """Report progress. `done` is the time in the video, in seconds."""
        if not self._reached or done - self._reached[-1] >= SECONDS_PER_BUDGET:
            self._reached.append(done)
            self.before()
        self.inner(done, total, message)


def joined(slides: Sequence[Slide]) -> Iterator[Slide]:
    """Yield the slides.

    Successive slides are joined if most lines of one are also on the other, and at most `_MAX_GAP` seconds are between
    them.
    """
    before: Slide | None = None
    for slide in slides:
        after = None if before is None else _continued(before, slide)
        if before is not None and after is None:
            yield before
        before = after or slide
    if before is not None:
        yield before


def _continued(one: Slide, other: Slide) -> Slide | None:
    """Return `one` extended by the lines of `other`, or None if `other` is another slide."""
    if other.start - one.end > _MAX_GAP:
        return None
    shown = [line for line in one.lines if line.end == one.end]
    pairs = _pairs(shown, other.lines)
    if len(pairs) < _SAME_SLIDE * min(len(shown), len(other.lines)) or (len(pairs) < 2 and not _is_one(shown, other)):
        return None
    lasting = {id(shown[first]): other.lines[second] for first, second in pairs}
    known = {id(line) for line in lasting.values()}
    lines = [evolve(lasting[id(line)], start=line.start) if id(line) in lasting else line for line in one.lines]
    lines += [line for line in other.lines if id(line) not in known]
    larger = other if len(other.lines) >= len(shown) else one
    return Slide(start=one.start, end=other.end, title=larger.title, lines=lines)


def _is_one(shown: Sequence[ScreenLine], other: Slide) -> bool:
    return len(shown) == len(other.lines) == 1


def _pairs(one: Sequence[ScreenLine], other: Sequence[ScreenLine]) -> list[tuple[int, int]]:
    """Return the pairs of indexes of lines that are the same in both pictures."""
    left, right = [_letters(line.text) for line in one], [_letters(line.text) for line in other]
    used: set[int] = set()
    pairs = []
    for first, text in enumerate(left):
        for second, candidate in enumerate(right):
            if second not in used and text and _is_similar(text, candidate):
                used.add(second)
                pairs.append((first, second))
                break
    return pairs


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _is_similar(one: str, other: str) -> bool:
    if one == other:
        return True
    if min(len(one), len(other)) < _SAME_LINE * max(len(one), len(other)):
        return False
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.real_quick_ratio() >= _SAME_LINE and matcher.ratio() >= _SAME_LINE


def _plain(slide: Slide) -> dict[str, Any]:
    lines = [[line.start, line.end, line.text] for line in slide.lines]
    return {"start": slide.start, "end": slide.end, "title": slide.title, "lines": lines}


def _slide_from(plain: dict[str, Any]) -> Slide:
    lines = [ScreenLine(*each) for each in plain["lines"]]
    return Slide(start=plain["start"], end=plain["end"], title=plain["title"], lines=lines)
