"""The main program of a worker process. It gives up access that it does not need, then serves its parent."""

from __future__ import annotations

import gc
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from attrs import frozen

from citekit.adapters.sandbox.confinement import allow_memory, allow_processor_time, confine, end_with, limit_memory
from citekit.adapters.sandbox.worker import serve
from citekit.adapters.system.child_process import Line
from citekit.container.parsers import Parsers, SpeechChoice
from citekit.domain.errors import DriverMissing
from citekit.domain.progress import Progress
from citekit.wire import extent
from citekit.wire.locations import from_plain
from citekit.wire.maps import to_plain_map
from citekit.wire.receipts import extraction_to_plain
from citekit.wire.worker_protocol import (
    as_message,
    message_from,
    options_from,
    plain_extracted_text,
    plain_found,
    plain_picture,
    source_from,
)

PICTURES_PER_WINDOW = 8
"""The processor time for one window (half a minute) of speech, as a number of images read by OCR. Enough for large
models.
"""

COLLECTOR_THRESHOLDS = (50_000, 20, 100)
"""The thresholds of the garbage collector.

Parsers make large trees with hardly any cycles: with Python's defaults, a sixth of the processor time of a large
document goes to collections that free nothing.
"""

TEXT_SHARE = 0.2
"""The maximum share of the processor-time budget of a map for also reading the texts of pages, which are indexed next."""

Asked = Mapping[str, Any]


def main() -> None:
    """Serve requests of the parent process until it ends.

    `sys.argv` contains three file descriptors: to read requests, to write answers, and the end of a pipe whose other
    end is closed when the parent ends.
    """
    source, sink, life = map(int, sys.argv[1:4])
    gc.freeze()
    gc.set_threshold(*COLLECTOR_THRESHOLDS)
    end_with(life)
    line = Line(source, sink)
    with suppress(EOFError, BrokenPipeError):  # the parent has ended
        first = line.receive()
        assert first is not None
        _serve_parent(line, **message_from(first))


def _serve_parent(
    line: Line,
    *,
    index_folder: str,
    password: str | None,
    ocr: bool,
    speech: Mapping[str, str] | None,
    memory: int,
    writable: Sequence[str],
    programs: Sequence[str],
) -> None:
    """Restrict this process, then serve requests of the parent process.

    The process can use at most `memory` bytes, write only in the folders `writable`, and run only the executables
    `programs`. The other arguments are those of `Parsers`.
    """
    limit_memory(memory)
    confine([Path(folder) for folder in writable], [Path(program) for program in programs])
    parsers = Parsers(
        Path(index_folder),
        password,
        ocr,
        None if speech is None else SpeechChoice(**speech),
        before_picture=partial(_begin_picture, line),
        before_window=partial(_begin_window, line),
    )
    serve(line, Parsing(parsers))


def _begin_picture(line: Line) -> None:
    """Tell the parent process, which then allows more CPU time, that OCR of an image begins, and lift the file's limits
    on CPU time and memory.
    """
    allow_memory(None)
    allow_processor_time(math.inf)
    line.send(as_message({"picture": True}))


def _begin_window(line: Line) -> None:
    """Tell the parent process that speech recognition of a window begins, which counts as `PICTURES_PER_WINDOW` images."""
    for _ in range(PICTURES_PER_WINDOW):
        _begin_picture(line)


@frozen
class Parsing:
    """Answers requests of the parent process with the parsers. Answers are plain data."""

    parsers: Parsers

    def __call__(self, asked: Asked, progress: Progress) -> Any:
        """Return the answer to a request that was sent with `WorkerPool.ask`."""
        return self._doing[asked["do"]](asked, progress)

    @property
    def _doing(self) -> dict[str, Callable[[Asked, Progress], Any]]:
        return {
            "map": self._map,
            "extract": self._extract,
            "book": self._book,
            "chapters": self._chapters,
            "html": self._html,
            "probe": self._probe,
            "speech": self._speech,
            "speech_windows": self._speech_windows,
            "screen": self._screen,
            "measure": self._measure,
            "text": self._text,
            "quotable": self._quotable,
            "drawn_pages": self._drawn_pages,
            "facts": self._facts,
            "page_lines": self._page_lines,
            "page_texts": self._page_texts,
            "paged_text": self._paged_text,
            "cut_pages": self._cut_pages,
            "is_upright": self._is_upright,
            "picture": self._picture,
            "page_sizes": self._page_sizes,
            "page_picture": self._page_picture,
            "page_words": self._page_words,
            "sheet_rows": self._sheet_rows,
            "document": self._document,
            "waveform": self._waveform,
            "still": self._still,
            "pages": self._pages,
            "rows": self._rows,
        }

    def _map(self, asked: Asked, progress: Progress) -> Any:
        source = source_from(asked["source"])
        if asked["is_read_next"]:
            self.parsers.read_pages.expect(source, TEXT_SHARE * asked.get("seconds", math.inf))
        return to_plain_map(self.parsers.mapper.map(source, asked["id"], progress))

    def _extract(self, asked: Asked, progress: Progress) -> Any:
        extractor = self.parsers.extractor(asked["extractor"])
        place, options = from_plain(asked["location"]), options_from(asked["options"])
        made = extractor.extract(source_from(asked["source"]), place, options, Path(asked["target"]), progress)
        return extraction_to_plain(made)

    def _book(self, asked: Asked, _: Progress) -> Any:
        return plain_found(self.parsers.reader.read(Path(asked["path"])))

    def _chapters(self, asked: Asked, _: Progress) -> Any:
        return list(self.parsers.reader.texts(Path(asked["path"]), asked["chapter"], last=asked["last"]))

    def _html(self, asked: Asked, progress: Progress) -> Any:
        chars = asked["chars"] and (asked["chars"][0], asked["chars"][1])
        path, chapter = Path(asked["path"]), asked["chapter"]
        return self.parsers.reader.html(path, chapter, chars, last=asked["last"], progress=progress)

    def _probe(self, asked: Asked, _: Progress) -> Any:
        return plain_found(self.parsers.probe.probe(Path(asked["path"])))

    def _speech(self, asked: Asked, progress: Progress) -> Any:
        transcriber = self.parsers.transcriber
        if transcriber is None:
            raise DriverMissing("Recognizing speech", "speech")
        return plain_found(transcriber.transcribe(source_from(asked["source"]), progress))

    def _speech_windows(self, asked: Asked, progress: Progress) -> list[list[float]]:
        source, target = source_from(asked["source"]), Path(asked["target"])
        windows = self.parsers.speech_windows.write(source, target, progress)
        return [[each.start, each.samples] for each in windows]

    def _screen(self, asked: Asked, progress: Progress) -> Any:
        reader = self.parsers.screen_reader
        if reader is None:
            raise DriverMissing("Recognizing text in videos", "ocr")
        return plain_found(reader.read(source_from(asked["source"]), progress))

    def _measure(self, asked: Asked, _: Progress) -> Any:
        return extent.to_plain(self.parsers.measurer.measure(source_from(asked["source"])))

    def _text(self, asked: Asked, progress: Progress) -> Any:
        return plain_extracted_text(self.parsers.text.read(source_from(asked["source"]), progress))

    def _quotable(self, asked: Asked, progress: Progress) -> Any:
        from citekit.adapters.quotes.stored_form import to_plain

        return [to_plain(each) for each in self.parsers.quotable.read(source_from(asked["source"]), progress)]

    def _drawn_pages(self, asked: Asked, _: Progress) -> Any:
        return list(self.parsers.quotable.drawn(source_from(asked["source"]), asked["pages"]).items())

    def _facts(self, asked: Asked, _: Progress) -> Any:
        return plain_found(self.parsers.text.facts(source_from(asked["source"])))

    def _page_lines(self, asked: Asked, progress: Progress) -> Any:
        return ["\n".join(lines) for lines in self.parsers.viewer.page_lines(Path(asked["path"]), progress)]

    def _page_texts(self, asked: Asked, progress: Progress) -> Any:
        return list(self.parsers.viewer.page_texts(Path(asked["path"]), progress))

    def _paged_text(self, asked: Asked, _: Progress) -> Any:
        return self.parsers.viewer.paged_text(Path(asked["path"]))

    def _cut_pages(self, asked: Asked, progress: Progress) -> Any:
        path, target = Path(asked["path"]), Path(asked["target"])
        return self.parsers.viewer.cut_pages(path, asked["first"], asked["last"], target, progress)

    def _is_upright(self, asked: Asked, _: Progress) -> Any:
        return self.parsers.viewer.is_upright(Path(asked["path"]))

    def _picture(self, asked: Asked, _: Progress) -> Any:
        return plain_picture(*self.parsers.viewer.picture(Path(asked["path"]), asked["side"]))

    def _page_sizes(self, asked: Asked, _: Progress) -> Any:
        return [[each.width, each.height] for each in self.parsers.page_views.sizes(source_from(asked["source"]))]

    def _page_picture(self, asked: Asked, _: Progress) -> Any:
        drawn = self.parsers.page_views.picture(source_from(asked["source"]), asked["page"], asked["width"])
        return plain_picture(drawn.data, drawn.media_type)

    def _page_words(self, asked: Asked, _: Progress) -> Any:
        words = self.parsers.page_views.words(source_from(asked["source"]), asked["page"])
        return [[each.text, list(each.box), each.line] for each in words]

    def _sheet_rows(self, asked: Asked, _: Progress) -> Any:
        rows = self.parsers.page_views.rows(source_from(asked["source"]), asked["sheet"])
        return [[each.number, [list(cell) for cell in each.cells]] for each in rows]

    def _document(self, asked: Asked, _: Progress) -> Any:
        return self.parsers.page_views.document(source_from(asked["source"]), asked["page"])

    def _waveform(self, asked: Asked, _: Progress) -> Any:
        return list(self.parsers.page_views.waveform(source_from(asked["source"]), asked["count"]))

    def _still(self, asked: Asked, _: Progress) -> Any:
        source, folder = source_from(asked["source"]), Path(asked["folder"])
        return plain_picture(self.parsers.still(source, asked["seconds"], folder), "image/jpeg")

    def _pages(self, asked: Asked, _: Progress) -> Any:
        return self.parsers.foreign_files.pages(Path(asked["path"]))

    def _rows(self, asked: Asked, _: Progress) -> Any:
        return self.parsers.foreign_files.rows(Path(asked["path"]), asked["columns"])
