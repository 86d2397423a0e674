"""Implements the command `citekit export`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from citekit.application.recorded_paths import written_places
from citekit.container import Container
from citekit.domain.errors import CiteKitError
from citekit.domain.ids import stored_name
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command, password_option, roots_option
from citekit.entrypoints.cli.output_files import replacing
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.export import ExportForm, export

SUFFIXES = {
    ExportForm.MARKDOWN: ".md",
    ExportForm.JSON: ".json",
    ExportForm.HTML: ".html",
    ExportForm.BIBTEX: ".bib",
    ExportForm.CSL: ".csl.json",
    ExportForm.ANNOTATIONS: ".annotations.json",
}


@click.command("export", cls=Command)
@click.argument("resource")
@click.option(
    "--as",
    "form",
    type=click.Choice([form.value for form in ExportForm]),
    default=ExportForm.MARKDOWN.value,
    show_default=True,
    help="The format of the export.",
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="The file to write (default: RESOURCE with a suffix), or - for standard output.",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@roots_option()
@password_option("a source PDF")
@pass_session
def command(
    session: Session,
    resource: str,
    form: str,
    output: str | None,
    force: bool,
    roots: tuple[str, ...],
    password: str | None,
) -> None:
    """Export a resource for other programs.

    markdown and html contain the whole text, with its headings and page markers. json is the map. bibtex and csl cite
    the file, and w3c-annotations describe the parts of the map.
    """
    app = session.app_with(password=password)
    with watching(session, "Exporting") as watch:
        text = export(app, resource, ExportForm(form), roots=[Path(root) for root in roots], progress=watch)
    if output == "-":
        session.answer({"resource": resource, "form": form, "text": text}, text.rstrip("\n").split("\n"))
        return
    target = Path(f"{stored_name(resource)}{SUFFIXES[ExportForm(form)]}" if output is None else output)
    if target.is_dir():
        raise click.UsageError(f"{printable(str(target))} is a folder. Give the path of a file.")
    if not target.parent.is_dir():
        raise click.UsageError(f"There is no folder {printable(str(target.parent))}. Create it first.")
    if target.exists() and _is_source(app, resource, target):
        raise click.UsageError(
            f"{printable(str(target))} is the source of '{printable(resource)}', so it is not overwritten. Choose another "
            "path."
        )
    if target.exists() and not force:
        raise click.UsageError(f"{printable(str(target))} already exists. To replace it, add --force.")
    with replacing(target, 0o600 | _readers(app, resource, roots) & 0o044) as file:
        file.write(text.encode("utf-8", "replace"))
    session.answer({"resource": resource, "form": form, "path": str(target)}, [printable(str(target))])


def _is_source(app: Container, resource: str, target: Path) -> bool:
    """Return whether the existing file `target` is the source of the resource, under any of its names."""
    places = written_places(app.maps.get(resource).source_path, str(app.settings.home))
    return any(Path(place).exists() and target.samefile(place) for place in places)


def _readers(app: Container, resource: str, roots: Sequence[str]) -> int:
    """Return the read bits of the source's permissions, or 0 (only the owner can read the export) if it is missing or
    has changed.
    """
    with suppress(CiteKitError):
        return app.locate(app.maps.get(resource), [Path(root) for root in roots]).readers
    return 0
