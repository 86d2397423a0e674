"""A mapper that the user wrote: a Python file, an installed package, or any object with `generate_map`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from citekit.adapters.drivers.user_code import PRINTS_ASIDE, call, load_module, plain_map
from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError, FaultyAnswer, MapperUnavailable, RequestRefused
from citekit.domain.formats import Format
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.ports.mapper import Mapper
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.soundness import unsound
from citekit.domain.source import Source
from citekit.wire import maps

GROUP = "citekit.mappers"
"""The group of entry points (PyPA entry points specification) under which packages offer mappers."""


@frozen
class CustomMapper:
    """Calls `provider.generate_map(resource_path, resource_type, resource_id)`, sync or async.

    What it returns is data from outside: a map object with `model_dump`, a map of the domain, or plain data in the written
    form. It is held against the file's facts, which `facts` (the local mapper) tells. It is given up after `timeout`
    seconds; None waits as long as it takes.
    """

    provider: Any
    identity: MapperIdentity
    facts: Mapper = field(repr=False)
    timeout: float | None = None

    def supports(self, format: Format) -> bool:
        """Whatever the file's facts can be told of; the provider may still refuse."""
        return self.facts.supports(format)

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """The provider's map, checked.

        Raises `MapperUnavailable` where it raised or took too long, `FaultyAnswer` where what it gave is no map of that
        file, and what `progress` raises.
        """
        known = self.facts.map(source, resource_id, progress)
        plain = plain_map(self._answer(source, resource_id, progress), self.identity.name)
        answer = maps.from_plain_map({**plain, "resource_id": resource_id}, f"the map that {self.identity.name} made")
        metadata = {**known.metadata, **answer.metadata, **_identifying(source, self.identity)}
        metadata.pop("notes", None)
        answer = evolve(answer, modality=source.format.modality, source_path=str(source.path), metadata=metadata)
        faults = unsound(answer)
        if faults:
            raise FaultyAnswer(f"the map that {self.identity.name} made of {source.path}", faults)
        return answer

    def _answer(self, source: Source, resource_id: str, progress: Progress) -> object:
        name, kind = self.identity.name, source.format.modality.value
        given_up = False

        def watched(done: float, total: float | None = None, message: str = "") -> None:
            nonlocal given_up
            given_up = True
            progress(done, total, message)
            given_up = False

        try:
            return call(
                lambda: self.provider.generate_map(str(source.path), kind, resource_id),
                timeout=self.timeout,
                progress=watched,
                message=f"waiting for {name}",
            )
        except CiteKitError:
            raise
        except (Exception, SystemExit) as error:
            if given_up:
                raise
            raise self._failure(source, error) from error

    def _failure(self, source: Source, error: BaseException) -> MapperUnavailable:
        raise NotImplementedError
