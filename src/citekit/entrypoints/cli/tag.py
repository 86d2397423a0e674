"""Implements the command `citekit tag`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

import click

from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session


@click.command("tag", cls=Command)
@click.argument("resources", nargs=-1, metavar="[RESOURCE...]")
@click.option("--add", "-a", "added", multiple=True, metavar="TAG", help="Add this tag. Can be repeated.")
@click.option("--remove", "-r", "removed", multiple=True, metavar="TAG", help="Remove this tag. Can be repeated.")
@pass_session
def command(session: Session, resources: tuple[str, ...], added: tuple[str, ...], removed: tuple[str, ...]) -> None:
    """Tag resources, or list the tags.

    A tag is a word that you choose, such as the name of a project or a course. You can list and search all resources
    with one tag together (citekit list --tag, citekit find --tag). Without RESOURCE, all tags and their resources are
    listed; without --add and --remove, the tags of each RESOURCE.
    """
    if resources:
        tags = session.app.tag(list(dict.fromkeys(resources)), added, removed)
        session.answer({"resources": {name: list(each) for name, each in tags.items()}}, _lines(tags))
        return
    if added or removed:
        option = f"--add {shlex.quote(added[0])}" if added else f"--remove {shlex.quote(removed[0])}"
        raise click.UsageError(f"Name the resources (citekit tag RESOURCE {option})")
    tags = session.app.tag.tags()
    session.answer({"tags": {tag: list(names) for tag, names in tags.items()}}, _lines(tags))
    if not tags:
        session.note(f"There are no tags. To add one, run: citekit tag RESOURCE --add TAG{session.home_words()}")


def _lines(listed: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for name, each in listed.items():
        yield f"{printable(name)}: {printable(', '.join(each)) or '(no tags)'}"
