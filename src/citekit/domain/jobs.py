"""Defines the jobs that map files on several machines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from attrs import field, frozen

from citekit.domain.map_card import MapCard

Setting: TypeAlias = str | int | float | bool


@frozen(kw_only=True)
class IngestJob:
    """The request to map one file. It contains no keys or passwords: each worker has its own.

    `home` and `path` are absolute paths, which must be the same on every machine. `settings` are settings that the user
    changed. `version` is the sender's version of CiteKit.
    """

    home: str
    path: str
    version: str
    modality: str | None = None
    force: bool = False
    settings: Mapping[str, Setting] = field(factory=dict)


@frozen(kw_only=True)
class JobResult:
    """The result of a job: the card of the map, or the error as plain data."""

    card: MapCard | None = None
    mapped_now: bool = False
    error: Mapping[str, object] | None = None
