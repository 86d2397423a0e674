"""What of a Word document's runs mammoth does not tell: that they are hidden, or superscripts by their style."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citekit.adapters.drivers.mammoth import UNSEEN_STYLE
from citekit.adapters.drivers.office_package import below, local
from citekit.adapters.reading.docx_styles import Styles, said_of, value_of

if TYPE_CHECKING:
    from lxml.etree import _Element

_NOTES = frozenset(("footnoteReference", "endnoteReference"))
"""Elements that are written as superscripts whatever their style says."""


def mark_run(run: _Element, paragraph_style: str, styles: Styles) -> None:
    """Give a hidden run the style `UNSEEN_STYLE`, and one that is raised or lowered by its style that property itself."""
    properties = next(below(run, "rPr"), None)
    style = "" if properties is None else value_of(properties, "rStyle") or ""
    own = None if properties is None else said_of(properties, "vanish")
    if styles.hides(paragraph_style, style) if own is None else own:
        _set(run, properties, "rStyle", UNSEEN_STYLE)
        return
    height = styles.height(style) if style else None
    if height and (properties is None or value_of(properties, "vertAlign") is None) and not _is_note(run):
        _set(run, properties, "vertAlign", height)


def _is_note(run: _Element) -> bool:
    return any(local(each) in _NOTES for each in run)


def _set(run: _Element, properties: _Element | None, name: str, value: str) -> None:
    from lxml import etree

    space = str(run.tag).rpartition("}")[0] + "}"
    if properties is None:
        properties = etree.Element(f"{space}rPr")
        run.insert(0, properties)
    for each in list(below(properties, name)):
        properties.remove(each)
    made = etree.Element(f"{space}{name}")
    made.set(f"{space}val", value)
    properties.insert(0, made)
