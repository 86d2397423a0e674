"""Reads the core properties of an Office file (ECMA-376 part 2, 8.2)."""

from __future__ import annotations

from pathlib import Path

from citekit.adapters.formats.shared.book_metadata import language_code
from citekit.adapters.formats.shared.titles import written_title
from citekit.adapters.libraries.lxml import inner_text, local_name
from citekit.adapters.libraries.office_package import OfficePackage, opened_package
from citekit.domain.library.books import BookFacts


def core_facts(path: Path) -> BookFacts:
    """Return the title, authors, and language of the Office file at `path`.

    Raise `SourceUnsupported` if the file is damaged, or `SourceUnreadable` if it cannot be read.
    """
    with opened_package(path) as package:
        return facts_in(package)


def facts_in(package: OfficePackage) -> BookFacts:
    """Return the title, authors, and language in the core properties of `package`.

    A title that a program made up, such as `Microsoft Word - Document1`, is ignored. Raise `SourceUnsupported` if the
    properties are damaged.
    """
    core = next(
        (each.target for each in package.relations() if each.kind == "core-properties" and not each.outside), None
    )
    found: dict[str, str] = {}
    for each in () if core is None else package.root(core):
        found.setdefault(local_name(each), inner_text(each))
    authors = [name.strip() for name in found.get("creator", "").split(";")]
    return BookFacts(
        title=written_title(found.get("title", "")) or None,
        authors=[name for name in authors if name],
        language=language_code(found.get("language") or None),
        identifiers={},
    )
