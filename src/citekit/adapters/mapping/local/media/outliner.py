"""The outline of a video or a recording, by the best structure that it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from attrs import frozen

from citekit.adapters.mapping.local.media.naming import numbered, span
from citekit.adapters.mapping.local.media.scenes import find_cuts
from citekit.adapters.mapping.local.media.silence import find_speech
from citekit.adapters.mapping.local.media.subtitles import beside, read_cues
from citekit.adapters.mapping.local.media.topics import topics
from citekit.adapters.mapping.local.outline import Draft, Outline
from citekit.domain.bounds import Bounds
from citekit.domain.locations import TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.numbers import shortest
from citekit.domain.ports.media_probe import Cue, MediaFacts, MediaProbe
from citekit.domain.progress import Progress
from citekit.domain.source import Source

_WRONG_BY = 1.0


@frozen
class Structure:
    """Drafts, and sentences about where they come from."""

    drafts: Sequence[Draft]
    notes: Sequence[str] = ()


@frozen
class MediaOutliner:
    """Chapters of the container; else subtitles beside the file or inside it; else scene cuts, or silences of a sound.

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
            bounds=Bounds(seconds=facts.duration, size=facts.size),
            drafts=structure.drafts,
            facts=_metadata(facts),
            notes=(*_about(facts), *structure.notes),
        )


def _structure(source: Source, facts: MediaFacts, modality: Modality, progress: Progress) -> Structure:
    cues, origin = _cues(source, facts)
    if facts.chapters:
        return Structure(_chapters(facts, cues, modality), ["The structure is that of the container's chapters."])
    if cues:
        found = topics(cues, facts.duration, modality)
        if found:
            return Structure(found, [f"The structure was made from {origin}."])
    if modality is Modality.VIDEO:
        return _scenes(source, facts, progress)
    return _speech(source, facts, progress)


def _cues(source: Source, facts: MediaFacts) -> tuple[Sequence[Cue], str]:
    path = beside(source.path)
    found = [] if path is None else [cue for cue in read_cues(path) if cue.start < facts.duration]
    if path is not None and found:
        return found, f"the subtitles in {path.name}"
    return facts.subtitles, "the subtitles in the file"


def _chapters(facts: MediaFacts, cues: Sequence[Cue], modality: Modality) -> list[Draft]:
    said = topics(cues, facts.duration, modality)
    drafts = []
    for number, chapter in enumerate(facts.chapters, 1):
        place = span(chapter.start, chapter.end, modality)
        inside = [draft for draft in said if place.contains(draft.location)]
        words = next((draft.summary for draft in said if draft.location.overlaps(place)), None)
        title = chapter.text or numbered("Chapter", number, chapter.start, chapter.end)
        drafts.append(Draft(title, "chapter", place, summary=words, children=inside))
    return drafts


def _scenes(source: Source, facts: MediaFacts, progress: Progress) -> Structure:
    cuts = find_cuts(source.path, facts.duration, facts.frame_rate, facts.size or (1, 1), progress)
    edges = [0.0, *(round(time, 3) for time in cuts.times), facts.duration]
    drafts = [
        Draft(
            numbered("Scene", number, start, end), "scene", TimeSpan(start, end, Modality.VIDEO), name=f"Scene {number}"
        )
        for number, (start, end) in enumerate(pairwise(edges), 1)
    ]
    how = "scene cuts, at key pictures only because the film is long" if cuts.coarse else "scene cuts"
    return Structure(drafts, [f"The structure was made from {how}."])


def _speech(source: Source, facts: MediaFacts, progress: Progress) -> Structure:
    heard = find_speech(source.path, facts.duration, progress)
    if not heard:
        whole = span(0.0, facts.duration, Modality.AUDIO)
        return Structure([Draft("Whole recording", "recording", whole)], ["No silence parts the recording."])
    drafts = [
        Draft(
            numbered("Speech", number, start, end), "speech", span(start, end, Modality.AUDIO), name=f"Speech {number}"
        )
        for number, (start, end) in enumerate(heard, 1)
    ]
    return Structure(drafts, ["The structure was made from silences."])


def _about(facts: MediaFacts) -> list[str]:
    if facts.declared is None or abs(facts.declared - facts.duration) < _WRONG_BY:
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
