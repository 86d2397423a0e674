"""What the user decided: read once, from flags and the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import field, frozen

from citekit.domain.errors import RequestRefused

GIGABYTE = 1_000_000_000
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": GIGABYTE, "t": 1_000 * GIGABYTE}


@frozen(kw_only=True)
class Settings:
    """`home` holds maps, evidence (laid out for people) and the cache, in folders of their own.

    `mapper` is a name; `cache_limit` bytes bound the evidence store.

    `roots` are folders in which a source that was moved is looked for. `concurrency` files are mapped at once. `media` is the
    driver that copies clips: `pyav`, or `ffmpeg` for the program of that name. `model`, `base_url`, `retries`, `timeout`
    (seconds) and `max_requests` are for mappers that ask a model; keys are never shown.
    """

    home: Path
    maps_folder: Path = field()
    output_folder: Path = field()
    cache_folder: Path = field()
    mapper: str = "auto"
    cache_limit: int = 10 * GIGABYTE
    roots: tuple[Path, ...] = ()
    concurrency: int = 2
    media: str = "pyav"
    model: str | None = None
    base_url: str | None = None
    retries: int = 3
    timeout: float | None = None
    max_requests: int | None = None
    gemini_key: str | None = field(default=None, repr=False)
    gemini_variable: str = "GEMINI_API_KEY"
    openai_base_url: str | None = None
    openai_key: str | None = field(default=None, repr=False)

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
    "CITEKIT_MODEL": "the model that a mapper asks (default: the mapper's own)",
    "CITEKIT_BASE_URL": "where the model's service is reached, instead of its usual place",
    "CITEKIT_RETRIES": "how often a request is tried again where that may help (default: 3)",
    "CITEKIT_TIMEOUT": "seconds after which a request to a model (default: 300), or a mapper of your own, is given up",
    "CITEKIT_MAX_REQUESTS": "how many requests one map may cost (default: no bound)",
    "CITEKIT_CACHE_LIMIT": "how large the evidence store may grow, as bytes or with K, M, G, T (default: 10G)",
    "CITEKIT_ROOTS": f"folders in which moved sources are looked for, parted by {os.pathsep!r}",
    "CITEKIT_CONCURRENCY": "how many files are mapped at once (default: the number of cores, at most 4)",
    "CITEKIT_MEDIA": "what copies clips: pyav (default), or ffmpeg for the program of that name",
    "GEMINI_API_KEY": "the key for the mapper gemini (else GOOGLE_API_KEY)",
    "GOOGLE_API_KEY": "the key for the mapper gemini where GEMINI_API_KEY is not set",
    "OPENAI_API_KEY": "the key for the mapper openai",
    "OPENAI_BASE_URL": "where the mapper openai reaches its service, where CITEKIT_BASE_URL is not set",
}
"""Every variable of the environment that is read here, and what it means."""

MEDIA = ("pyav", "ffmpeg")


def settings_from(environment: Mapping[str, str], home: str | Path | None = None) -> Settings:
    """The settings of an environment; `home` wins over `CITEKIT_HOME`. Raises `RequestRefused` for a value that is none."""
    place = expanded(home or environment.get("CITEKIT_HOME") or ".")
    roots = [part for part in environment.get("CITEKIT_ROOTS", "").split(os.pathsep) if part]
    return Settings(
        home=Path(os.path.abspath(place)),  # noqa: PTH100 - resolve() would follow links in the home's own path
        mapper=environment.get("CITEKIT_MAPPER") or "auto",
        cache_limit=read_size(environment.get("CITEKIT_CACHE_LIMIT") or "10G"),
        roots=tuple(expanded(root).absolute() for root in roots),
        concurrency=_count(environment, "CITEKIT_CONCURRENCY", 1) or min(os.cpu_count() or 1, 4),
        media=_one_of("CITEKIT_MEDIA", environment.get("CITEKIT_MEDIA") or "pyav", MEDIA),
        model=environment.get("CITEKIT_MODEL") or None,
        base_url=environment.get("CITEKIT_BASE_URL") or None,
        retries=_default(_count(environment, "CITEKIT_RETRIES", 0), 3),
        timeout=_count(environment, "CITEKIT_TIMEOUT", 1),
        max_requests=_count(environment, "CITEKIT_MAX_REQUESTS", 1),
        gemini_key=environment.get("GEMINI_API_KEY") or environment.get("GOOGLE_API_KEY") or None,
        gemini_variable="GEMINI_API_KEY" if environment.get("GEMINI_API_KEY") else "GOOGLE_API_KEY",
        openai_base_url=environment.get("OPENAI_BASE_URL") or None,
        openai_key=environment.get("OPENAI_API_KEY") or None,
    )


def expanded(path: str | Path) -> Path:
    """A path with `~` and `~name` written out. Raises `RequestRefused` where there is no such person."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise RequestRefused(f"The folder {str(path)!r} cannot be found: {error}") from error


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


def _count(environment: Mapping[str, str], name: str, least: int) -> int | None:
    text = environment.get(name)
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise RequestRefused(f"{name}={text!r} is not a count from {least} on.")
    return int(text)


def _default(value: int | None, default: int) -> int:
    return default if value is None else value


def _one_of(name: str, text: str, known: Sequence[str]) -> str:
    if text not in known:
        raise RequestRefused(f"{name}={text!r} is not one of {', '.join(known)}.")
    return text
