"""What is said of a map without reading its nodes.

A named tuple, and nothing imported: a listing of maps is made of these alone, and must start as fast as a bare program.
"""

from __future__ import annotations

from typing import NamedTuple


class MapCard(NamedTuple):
    """One map at a glance.

    `type` is the modality's word. `nodes` counts all levels. `source_hash` (SHA-256, hexadecimal), `source_size` (bytes)
    and `format` are what the map's metadata say, None where they say nothing. `mapper` and `structure_by` are
    `[name, model, version]` of who made the map, and of whose nodes these are where that is somebody else. `beside` are
    the digests of the other files that the map depends on, by their names.
    """

    resource_id: str
    type: str
    title: str
    nodes: int
    source_path: str
    source_hash: str | None
    source_size: int | None
    format: str | None
    mapper: tuple[str, str | None, str | None] | None
    structure_by: tuple[str, str | None, str | None] | None
    sidecar_files: dict[str, str]
