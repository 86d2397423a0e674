"""Implements the command `citekit resolve`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import click

from citekit.domain.evidence import Evidence, Form, Options
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command, password_option, roots_option
from citekit.entrypoints.cli.formatting import lasted, place, size
from citekit.entrypoints.cli.output_files import copy_evidence
from citekit.entrypoints.cli.part_arguments import named_part
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.tables import pairs
from citekit.entrypoints.cli.view import show
from citekit.entrypoints.web.links import place_of
from citekit.wire import receipts
from citekit.wire.maps import to_plain_node

FORMS = [form.value for form in Form]


@click.command("resolve", cls=Command)
@click.argument("part", nargs=-1, required=True, metavar="(RESOURCE NODE | ADDRESS)")
@click.option(
    "--resource", "-res", metavar="RESOURCE", help="The resource. With this option, the argument is only the node."
)
@click.option("--virtual", is_flag=True, help="Print only the address and location. Extract nothing.")
@click.option(
    "--accurate", is_flag=True, help="Cut a video clip accurately to within one frame. Part or all of it is re-encoded."
)
@click.option(
    "--as",
    "form",
    type=click.Choice(FORMS),
    default="native",
    show_default=True,
    help="The form of the evidence. Native means a PDF for pages of a PDF, a clip for a recording, and the lines for a text.",
)
@click.option("--remap", is_flag=True, help="If the source has changed since it was mapped, map it again.")
@roots_option()
@password_option("a source PDF")
@click.option("--output", "-o", metavar="PATH", help="Copy the evidence to this file or folder.")
@click.option("--force", is_flag=True, help="With -o: replace an existing file.")
@click.option("--open", "opened", is_flag=True, help="Show the part in the browser (see citekit view).")
@pass_session
def command(
    session: Session,
    /,
    part: tuple[str, ...],
    resource: str | None,
    form: str,
    accurate: bool,
    roots: tuple[str, ...],
    output: str | None,
    password: str | None,
    **wanted: bool,
) -> None:
    """Extract one part of a resource as evidence.

    The part is the pages, lines, seconds, or region that a node or an address names. Prints the path of the
    evidence, its address, what it shows, its source, and the time that it took. Evidence that was extracted before comes from
    the cache. RESOURCE.NODE as one word works if it matches exactly one node.
    """
    if output is not None and wanted["virtual"]:
        raise click.UsageError("-o does not work with --virtual, because --virtual creates no file.")
    app = session.app_with(password=password)
    what = named_part(app.maps, part, resource)
    start = perf_counter()
    with watching(session, "Extracting evidence") as watch:
        evidence = app.resolve(
            what,
            virtual=wanted["virtual"],
            options=Options(Form(form), accurate),
            remap=wanted["remap"],
            roots=[Path(root) for root in roots],
            progress=watch,
        )
    seconds = perf_counter() - start
    copied = _copied(evidence, output, wanted["force"])
    session.answer(plain_evidence(evidence, seconds, copied), evidence_lines(evidence, seconds, copied))
    if wanted["opened"]:
        show(session, app, *place_of(evidence.address))


def _copied(evidence: Evidence, output: str | None, force: bool) -> Path | None:
    if output is None:
        return None
    if evidence.output_path is None or evidence.receipt is None:
        raise click.UsageError("The location of this part is virtual, so there is no file for -o to copy.")
    return copy_evidence(evidence.output_path, output, [Path(evidence.receipt.source_path)], force=force)


def plain_evidence(evidence: Evidence, seconds: float, copied: Path | None = None) -> dict[str, object]:
    """Return evidence as plain data that begins with the fields of the MCP tool `resolve`.

    `seconds` is the time that resolving took, and `copied` the path of the requested copy, or None.
    """
    return {
        "output_path": None if evidence.output_path is None else str(evidence.output_path),
        "modality": evidence.location.modality.value,
        "address": str(evidence.address),
        "node": None if evidence.node is None else to_plain_node(evidence.node, depth=0),
        "resource_id": evidence.resource_id,
        "stale": evidence.stale,
        **({} if evidence.unchecked is None else {"unchecked": evidence.unchecked}),
        **({} if evidence.moved is None else {"moved": evidence.moved}),
        "made_now": evidence.made_now,
        "seconds": round(seconds, 6),
        "copied_to": None if copied is None else str(copied),
        "receipt": None if evidence.receipt is None else receipts.to_plain(evidence.receipt),
    }


def evidence_lines(evidence: Evidence, seconds: float, copied: Path | None = None) -> Iterator[str]:
    """Yield lines for people that describe evidence. The parameters are as in `plain_evidence`."""
    yield printable(str(copied or evidence.output_path or evidence.address))
    node = evidence.node
    facts = [
        ("address", str(evidence.address)),
        ("node", f"{node.id}  {node.title}" if node else ""),
        ("shows", place(evidence.receipt.extent if evidence.receipt else evidence.location)),
        *_receipt_facts(evidence),
        ("stale", evidence.stale or ""),
        ("unchecked", evidence.unchecked or ""),
        ("moved", evidence.moved or ""),
        ("took", lasted(seconds) if evidence.receipt is None else _took(evidence.made_now, seconds)),
    ]
    yield from pairs((name, value) for name, value in facts if value)


def _receipt_facts(evidence: Evidence) -> Iterator[tuple[str, str]]:
    receipt = evidence.receipt
    if receipt is None:
        return
    yield "source", receipt.source_path
    yield "kind", f"{receipt.media_type}, {size(receipt.evidence_size)}"
    yield from (("note", note) for note in receipt.notes)


def _took(made_now: bool, seconds: float) -> str:
    return f"{'made' if made_now else 'found'} in {lasted(seconds)}"
