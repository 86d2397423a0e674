"""The metadata of a PDF."""

from __future__ import annotations

from typing import Any

from citekit.adapters.formats.pdf.document.page_labels import UNLABELLED, LabelRule, read_labels
from citekit.adapters.formats.shared.outline import TITLE_LIMIT, one_line
from citekit.adapters.libraries.mupdf.engine import Document

RULE_LIMIT = 40
"""The number of label rules that a map stores; a document with more labels each page separately."""


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


def _rule_as_dict(rule: LabelRule) -> dict[str, Any]:
    plain: dict[str, Any] = {"first_page": rule.first, "style": rule.style, "prefix": rule.prefix, "start": rule.start}
    return {key: value for key, value in plain.items() if value != ""}
