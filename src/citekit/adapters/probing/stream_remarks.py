"""What a reader of the map should know of the streams of a container: which is used, and whether its times can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from citekit.adapters.drivers.pyav_streams import origin, pictures, played, readable, sounds
from citekit.domain.numbers import shortest

if TYPE_CHECKING:
    from av.container import InputContainer

SCANNED = frozenset(("mpegts", "mpeg"))
"""Formats that are recorded as they come, and may be joined anywhere: their times may jump."""

SCAN_LIMIT = 2**30
"""Bytes of the largest file that is read through for that."""

JUMP = 10.0
"""Seconds without a packet that are a jump forward: radio and pauses of encoders leave out less."""

BACK = 1.0
"""Seconds that times go back at a jump: less is the order of packets."""

_JUMP_LIMIT = 3


def stream_remarks(container: InputContainer, subtitles: Sequence[Any], read: Any | None) -> list[str]:
    """Sentences; `read` is the one of the text streams `subtitles` whose cues are taken."""
    shown, heard = pictures(container), sounds(container)
    used = played(container)
    chosen = [
        *_chosen("video", shown, used),
        *_chosen("audio", heard, used),
        *_chosen("subtitle", subtitles, [read]),
    ]
    return [*chosen, *_aspect(used[0]), *_jumps(container)]


def _chosen(kind: str, streams: Sequence[Any], used: Sequence[Any]) -> list[str]:
    place = next((n for n, stream in enumerate(streams, 1) if any(stream is each for each in used)), None)
    if len(streams) < 2 or place is None:
        return []
    language = streams[place - 1].metadata.get("language", "und")
    named = "" if language == "und" else f" ({language})"
    return [f"Of {len(streams)} {kind} streams, number {place}{named} is used, as players do without being asked."]


def _aspect(stream: Any) -> list[str]:
    ratio = getattr(stream, "sample_aspect_ratio", None)
    if not ratio or ratio == 1:
        return []
    width = round(stream.width * ratio)
    return [f"Its pixels are not square: players show {stream.width} x {stream.height} as {width} x {stream.height}."]


def _jumps(container: InputContainer) -> Iterator[str]:
    """Where the times of the packets are broken off."""
    if container.format.name not in SCANNED or container.size > SCAN_LIMIT:
        return
    zero = origin(container)
    stream = played(container)[0]
    container.seek(int(zero * 1_000_000), backward=True)
    last: float | None = None
    found = 0
    for packet in readable(container, [stream]):
        time = float((packet.dts if packet.dts is not None else packet.pts) * packet.time_base) - zero
        if last is not None and not -BACK < time - last < JUMP and found < _JUMP_LIMIT:
            found += 1
            yield _jump(last, time)
        last = time


def _jump(last: float, time: float) -> str:
    edges = f"from {shortest(round(max(last, 0.0), 1))} s to {shortest(round(max(time, 0.0), 1))} s"
    if time > last:
        return f"The times of its packets jump {edges}: nothing lies between."
    return (
        f"The times of its packets go back {edges}: what comes after cannot be told by time, and may be missing here."
    )
