"""Reads the comments, tracked changes, headers, and footers of a Word document.

ECMA-376 part 1: comments are 17.13.4, revisions 17.13.5, headers and footers 17.10.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from citekit.adapters.formats.shared.outline import one_line
from citekit.adapters.libraries.office_package import OfficePackage, attribute, local, opened_package
from citekit.domain.errors import CiteKitError
from citekit.domain.phrases import counted, series

if TYPE_CHECKING:
    from lxml.etree import _Element

COMMENTS_LIMIT = 5000
"""The maximum number of comments of a document that are read."""

CLASS = "citekit-comments"
"""The HTML class of the element with the comments, which becomes the last chapter."""

_CHANGE = re.compile(rb"<(?:\w{1,20}:)?(ins|del|moveTo|moveFrom)\s([^<>]{0,2000}[^<>/])>")
_AUTHOR = re.compile(rb"""author=["']([^"']{0,200})["']""")
_NAMED = 5


def comments_markup(package: OfficePackage, main: str) -> str:
    """Return an HTML section with the comments of the part `main`, or "" if there are none."""
    found = [
        f"<p>{html.escape(f'{author}: ' if author else '')}{html.escape(text)}</p>"
        for author, text in _comments(package, main)
    ]
    return f'<section class="{CLASS}"><h1>Comments</h1>{"".join(found)}</section>' if found else ""


def notes_of(path: Path) -> Sequence[str]:
    """Return notes about the comments, tracked changes, headers, and footers of the document at `path`.

    Raise `SourceUnsupported` if it is damaged, or `SourceUnreadable` if it cannot be read.
    """
    with opened_package(path) as package:
        main, _ = package.main("document")
        count = sum(1 for _ in _comments(package, main))
        about = [f"The document has {counted(count, 'comment')}, which the last chapter lists."] if count else []
        return [*_changes(package.read(main)), *about, *_headers(package, main)]


def _comments(package: OfficePackage, main: str) -> Iterator[tuple[str, str]]:
    for root in _related(package, main, ("comments",)):
        for comment in islice((each for each in root if local(each) == "comment"), COMMENTS_LIMIT):
            text = _text(comment)
            if text:
                yield " ".join((attribute(comment, "author") or "").split()), text


def _changes(data: bytes) -> Iterator[str]:
    found = [(match[1], _AUTHOR.search(match[2])) for match in _CHANGE.finditer(data)]
    if not found:
        return
    kinds = Counter("insertion" if kind in (b"ins", b"moveTo") else "deletion" for kind, _ in found)
    people = Counter(html.unescape(author[1].decode("utf-8", "replace")) for _, author in found if author and author[1])
    names = [*(name for name, _ in people.most_common(_NAMED)), *(["others"] if len(people) > _NAMED else [])]
    listed = series(names)
    counts = [
        f"{counted(kinds[kind], kind)} {where}"
        for kind, where in (("insertion", "in the text"), ("deletion", "that the text leaves out"))
        if kinds[kind]
    ]
    yield f"The document has tracked changes{f' by {listed}' if listed else ''}: {', and '.join(counts)}."


def _headers(package: OfficePackage, main: str) -> Iterator[str]:
    roots = _related(package, main, ("header", "footer"))
    texts = list(dict.fromkeys(filter(None, (one_line(_text(root), 80) for root in roots))))
    if texts:
        more = "; and others" if len(texts) > _NAMED else ""
        yield f"Headers and footers are not part of the text: {'; '.join(texts[:_NAMED])}{more}."


def _related(package: OfficePackage, main: str, kinds: tuple[str, ...]) -> Iterator[_Element]:
    """Yield the root elements of the parts of these kinds. Skip damaged parts, because Word opens such documents."""
    for each in package.relations(main):
        if each.kind in kinds and not each.outside:
            try:
                yield package.root(each.target)
            except CiteKitError:
                continue


def _text(element: _Element) -> str:
    paragraphs = ("".join(str(each.text or "") for each in part.iter("{*}t")) for part in element.iter("{*}p"))
    return " ".join(" ".join(paragraphs).split())
