"""Implements the command `citekit demo`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib import resources
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from citekit.application.library.answers import Answers, AskRequest
from citekit.application.library.ingest_book import BookIngested, BookRequest
from citekit.container import Container, bootstrap
from citekit.domain.address import parse_address
from citekit.domain.errors import AlreadyIngested, CiteKitError, DriverMissing
from citekit.domain.evidence import Evidence
from citekit.domain.formats import by_name
from citekit.domain.node import Node, NodeName
from citekit.domain.phrases import counted
from citekit.domain.resource_map import ResourceMap
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.errors import CommandError, plain_error
from citekit.entrypoints.cli.formatting import lasted, place, size
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.tables import pairs, table, tree
from citekit.entrypoints.cli.terminal import styled
from citekit.entrypoints.failures import sentence

TREE_LIMIT = 20
"""The maximum number of lines that are shown of the tree."""

BOOK, AUTHOR = "An Introduction to R", "W. N. Venables & D. M. Smith"
QUESTION = "How are missing values marked?"


@click.command("demo", cls=Command)
@click.argument("files", nargs=-1, metavar="[FILE]...")
@pass_session
def command(session: Session, files: tuple[str, ...]) -> None:
    """Map sample files and extract one part of each.

    Without FILE, the command uses the small samples that come with CiteKit, and also asks a question about one of
    them. Without --home, it uses a temporary folder and does not delete it, so that you can look at the evidence.
    """
    with ExitStack() as stack:
        paths = [Path(file) for file in files] or _samples(stack)
        home = session.home or tempfile.mkdtemp(prefix="citekit-demo-")
        app = bootstrap(home=home)
        shown, failed, missing = _shown(session, app, paths)
        plain: dict[str, Any] = {"home": str(app.settings.home), "resources": shown, "failed": failed}
        if missing and not files:  # a sample that needs a missing extra is not a failure
            plain["skipped"] = missing
            session.note("")
            for each in missing:
                session.note(f"{Path(each['path']).name} is skipped: {each['error']['message']}")
        else:
            failed += missing
        if not files:
            plain["library"] = show_library(session, app, next(path for path in paths if path.suffix == ".pdf"))
    if failed:
        first = failed[0]
        raise CommandError("SomeFailed", f"{first['path']}: {first['error']['message']}", plain)
    session.answer(plain, ["", f"The home of this demo is {printable(str(app.settings.home))}"])


def _samples(stack: ExitStack) -> list[Path]:
    folder = resources.files("citekit") / "samples"
    if not folder.is_dir():
        raise CommandError("NothingFound", "This installation has no sample files. Name your own: citekit demo FILE...")
    there = stack.enter_context(resources.as_file(folder))
    return sorted(path for path in there.iterdir() if by_name(path.name) and path.name != "LICENSES.md")


def _shown(
    session: Session, app: Container, paths: Sequence[Path]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Map every file, extract a part of each twice, and return the results, the failures, and the files that need an
    extra.
    """
    mapped: list[tuple[ResourceMap, float]] = []
    shown: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    missing: list[dict[str, Any]] = []
    with watching(session, "Mapping") as watch:
        for path in paths:
            start = perf_counter()
            try:
                mapped.append((app.ingest(path, progress=watch).resource_map, perf_counter() - start))
            except CiteKitError as error:
                found = missing if isinstance(error, DriverMissing) else failed
                found.append({"path": str(path), "error": plain_error(error, sentence(error))})
    session.say(_listing(mapped))
    for resource_map, seconds in mapped:
        try:
            shown.append(_cut(session, app, resource_map, seconds))
        except CiteKitError as error:
            failed.append({"path": resource_map.source_path, "error": plain_error(error, sentence(error))})
    return shown, failed, missing


def _listing(mapped: Sequence[tuple[ResourceMap, float]]) -> Iterator[str]:
    rows = [
        (made.resource_id, made.modality.value, str(made.node_count), lasted(seconds), made.title)
        for made, seconds in mapped
    ]
    yield from table(rows, ("ID", "TYPE", "NODES", "MAPPED IN", "TITLE"))
    if not mapped:
        return
    richest = max((made for made, _ in mapped), key=lambda made: made.node_count)
    yield ""
    yield styled(printable(richest.title), bold=True)
    lines = list(tree(richest.nodes))
    yield from lines[:TREE_LIMIT]
    if len(lines) > TREE_LIMIT:
        yield f"   ... and {len(lines) - TREE_LIMIT} more"


def _cut(session: Session, app: Container, resource_map: ResourceMap, mapped_in: float) -> dict[str, Any]:
    node = _node_to_show(resource_map)
    if node is None:
        return {"resource_id": resource_map.resource_id, "mapped_in": round(mapped_in, 6), "node_id": None}
    name = NodeName(resource_map.resource_id, node.id)
    evidence, first = _resolved(session, app, name)
    _, again = _resolved(session, app, name)
    session.say(_evidence(evidence, node, first, again))
    return {
        "resource_id": resource_map.resource_id,
        "mapped_in": round(mapped_in, 6),
        "node_id": node.id,
        "address": str(evidence.address),
        "output_path": str(evidence.output_path),
        "first": round(first, 6),
        "repeated": round(again, 6),
    }


def _node_to_show(resource_map: ResourceMap) -> Node | None:
    """Return the second top-level node of a map, because the first is often a title page; else the first, or None."""
    return next((node for node in (*resource_map.nodes[1:2], *resource_map.nodes)), None)


def _resolved(session: Session, app: Container, name: NodeName) -> tuple[Evidence, float]:
    start = perf_counter()
    with watching(session, f"Extracting {name.node_id}") as watch:
        evidence = app.resolve(name, progress=watch)
    return evidence, perf_counter() - start


def _evidence(evidence: Evidence, node: Node, first: float, again: float) -> Iterator[str]:
    yield ""
    yield styled(printable(f"{evidence.resource_id}  {node.id}"), bold=True)
    weight = f", {size(evidence.receipt.evidence_size)}" if evidence.receipt else ""
    yield from pairs(
        [
            ("path", str(evidence.output_path)),
            ("address", str(evidence.address)),
            ("shows", place(evidence.location) + weight),
            ("first", lasted(first)),
            ("again", lasted(again)),
        ]
    )


def show_library(session: Session, app: Container, path: Path) -> dict[str, Any]:
    """Ingest the sample book, ask a question, extract the best hit, and return the results as plain data.

    If that fails, print a note and return the error instead.
    """
    try:
        with watching(session, "Ingesting") as watch:
            done = _ingested(app, path, watch)
        started = perf_counter()
        answers = app.alexandria.ask(AskRequest(query=QUESTION, collection=app.alexandria.chosen.collection, limit=1))
        asked = perf_counter() - started
        evidence = app.resolve(parse_address(answers.hits[0].chunk.address)) if answers.hits else None
    except DriverMissing as missing:
        _note(session, str(missing))
        return {"error": str(missing)}
    except CiteKitError as error:
        _note(session, sentence(error))
        return {"error": sentence(error)}
    session.say(_lines(done, answers, asked, evidence))
    return {
        "question": QUESTION,
        "address": answers.hits[0].chunk.address if answers.hits else None,
        "output_path": None if evidence is None else str(evidence.output_path),
        "asked": round(asked, 6),
    }


def _note(session: Session, text: str) -> None:
    session.note("")
    session.note(f"The library: {text}")


def _ingested(app: Container, path: Path, watch: Any) -> BookIngested | None:
    request = BookRequest(path=path, collection=app.alexandria.chosen.collection, title=BOOK, author=AUTHOR)
    try:
        return app.alexandria.ingest_book(request, watch)
    except AlreadyIngested:
        return None


def _lines(done: BookIngested | None, answers: Answers, asked: float, evidence: Evidence | None) -> Iterator[str]:
    yield ""
    yield styled(printable(f"citekit query {QUESTION!r}"), bold=True)
    if done is not None:
        took = lasted(sum(done.entry.seconds.values()))
        yield f"  ingested {printable(BOOK)}: {done.entry.counts['words']} words, {counted(done.chunks, 'chunk')} in {took}"
    if not answers.hits or evidence is None:
        yield "  nothing found"
        return
    hit = answers.hits[0]
    yield from pairs(
        [
            ("says", " ".join((hit.passage or hit.chunk.text).split())[:200]),
            ("in", f"{hit.chunk.section}, {place(hit.address.location)}, found in {lasted(asked)}"),
            ("address", hit.chunk.address),
            ("opened", str(evidence.output_path)),
        ]
    )
