"""Defines the settings that are not specific to the library."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from attrs import field, frozen

from citekit.domain.errors import RequestRefused
from citekit.settings.library import LibrarySettings, library_settings
from citekit.settings.places import CACHE, LIBRARY, MAPS, OUTPUT, home_named, models_folder, viewer_folder
from citekit.settings.reading import GIGABYTE, count, default, expanded, number, one_of, read_size, shown, size
from citekit.settings.secrets import SUFFIX, read_secret, remember, remember_address, without_user

_FORMER_PARSERS = {"apart": "subprocess", "here": "inline"}
"""Former values of `CITEKIT_PARSERS`, with the current ones."""


def current_parsers(value: str) -> str:
    """Return the current name for a value of `CITEKIT_PARSERS`. Log a warning, once for each value, for a former one."""
    new = _FORMER_PARSERS.get(value)
    if new is None:
        return value
    _warn("CITEKIT_PARSERS", value, new)
    return new


@cache
def _warn(setting: str, value: str, new: str) -> None:
    import logging

    logging.getLogger(__name__).warning(
        "The value '%s' of %s is now called '%s'. Use the new name.", value, setting, new
    )


@frozen(kw_only=True)
class Settings:
    """The settings of one home.

    `home` contains maps, output, and cache in separate folders. `viewer_folder` belongs to the user; it has the key of
    the viewer and the list of viewed homes. `store` is the address of an object store (a URL or an absolute path) in
    which machines share maps, texts, and evidence; None means that they are only in the home. `catalog` is the URL of
    the PostgreSQL database with the catalog of that store, by default the database of the library. With `store_links`,
    the HTTP server redirects downloads of large evidence to links of the store's service. `link_key` is the secret with
    which several HTTP servers sign links to evidence; None means one for each home. `cache_limit` is the maximum size
    of the evidence store in bytes.

    `roots` are folders in which moved sources are searched for and that agents may read; with `client_roots`, agents
    may also read the folders that an MCP client offers. With `client_ingest`, agents may map files. `concurrency` is
    the number of files that are mapped at once, and `model_concurrency` is the maximum number of concurrent requests to
    a model. `media` is the driver that cuts clips: `pyav` or `ffmpeg`. `password` opens locked PDFs. `ocr` enables OCR
    if the extra is installed. `speech` enables speech recognition in recordings if the extra and a model are installed,
    with `speech_always` also in those with subtitles; `speech_model` is the folder or the name of the model (empty: an
    installed one for all languages), and `speech_language` the code of the language (empty: detected). With
    `speech_service`, such as `openai:whisper-1`, that model recognizes the speech instead, at `speech_url` (None: at
    `base_url`), and is sent at most `speech_seconds` of each recording (None: no limit). With `speakers`, recognized
    speech is divided into turns. `models_folder` has the downloaded models, and `models_url` is the base URL of a copy
    of their publisher (empty: the publisher).

    `parsers` is `subprocess` or `inline`. A parser process can use `parser_memory` bytes, and is terminated after
    `parser_timeout` seconds without progress. A file up to 500 kB may take `parser_cpu` seconds of CPU time, and one
    under 1 MB `parser_file_memory` bytes; larger files get more.

    `model`, `base_url`, `retries`, `timeout` (seconds), `max_requests`, `temperature` (0 to 2), `thinking` (one of
    `THINKING`), and `max_output` (tokens) apply to requests to a model. `timeout` also limits custom mappers and
    importers. Keys and the password are not in the repr.
    """

    home: Path
    maps_folder: Path = field()
    output_folder: Path = field()
    cache_folder: Path = field()
    viewer_folder: Path = field()
    store: str | None = field(default=None, repr=lambda url: repr(without_user(url)))
    store_links: bool = False
    link_key: str | None = field(default=None, repr=False)
    mapper: str = "auto"
    cache_limit: int = 10 * GIGABYTE
    roots: tuple[Path, ...] = ()
    concurrency: int = 2
    model_concurrency: int = 8
    media: str = "pyav"
    password: str | None = field(default=None, repr=False)
    ocr: bool = True
    speech: bool = True
    speech_always: bool = False
    speech_model: str = ""
    speech_language: str = ""
    speech_service: str = ""
    speech_seconds: int | None = None
    speech_url: str | None = field(default=None, repr=lambda url: repr(without_user(url)))
    speakers: bool = True
    models_folder: Path = field()
    models_url: str = ""
    parsers: str = field(default="subprocess", converter=current_parsers)
    parser_timeout: float = 300.0
    parser_memory: int = 4 * GIGABYTE
    parser_cpu: float = 5.0
    parser_file_memory: int = GIGABYTE
    client_roots: bool = True
    client_ingest: bool = True
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
    openai_variable: str = "OPENAI_API_KEY"
    library: LibrarySettings = field()
    catalog: str | None = field(repr=False)

    def __attrs_post_init__(self) -> None:
        """Register the secrets, so that they are removed from output."""
        remember(self.gemini_key, self.openai_key, self.password, self.link_key)
        remember_address(self.base_url)
        remember_address(self.speech_url)
        remember_address(self.openai_base_url)

    @library.default
    def _library_in_home(self) -> LibrarySettings:
        return LibrarySettings(folder=self.home / LIBRARY)

    @catalog.default
    def _database_of_library(self) -> str | None:
        return self.library.database

    @maps_folder.default
    def _maps_in_home(self) -> Path:
        return self.home / MAPS

    @output_folder.default
    def _output_in_home(self) -> Path:
        return self.home / OUTPUT

    @cache_folder.default
    def _cache_in_home(self) -> Path:
        return self.home / CACHE

    @models_folder.default
    def _models_in_cache(self) -> Path:
        return self.cache_folder / "models"

    @viewer_folder.default
    def _viewer_in_cache(self) -> Path:
        return self.cache_folder / "view"


LEAST_LINK_KEY = 32
"""The minimum number of characters of the secret for links."""
MEDIA = ("pyav", "ffmpeg")
THINKING = ("minimal", "low", "medium", "high", "xhigh")
HOTTEST = 2.0
"""The highest temperature that the model services accept."""
SWITCH = ("on", "off")
PARSERS = ("subprocess", "inline")
LEAST_PARSER_MEMORY = 100_000_000
"""The minimum memory in bytes of a parser, with which it can be loaded and read a small file."""


def settings_from(environment: Mapping[str, str], home: str | Path | None = None) -> Settings:
    """Return the settings from the variables in `environment`. `home` overrides `CITEKIT_HOME`.

    Raise `RequestRefused` if a value is invalid, a secret cannot be read, or the path of the home cannot be determined.
    """
    place = expanded(home_named(environment, home))
    own = environment.get("GEMINI_API_KEY") or environment.get(f"GEMINI_API_KEY{SUFFIX}")
    gemini, openai = "GEMINI_API_KEY" if own else "GOOGLE_API_KEY", "OPENAI_API_KEY"
    thinking = environment.get("CITEKIT_THINKING")
    roots = [part for part in environment.get("CITEKIT_ROOTS", "").split(os.pathsep) if part]
    found = Path(os.path.abspath(place))  # noqa: PTH100 - resolve() would follow links in the path of the home
    speech = one_of("CITEKIT_SPEECH", environment.get("CITEKIT_SPEECH") or "on", ("on", "always", "off"))
    service = _speech_service(environment.get("CITEKIT_SPEECH_MODEL") or "")
    return Settings(
        home=found,
        viewer_folder=Path(viewer_folder(environment) or found / CACHE / "view"),
        store=checked_store(environment["CITEKIT_STORE"]) if environment.get("CITEKIT_STORE") else None,
        store_links=one_of("CITEKIT_STORE_LINKS", environment.get("CITEKIT_STORE_LINKS") or "off", SWITCH) == "on",
        link_key=_link_key(environment),
        mapper=environment.get("CITEKIT_MAPPER") or "auto",
        cache_limit=read_size(environment.get("CITEKIT_CACHE_LIMIT") or "10G", "CITEKIT_CACHE_LIMIT"),
        roots=tuple(expanded(root).absolute() for root in roots),
        concurrency=count(environment, "CITEKIT_CONCURRENCY", 1) or min(os.cpu_count() or 1, 4),
        model_concurrency=default(count(environment, "CITEKIT_MODEL_CONCURRENCY", 1), 8),
        media=one_of("CITEKIT_MEDIA", environment.get("CITEKIT_MEDIA") or "pyav", MEDIA),
        password=read_secret(environment, "CITEKIT_PASSWORD"),
        ocr=one_of("CITEKIT_OCR", environment.get("CITEKIT_OCR") or "on", SWITCH) == "on",
        speech=speech != "off",
        speech_always=speech == "always",
        speech_model="" if service else environment.get("CITEKIT_SPEECH_MODEL") or "",
        speech_language=_language(environment.get("CITEKIT_SPEECH_LANGUAGE") or ""),
        speech_service=service,
        speech_seconds=count(environment, "CITEKIT_SPEECH_SECONDS", 1),
        speech_url=environment.get("CITEKIT_SPEECH_URL") or None,
        speakers=one_of("CITEKIT_SPEAKERS", environment.get("CITEKIT_SPEAKERS") or "on", SWITCH) == "on",
        models_folder=Path(models_folder(environment) or found / CACHE / "models"),
        models_url=(environment.get("CITEKIT_MODELS_URL") or "").rstrip("/"),
        parsers=one_of("CITEKIT_PARSERS", current_parsers(environment.get("CITEKIT_PARSERS") or "subprocess"), PARSERS),
        parser_timeout=default(count(environment, "CITEKIT_PARSER_TIMEOUT", 1), 300),
        parser_memory=size(environment, "CITEKIT_PARSER_MEMORY", least=LEAST_PARSER_MEMORY) or 4 * GIGABYTE,
        parser_cpu=default(count(environment, "CITEKIT_PARSER_CPU", 1), 5),
        parser_file_memory=size(environment, "CITEKIT_PARSER_FILE_MEMORY", least=LEAST_PARSER_MEMORY) or GIGABYTE,
        client_ingest=one_of("CITEKIT_CLIENT_INGEST", environment.get("CITEKIT_CLIENT_INGEST") or "on", SWITCH) == "on",
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
        openai_key=read_secret(environment, openai),
        openai_variable=openai + SUFFIX if environment.get(openai + SUFFIX) else openai,
        library=library_settings(environment, place),
    )


_STORE = re.compile(r"(s3|gs|az)://[^/?#@]+[^?#@]*")


def checked_store(text: str, name: str = "CITEKIT_STORE") -> str:
    """Return the address of a shared store.

    Raise `RequestRefused`, which names the setting, if it is neither a URL of S3, Google Cloud Storage, or Azure
    without credentials and parameters nor an absolute path.
    """
    if _STORE.fullmatch(text):
        return text
    if "://" not in text and expanded(text).is_absolute():
        return str(expanded(text))
    raise RequestRefused(
        f"{name} must be s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX, or an absolute path, without "
        "credentials or parameters. Set credentials in the variables of the service, such as AWS_ACCESS_KEY_ID."
    )


def _link_key(environment: Mapping[str, str]) -> str | None:
    """Return the secret for links, or None without one. Raise `RequestRefused` if it is too short."""
    name = "CITEKIT_LINK_KEY"
    text = read_secret(environment, name)
    if text is not None and len(text) < LEAST_LINK_KEY:
        where = f"{name}{SUFFIX}: the secret" if environment.get(name + SUFFIX) else name
        raise RequestRefused(f"{where} must have at least {LEAST_LINK_KEY} random characters.")
    return text


_SPEECH_SERVICES = {"openai": "whisper-1", "gemini": "gemini-3.8-flash"}
"""The services that recognize speech, each with a model that error messages give as an example."""


def _speech_service(text: str) -> str:
    """Return the service and model for speech, or an empty text for a local model. Raise `RequestRefused` if the model
    is missing.
    """
    service, separator, model = text.partition(":")
    if not separator or service not in _SPEECH_SERVICES:
        return ""
    if not model.strip():
        raise RequestRefused(
            f"CITEKIT_SPEECH_MODEL={shown(text)} does not name a model. Use {service}:MODEL, such as "
            f"{service}:{_SPEECH_SERVICES[service]}."
        )
    return f"{service}:{model.strip()}"


_LANGUAGE = re.compile(r"[a-z]{2,3}")


def _language(text: str) -> str:
    """Return a language code of two or three letters, or an empty text. Raise `RequestRefused` for others."""
    if text and not _LANGUAGE.fullmatch(text):
        raise RequestRefused(
            f"CITEKIT_SPEECH_LANGUAGE={shown(text)} must be a language code in lowercase letters (ISO 639-1), such as en."
        )
    return text
