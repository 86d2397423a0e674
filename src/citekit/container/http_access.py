"""Creates what the HTTP server needs to admit subjects, and a container for each of them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from attrs import evolve

from citekit.adapters.access.audit_log import AuditLog
from citekit.adapters.access.token_file import TokenFile
from citekit.adapters.storage.outputs import FriendlyOutputs
from citekit.adapters.storage.shared_outputs import SharedOutputs
from citekit.adapters.system.home_seal import HomeSeal
from citekit.container.container import Container
from citekit.container.ports import Ports
from citekit.domain.ports.access import Audit, Subjects, TokenIssuer
from citekit.domain.subject import INGEST, Subject
from citekit.settings import LibrarySettings, Settings
from citekit.settings.places import CACHE, LIBRARY, MAPS, OUTPUT

TOKENS, SUBJECTS, AUDIT = ".citekit_tokens.json", ".citekit_subjects", ".citekit_audit.jsonl"
"""The names of the token file, the folder of homes of subjects, and the audit log of a server."""


def subjects_of(app: Container, path: Path | None = None) -> Subjects:
    """Return the subjects in the token file at `path`, by default that of the home.

    In the file of the home, only entries with an authentication code of the home seal count.
    """
    own = app.settings.home / TOKENS
    if path is not None and os.path.realpath(path) != os.path.realpath(own):
        return TokenFile(path, app.locks)
    return TokenFile(own, app.locks, seal=HomeSeal(app.settings.cache_folder / "http", private=True))


def issuer_of(url: str, audience: str, jwks: str | None) -> TokenIssuer:
    """Return the issuer at `url` of access tokens for `audience`. `jwks` is the URL of its keys, or None if its
    metadata has that URL.

    Raise `RequestRefused` for a malformed URL, and for a URL without TLS, except on this computer.
    """
    from citekit.adapters.access.issuer import Issuer

    return Issuer(url, audience, jwks)


def audit_of(settings: Settings, path: Path | None = None) -> Audit:
    """Return the audit log, by default that of the home."""
    return AuditLog(path or settings.home / AUDIT)


def link_key(settings: Settings) -> bytes:
    """Return the secret with which links to evidence are signed.

    It is the same in all workers of a server and, if the settings have a `link_key`, in all servers with the same key.
    """
    if settings.link_key is not None:
        return hashlib.sha256(b"links " + settings.link_key.encode("utf-8", "surrogateescape")).digest()
    return HomeSeal(settings.cache_folder / "http", private=True).code(b"links")


def container_of(settings: Settings, subject: Subject) -> Container:
    """Return a confined container for a subject, in its own home and, if it has one, its own store.

    It has no access to the owner's keys, models, or library, and ignores roots that clients send. Receipts are shared
    through the store, so that any server can answer for evidence of another one.
    """
    home = subject.home
    cache = home / CACHE
    own = evolve(
        settings,
        home=home,
        maps_folder=home / MAPS,
        output_folder=home / OUTPUT,
        cache_folder=cache,
        viewer_folder=cache / "view",
        store=subject.store,
        catalog=None if subject.store is None else settings.catalog,
        link_key=None,
        roots=subject.roots,
        client_roots=False,
        client_ingest=settings.client_ingest and subject.may(INGEST),
        mapper="local",
        password=None,
        model=None,
        base_url=None,
        gemini_key=None,
        openai_base_url=None,
        speech_service="",
        speech_url=None,
        openai_key=None,
        library=LibrarySettings(folder=home / LIBRARY, tools=frozenset({"citekit"})),
    )
    objects = Container(own).objects
    if objects is None:
        return Container(own).for_clients()
    outputs = SharedOutputs(FriendlyOutputs(own.output_folder), objects)
    return Container(own, Ports(outputs=outputs)).for_clients()
