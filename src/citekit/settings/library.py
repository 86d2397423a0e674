"""Defines the settings of the library."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from attrs import field, frozen

from citekit.domain.errors import RequestRefused
from citekit.settings.places import LIBRARY
from citekit.settings.reading import count, default, folder, one_of, shown, switch
from citekit.settings.secrets import read_secret, remember, remember_address

TOOLSETS = ("citekit", "alexandria")
"""The groups of tools that `citekit serve` can offer."""

QUANTIZATIONS = ("int8", "none")


@frozen(kw_only=True)
class LibrarySettings:
    """The settings of the library.

    `folder` contains the embedded index. `ledger` is the ledger file, by default in `folder`; if `database` is set, the
    ledger is in that PostgreSQL database instead. `calibre` is the folder of books (a Calibre library or any other),
    `browse` the folder for files outside the library, and `guardians` a folder of custom guardians. The index is on a
    Qdrant server if `qdrant_url` or `qdrant_host` is set. `tools` are the requested toolsets, or None for the default.
    """

    folder: Path
    ledger: Path = field()
    database: str | None = field(default=None, repr=False)
    calibre: Path | None = None
    browse: Path | None = None
    guardians: Path | None = None
    collection: str = "alexandria"
    embedder: str = "fast"
    reranker: str = "features"
    reranker_url: str | None = field(default=None, repr=False)
    reranker_key: str | None = field(default=None, repr=False)
    qdrant_url: str | None = field(default=None, repr=False)
    qdrant_host: str | None = None
    qdrant_port: int = 6333
    qdrant_grpc_port: int = 6334
    qdrant_prefer_grpc: bool = False
    qdrant_https: bool | None = None
    qdrant_key: str | None = field(default=None, repr=False)
    quantization: str = "int8"
    on_disk: bool = False
    tools: frozenset[str] | None = None

    def __attrs_post_init__(self) -> None:
        """Register the secrets, so that they are removed from output."""
        remember(self.qdrant_key)
        remember(self.reranker_key)
        remember_address(self.qdrant_url)
        remember_address(self.reranker_url)

    @ledger.default
    def _ledger_in_folder(self) -> Path:
        return self.folder / "alexandria.db"

    @property
    def index_folder(self) -> Path:
        """The path of the folder that contains the embedded index."""
        return self.folder / "index"

    @property
    def server(self) -> bool:
        """Whether the index is on a Qdrant server."""
        return bool(self.qdrant_url or self.qdrant_host)

    @property
    def toolsets(self) -> frozenset[str]:
        """The names of the toolsets to offer to agents.

        By default, they are the core tools (`citekit`) and, if a library is configured or books were ingested, the
        library tools (`alexandria`).
        """
        if self.tools is not None:
            return self.tools
        configured = self.calibre is not None or self.server or self.database is not None or os.path.exists(self.ledger)  # noqa: PTH110 - also False for a name that is too long
        return frozenset(TOOLSETS if configured else TOOLSETS[:1])


def library_settings(environment: Mapping[str, str], place: Path) -> LibrarySettings:
    """Return the library settings from the variables in `environment`. `place` is the home folder.

    Raise `RequestRefused` if a value is invalid or a secret cannot be read.
    """
    home = Path(os.path.abspath(place))  # noqa: PTH100 - as for the home itself
    place_of_index = folder(environment, "CITEKIT_LIBRARY") or home / LIBRARY
    shared = home / "docs" / "development" / "guardians"
    return LibrarySettings(
        folder=place_of_index,
        database=_database(environment.get("CITEKIT_DATABASE") or None),
        ledger=folder(environment, "ALEXANDRIA_DB") or place_of_index / "alexandria.db",
        calibre=folder(environment, "CALIBRE_LIBRARY_PATH"),
        browse=folder(environment, "LOCAL_INGEST_PATH") or _downloads(),
        guardians=folder(environment, "GUARDIANS_DIR") or (shared if os.path.isdir(shared) else None),  # noqa: PTH112 - as above
        collection=environment.get("QDRANT_COLLECTION") or "alexandria",
        embedder=environment.get("CITEKIT_EMBEDDER") or "fast",
        reranker=environment.get("CITEKIT_RERANKER") or "features",
        reranker_url=environment.get("CITEKIT_RERANKER_URL") or None,
        reranker_key=read_secret(environment, "CITEKIT_RERANKER_KEY"),
        qdrant_url=environment.get("QDRANT_URL") or None,
        qdrant_host=environment.get("QDRANT_HOST") or None,
        qdrant_port=default(count(environment, "QDRANT_PORT", 1), 6333),
        qdrant_grpc_port=default(count(environment, "QDRANT_GRPC_PORT", 1), 6334),
        qdrant_prefer_grpc=switch(environment, "QDRANT_PREFER_GRPC") or False,
        qdrant_https=switch(environment, "QDRANT_HTTPS"),
        qdrant_key=read_secret(environment, "QDRANT_API_KEY"),
        quantization=one_of("CITEKIT_QUANTIZATION", environment.get("CITEKIT_QUANTIZATION") or "int8", QUANTIZATIONS),
        on_disk=switch(environment, "CITEKIT_INDEX_ON_DISK") or False,
        tools=read_toolsets("CITEKIT_TOOLS", environment.get("CITEKIT_TOOLS")),
    )


def read_toolsets(name: str, text: str | None) -> frozenset[str] | None:
    """Return the toolsets in a comma-separated list, or None if it is empty.

    Raise `RequestRefused` if one is unknown. `name` names the setting in the message.
    """
    words = frozenset(word.strip() for word in (text or "").split(",") if word.strip())
    if not words.issubset(TOOLSETS):
        raise RequestRefused(
            f"{name}={shown(text or '')} must be {TOOLSETS[0]}, {TOOLSETS[1]}, or both, separated by a comma."
        )
    return words or None


def _downloads() -> Path | None:
    try:
        return Path.home() / "Downloads"
    except RuntimeError:
        return None


def _database(url: str | None) -> str | None:
    """Return `url`, or None without one. Raise `RequestRefused` if it is not the URL of a PostgreSQL database or contains
    a password.
    """
    if url is None:
        return None
    try:
        parts = urlsplit(url)
    except ValueError:  # such as an unclosed bracket
        parts = urlsplit("")
    if (
        parts.scheme not in ("postgresql", "postgres")
        or ":" in parts.netloc.rpartition("@")[0]
        or "password" in parts.query
    ):
        raise RequestRefused(
            "CITEKIT_DATABASE must be postgresql://USER@HOST/DATABASE without a password; put the password in ~/.pgpass "
            "or PGPASSWORD."
        )
    return url
