"""The metadata of a PDF, and the notes of its map about what was not read."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from citekit.adapters.formats.pdf.document.page_labels import UNLABELLED, LabelRule, read_labels
from citekit.adapters.formats.pdf.outline.page_reader import Page
from citekit.adapters.formats.shared.outline import TITLE_LIMIT, one_line
from citekit.adapters.libraries.mupdf.engine import Document, skipped_pages
from citekit.domain.errors import SourceUnsupported
from citekit.domain.phrases import counted

RULE_LIMIT = 40
"""The maximum number of label rules in a map. If there are more, usually one for each page, none are stored."""

NAMED_ATTACHMENTS = 10
"""The maximum number of attached files that a note names."""

NAMED_PAGES = 20
"""The maximum number of pages with hidden text that a note lists."""

CHECKED_PAGES = 5000
"""The maximum number of pages of a repaired file that are checked for readability."""

_NAME_LIMIT = 60


def metadata_of(document: Document) -> dict[str, Any]:
    """Return `page_count`; `author` and `subject` if present; and `page_labels` if labels differ from page numbers and
    have at most `RULE_LIMIT` rules.

    Each rule applies from its `first_page` (1-based): a label is the rule's `prefix`, then a number in its `style` (ISO
    32000-1, table 159) that counts up from its `start`. A rule has no `style` if its labels have no number, and no
    `prefix` if that is empty.
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


def hidden_text_notes(pages: Collection[Page]) -> list[str]:
    """Return notes for the user about hidden text on the pages that were read, and about unchecked pages."""
    hidden = {page.number: page.hidden_words for page in pages if page.hidden_words}
    unread = [page.number for page in pages if page.is_unchecked]
    which = (
        f"page {unread[0]}, which may contain hidden text, was not checked."
        if len(unread) == 1
        else f"{len(unread)} pages that may contain hidden text were not checked; the first is page {min(unread, default=0)}."
    )
    unchecked = [f"To save time, {which} Titles and summaries may contain such text."] if unread else []
    if not hidden:
        return unchecked
    numbers, words = sorted(hidden), sum(hidden.values())
    named = ", ".join(map(str, numbers[:NAMED_PAGES])) + (", and others" if len(numbers) > NAMED_PAGES else "")
    return [
        f"Hidden text was found ({'page' if len(numbers) == 1 else 'pages'} {named}): readers do not see "
        f"{counted(words, 'word')}. Titles and summaries leave this text out.",
        *unchecked,
    ]


def skipped_page_notes(document: Document) -> list[str]:
    """Return a note about pages whose content is too complex to process."""
    skipped = skipped_pages(document)
    if not skipped:
        return []
    if len(skipped) == 1:
        return [
            f"Page {skipped[0]} was not read, because the pages of the file are too complex. It can be extracted as pdf."
        ]
    return [
        f"{len(skipped)} pages were not read, because the pages of the file are too complex; the first is page "
        f"{skipped[0]}. They can be extracted as pdf."
    ]


def unreadable_page_notes(document: Document, name: str) -> list[str]:
    """Return a note about unreadable pages of a repaired file. Raise `SourceUnsupported` if no page is readable."""
    if not document.is_repaired:
        return []
    lost = [
        number for number in range(1, min(document.page_count, CHECKED_PAGES) + 1) if not _page_exists(document, number)
    ]
    if len(lost) == document.page_count:
        raise SourceUnsupported(f"{name} is damaged: none of its pages can be read.")
    if len(lost) == 1:
        return [f"The file is damaged: page {lost[0]} cannot be read."]
    return (
        [f"The file is damaged: {len(lost)} of its pages cannot be read; the first is page {lost[0]}."] if lost else []
    )


def _page_exists(document: Document, number: int) -> bool:
    try:
        return bool(document.xref_object(document.page_xref(number - 1)).startswith("<<"))
    except RuntimeError:  # MuPDF raises it for a missing object
        return False


def repair_notes(document: Document) -> list[str]:
    """Return a note if PyMuPDF had to repair the file. Call this function after all reads, since any read may repair
    it.
    """
    return (
        ["The file is damaged and was repaired for reading. Parts of it may be missing."]
        if document.is_repaired
        else []
    )


def attachment_notes(document: Document) -> list[str]:
    """Return a note that names the files attached to a PDF; empty if there are none.

    A portfolio (ISO 32000-1, 12.3.5) is a PDF whose content is its attached files.
    """
    count = document.embfile_count()
    if not count:
        return []
    names = [one_line(_attachment_name(document, index), _NAME_LIMIT) for index in range(min(count, NAMED_ATTACHMENTS))]
    more = f", and {count - len(names)} more" if count > len(names) else ""
    portfolio = document.xref_get_key(document.pdf_catalog(), "Collection")[0] != "null"
    what = "The file is a portfolio of" if portfolio else "The file has"
    listed = ", ".join(filter(None, names))
    which = f": {listed}{more}" if listed else ""
    return [
        f"{what} {counted(count, 'attached file')}, which the map leaves out{which}. To map "
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
