"""Runs an importer that a user wrote: a Python file with a function `adapt`, or with a class `Adapter` that has it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import frozen

from citekit.adapters.system.user_code import PRINTS_ASIDE, TookTooLongError, call, described, load_module, plain_map
from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError, MapperUnavailable, RequestRefused
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.progress import silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from citekit.wire import maps


@frozen
class CustomAdapter:
    """A user-written importer: the synchronous or asynchronous function `convert`.

    It is called as `convert(data, resource_id=..., source=...)`, but only with keywords that it accepts, and with paths
    as text. It may return a map object with `model_dump`, a `ResourceMap`, or plain data similar to CiteKit's stored
    form. `timeout` is in seconds; None means no limit.
    """

    convert: Callable[..., Any]
    identity: MapperIdentity
    timeout: float | None = None

    def adapt(self, data: object, resource_id: str, source: Source | None = None) -> ResourceMap:
        """See `MapAdapter.adapt`."""
        name = self.identity.name
        plain = dict(plain_map(self._answer(data, resource_id, source), name))
        plain["resource_id"] = plain.get("resource_id") or resource_id
        if source is not None:
            plain |= {"type": source.format.modality.value, "source_path": str(source.path)}
        return maps.from_plain_map(plain, f"The map that {name} made is not valid")

    def _answer(self, data: object, resource_id: str, source: Source | None) -> object:
        name = self.identity.name
        given = str(data) if isinstance(data, Path) else data
        keywords = {"resource_id": resource_id, "source": None if source is None else str(source.path)}
        taken = _accepted_keywords(self.convert, keywords)
        try:
            return call(
                lambda: self.convert(given, **taken),
                timeout=self.timeout,
                progress=silent,
                message=f"waiting for {name}",
            )
        except CiteKitError:
            raise
        except TookTooLongError as error:
            raise MapperUnavailable(
                f"The adapter {name} did not finish within {self.timeout:g} s. Increase the time limit "
                "(CITEKIT_TIMEOUT)."
            ) from error
        except (Exception, SystemExit) as error:
            raise MapperUnavailable(f"The adapter {name} failed: {described(error)}.") from error


def load_adapter(path: Path, timeout: float | None = None) -> CustomAdapter:
    """Load the importer in a Python file: a function `adapt(data, **kwargs)` or a class `Adapter` with that method.

    This runs the file, so call it only for files that the user names. Raise `RequestRefused` if the file defines
    neither or cannot be run, or if the class cannot be instantiated.
    """
    module, code = load_module(path, "adapter")
    kind, function = getattr(module, "Adapter", None), getattr(module, "adapt", None)
    if callable(kind):
        try:
            with PRINTS_ASIDE:
                function = getattr(kind(), "adapt", function)
        except (Exception, SystemExit) as error:
            raise RequestRefused(
                f"The class Adapter in {path} could not be instantiated: {described(error)}."
            ) from error
    if not callable(function):
        raise RequestRefused(
            f"{path} defines neither a function adapt(data, **kwargs) nor a class Adapter with a method adapt."
        )
    return CustomAdapter(function, MapperIdentity(f"adapt:{path.stem}", Digest.of_bytes(code).hex[:16]), timeout)


def _accepted_keywords(convert: Callable[..., Any], keywords: dict[str, Any]) -> dict[str, Any]:
    try:
        parameters = inspect.signature(convert).parameters
    except (TypeError, ValueError):
        return {}
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()):
        return keywords
    return {name: value for name, value in keywords.items() if name in parameters}
