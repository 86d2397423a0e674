"""What the user decided: read once, from flags and the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from citekit.domain.errors import RequestRefused

GIGABYTE = 1_000_000_000
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": GIGABYTE, "t": 1_000 * GIGABYTE}


@frozen(kw_only=True)
class Settings:
    """`home` holds maps, evidence (laid out for people) and the cache, in folders of their own.

    `mapper` is a name; `cache_limit` bytes bound the evidence store.

    `roots` are folders in which a source that was moved is looked for. `concurrency` files are mapped at once.
    """

    home: Path
    maps_folder: Path = field()
    output_folder: Path = field()
    cache_folder: Path = field()
    mapper: str = "auto"
    cache_limit: int = 10 * GIGABYTE
    roots: tuple[Path, ...] = ()
    concurrency: int = 2

    @maps_folder.default
    def _maps_in_home(self) -> Path:
        return self.home / ".resource_maps"

    @output_folder.default
    def _output_in_home(self) -> Path:
        return self.home / ".citekit_output"

    @cache_folder.default
    def _cache_in_home(self) -> Path:
        return self.home / ".citekit_cache"


VARIABLES = {
    "CITEKIT_HOME": "the folder that holds maps, evidence and cache (default: the current folder)",
    "CITEKIT_MAPPER": "the mapper that `ingest` uses (default: auto)",
    "CITEKIT_CACHE_LIMIT": "how large the evidence store may grow, as bytes or with K, M, G, T (default: 10G)",
    "CITEKIT_ROOTS": f"folders in which moved sources are looked for, parted by {os.pathsep!r}",
    "CITEKIT_CONCURRENCY": "how many files are mapped at once (default: the number of cores, at most 4)",
}
"""Every variable of the environment that is read here, and what it means."""


def settings_from(environment: Mapping[str, str], home: str | Path | None = None) -> Settings:
    """The settings of an environment; `home` wins over `CITEKIT_HOME`. Raises `RequestRefused` for a value that is none."""
    place = Path(home or environment.get("CITEKIT_HOME") or ".").expanduser()
    roots = [part for part in environment.get("CITEKIT_ROOTS", "").split(os.pathsep) if part]
    return Settings(
        home=Path(os.path.abspath(place)),  # noqa: PTH100 - resolve() would follow links in the home's own path
        mapper=environment.get("CITEKIT_MAPPER") or "auto",
        cache_limit=read_size(environment.get("CITEKIT_CACHE_LIMIT") or "10G"),
        roots=tuple(Path(root).expanduser().absolute() for root in roots),
        concurrency=_count("CITEKIT_CONCURRENCY", environment.get("CITEKIT_CONCURRENCY")),
    )


def read_size(text: str) -> int:
    """Bytes of `500M`, `10G` or `123456`. Raises `RequestRefused`."""
    number, unit = text.strip().lower().removesuffix("b"), ""
    if number and number[-1] in _UNITS:
        number, unit = number[:-1], number[-1]
    try:
        size = float(number) * _UNITS[unit]
        if size > 0:
            return int(size)
    except (ValueError, OverflowError):
        pass
    raise RequestRefused(f"{text!r} is not a size such as 500M or 10G.")


def _count(name: str, text: str | None) -> int:
    if not text:
        return min(os.cpu_count() or 1, 4)
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise RequestRefused(f"{name}={text!r} is not a count from 1 on.")
    return int(text)
