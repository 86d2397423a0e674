"""Runs mappers that users wrote: a Python file, an installed package, or any object with `generate_map`."""

from __future__ import annotations

import inspect
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from citekit.adapters.system.user_code import PRINTS_ASIDE, TookTooLongError, call, described, load_module, plain_map
from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError, FaultyAnswer, MapperUnavailable, RequestRefused
from citekit.domain.extent import with_extent_metadata
from citekit.domain.formats import Format
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.ports.mapper import Mapper
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from citekit.domain.validation import map_issues
from citekit.wire import maps

GROUP = "citekit.mappers"
"""The group of entry points (PyPA entry points specification) under which packages offer mappers."""


@frozen
class CustomMapper:
    """A mapper that calls the sync or async method `generate_map` of a user's mapper, `provider`.

    The arguments are `resource_path`, `resource_type`, and `resource_id`. The method may return an object with
    `model_dump`, a `ResourceMap`, or plain data in the stored form of a map. The result is validated against the extent
    from the local mapper `facts`. `timeout` is in seconds; None means no limit.
    """

    provider: Any
    identity: MapperIdentity
    facts: Mapper = field(repr=False)
    timeout: float | None = None

    def supports(self, format: Format) -> bool:
        """Return whether the local mapper can measure files of this format."""
        return self.facts.supports(format)

    def sidecar_files(self, source: Source) -> Sequence[Path]:
        """Return the sidecar files that the local mapper reads."""
        return self.facts.sidecar_files(source)

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """Return the provider's map after validation.

        Raise `MapperUnavailable` if the provider raises an error or takes too long, `FaultyAnswer` if it does not
        return a valid map of the file, and errors of the local mapper and of `progress`.
        """
        known = self.facts.map(source, resource_id, progress)
        plain = plain_map(self._answer(source, resource_id, progress), self.identity.name)
        answer = maps.from_plain_map(
            {**plain, "resource_id": resource_id}, f"The map that {self.identity.name} made is not valid"
        )
        facts = with_extent_metadata({**known.metadata, **answer.metadata}, known.metadata)
        facts |= _identity_metadata(source, self.identity)
        facts.pop("notes", None)
        answer = evolve(answer, modality=source.format.modality, source_path=str(source.path), metadata=facts)
        faults = map_issues(answer)
        if faults:
            raise FaultyAnswer(f"The map that {self.identity.name} made from {source.path} is not valid", faults)
        return answer

    def _answer(self, source: Source, resource_id: str, progress: Progress) -> object:
        name, kind = self.identity.name, source.format.modality.value
        try:
            return call(
                lambda: self.provider.generate_map(str(source.path), kind, resource_id),
                timeout=self.timeout,
                progress=progress,
                message=f"waiting for {name}",
            )
        except CiteKitError:
            raise
        except TookTooLongError as error:
            raise MapperUnavailable(
                f"The mapper {name} did not finish mapping {source.path} within {self.timeout:g} s. Increase the time "
                "limit (--timeout or CITEKIT_TIMEOUT), or use another mapper."
            ) from error
        except (Exception, SystemExit) as error:
            raise MapperUnavailable(f"The mapper {name} failed on {source.path}: {described(error)}.") from error


def load_mapper(path: Path, config: Mapping[str, object], facts: Mapper, timeout: float | None = None) -> CustomMapper:
    """Load the mapper in a Python file that exports `Mapper` or `create_mapper`, called with `config`, or `mapper`.

    The file is executed, so pass only files that the user names. Raise `RequestRefused` if it cannot be run or exports
    no object with a `generate_map` method. For the other arguments, see `CustomMapper`.
    """
    module, code = load_module(path, "mapper")
    provider = _load_provider(lambda: _exported(module, config), str(path))
    if not _can_map(provider):
        raise RequestRefused(
            f"{path} provides no mapper. Define a class Mapper with a method generate_map, a function create_mapper() that "
            "returns an object with this method, or such an object with the name mapper."
        )
    identity = MapperIdentity(f"custom:{path.stem}", _digest(code, config))
    return CustomMapper(provider, identity, facts, timeout)


def wrap_mapper(provider: object, facts: Mapper, timeout: float | None = None) -> CustomMapper:
    """Return a mapper that calls `provider`, an object of the running program.

    Raise `RequestRefused` if the object has no `generate_map` method.
    """
    if not _can_map(provider):
        raise RequestRefused(f"{provider!r} has no generate_map method, so it is not a mapper.")
    kind = type(provider)
    identity = MapperIdentity(f"custom:{kind.__module__}.{kind.__qualname__}", _version(kind))
    return CustomMapper(provider, identity, facts, timeout)


def installed_mapper(
    name: str, config: Mapping[str, object], facts: Mapper, timeout: float | None = None
) -> CustomMapper | None:
    """Return the mapper called `name` that an installed package provides; None if no package provides it.

    The package's entry point names a mapper, or a class or factory, which is called with `config`. Raise
    `RequestRefused` if the entry point cannot be loaded or is not a mapper, or if several packages provide different
    mappers with that name.
    """
    found = list(metadata.entry_points(group=GROUP, name=name))
    if not found:
        return None
    packages = [f"{_package(each)} ({each.value})" for each in found]
    if len({each.value for each in found}) > 1:
        raise RequestRefused(
            f"Several packages provide a mapper called '{name}': {', '.join(packages)}. Remove all but one."
        )
    what = f"'{name}' of the package {packages[0]}"
    provider = _load_provider(lambda: _instantiate(found[0].load(), config), what)
    if not _can_map(provider):
        raise RequestRefused(f"The mapper {what} has no generate_map method, so it is not a mapper.")
    identity = MapperIdentity(f"custom:{name}", _digest(_package(found[0]).encode(), config))
    return CustomMapper(provider, identity, facts, timeout)


def installed_names() -> list[tuple[str, str]]:
    """Return (name, package with version) of every installed mapper, sorted, without loading them."""
    return sorted({(each.name, _package(each)) for each in metadata.entry_points(group=GROUP)})


def _package(entry: metadata.EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "unknown"


def _load_provider(make: Callable[[], Any], what: str) -> Any:
    """Call `make` and return the provider that it creates. Raise `RequestRefused` if the user's code fails."""
    try:
        with PRINTS_ASIDE:
            return make()
    except CiteKitError:
        raise
    except (Exception, SystemExit) as error:
        raise RequestRefused(f"The mapper {what} could not be loaded: {described(error)}.") from error


def _can_map(provider: Any) -> bool:
    return provider is not None and callable(getattr(provider, "generate_map", None))


def _instantiate(exported: Any, config: Mapping[str, object]) -> Any:
    is_made = not isinstance(exported, type) and _can_map(exported)
    return exported if is_made and not config else exported(**config)


def _exported(module: Any, config: Mapping[str, object]) -> Any:
    for name in ("Mapper", "create_mapper"):
        if callable(getattr(module, name, None)):
            return getattr(module, name)(**config)
    return getattr(module, "mapper", None)


def _digest(code: bytes, config: Mapping[str, object]) -> str:
    return Digest.of_bytes(code + json.dumps(dict(config), sort_keys=True, default=str).encode()).hex[:16]


_SOURCE_LOCK = threading.Lock()
"""`inspect.getsource` parses, and CPython 3.11 fails if threads parse at the same time (cpython issue 106905)."""


def _version(kind: type) -> str:
    """Return a version that changes with the source code of the class, or "1" if it cannot be read."""
    try:
        with _SOURCE_LOCK:
            return Digest.of_bytes(inspect.getsource(kind).encode()).hex[:16]
    except (OSError, TypeError):
        return "1"


def _identity_metadata(source: Source, identity: MapperIdentity) -> dict[str, object]:
    return {"source_hash": source.digest.hex, "source_size": source.size, "mapper": identity.to_metadata()}
