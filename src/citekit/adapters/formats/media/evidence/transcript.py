"""Extracts what is said in a part of a recording, as text or subtitles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from attrs import frozen

from citekit.adapters.formats.media.evidence.requests import is_media, validated_span
from citekit.adapters.formats.subtitles.parser import TRANSCRIPT_SUFFIXES, find_sidecar, read_cues
from citekit.adapters.formats.subtitles.writer import named, sub_rip, web_vtt
from citekit.adapters.system.files import writing
from citekit.domain.digest import Digest
from citekit.domain.distribution import install_command
from citekit.domain.errors import FormUnsupported, LocationOutside, SourceUnreadable
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.extent import Extent
from citekit.domain.formats import Format
from citekit.domain.locations import Location, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.numbers import shortest
from citekit.domain.ports.media_probe import Cue, MediaFacts, MediaProbe
from citekit.domain.ports.screen_reader import ScreenReader
from citekit.domain.ports.transcriber import Transcriber
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.transcript import SEEN
from citekit.domain.source import Source
from citekit.domain.speech import SpokenWord

VERSION = "1"
"""Change this whenever the same words would result in different bytes."""

LINE = 80
"""The maximum number of characters of a subtitle made from recognized words, unless one word is longer."""

ON_SCREEN = "On the screen:"
"""The line above the text that a video shows, in the text of a recording."""

FILES = {
    Form.TEXT: (".txt", "text/plain"),
    Form.VTT: (".vtt", "text/vtt"),
    Form.SRT: (".srt", "application/x-subrip"),
}


@frozen
class TranscriptExtractor:
    """Extracts the subtitles of a span of a recording, or else the words that the transcriber recognizes in it.

    Subtitles come from a sidecar file, or else from the recording. Their times count from the start of the span. The
    text of a video also contains the text on the screen, and its subtitles consist of that text if nothing is said.
    `transcriber` and `screen_reader` return None if there is no such adapter.
    """

    probe: MediaProbe
    transcriber: Callable[[], Transcriber | None]
    screen_reader: Callable[[], ScreenReader | None] = lambda: None

    @property
    def identity(self) -> ExtractorIdentity:
        """See `Extractor.identity`. The version contains the versions of the transcriber and of OCR, if any."""
        return ExtractorIdentity("transcript", f"{self._speech_version()}{self._screen_version()}")

    def identity_for(self, source: Source) -> ExtractorIdentity:
        """See `DependentExtractor.identity_for`. With a sidecar file, the version contains its digest.

        Raise `SourceUnreadable` if the sidecar file cannot be read.
        """
        sidecar = find_sidecar(source.path)
        words = self._speech_version() if sidecar is None else f"{VERSION} subtitles {_digest(sidecar)}"
        shown = self._screen_version() if source.format.modality is Modality.VIDEO else ""
        return ExtractorIdentity("transcript", f"{words}{shown}")

    def _speech_version(self) -> str:
        transcriber = self.transcriber()
        return VERSION if transcriber is None else f"{VERSION} {transcriber.version}"

    def _screen_version(self) -> str:
        reader = self.screen_reader()
        return "" if reader is None else f" screen {reader.version}"

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`."""
        return tuple(FILES) if is_media(format, location) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`.

        Raise `FormUnsupported` if nothing is said or shown in the span, or if there are no subtitles, no text on the
        screen, and no transcriber. Raise `LocationOutside` if the span starts at or after the end of the recording.
        """
        wanted = validated_span(source, location, options, self.forms(source.format, location))
        facts = self.probe.probe(source.path)
        if wanted.start >= facts.duration:
            raise LocationOutside(
                f"{source.path.name} ends at {shortest(round(facts.duration, 3))} s, but the requested part begins at "
                f"{shortest(round(wanted.start, 3))} s."
            )
        span = wanted.clamp(Extent(seconds=facts.duration))
        subtitles, origin = _subtitles(source, facts)
        if subtitles:
            cues = list(_clipped(subtitles, span))
            notes = [f"The words are those of {origin}."] if cues else []
        else:
            cues, notes = [], []
        shown, reader = self._shown(source, facts, span, progress)
        if not subtitles and facts.audio_codec:
            cues, notes = self._recognized(source, span, progress, is_needed=not shown)
        if not cues and not shown:
            raise FormUnsupported(f"No words were found in this part.{self._unread(facts)} Request a clip.")
        written = _written(cues or shown, options.form)
        if shown and cues and options.form is Form.TEXT:
            written += f"\n{ON_SCREEN}\n{_written(shown, options.form)}"
        if shown and (not cues or options.form is Form.TEXT):
            notes.append(SEEN.format(reader))
        with writing(target):
            target.write_text(written, "utf-8", newline="\n")
        suffix, media_type = FILES[options.form]
        return Extraction(
            suffix=suffix, media_type=media_type, extent=span, notes=(*notes, *_time_notes(span, options))
        )

    def _shown(self, source: Source, facts: MediaFacts, span: TimeSpan, progress: Progress) -> tuple[list[Cue], str]:
        """Return the text on the screen in the span, and the name of the OCR software."""
        reader = self.screen_reader() if facts.video_codec else None
        if reader is None:
            return [], ""
        shown = reader.read(source, progress)
        return list(_clipped([Cue(*each) for each in shown.cues()], span)), shown.reader

    def _unread(self, facts: MediaFacts) -> str:
        """Return a sentence about the text on the screen if it was not read, or ""."""
        if not facts.video_codec or self.screen_reader() is not None:
            return ""
        return (
            " The text on the screen was not read, because OCR is off (CITEKIT_OCR=off) or the extra 'ocr' is not installed "
            f"({install_command('ocr')})."
        )

    def _recognized(
        self, source: Source, span: TimeSpan, progress: Progress, *, is_needed: bool
    ) -> tuple[list[Cue], list[str]]:
        """Return the recognized words of the span in lines, and notes about them.

        Raise `FormUnsupported` if there is no transcriber and `is_needed`.
        """
        transcriber = self.transcriber()
        if transcriber is None and not is_needed:
            return [], []
        if transcriber is None:
            raise FormUnsupported(
                f"{source.path.name} has no subtitles, and speech recognition is off (CITEKIT_SPEECH=off), is not "
                f"installed, or has no model. Set CITEKIT_SPEECH to on, install the extra 'speech' "
                f"({install_command('speech')}) and a model (citekit models get base), or request a clip."
            )
        speech = transcriber.transcribe(source, progress)
        notes = [f"This text was produced by speech recognition ({speech.transcriber}). It may contain errors."]
        cues: list[Cue] = []
        doubtful = 0
        for passage in speech.passages:
            words = [word for word in passage.words if _is_inside(word, span)]
            doubtful += sum(passage.doubts(word) for word in words)
            cues += _in_lines(words)
        if doubtful:
            notes.append(f"The transcriber is unsure of {doubtful} of the words.")
        clipped = list(_clipped(cues, span))
        return clipped, notes if clipped else []


def _subtitles(source: Source, facts: MediaFacts) -> tuple[Sequence[Cue], str]:
    """Return the subtitles in a sidecar file, or else those in the recording, and their origin."""
    path = find_sidecar(source.path)
    found = [] if path is None else [cue for cue in read_cues(path, facts.duration) if cue.start < facts.duration]
    if path is not None and found:
        kind = "transcript" if path.suffix.lower() in TRANSCRIPT_SUFFIXES else "subtitles"
        return found, f"the {kind} in {path.name}"
    return facts.subtitles, f"the subtitles in {source.path.name}"


def _digest(path: Path) -> str:
    try:
        return Digest.of_bytes(path.read_bytes()).hex[:16]
    except OSError as error:
        raise SourceUnreadable(f"The subtitles {path.name} cannot be read: {error.strerror or error}.") from error


def _is_inside(word: SpokenWord, span: TimeSpan) -> bool:
    end = span.end if span.end is not None else word.end + 1
    return span.start <= (word.start + word.end) / 2 < end


def _in_lines(words: Sequence[SpokenWord]) -> Iterator[Cue]:
    """Yield the words as subtitles of at most `LINE` characters."""
    line: list[SpokenWord] = []
    for word in words:
        if line and len(_text(line)) + len(word.text) > LINE:
            yield Cue(line[0].start, line[-1].end, _text(line))
            line = []
        line.append(word)
    if line:
        yield Cue(line[0].start, line[-1].end, _text(line))


def _text(words: Sequence[SpokenWord]) -> str:
    return "".join(word.text for word in words).strip()


def _clipped(cues: Sequence[Cue], span: TimeSpan) -> Iterator[Cue]:
    """Yield the cues that are shown during `span`, for at least a millisecond, with times in seconds from its start."""
    end = span.end if span.end is not None else max(cue.end for cue in cues)
    for cue in cues:
        if cue.start < end and max(cue.end, cue.start + 0.001) > span.start:
            start, until = max(cue.start, span.start) - span.start, min(cue.end, end) - span.start
            yield Cue(start, max(until, start + 0.001), cue.text, cue.voice)


def _written(cues: Sequence[Cue], form: Form) -> str:
    match form:
        case Form.VTT:
            return web_vtt(cues)
        case Form.SRT:
            return sub_rip(cues)
        case _:
            return "".join(f"{named(cue)}\n" for cue in cues)


def _time_notes(span: TimeSpan, options: Options) -> list[str]:
    if options.form is Form.TEXT or not span.start:
        return []
    return [
        f"The times are measured from the start of this part, {shortest(round(span.start, 3))} s into the recording."
    ]
