"""What the user decided: read once, from flags and the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from citekit.settings.former_values import current_parsers
from citekit.settings.library import LibrarySettings, library_settings
from citekit.settings.places import CACHE, MAPS, OUTPUT, home_named
from citekit.settings.reading import GIGABYTE, count, default, expanded, number, one_of, read_size, size
from citekit.settings.secrets import SUFFIX, read_secret, remember, remember_address, without_user


@frozen(kw_only=True)
class Settings:
    """`home` holds maps, evidence (laid out for people) and the cache, in folders of their own.

    `mapper` is a name; `cache_limit` bytes bound the evidence store.

    `roots` are folders in which a source that was moved is looked for, and which agents may name; with `client_roots`
    also those that an MCP client offers. `concurrency` files are read at once, and `model_concurrency`
    requests to a model wait at once. `media` is the driver that copies
    clips: `pyav`, or `ffmpeg` for the program of that name. `password` opens PDFs that are locked. `ocr` reads the
    text of scans and pictures, where the extra is installed. `parsers` run in a `subprocess` that can use
    `parser_memory` bytes and is ended after `parser_timeout` seconds without progress, or `inline`. A file under 1 MB may
    take `parser_cpu` seconds of processor time and `parser_file_memory` bytes there; a larger one gets more. `model`,
    `base_url`, `retries`, `timeout` (seconds), `max_requests`, `temperature` (0 to 2), `thinking` (one of `THINKING`) and
    `max_output` (tokens) are for mappers that ask a model; keys and the password are never shown.
    """

    home: Path
    maps_folder: Path = field()
    output_folder: Path = field()
    cache_folder: Path = field()
    mapper: str = "auto"
    cache_limit: int = 10 * GIGABYTE
    roots: tuple[Path, ...] = ()
    concurrency: int = 2
    model_concurrency: int = 8
    media: str = "pyav"
    password: str | None = field(default=None, repr=False)
    ocr: bool = True
    parsers: str = field(default="subprocess", converter=current_parsers)
    parser_timeout: float = 300.0
    parser_memory: int = 4 * GIGABYTE
    parser_cpu: float = 5.0
    parser_file_memory: int = GIGABYTE
    client_roots: bool = True
    model: str | None = None
    base_url: str | None = field(default=None, repr=lambda url: repr(without_user(url)))
    retries: int = 3
    timeout: float | None = None
    max_requests: int | None = None
    temperature: float | None = None
    thinking: str | None = None
    max_output: int | None = None
    gemini_key: str | None = field(default=None, repr=False)
    gemini_variable: str = "GEMINI_API_KEY"
    openai_base_url: str | None = field(default=None, repr=lambda url: repr(without_user(url)))
    openai_key: str | None = field(default=None, repr=False)
    library: LibrarySettings = field()

    def __attrs_post_init__(self) -> None:
        """Nothing that is shown from now on holds a secret of these settings."""
        remember(self.gemini_key, self.openai_key, self.password)
        remember_address(self.base_url)
        remember_address(self.openai_base_url)

    @library.default
    def _library_in_home(self) -> LibrarySettings:
        return LibrarySettings(folder=self.home / ".citekit_library")

    @maps_folder.default
    def _maps_in_home(self) -> Path:
        return self.home / MAPS

    @output_folder.default
    def _output_in_home(self) -> Path:
        return self.home / OUTPUT

    @cache_folder.default
    def _cache_in_home(self) -> Path:
        return self.home / CACHE


MEDIA = ("pyav", "ffmpeg")
THINKING = ("minimal", "low", "medium", "high", "xhigh")
HOTTEST = 2.0
"""The highest temperature that the services take."""
SWITCH = ("on", "off")
PARSERS = ("subprocess", "inline")
LEAST_PARSER_MEMORY = 100_000_000
"""Bytes with which every parser can be loaded, and reads a small file."""


def settings_from(environment: Mapping[str, str], home: str | Path | None = None) -> Settings:
    """The settings of an environment; `home` wins over `CITEKIT_HOME`. Raises `RequestRefused` for an invalid value."""
    place = expanded(home_named(environment, home))
    own = environment.get("GEMINI_API_KEY") or environment.get(f"GEMINI_API_KEY{SUFFIX}")
    gemini = "GEMINI_API_KEY" if own else "GOOGLE_API_KEY"
    thinking = environment.get("CITEKIT_THINKING")
    roots = [part for part in environment.get("CITEKIT_ROOTS", "").split(os.pathsep) if part]
    return Settings(
        home=Path(os.path.abspath(place)),  # noqa: PTH100 - resolve() would follow links in the home's own path
        mapper=environment.get("CITEKIT_MAPPER") or "auto",
        cache_limit=read_size(environment.get("CITEKIT_CACHE_LIMIT") or "10G"),
        roots=tuple(expanded(root).absolute() for root in roots),
        concurrency=count(environment, "CITEKIT_CONCURRENCY", 1) or min(os.cpu_count() or 1, 4),
        model_concurrency=default(count(environment, "CITEKIT_MODEL_CONCURRENCY", 1), 8),
        media=one_of("CITEKIT_MEDIA", environment.get("CITEKIT_MEDIA") or "pyav", MEDIA),
        password=read_secret(environment, "CITEKIT_PASSWORD"),
        ocr=one_of("CITEKIT_OCR", environment.get("CITEKIT_OCR") or "on", SWITCH) == "on",
        parsers=one_of("CITEKIT_PARSERS", current_parsers(environment.get("CITEKIT_PARSERS") or "subprocess"), PARSERS),
        parser_timeout=default(count(environment, "CITEKIT_PARSER_TIMEOUT", 1), 300),
        parser_memory=size(environment, "CITEKIT_PARSER_MEMORY", least=LEAST_PARSER_MEMORY) or 4 * GIGABYTE,
        parser_cpu=default(count(environment, "CITEKIT_PARSER_CPU", 1), 5),
        parser_file_memory=size(environment, "CITEKIT_PARSER_FILE_MEMORY", least=LEAST_PARSER_MEMORY) or GIGABYTE,
        client_roots=one_of("CITEKIT_CLIENT_ROOTS", environment.get("CITEKIT_CLIENT_ROOTS") or "on", SWITCH) == "on",
        model=environment.get("CITEKIT_MODEL") or None,
        base_url=environment.get("CITEKIT_BASE_URL") or None,
        retries=default(count(environment, "CITEKIT_RETRIES", 0), 3),
        timeout=count(environment, "CITEKIT_TIMEOUT", 1),
        max_requests=count(environment, "CITEKIT_MAX_REQUESTS", 1),
        temperature=number(environment, "CITEKIT_TEMPERATURE", 0.0, HOTTEST),
        thinking=one_of("CITEKIT_THINKING", thinking, THINKING) if thinking else None,
        max_output=count(environment, "CITEKIT_MAX_OUTPUT", 1),
        gemini_key=read_secret(environment, gemini),
        gemini_variable=gemini + SUFFIX if environment.get(gemini + SUFFIX) else gemini,
        openai_base_url=environment.get("OPENAI_BASE_URL") or None,
        openai_key=read_secret(environment, "OPENAI_API_KEY"),
        library=library_settings(environment, place),
    )
