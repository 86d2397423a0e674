"""Extracts the texts of a file in which quotes are searched for: the text as displayed, and variants, such as the text
with its markup.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from attrs import evolve, frozen

from citekit.adapters.formats.data.csv import cells_apart
from citekit.adapters.system.installed_packages import version_of
from citekit.domain.errors import CiteKitError, FormUnsupported, SourceUnsupported
from citekit.domain.evidence import Form, Options
from citekit.domain.formats import Format, by_name
from citekit.domain.library.extracted_text import ExtractedText
from citekit.domain.locations import Location, Pages
from citekit.domain.modality import RECORDINGS, Modality
from citekit.domain.ports.extractor import Extractor
from citekit.domain.ports.media_probe import Cue, MediaFacts, MediaProbe
from citekit.domain.ports.screen_reader import ScreenReader
from citekit.domain.ports.text_reader import TextReader
from citekit.domain.ports.transcriber import Transcriber
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.aligned_subtitles import aligned
from citekit.domain.quotes.headers_footers import WITHOUT, without_running_lines
from citekit.domain.quotes.hidden import NOT_VISIBLE, split_hidden
from citekit.domain.quotes.quotable import WITH_MARKUP, WITH_TAGS, Quotable
from citekit.domain.quotes.transcript import Transcript
from citekit.domain.source import Source

VERSION = "23"
"""Change this whenever the same file would result in different texts."""

OTHER_TRACK = "in another subtitle track"
"""The note on subtitles that a player shows only on request."""

MARKED_UP = frozenset(("markdown", "rst", "html", "subtitles", "ssa", "calendar"))
"""Text formats whose readers omit the markup."""

_WITH_HIDDEN = frozenset(("pdf", "pptx", "xlsx"))
"""Formats whose readers return both the visible text and the complete text (see `split_hidden`)."""

_TABLES = {"csv": None, "tsv": "\t"}
"""The text formats of tables with their delimiters; None if the delimiter varies from file to file."""

_DRIVERS = ("pymupdf", "av", "lxml", "selectolax", "tinycss2", "mammoth", "markdown_it", "python-pptx")


@frozen
class Beside:
    """Two functions for subtitles in sidecar files.

    `find` returns the path of the sidecar file of a recording, or None. `cues` reads a sidecar file, given the duration
    of the recording in seconds.
    """

    find: Callable[[Path], Path | None]
    cues: Callable[[Path, float], Sequence[Cue]]


@frozen
class OnePlace:
    """A text whose parts all have the same location."""

    text: str
    place: Location

    def locate(self, _start: int, _end: int) -> Location:
        """Return the location of the text, whatever the range of characters."""
        return self.place

    def span_of(self, location: Location) -> tuple[int, int] | None:
        """Return the range of the whole text if `location` is its location; else None."""
        return (0, len(self.text)) if location == self.place else None


@frozen
class QuotableTextReader:
    """Reads quotable texts.

    Documents and texts are read with `texts`, recordings through their subtitles or their speech, and regions of pages
    with `extractors`. `drawn_pages` implements `QuotableTexts.drawn`. `ocr_version` returns the version of the OCR that
    `texts` uses, or "". `transcriber` and `screen_reader` return adapters for the words and the displayed text of
    recordings, or None. If `aligns`, the words of the first subtitle track get the times at which the transcriber hears
    them. `scan_advice` and `speech_advice` return the sentences of `domain.recognition`.
    """

    texts: TextReader
    probe: MediaProbe
    sidecar_files: Beside
    extractors: Sequence[Extractor]  # not copied: later readers are loaded only if no earlier one accepts the location
    ocr_version: Callable[[], str] = str
    drawn_pages: Callable[[Source, Sequence[int]], Mapping[int, str]] = lambda _source, _pages: {}
    transcriber: Callable[[], Transcriber | None] = lambda: None
    screen_reader: Callable[[], ScreenReader | None] = lambda: None
    aligns: bool = False
    scan_advice: Callable[[], str] = str
    speech_advice: Callable[[], str] = str

    def version(self, source: Source) -> str:
        """See `QuotableTexts.version`."""
        path = self.sidecar_files.find(source.path) if source.format.modality in RECORDINGS else None
        ocr = self.ocr_version() if source.format.name == "pdf" else ""
        speech = self._speech_version() if source.format.modality in RECORDINGS else ""
        screen = self._screen_version() if source.format.modality is Modality.VIDEO else ""
        return (
            f"{VERSION} {source.format.name} {_drivers()} {_fingerprint(path)}"
            f"{ocr and f' ocr={ocr}'}{speech and f' speech={speech}'}{screen and f' screen={screen}'}"
        )

    def reader_version(self) -> str:
        """See `QuotableTexts.reader_version`."""
        try:
            speech = self._speech_version()
        except CiteKitError:  # the model is unavailable, which matters only for recordings
            speech = "unavailable"
        screen = self._screen_version()
        return (
            f"{VERSION} {_drivers()} ocr={self.ocr_version()}{speech and f' speech={speech}'}"
            f"{screen and f' screen={screen}'}"
        )

    def _screen_version(self) -> str:
        reader = self.screen_reader()
        return "" if reader is None else reader.version

    def _speech_version(self) -> str:
        transcriber = self.transcriber()
        return "" if transcriber is None else f"{transcriber.version}{' aligned' if self.aligns else ''}"

    def read(self, source: Source, progress: Progress = silent) -> Sequence[Quotable]:
        """See `QuotableTexts.read`."""
        if source.format.modality in RECORDINGS:
            return list(self._spoken(source, progress))
        is_supported = self.texts.supports(source.format)
        if not is_supported and source.format.modality is Modality.IMAGE:
            raise SourceUnsupported(
                f"{source.path.name} is an image, and CiteKit does not search, read, or quote the text in images. Lines "
                "that OCR recognized are in the titles of its map."
            )
        if not is_supported:
            raise SourceUnsupported(
                f"{source.path.name} has the format {source.format.name}. CiteKit reads no text from such files, so "
                "there is nothing to search, read, or quote."
            )
        extracted_text = self.texts.read(source, progress)
        if extracted_text.unread and not extracted_text.text.strip():
            raise SourceUnsupported(
                f"One or more pages of {source.path.name} are too complex to read, and there is no other text, so there is "
                "nothing to search, read, or quote."
            )
        if not extracted_text.text.strip():
            nothing = f"{source.path.name} contains no text, so there is nothing to search, read, or quote."
            raise SourceUnsupported(f"{nothing}{self.scan_advice()}" if source.format.name == "pdf" else nothing)
        return list(self._ways_to_read(source, extracted_text, progress))

    def drawn(self, source: Source, pages: Sequence[int]) -> Mapping[int, str]:
        """See `QuotableTexts.drawn`."""
        return self.drawn_pages(source, pages)

    def region(self, source: Source, place: Pages) -> Quotable:
        """See `QuotableTexts.region`. Raise `FormUnsupported` if no extractor can read the text of a region."""
        options = Options(Form.TEXT)
        extractor = next((each for each in self.extractors if Form.TEXT in each.forms(source.format, place)), None)
        if extractor is None:
            raise FormUnsupported(
                f"The text of a region of {source.path.name} cannot be read. Give the address of the whole page."
            )
        with tempfile.TemporaryDirectory(prefix="citekit-") as folder:
            target = Path(folder) / "region.txt"
            extractor.extract(source, place, options, target)
            text = target.read_text("utf-8", "replace")
        return Quotable.of(OnePlace(text, place))

    def _ways_to_read(self, source: Source, extracted_text: ExtractedText, progress: Progress) -> Iterator[Quotable]:
        whole = None
        if source.format.name in _WITH_HIDDEN:
            extracted_text, whole = split_hidden(extracted_text)
        yield Quotable.of(extracted_text)
        if whole is not None:
            yield Quotable.of(whole, NOT_VISIBLE)
        if source.format.name in _TABLES:
            cells = cells_apart(extracted_text, _TABLES[source.format.name])
            if cells is not None:
                yield Quotable.of(cells)
        bare = without_running_lines(extracted_text)
        if bare is not None:
            yield Quotable.of(bare, WITHOUT)
        if source.format.name in MARKED_UP:
            note = WITH_TAGS if source.format.name == "html" else WITH_MARKUP
            yield Quotable.of(self.texts.read(evolve(source, format=_PLAIN), progress), note)

    def _spoken(self, source: Source, progress: Progress) -> Iterator[Quotable]:
        """Yield the text of each subtitle track of a recording (or else its recognized words), and then the text on the
        screen.

        The sidecar file is the first track, and the embedded track shown by default is the next. Raise
        `SourceUnsupported` if there is no such text.
        """
        facts = self.probe.probe(source.path)
        modality = Modality.AUDIO if facts.video_codec is None else Modality.VIDEO
        path = self.sidecar_files.find(source.path)
        found = [] if path is None else self.sidecar_files.cues(path, facts.duration)
        cues = [cue for cue in found if cue.start < facts.duration]
        tracks = [each for each in (cues, facts.subtitles, *facts.other_subtitles) if each]
        for place, track in enumerate(tracks):
            spoken = Transcript.of(((cue.start, cue.end, cue.text) for cue in track), modality)
            if not place and self._can_recognize(facts) and self.aligns:
                spoken = self._aligned(source, spoken, progress)
            yield Quotable.of(spoken, OTHER_TRACK if place else "")
        screen = self._shown(source, facts, modality, progress)
        if not tracks and (screen is None or self._can_recognize(facts)):
            said = self._recognized(source, facts, modality, progress, is_needed=screen is None)
            if said is not None:
                yield Quotable.of(said)
        if screen is not None:
            yield Quotable.of(screen)

    def _aligned(self, source: Source, subtitles: Transcript, progress: Progress) -> Transcript:
        transcriber = self.transcriber()
        assert transcriber is not None
        return aligned(subtitles, transcriber.transcribe(source, progress))

    def _shown(self, source: Source, facts: MediaFacts, modality: Modality, progress: Progress) -> Transcript | None:
        reader = self.screen_reader() if facts.video_codec is not None else None
        shown = None if reader is None else reader.read(source, progress)
        return Transcript.of_screen(shown, modality) if shown is not None and shown.slides else None

    def _can_recognize(self, facts: MediaFacts) -> bool:
        return facts.audio_codec is not None and self.transcriber() is not None

    def _recognized(
        self, source: Source, facts: MediaFacts, modality: Modality, progress: Progress, *, is_needed: bool
    ) -> Transcript | None:
        """Return the recognized words; None if there are none.

        Raise `SourceUnsupported` if there is no transcriber, or if there are no words and `is_needed` is True.
        """
        transcriber = self.transcriber()
        if transcriber is None:
            advice = "" if facts.audio_codec is None else self.speech_advice()
            raise SourceUnsupported(
                f"{source.path.name} has no subtitles, embedded or in a sidecar file, so there is nothing to "
                f"search, read, or quote.{advice}"
            )
        speech = transcriber.transcribe(source, progress)
        if not speech.passages and not is_needed:
            return None
        if not speech.passages:
            raise SourceUnsupported(
                f"{source.path.name} has no subtitles, and no speech was recognized in it, so there is nothing to "
                "search, read, or quote."
            )
        return Transcript.of_speech(speech, modality, facts.duration)


def _drivers() -> str:
    return ",".join(f"{name}={version_of(name)}" for name in _DRIVERS)


def _plain() -> Format:
    found = by_name("x.txt")
    assert found is not None
    return found


_PLAIN = _plain()


def _fingerprint(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
