"""Versions of installed packages, determined without importing them."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_SUFFIX = ".dist-info"


@cache
def version_of(package: str, *distributions: str) -> str:
    """Return the version of `package`, or "unknown".

    `distributions` are the names of distributions that may install it, by default its own. The metadata folder next to
    the package names the version; importing `importlib.metadata` is slow.
    """
    names = distributions or (package,)
    found = [version for name, version in _beside(package) if name in {_normal(each) for each in names}]
    return found[0] if len(found) == 1 else _looked_up(names)


def _beside(package: str) -> list[tuple[str, str]]:
    """Return the normalized name and version of each distribution in the folder of `package`."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return []
    folder = Path(spec.origin).parent.parent if spec.submodule_search_locations else Path(spec.origin).parent
    try:
        stems = [each.name.removesuffix(_SUFFIX) for each in folder.iterdir() if each.name.endswith(_SUFFIX)]
    except OSError:
        return []
    return [(_normal(name), version) for name, _, version in (stem.rpartition("-") for stem in stems)]


def _looked_up(names: tuple[str, ...]) -> str:
    from importlib.metadata import PackageNotFoundError, version

    for name in names:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "unknown"


def _normal(name: str) -> str:
    """Return the normalized name of a distribution (PEP 503), with underscores as in its metadata folder's name."""
    return re.sub(r"[-_.]+", "_", name).lower()
