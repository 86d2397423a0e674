"""The metadata of a PDF."""

from __future__ import annotations

from typing import Any

from citekit.adapters.formats.pdf.document.page_labels import UNLABELLED, LabelRule, read_labels
from citekit.adapters.formats.shared.outline import TITLE_LIMIT, one_line
from citekit.adapters.libraries.mupdf.engine import Document

RULE_LIMIT = 40
"""The number of label rules that a map stores; a document with more labels each page separately."""

NAMED_ATTACHMENTS = 10
"""The number of attached files that a note names."""

_NAME_LIMIT = 60


def metadata_of(document: Document) -> dict[str, Any]:
    """Return `page_count`; `author` and `subject` if present; and `page_labels` if labels differ from page numbers.

    Each label rule applies from its `first_page` (1-based): a label is the rule's `prefix`, then a number in its
    `style` (ISO 32000-1, table 159) that counts up from its `start`.
    """
    facts: dict[str, Any] = {"page_count": document.page_count}
    for name in ("author", "subject"):
        value = one_line((document.metadata or {}).get(name) or "", TITLE_LIMIT)
        if value:
            facts[name] = value
    rules = read_labels(document)
    if rules != (UNLABELLED,) and len(rules) <= RULE_LIMIT:
        facts["page_labels"] = [_rule_as_dict(rule) for rule in rules]
    return facts


def repair_notes(document: Document) -> list[str]:
    """Return a note if PyMuPDF had to repair the file.

    Call this function after all reads, since any read may repair it.
    """
    return (
        ["The file is damaged and was repaired to be read; something may be missing."] if document.is_repaired else []
    )


def attachment_notes(document: Document) -> list[str]:
    """Return a note that names the files attached to a PDF, which the map does not contain.

    A portfolio (ISO 32000-1, 12.3.5) is a PDF whose attachments are its content.
    """
    count = document.embfile_count()
    if not count:
        return []
    names = [one_line(_attachment_name(document, index), _NAME_LIMIT) for index in range(min(count, NAMED_ATTACHMENTS))]
    more = f" and {count - len(names)} more" if count > len(names) else ""
    portfolio = document.xref_get_key(document.pdf_catalog(), "Collection")[0] != "null"
    what = "The file is a portfolio of" if portfolio else "The file has"
    listed = f"{', '.join(filter(None, names))}{more}"
    return [
        f"{what} {count} attached {'file' if count == 1 else 'files'}, which the map leaves out: {listed}. To map "
        f"{'it, save it' if count == 1 else 'them, save them'} with a PDF program."
    ]


def _attachment_name(document: Document, index: int) -> str:
    try:
        found = document.embfile_info(index)
        name = str(found.get("ufilename") or found.get("filename") or found.get("name") or "")
    except (RuntimeError, ValueError, KeyError, TypeError):  # a damaged entry
        return ""
    try:
        return name.encode("latin-1").decode("utf-8")  # PyMuPDF reads the bytes of UTF-8 names as Latin-1
    except UnicodeError:
        return name


def _rule_as_dict(rule: LabelRule) -> dict[str, Any]:
    plain: dict[str, Any] = {"first_page": rule.first, "style": rule.style, "prefix": rule.prefix, "start": rule.start}
    return {key: value for key, value in plain.items() if value != ""}
