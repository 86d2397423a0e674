"""The outline of a video or a recording, by the best structure that it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from attrs import frozen

from citekit.adapters.formats.media.outline.scenes import find_cuts
from citekit.adapters.formats.media.outline.speech import find_sound_segments
from citekit.adapters.formats.media.outline.time_segments import add_scenes, numbered_title, scenes_between, span
from citekit.adapters.formats.media.outline.topics import topics_from_cues
from citekit.adapters.formats.shared.outline import Draft, Outline, nested
from citekit.adapters.formats.subtitles.parser import WORDS, beside, read_cues
from citekit.domain.extent import Extent
from citekit.domain.modality import Modality
from citekit.domain.numbers import shortest
from citekit.domain.ports.media_probe import Cue, MediaFacts, MediaProbe
from citekit.domain.progress import Progress
from citekit.domain.source import Source

_DURATION_TOLERANCE = 1.0


@frozen
class Structure:
    """Drafts, and sentences about where they come from."""

    drafts: Sequence[Draft]
    notes: Sequence[str] = ()


@frozen
class MediaOutliner:
    """Chapters of the container; else subtitles beside the file or inside it; else silences of a sound.

    The scenes of a film lie below its chapters or topics, and stand alone where there are none.

    Places are spans of video where the file holds moving pictures, else of audio, whatever its name says.
    """

    media_probe: MediaProbe

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`."""
        facts = self.media_probe.probe(source.path)
        modality = Modality.AUDIO if facts.video_codec is None else Modality.VIDEO
        structure = _structure(source, facts, modality, progress)
        return Outline(
            title=facts.tags.get("title"),
            bounds=Extent(seconds=facts.duration, size=facts.size),
            drafts=structure.drafts,
            facts=_metadata(facts),
            notes=(*_duration_note(facts), *facts.remarks, *structure.notes),
        )


def _structure(source: Source, facts: MediaFacts, modality: Modality, progress: Progress) -> Structure:
    cues, origin = _cues(source, facts)
    told = _explicit_structure(facts, cues, origin, modality)
    if modality is Modality.VIDEO:
        return _structure_with_scenes(source, facts, told, cues, progress)
    return told or _structure_from_sound(source, facts, progress)


def _explicit_structure(facts: MediaFacts, cues: Sequence[Cue], origin: str, modality: Modality) -> Structure | None:
    """The structure that somebody wrote down: chapters, else the words that are spoken."""
    if facts.chapters:
        return Structure(_chapters(facts, cues, modality), ["The structure is that of the container's chapters."])
    found = topics_from_cues(cues, facts.duration, modality)
    return Structure(found, [f"The structure was made from {origin}."]) if found else None


def _cues(source: Source, facts: MediaFacts) -> tuple[Sequence[Cue], str]:
    path = beside(source.path)
    found = [] if path is None else [cue for cue in read_cues(path, facts.duration) if cue.start < facts.duration]
    if path is not None and found:
        return found, f"the {'words' if path.suffix.lower() in WORDS else 'subtitles'} in {path.name}"
    return facts.subtitles, "the subtitles in the file"


def _chapters(facts: MediaFacts, cues: Sequence[Cue], modality: Modality) -> Sequence[Draft]:
    """The chapters as the container nests them; what is spoken lies below the innermost ones."""
    levels = _levels(facts.chapters)
    leaves = [after <= level for level, after in pairwise([*levels, 0])]
    numbers: Counter[int] = Counter()
    drafts = []
    for chapter, level, is_leaf in zip(facts.chapters, levels, leaves, strict=True):
        numbers[level] += 1
        title = chapter.text or numbered_title("Chapter", numbers[level], chapter.start, chapter.end)
        drafts.append((level, _chapter(chapter, title, cues, facts.duration, modality, is_leaf)))
    return nested(drafts)


def _levels(chapters: Sequence[Cue]) -> list[int]:
    """For each chapter, how many of those before it hold it."""
    ends: list[float] = []
    levels = []
    for chapter in chapters:
        while ends and ends[-1] <= chapter.start:
            ends.pop()
        levels.append(len(ends))
        ends.append(chapter.end)
    return levels


def _chapter(
    chapter: Cue, title: str, cues: Sequence[Cue], duration: float, modality: Modality, is_leaf: bool
) -> Draft:
    place = span(chapter.start, chapter.end, modality)
    inner = [cue for cue in cues if chapter.start <= cue.start < chapter.end]
    said = topics_from_cues(inner, min(chapter.end, duration), modality) if is_leaf else ()
    inside = [draft for draft in said if place.contains(draft.location)]
    words = " ".join(cue.text for cue in inner[:20]) or None
    return Draft(title, "chapter", place, summary=words, children=inside)


def _structure_with_scenes(
    source: Source, facts: MediaFacts, told: Structure | None, cues: Sequence[Cue], progress: Progress
) -> Structure:
    cuts = find_cuts(source.path, facts.duration, facts.frame_rate, facts.size or (1, 1), progress)
    how = "scene cuts, at key pictures only because the film is long" if cuts.keyframes_only else "scene cuts"
    if told is None:
        return Structure(scenes_between(cuts.times, facts.duration, cues), [f"The structure was made from {how}."])
    notes = [*told.notes, f"Below it lie {how}."] if cuts.times else told.notes
    return Structure(add_scenes(told.drafts, cuts.times, facts.duration), notes)


def _structure_from_sound(source: Source, facts: MediaFacts, progress: Progress) -> Structure:
    heard = find_sound_segments(source.path, facts.duration, progress)
    if not heard:
        whole = span(0.0, facts.duration, Modality.AUDIO)
        return Structure([Draft("Whole recording", "recording", whole)], ["No silence parts the recording."])
    counts: Counter[str] = Counter()
    drafts = []
    for part in heard:
        counts[part.kind] += 1
        word, number = part.kind.capitalize(), counts[part.kind]
        title = numbered_title(word, number, part.start, part.end)
        place = span(part.start, part.end, Modality.AUDIO)
        drafts.append(Draft(title, part.kind, place, name=f"{word} {number}"))
    return Structure(drafts, ["The structure was made from pauses and changes of the sound."])


def _duration_note(facts: MediaFacts) -> list[str]:
    if facts.declared is None or abs(facts.declared - facts.duration) < _DURATION_TOLERANCE:
        return []
    declared, real = shortest(round(facts.declared, 2)), shortest(round(facts.duration, 2))
    return [f"The container declares {declared} s, but its packets end at {real} s."]


def _metadata(facts: MediaFacts) -> Mapping[str, Any]:
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
