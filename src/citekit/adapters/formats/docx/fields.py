"""Finds text in a Word document that programs do not show (ECMA-376 part 1).

This is the code of fields (17.16), and content that bound data replaces (17.5.2.6).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from attrs import define

from citekit.adapters.libraries.office_package import attribute, below, local

if TYPE_CHECKING:
    from lxml.etree import _Element

DEPTH_LIMIT = 20
"""The maximum depth of nested fields."""

_SILENT = re.compile(r"\s*(?:set|ask|tc|xe|ta|rd|private|comments)\b", re.IGNORECASE)
"""Matches the codes of fields that show nothing, regardless of the stored result."""

_OTHER_FORM = ("showingPlcHdr", "date", "dropDownList", "comboBox", "picture", "checkbox")
"""Settings of content controls that show something other than their data, or their data in another form."""


@define
class _Field:
    code: str = ""
    is_code: bool = True
    is_stale: bool = False

    @property
    def hides(self) -> bool:
        return self.is_code or self.is_stale or bool(_SILENT.match(self.code))


def unseen_in_fields(root: _Element) -> Iterator[_Element]:
    """Yield the runs below `root` that are part of the code of a field, or of a result that programs do not show.

    Programs do not show the results of fields such as `TC`, nor results that they compute again when they open the
    document. Runs inside more than `DEPTH_LIMIT` fields also count as not shown.
    """
    open_fields: list[_Field] = []
    for run in root.iter("{*}r"):
        for each in run:
            match local(each):
                case "fldChar":
                    _step(open_fields, each)
                case "instrText" if open_fields:
                    open_fields[-1].code = (open_fields[-1].code + str(each.text or ""))[:100]
        if len(open_fields) > DEPTH_LIMIT or any(each.hides for each in open_fields):
            yield run
    for simple in root.iter("{*}fldSimple"):
        if _SILENT.match(attribute(simple, "instr") or "") or attribute(simple, "dirty") in ("1", "true"):
            yield from simple.iter("{*}r")


def flatten_fields(root: _Element) -> None:
    """Remove the `fldChar` elements of fields that are inside at least `DEPTH_LIMIT` other fields, because the time to
    read a field grows with the number of fields around it.
    """
    depth = 0
    for each in list(root.iter("{*}fldChar")):
        kind, parent = attribute(each, "fldCharType"), each.getparent()
        depth += kind == "begin"
        if depth > DEPTH_LIMIT and parent is not None:
            parent.remove(each)
            above = parent.getparent()
            if above is not None and all(local(rest) == "rPr" for rest in parent):
                above.remove(parent)
        depth -= kind == "end" and depth > 0


def _step(open_fields: list[_Field], character: _Element) -> None:
    kind = attribute(character, "fldCharType")
    if kind == "begin":
        open_fields.append(_Field(is_stale=attribute(character, "dirty") in ("1", "true")))
    elif open_fields and kind == "separate":
        open_fields[-1].is_code = False
    elif open_fields and kind == "end":
        open_fields.pop()


def unseen_in_controls(root: _Element, data: Mapping[str, str]) -> Iterator[_Element]:
    """Yield the runs in content controls that are bound to data in which the text of the run does not occur.

    Programs show the data instead. Controls whose data is empty or missing, or that show something else (see
    `_OTHER_FORM`), are left out. `data` maps the IDs of data parts, in upper case, to their texts without whitespace.
    """
    everything = "\n".join(data.values())
    for control in root.iter("{*}sdt"):
        settings, content = control.find("{*}sdtPr"), control.find("{*}sdtContent")
        binding = None if settings is None else next(below(settings, "dataBinding"), None)
        if (
            settings is None
            or content is None
            or binding is None
            or any(local(each) in _OTHER_FORM for each in settings)
        ):
            continue
        said = attribute(binding, "storeItemID") or ""
        bound = data.get(said.upper(), "") if said else everything
        for run in () if not bound else content.iter("{*}r"):
            if "".join("".join(str(each.text or "") for each in below(run, "t")).split()) not in bound:
                yield run
