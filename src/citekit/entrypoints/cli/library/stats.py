"""Implements the command `citekit library stats`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from citekit.domain.progress import silent
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.errors import CommandError
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.tables import pairs
from citekit.entrypoints.cli.terminal import styled
from citekit.entrypoints.library import catalog


@click.command("stats", cls=Command)
@pass_session
def command(session: Session) -> None:
    """Show the size of the library and of the index."""
    plain = catalog.stats(session.app.alexandria, {}, silent)
    session.answer(plain, _lines(plain, session.home_words()))
    if plain["calibre"] is None and "points_count" not in plain["qdrant"]:
        raise CommandError("NothingFound", f"{plain['error']} {plain['qdrant']['error']}")


def _lines(plain: Mapping[str, Any], home: str) -> Iterator[str]:
    yield styled("Library", bold=True)
    yield from pairs(_library(plain["calibre"]) if plain["calibre"] else [("none", plain["error"] or "")])
    yield styled("Index", bold=True)
    yield from pairs(_index(plain["qdrant"], home))


def _library(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "folder", found["place"]
    yield "books", str(found["total_books"])
    yield "authors", str(found["total_authors"])
    yield "formats", ", ".join(f"{name} {count}" for name, count in found["formats"].items())
    yield "languages", ", ".join(f"{name} {count}" for name, count in found["languages"].items())


def _index(found: Mapping[str, Any], home: str) -> Iterator[tuple[str, str]]:
    yield "collection", found["collection_name"]
    if found.get("error"):
        yield "none", found["error"]
        return
    yield "place", found["place"]
    yield "books", str(found["ingested_books"])
    if found.get("unfinished_books"):
        yield "unfinished", f"{found['unfinished_books']} (to see them, run: citekit library list{home})"
    yield "points", str(found["points_count"])
    yield "model", found["model"]
    yield "status", found["status"]
