"""Extracts what is said in a part of a recording, as text or subtitles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from attrs import frozen

from citekit.adapters.formats.media.evidence.requests import is_media, validated_span
from citekit.adapters.formats.subtitles.parser import find_sidecar
from citekit.adapters.formats.subtitles.writer import sub_rip, web_vtt
from citekit.domain.errors import DriverMissing, FormUnsupported, LocationOutside
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.extent import Extent
from citekit.domain.formats import Format
from citekit.domain.locations import Location, TimeSpan
from citekit.domain.numbers import shortest
from citekit.domain.ports.media_probe import Cue, MediaProbe
from citekit.domain.ports.transcriber import Transcriber
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source
from citekit.domain.speech import SpokenWord

VERSION = "1"
"""Change this whenever the same words would give other bytes."""

LINE = 80
"""Characters of the longest subtitle that is made from recognized words, unless one word is longer."""

FILES = {
    Form.TEXT: (".txt", "text/plain"),
    Form.VTT: (".vtt", "text/vtt"),
    Form.SRT: (".srt", "application/x-subrip"),
}


@frozen
class TranscriptExtractor:
    """Extracts the subtitles of a span of a recording, or else the words that the transcriber recognizes in it.

    The times in subtitles count from the start of the span, as those of a clip of it do. `has_transcriber` returns
    whether `transcriber` returns a transcriber.
    """

    probe: MediaProbe
    transcriber: Callable[[], Transcriber | None]
    has_transcriber: Callable[[], bool]

    @property
    def identity(self) -> ExtractorIdentity:
        """See `Extractor.identity`. The version contains that of the transcriber, if there is one."""
        transcriber = self.transcriber()
        return ExtractorIdentity("transcript", VERSION if transcriber is None else f"{VERSION} {transcriber.version}")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`. There are no forms without a transcriber."""
        return tuple(FILES) if is_media(format, location) and self.has_transcriber() else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`.

        Raise `FormUnsupported` if nothing is said in the span, or if the subtitles are in a sidecar file.
        """
        wanted = validated_span(source, location, options, self.forms(source.format, location))
        sidecar = find_sidecar(source.path)
        if sidecar is not None:
            raise FormUnsupported(
                f"The words of {source.path.name} are in the file {sidecar.name}. Map that file and request a part of it."
            )
        facts = self.probe.probe(source.path)
        if wanted.start >= facts.duration:
            raise LocationOutside(
                f"{source.path.name} ends at {shortest(round(facts.duration, 3))} s, before the requested time."
            )
        span = wanted.clamp(Extent(seconds=facts.duration))
        if facts.subtitles:
            cues, notes = list(_clipped(facts.subtitles, span)), ["The words are those of the subtitles in the file."]
        else:
            cues, notes = self._recognized(source, span, progress)
        if not cues:
            raise FormUnsupported("Nothing is said in this part, so it has no text and no subtitles. Request a clip.")
        target.write_text(_written(cues, options.form), "utf-8", newline="\n")
        suffix, media_type = FILES[options.form]
        return Extraction(
            suffix=suffix, media_type=media_type, extent=span, notes=(*notes, *_time_notes(span, options))
        )

    @property
    def _transcriber(self) -> Transcriber:
        transcriber = self.transcriber()
        if transcriber is None:
            raise DriverMissing("Recognizing speech", "speech")
        return transcriber

    def _recognized(self, source: Source, span: TimeSpan, progress: Progress) -> tuple[list[Cue], list[str]]:
        """Return the recognized words of the span in lines, and notes about them."""
        speech = self._transcriber.transcribe(source, progress)
        notes = [f"Speech recognition ({speech.transcriber}) made this text. It may contain errors."]
        cues: list[Cue] = []
        doubtful = 0
        for passage in speech.passages:
            words = [word for word in passage.words if _is_inside(word, span)]
            doubtful += sum(passage.doubts(word) for word in words)
            cues += _in_lines(words)
        if doubtful:
            notes.append(f"The transcriber is unsure of {doubtful} of the words.")
        return list(_clipped(cues, span)), notes


def _is_inside(word: SpokenWord, span: TimeSpan) -> bool:
    end = span.end if span.end is not None else word.end + 1
    return span.start <= (word.start + word.end) / 2 < end


def _in_lines(words: Sequence[SpokenWord]) -> Iterator[Cue]:
    """Yield words in subtitles of at most `LINE` characters."""
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
    """Yield the cues that are shown during `span`, with times in seconds from its start, not empty when rounded."""
    end = span.end if span.end is not None else max(cue.end for cue in cues)
    for cue in cues:
        if cue.start < end and max(cue.end, cue.start + 0.001) > span.start:
            start, until = max(cue.start, span.start) - span.start, min(cue.end, end) - span.start
            yield Cue(start, max(until, start + 0.001), cue.text)


def _written(cues: Sequence[Cue], form: Form) -> str:
    match form:
        case Form.VTT:
            return web_vtt(cues)
        case Form.SRT:
            return sub_rip(cues)
        case _:
            return "".join(f"{cue.text}\n" for cue in cues)


def _time_notes(span: TimeSpan, options: Options) -> list[str]:
    if options.form is Form.TEXT or not span.start:
        return []
    return [f"The times count from the start of the part, at {shortest(round(span.start, 3))} s of the recording."]
