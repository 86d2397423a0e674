"""Defines the summary of a map, which can be read without the map's nodes.

The summary is a named tuple, and this module imports nothing else, so that a listing of maps starts fast.
"""

from __future__ import annotations

from typing import NamedTuple


class MapCard(NamedTuple):
    """The summary of one map.

    `type` is the modality, and `nodes` is the number of nodes on all levels, without the library's chunks.
    `source_hash` (SHA-256, hexadecimal), `source_size` (bytes), and `format` are None if the map does not have them.
    `mapper` is the `[name, model, version]` of the mapper that made the map, and `structure_by` that of a different
    mapper that made the nodes. `sidecar_files` maps the names of the other files that the map depends on to their
    digests. `size` is the extent in words, such as `105 pages`, or an empty text.
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
    size: str = ""
