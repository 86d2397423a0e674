"""Outlines video and audio files from the best source of structure that is available."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from attrs import frozen

from citekit.adapters.formats.media.outline.scenes import find_cuts
from citekit.adapters.formats.media.outline.slides import add_slides, is_lecture, slide_items
from citekit.adapters.formats.media.outline.speech import find_sound_segments
from citekit.adapters.formats.media.outline.time_segments import add_scenes, numbered_title, scenes_between, span
from citekit.adapters.formats.media.outline.topics import summary_of, topics_from_cues
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, nested
from citekit.adapters.formats.subtitles.parser import TRANSCRIPT_SUFFIXES, find_sidecar, read_cues
from citekit.domain.extent import Extent
from citekit.domain.modality import Modality
from citekit.domain.numbers import shortest
from citekit.domain.ports.media_probe import Cue, MediaFacts, MediaProbe
from citekit.domain.ports.screen_reader import ScreenReader
from citekit.domain.ports.transcriber import Transcriber
from citekit.domain.progress import Progress
from citekit.domain.screen_text import ScreenText, Slide
from citekit.domain.source import Source

PLAUSIBLE = (600.0, 0.004)
"""The maximum duration of a recording whose sound is analyzed: this many seconds, plus this many seconds for each byte
(2 kilobits per second).
"""

_TOO_LONG = "is far longer than is plausible for its size, so CiteKit did not look for silences in it."


_TOO_MANY_PICTURES = (
    "The video shows so many slides or other still pictures that text was recognized only in the first ones; text on the "
    "screen later in the video is missing."
)

_DURATION_TOLERANCE = 1.0


@frozen
class Structure:
    """Outline items, and notes that explain how they were derived."""

    items: Sequence[OutlineItem]
    notes: Sequence[str] = ()


@frozen
class Words:
    """What is said in a recording: passages with their times, their origin, and notes about them."""

    cues: Sequence[Cue] = ()
    origin: str = ""
    notes: Sequence[str] = ()


@frozen
class MediaOutliner:
    """Outlines video and audio files.

    The structure comes from the container's chapters, or else from subtitles in a sidecar file or in the recording, or
    else from the words that `transcriber` recognizes, or else from the sound of an audio recording. A video is also
    divided into scenes or, if it is a lecture (`is_lecture`), into slides. `transcriber` and `screen_reader` return
    None if there is no such adapter. Locations are spans of video if the file has a video stream, and otherwise of
    audio.
    """

    media_probe: MediaProbe
    transcriber: Callable[[], Transcriber | None] = lambda: None
    screen_reader: Callable[[], ScreenReader | None] = lambda: None

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`."""
        facts = self.media_probe.probe(source.path)
        modality = Modality.AUDIO if facts.video_codec is None else Modality.VIDEO
        words = _words(source, facts)
        if not words.cues:
            words = self._recognized(source, facts, progress)
        screen = self._shown(source, facts, progress)
        structure = _structure(source, facts, words, screen, modality, progress)
        return Outline(
            title=facts.tags.get("title"),
            extent=Extent(seconds=facts.duration, size=facts.size),
            items=structure.items,
            facts=_metadata(facts),
            notes=(*_duration_note(facts), *facts.remarks, *structure.notes, *words.notes),
        )

    def _shown(self, source: Source, facts: MediaFacts, progress: Progress) -> ScreenText | None:
        """Return the text that the video shows, or None without text or OCR."""
        reader = self.screen_reader() if facts.video_codec else None
        shown = None if reader is None else reader.read(source, progress)
        return shown if shown is not None and shown.slides else None

    def _recognized(self, source: Source, facts: MediaFacts, progress: Progress) -> Words:
        """Return the words that the transcriber recognizes; none without a transcriber or sound."""
        transcriber = self.transcriber() if facts.audio_codec else None
        if transcriber is None:
            return Words()
        speech = transcriber.transcribe(source, progress)
        cues = [
            Cue(round(each.start, 3), round(each.end, 3), each.text, each.voice)
            for each in speech.passages
            if not each.is_doubtful
        ]
        notes = [f"The words were recognized by {speech.transcriber}; they may contain errors."] if cues else []
        if any(cue.voice for cue in cues):
            notes.append(
                "The speakers were distinguished by their voices; some words may be attributed to the wrong speaker."
            )
        return Words(cues, "the recognized speech", notes)


def _structure(
    source: Source,
    facts: MediaFacts,
    words: Words,
    screen: ScreenText | None,
    modality: Modality,
    progress: Progress,
) -> Structure:
    cues = words.cues
    if screen is not None and is_lecture(screen.slides, facts.duration):
        return _lecture(facts, words, screen)
    explicit = _explicit_structure(facts, cues, words.origin, modality)
    if modality is Modality.VIDEO:
        structure = _structure_with_scenes(source, facts, explicit, cues, progress)
        if screen is None:
            return structure
        items = add_slides(structure.items, screen.slides)
        return Structure(items, [*structure.notes, *_screen_notes(screen)])
    return explicit or _structure_from_sound(source, facts, progress)


def _lecture(facts: MediaFacts, words: Words, screen: ScreenText) -> Structure:
    """Return the slides with what is said over them, inside the chapters if there are any."""
    slides, cues = screen.slides, words.cues
    notes = _screen_notes(screen)
    if cues and not words.notes:  # the notes about recognized words say where they come from
        notes.append(f"The spoken words come from {words.origin}.")
    if not facts.chapters:
        return Structure(
            slide_items(slides, cues, 0.0, facts.duration), ["The structure was made from slides.", *notes]
        )
    chapters = _chapters(facts, cues, Modality.VIDEO, slides)
    return Structure(chapters, ["The structure was taken from the container's chapters and from slides.", *notes])


def _screen_notes(screen: ScreenText) -> list[str]:
    note = f"The text on the screen was recognized by {screen.reader}; it may contain errors."
    return [note, *([_TOO_MANY_PICTURES] if screen.is_incomplete else [])]


def _explicit_structure(facts: MediaFacts, cues: Sequence[Cue], origin: str, modality: Modality) -> Structure | None:
    """Return the chapters, or else the topics of `cues`; None if there are neither. `origin` describes where the cues
    come from.
    """
    if facts.chapters:
        return Structure(_chapters(facts, cues, modality), ["The structure was taken from the container's chapters."])
    topics = topics_from_cues(cues, facts.duration, modality)
    return Structure(topics, [f"The structure was made from {origin}."]) if topics else None


def _words(source: Source, facts: MediaFacts) -> Words:
    """Return the subtitles of a sidecar file, or else those in the file."""
    path = find_sidecar(source.path)
    found = [] if path is None else [cue for cue in read_cues(path, facts.duration) if cue.start < facts.duration]
    if path is not None and found:
        kind = "words" if path.suffix.lower() in TRANSCRIPT_SUFFIXES else "subtitles"
        return Words(found, f"the {kind} in {path.name}")
    return Words(facts.subtitles, "the subtitles in the file")


def _chapters(
    facts: MediaFacts, cues: Sequence[Cue], modality: Modality, slides: Sequence[Slide] = ()
) -> Sequence[OutlineItem]:
    """Return outline items for the chapters, nested as in the file, with slides or topics below the innermost."""
    levels = _levels(facts.chapters)
    leaves = [after <= level for level, after in pairwise([*levels, 0])]
    numbers: Counter[int] = Counter()
    outline_items = []
    for chapter, level, is_leaf in zip(facts.chapters, levels, leaves, strict=True):
        numbers[level] += 1
        title = chapter.text or numbered_title("Chapter", numbers[level], chapter.start, chapter.end)
        inside = slides if is_leaf else ()
        outline_items.append((level, _chapter(chapter, title, cues, facts.duration, modality, is_leaf, inside)))
    return nested(outline_items)


def _levels(chapters: Sequence[Cue]) -> list[int]:
    """Return the nesting level of each chapter: the number of earlier chapters that contain its start."""
    ends: list[float] = []
    levels = []
    for chapter in chapters:
        while ends and ends[-1] <= chapter.start:
            ends.pop()
        levels.append(len(ends))
        ends.append(chapter.end)
    return levels


def _chapter(
    chapter: Cue,
    title: str,
    cues: Sequence[Cue],
    duration: float,
    modality: Modality,
    is_leaf: bool,
    slides: Sequence[Slide],
) -> OutlineItem:
    location = span(chapter.start, chapter.end, modality)
    inner = [cue for cue in cues if chapter.start <= cue.start < chapter.end]
    end = min(chapter.end, duration)
    topics = slide_items(slides, cues, chapter.start, end) or (
        topics_from_cues(inner, end, modality) if is_leaf else []
    )
    inside = [outline_item for outline_item in topics if location.contains(outline_item.location)]
    return OutlineItem(title, "chapter", location, summary=summary_of(inner), children=inside)


def _structure_with_scenes(
    source: Source, facts: MediaFacts, explicit: Structure | None, cues: Sequence[Cue], progress: Progress
) -> Structure:
    cuts = find_cuts(source.path, facts.duration, facts.frame_rate, facts.size or (1, 1), progress)
    compared = (
        " (only keyframes were compared, because decoding all frames would take too long)"
        if cuts.keyframes_only
        else ""
    )
    if explicit is None:
        note = (
            f"The structure was made from scene cuts{compared}."
            if cuts.times
            else f"No scene cuts were found{compared}, so the video is one scene."
        )
        return Structure(scenes_between(cuts.times, facts.duration, cues), [note])
    made = f"The nodes of the type scene were made from scene cuts{compared}."
    notes = [*explicit.notes, made] if cuts.times else explicit.notes
    return Structure(add_scenes(explicit.items, cuts.times, facts.duration), notes)


def _structure_from_sound(source: Source, facts: MediaFacts, progress: Progress) -> Structure:
    is_plausible = facts.duration <= PLAUSIBLE[0] + PLAUSIBLE[1] * source.size
    segments = find_sound_segments(source.path, facts.duration, progress) if is_plausible else []
    if not segments:
        whole = span(0.0, facts.duration, Modality.AUDIO)
        note = (
            "was not split, because it is almost silent or its loudness hardly varies." if is_plausible else _TOO_LONG
        )
        return Structure([OutlineItem("Whole recording", "recording", whole)], [f"The recording {note}"])
    counts: Counter[str] = Counter()
    outline_items = []
    for segment in segments:
        counts[segment.kind] += 1
        word, number = segment.kind.capitalize(), counts[segment.kind]
        title = numbered_title(word, number, segment.start, segment.end)
        location = span(segment.start, segment.end, Modality.AUDIO)
        outline_items.append(OutlineItem(title, segment.kind, location, name=f"{word} {number}"))
    return Structure(outline_items, ["The structure was made from pauses and changes in the sound."])


def _duration_note(facts: MediaFacts) -> list[str]:
    if facts.declared is None or abs(facts.declared - facts.duration) < _DURATION_TOLERANCE:
        return []
    declared, real = shortest(round(facts.declared, 2)), shortest(round(facts.duration, 2))
    return [f"The file declares a duration of {declared} s, but its last packet ends at {real} s."]


def _metadata(facts: MediaFacts) -> Mapping[str, object]:
    known = {
        "duration": facts.duration,
        "dimensions": None if facts.size is None else list(facts.size),
        "frame_rate": facts.frame_rate,
        "container": facts.container,
        "video_codec": facts.video_codec,
        "audio_codec": facts.audio_codec,
        "tags": dict(facts.tags) or None,
    }
    return {name: value for name, value in known.items() if value is not None}
