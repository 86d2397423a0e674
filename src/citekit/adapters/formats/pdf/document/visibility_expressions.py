"""Applies the visibility expressions of optional content (ISO 32000-2, 8.11.2.2), which MuPDF ignores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from citekit.adapters.libraries.mupdf.engine import exclusive

_OBJECTS = 2000
"""The maximum number of objects of a page that are examined."""

_DEPTH = 30
"""The maximum nesting depth of an expression, and of forms within forms."""


def apply_visibility_expressions(page: Any) -> None:
    """Replace each visibility expression on `page` by a condition that MuPDF knows and that has the same value.

    Only the open document changes, not its file. Call this function inside `exclusive()` or `opened()`.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        document = mupdf.pdf_document_from_fz_document(page.parent.this)
        if not mupdf.pdf_dict_getp(mupdf.pdf_trailer(document), "Root/OCProperties").m_internal:
            return
        resources = mupdf.pdf_dict_gets_inheritable(mupdf.pdf_page_from_fz_page(page.this).obj(), "Resources")
        for each in _memberships(mupdf, resources):
            expression = mupdf.pdf_dict_gets(each, "VE")
            if mupdf.pdf_is_array(expression):
                _replace(mupdf, document, each, expression)


def _memberships(mupdf: Any, resources: Any) -> Iterator[Any]:
    """Yield the optional content groups and memberships of the content and forms with these resources."""
    seen: set[int] = set()
    left, count = [(resources, 0)], 0
    while left:
        own, depth = left.pop()
        properties = mupdf.pdf_dict_gets(own, "Properties")
        yield from (mupdf.pdf_dict_get_val(properties, at) for at in range(mupdf.pdf_dict_len(properties)))
        objects = mupdf.pdf_dict_gets(own, "XObject")
        for at in range(mupdf.pdf_dict_len(objects)):
            form = mupdf.pdf_dict_get_val(objects, at)
            number = mupdf.pdf_to_num(form)
            count += 1
            if number in seen or count > _OBJECTS:
                continue
            seen.add(number)
            yield mupdf.pdf_dict_gets(form, "OC")
            inner = mupdf.pdf_dict_gets(form, "Resources")
            if inner.m_internal and depth < _DEPTH:
                left.append((inner, depth + 1))


def _replace(mupdf: Any, document: Any, membership: Any, expression: Any) -> None:
    groups: list[tuple[Any, bool]] = []
    value = _value(mupdf, document, expression, groups, 0)
    mupdf.pdf_dict_dels(membership, "VE")
    mupdf.pdf_dict_dels(membership, "OCGs")
    if not value and groups:
        group, is_on = next(((each, is_on) for each, is_on in groups if not is_on), groups[0])
        mupdf.pdf_dict_puts(membership, "OCGs", group)
        mupdf.pdf_dict_puts(membership, "P", mupdf.pdf_new_name("AllOff" if is_on else "AnyOn"))


def _value(mupdf: Any, document: Any, expression: Any, groups: list[tuple[Any, bool]], depth: int) -> bool:
    """Return the value of an expression, and add its groups to `groups`; a malformed expression is true."""
    if not mupdf.pdf_is_array(expression):
        is_on = not mupdf.pdf_is_ocg_hidden(document, mupdf.PdfResourceStack(), "View", expression)
        groups.append((expression, is_on))
        return is_on
    count = mupdf.pdf_array_len(expression)
    if depth > _DEPTH or len(groups) + count > _OBJECTS:
        return True
    operator = mupdf.pdf_to_name(mupdf.pdf_array_get(expression, 0))
    values = [_value(mupdf, document, mupdf.pdf_array_get(expression, at), groups, depth + 1) for at in range(1, count)]
    if not values:
        return True
    return {"And": all(values), "Or": any(values), "Not": not values[0]}.get(operator, True)
