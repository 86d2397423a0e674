"""A mapper that the user wrote: a Python file, or any object with `generate_map`."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

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


class _PrintsAside:
    """Sends what the user's code prints to stderr: it must not get into the protocol of a server that called it.

    `sys.stdout` is one for all threads, so the first to enter exchanges it and the last to leave puts it back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._stdout = sys.stdout

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._stdout, sys.stdout = sys.stdout, sys.stderr
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                sys.stdout = self._stdout


_PRINTS_ASIDE = _PrintsAside()


@frozen
class CustomMapper:
    """Calls `provider.generate_map(resource_path, resource_type, resource_id)`, sync or async.

    What it returns is data from outside: a map object with `model_dump`, a map of the domain, or plain data in the written
    form. It is held against the file's facts, which `facts` (the local mapper) tells.
    """

    provider: Any
    identity: MapperIdentity
    facts: Mapper = field(repr=False)

    def supports(self, format: Format) -> bool:
        """Whatever the file's facts can be told of; the provider may still refuse."""
        return self.facts.supports(format)

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """The provider's map, checked. Raises `MapperUnavailable` where it raised, `FaultyAnswer` where it is no map."""
        known = self.facts.map(source, resource_id, progress)
        plain = _plain(self._answer(source, resource_id), self.identity.name)
        answer = maps.from_plain_map({**plain, "resource_id": resource_id}, f"the map that {self.identity.name} made")
        metadata = {**known.metadata, **answer.metadata, **_identifying(source, self.identity)}
        metadata.pop("notes", None)
        answer = evolve(answer, modality=source.format.modality, source_path=str(source.path), metadata=metadata)
        faults = unsound(answer)
        if faults:
            raise FaultyAnswer(f"the map that {self.identity.name} made of {source.path}", faults)
        return answer

    def _answer(self, source: Source, resource_id: str) -> object:
        with _PRINTS_ASIDE:
            try:
                answer = self.provider.generate_map(str(source.path), source.format.modality.value, resource_id)
                return asyncio.run(_awaited(answer)) if inspect.isawaitable(answer) else answer
            except CiteKitError:
                raise
            except Exception as error:
                raise MapperUnavailable(
                    f"The mapper {self.identity.name} failed on {source.path}: {type(error).__name__}: {error}"
                ) from error


def load_mapper(path: Path, config: Mapping[str, Any], facts: Mapper) -> CustomMapper:
    """The mapper of a Python file that exports `Mapper`, `create_mapper(**config)` or `mapper`.

    Runs that file: only for files the user names. Raises `RequestRefused` where it exports none of them, or cannot be run.
    """
    try:
        code = path.read_bytes()
        spec = importlib.util.spec_from_file_location(f"citekit_mapper_{path.stem}", path)
        if spec is None or spec.loader is None:
            raise RequestRefused(f"{path} is not a Python file that can be loaded.")
        module = importlib.util.module_from_spec(spec)
        with _PRINTS_ASIDE:
            spec.loader.exec_module(module)
            provider = _exported(module, config)
    except CiteKitError:
        raise
    except Exception as error:
        raise RequestRefused(f"The mapper {path} could not be loaded: {type(error).__name__}: {error}") from error
    if provider is None or not callable(getattr(provider, "generate_map", None)):
        raise RequestRefused(f"{path} exports no Mapper class, create_mapper() or mapper with a generate_map method.")
    version = Digest.of_bytes(code + json.dumps(dict(config), sort_keys=True, default=str).encode()).hex[:16]
    return CustomMapper(provider, MapperIdentity(f"custom:{path.stem}", version), facts)


def wrap_mapper(provider: Any, facts: Mapper) -> CustomMapper:
    """An object of the running program as a mapper. Raises `RequestRefused` where it has no `generate_map`."""
    if not callable(getattr(provider, "generate_map", None)):
        raise RequestRefused(f"{provider!r} has no generate_map method, so it is no mapper.")
    kind = type(provider)
    return CustomMapper(
        provider, MapperIdentity(f"custom:{kind.__module__}.{kind.__qualname__}", _version(kind)), facts
    )


def _version(kind: type) -> str:
    """Changes with the code of the class, where that can be read."""
    try:
        return Digest.of_bytes(inspect.getsource(kind).encode()).hex[:16]
    except (OSError, TypeError):
        return "1"


def _exported(module: Any, config: Mapping[str, Any]) -> Any:
    for name in ("Mapper", "create_mapper"):
        if callable(getattr(module, name, None)):
            return getattr(module, name)(**config)
    return getattr(module, "mapper", None)


async def _awaited(answer: Any) -> object:
    return await answer


def _plain(answer: object, name: str) -> Mapping[str, Any]:
    if isinstance(answer, ResourceMap):
        return maps.to_plain_map(answer)
    dump = getattr(answer, "model_dump", None)
    plain = dump(mode="json") if callable(dump) else answer
    if not isinstance(plain, Mapping):
        raise FaultyAnswer(f"the map that {name} made", [f"$: a {type(answer).__name__} is not a map"])
    return plain


def _identifying(source: Source, identity: MapperIdentity) -> dict[str, Any]:
    return {"source_hash": source.digest.hex, "source_size": source.size, "mapper": identity.to_metadata()}
