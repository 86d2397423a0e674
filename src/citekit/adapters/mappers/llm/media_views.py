"""Splits recordings into windows: the whole file, clips of it, or its subtitles or scene cuts with still pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise

from citekit.adapters.formats.media.outline.time_segments import clock
from citekit.adapters.formats.subtitles.parser import find_sidecar, read_cues
from citekit.adapters.mappers.llm.location_codec import Span
from citekit.adapters.mappers.llm.messages import FilePart, ImagePart, Part, TextPart
from citekit.adapters.mappers.llm.text_views import TEXT_LIMIT
from citekit.adapters.mappers.llm.windows import SourceView, Window, part_sentence, section_starts, split_ranges
from citekit.domain.errors import ExtractionFailed, MapperUnavailable
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.ports.media_probe import Cue

STILLS_PER_WINDOW = 24
"""The maximum number of still pictures in one window."""

_AUDIO_TYPES = {"video/quicktime": "audio/mp4", "video/3gpp": "audio/3gpp", "video/x-matroska": "audio/x-matroska"}

SCENES_PER_WINDOW = 150
"""The maximum number of scenes in one window of a video without subtitles."""


def media_windows(view: SourceView) -> list[Window]:
    """Split a recording into windows.

    Times in a clip are counted from its beginning; other times, from the beginning of the source. Raise
    `MapperUnavailable` if the service accepts no form of the recording, or if it needs too many requests.
    """
    seconds = view.limits.seconds
    if view.limits.as_file and view.file_fits and (seconds is None or view.codec.last <= seconds):
        return [Window((0.0, view.codec.last), lambda: [FilePart(view.source.path, _media_type(view))])]
    if view.limits.as_file and view.clips is not None:
        return _clip_windows(view)
    return _text_windows(view)


def _clip_windows(view: SourceView) -> list[Window]:
    """Split a recording into clips, one for each request. Their sizes in bytes are only estimated."""
    whole = view.codec.last
    share = 1.0 if view.limits.file_bytes is None else 0.8 * view.limits.file_bytes / view.source.size
    limit = max(1.0, min(view.limits.seconds or whole, whole * min(1.0, share)))
    borders = section_starts(view.local.nodes, view.codec)
    times = {math.ceil(time): (time, depth) for time, depth in borders.items() if 0 < time < whole}
    ranges = split_ranges([1.0] * math.ceil(whole), limit, {second: depth for second, (_, depth) in times.items()})
    view.check_count(len(ranges))
    edges = [0.0, *(times.get(start, (float(start), 0))[0] for start, _ in ranges[1:]), whole]
    return [
        Window(
            (start, end),
            partial(_clip_part, view, start, end),
            start,
            part_sentence(
                n,
                len(ranges),
                f"{view.codec.describe((start, end))}. The attached file begins at 0 seconds; count from there",
            ),
        )
        for n, (start, end) in enumerate(pairwise(edges), 1)
    ]


def _clip_part(view: SourceView, start: float, end: float) -> Sequence[Part]:
    assert view.clips is not None
    path = view.clips(view.source.path, start, end, view.folder)
    if view.limits.file_bytes is not None and path.stat().st_size > view.limits.file_bytes:
        raise view.part_too_large(path.stat().st_size)
    return [FilePart(path, _media_type(view))]


def _media_type(view: SourceView) -> str:
    """Return the file's media type. A video container (`.mp4`, `.webm`) without a picture gets an audio type."""
    media_type = view.source.format.media_type
    if view.local.modality is Modality.AUDIO and media_type.startswith("video/"):
        return _AUDIO_TYPES.get(media_type, f"audio/{media_type.partition('/')[2]}")
    return media_type


def _text_windows(view: SourceView) -> list[Window]:
    cues, scenes = cues_of(view), _leaves(view.local.nodes)
    if not cues and (view.stills is None or view.local.modality is not Modality.VIDEO):
        raise _not_viewable(view)
    events = sorted(
        [(cue.start, f"[{cue.start:.1f}-{cue.end:.1f}] {cue.text}") for cue in cues]
        + [(span[0], f"[{span[0]:.1f}-{span[1]:.1f}] (scene)") for span in _spans(view, scenes) if not cues]
    )
    limit = min(view.limits.characters or TEXT_LIMIT, TEXT_LIMIT)
    costs = [max(len(text) + 1.0, 0 if cues else limit / SCENES_PER_WINDOW) for _, text in events]
    ranges = split_ranges(costs, limit, _section_events(view, [time for time, _ in events]))
    view.check_count(len(ranges))
    edges = [0.0, *(events[start][0] for start, _ in ranges[1:]), view.codec.last]
    how = "subtitles" if cues else "scene cuts"
    how += " and still pictures" if view.stills is not None and view.local.modality is Modality.VIDEO else ""
    note = f"The mapper {view.service} sent the {how} of the recording, not the recording itself."
    return [
        Window(
            (edges[n], edges[n + 1]),
            partial(_text_and_stills, view, (edges[n], edges[n + 1]), [text for _, text in events[start:end]]),
            instruction=f"You get the {how} of the recording instead of the recording itself. Times are in seconds from its "
            "beginning. " + part_sentence(n + 1, len(ranges), view.codec.describe((edges[n], edges[n + 1]))),
            notes=(note,) if n == 0 else (),
        )
        for n, (start, end) in enumerate(ranges)
        if edges[n] < edges[n + 1]
    ]


def _text_and_stills(view: SourceView, span: Span, rows: Sequence[str]) -> Sequence[Part]:
    return [TextPart("\n".join(rows)), *_stills(view, span)]


def _stills(view: SourceView, span: Span) -> list[ImagePart]:
    """Return still pictures from the middles of evenly chosen scenes in `span`, or of `span` itself if it has no
    scenes.
    """
    if view.stills is None or view.local.modality is not Modality.VIDEO:
        return []
    middles = [(p[0] + p[1]) / 2 for p in _spans(view, _leaves(view.local.nodes))]
    middles = sorted({time for time in middles if span[0] <= time < span[1]}) or [(span[0] + span[1]) / 2]
    step = max(1.0, len(middles) / STILLS_PER_WINDOW)
    chosen = [middles[int(n * step)] for n in range(min(len(middles), STILLS_PER_WINDOW))]
    shown = []
    for time in chosen:
        view.progress(time, view.codec.last, "taking still pictures")
        with suppress(ExtractionFailed):  # a frame that cannot be decoded is left out
            label = f"the picture at {time:.1f} s ({clock(time)})"
            shown.append(ImagePart(view.stills(view.source.path, time), "image/jpeg", label))
    return shown


def cues_of(view: SourceView) -> Sequence[Cue]:
    """Return the subtitles in the sidecar file of a recording, or else those in the recording itself."""
    path = find_sidecar(view.source.path)
    found = [] if path is None else [cue for cue in read_cues(path) if cue.start < view.codec.last]
    return found or [cue for cue in view.probe.probe(view.source.path).subtitles if cue.start < view.codec.last]


def _leaves(nodes: Sequence[Node]) -> list[Node]:
    return [node for top in nodes for node in top.walk() if not node.children]


def _spans(view: SourceView, nodes: Sequence[Node]) -> list[Span]:
    return [span for node in nodes if (span := view.codec.from_location(node.location)) is not None]


def _section_events(view: SourceView, times: Sequence[float]) -> dict[int, int]:
    """Map the index of the first event at or after the start of each section to the level of that section."""
    borders = sorted(section_starts(view.local.nodes, view.codec).items())
    found: dict[int, int] = {}
    number = 0
    for time, depth in borders:
        while number < len(times) and times[number] < time:
            number += 1
        if number < len(times):
            found[number] = min(depth, found.get(number, depth))
    return found


def _not_viewable(view: SourceView) -> MapperUnavailable:
    if view.limits.as_file and not view.file_fits:
        return view.too_large()
    if view.limits.as_file:
        most = f"the recording lasts {view.codec.last:.0f} s, but the limit is {view.limits.seconds:.0f} s"
    else:
        most = f"the service accepts no {view.source.format.name} files"
    return MapperUnavailable(
        f"{view.source.path.name} cannot be sent to {view.service}: {most}, and the recording has no subtitles. Put a "
        ".srt or .vtt file with the same name next to it, or use another mapper. Nothing was sent."
    )
