"""Finds the signs of hidden text on a page: in its streams, form XObjects, and annotations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from attrs import define, field, frozen

from citekit.adapters.libraries.mupdf.hidden_text_signs import LIGHT, Signs, signs_of

FAINT = 0.25
"""Opacity below which text may be invisible."""

_THICK = 2.0
"""Line width of a graphics state, in points, above which a line may cover text."""

_MEMBERS = 5000
_DEVICE_SPACES = {b"/DeviceGray": 1, b"/G": 1, b"/DeviceRGB": 3, b"/RGB": 3, b"/DeviceCMYK": 4, b"/CMYK": 4}


@define
class SignReader:
    """A reader for the signs of hidden text on the pages of one document. Use it inside `exclusive()`.

    `read` returns the bytes of a stream object, or None if it is too long.
    """

    _mupdf: Any
    _read: Callable[[Any], bytes | None]
    _pages: dict[tuple[int, ...], Signs] = field(factory=dict, init=False)
    _forms: dict[int, Signs] = field(factory=dict, init=False)
    _faint: dict[int, bool] = field(factory=dict, init=False)
    _colors: dict[tuple[int, tuple[float, ...], float], bool] = field(factory=dict, init=False)

    def signs(self, page: Any, contents: Sequence[Any]) -> Signs:
        """Return the signs of hidden text for a page object whose content streams are `contents`."""
        mupdf = self._mupdf
        resources = mupdf.ll_pdf_dict_gets_inheritable(page, "Resources")
        number = mupdf.ll_pdf_to_num(resources) if resources else 0
        key = (number, *(mupdf.ll_pdf_to_num(each) for each in contents))
        found = self._pages.get(key) if number else None
        if found is None:
            data = [self._read(each) for each in contents]
            found = self._pages[key] = self._stream(b"\n".join([each or b"" for each in data]), resources)
        return found | Signs(areas=self._has_annotations(mupdf.ll_pdf_dict_gets(page, "Annots")))

    def _stream(self, data: bytes, resources: Any) -> Signs:
        found = signs_of(data, _Resources(self, resources))
        return found if found.text else found | Signs(text=self._is_faint(resources))

    def _has_annotations(self, annotations: Any) -> bool:
        """Return whether any of the annotations has an appearance, so that it paints something."""
        mupdf = self._mupdf
        count = min(mupdf.ll_pdf_array_len(annotations), _MEMBERS) if annotations else 0
        return any(mupdf.ll_pdf_dict_getp(mupdf.ll_pdf_array_get(annotations, at), "AP/N") for at in range(count))

    def form(self, resources: Any, name: str) -> Signs | None:
        """Return the signs of the form named `name` in `resources`; None if there is no such form."""
        mupdf = self._mupdf
        objects = mupdf.ll_pdf_dict_gets(resources, "XObject") if resources else None
        found = mupdf.ll_pdf_dict_gets(objects, name) if objects else None
        if not found or mupdf.ll_pdf_to_name(mupdf.ll_pdf_dict_gets(found, "Subtype")) != "Form":
            return None
        number = mupdf.ll_pdf_to_num(found)
        if number not in self._forms:
            self._forms[number] = Signs()  # MuPDF does not draw a form within itself
            data = self._read(found)
            inner = mupdf.ll_pdf_dict_gets(found, "Resources")
            self._forms[number] = Signs(text=True) if data is None else self._stream(data, inner)
        return self._forms[number]

    def is_white(self, resources: Any, space: str, values: tuple[float, ...], least: float) -> bool:
        """Return whether all RGB channels of the color `values` in the color space `space` are, or may be, at least
        `least`.
        """
        mupdf = self._mupdf
        spaces = mupdf.ll_pdf_dict_gets(resources, "ColorSpace") if resources else None
        found = mupdf.ll_pdf_dict_gets(spaces, space) if spaces else None
        key = mupdf.ll_pdf_to_num(found) if found else 0, values, least
        if key[0] and key in self._colors:
            return self._colors[key]
        white = True
        with suppress(Exception):  # a damaged color space; MuPDF can raise any exception then
            white = self._is_light(found, values, least)
        self._colors[key] = white
        return white

    def _is_light(self, space: Any, values: tuple[float, ...], least: float) -> bool:
        mupdf = self._mupdf
        loaded = mupdf.ll_pdf_load_colorspace(space)
        try:
            count = mupdf.ll_fz_colorspace_n(loaded)
            if not 0 < count <= 4:
                return True
            target, parameters = mupdf.FzColorspace(mupdf.FzColorspace.Fixed_RGB), mupdf.FzColorParams()
            color = (*values, 0.0, 0.0, 0.0, 0.0)[:count]
            rgb = mupdf.ll_fz_convert_color(loaded, color, target.m_internal, None, parameters.internal())[:3]
            return bool(min(rgb) >= least)
        finally:
            mupdf.ll_fz_drop_colorspace(loaded)

    def _is_faint(self, resources: Any) -> bool:
        """Return whether a graphics state in `resources` is nearly transparent, has a soft mask, or draws thick lines."""
        mupdf = self._mupdf
        states = mupdf.ll_pdf_dict_gets(resources, "ExtGState") if resources else None
        if not states:
            return False
        key = mupdf.ll_pdf_to_num(states)
        if key and key in self._faint:
            return self._faint[key]
        values = (mupdf.ll_pdf_dict_get_val(states, at) for at in range(min(mupdf.ll_pdf_dict_len(states), _MEMBERS)))
        self._faint[key] = found = any(map(self._hides, values))
        return found

    def _hides(self, state: Any) -> bool:
        mupdf = self._mupdf
        alphas = (mupdf.ll_pdf_dict_gets(state, name) for name in ("ca", "CA"))
        width = mupdf.ll_pdf_dict_gets(state, "LW")
        return bool(
            any(alpha and mupdf.ll_pdf_to_real(alpha) < FAINT for alpha in alphas)
            or (width and mupdf.ll_pdf_to_real(width) > _THICK)
            or mupdf.ll_pdf_dict_getp(state, "SMask/G")
        )


@frozen
class _Resources:
    _reader: SignReader
    _dictionary: Any

    def is_white(self, space: bytes, values: tuple[float, ...], least: float = LIGHT) -> bool:
        """See `Resources.is_white`. A pattern counts as possibly white."""
        if not values:
            return True
        count = _DEVICE_SPACES.get(space)
        if count is None:
            return self._reader.is_white(self._dictionary, _plain(space), values, least)
        values = (*values, 0.0, 0.0, 0.0, 0.0)[:count]
        return max(values) <= 1 - least if count == 4 else min(values) >= least

    def form(self, name: bytes) -> Signs | None:
        """See `Resources.form`."""
        return self._reader.form(self._dictionary, _plain(name))


def _plain(name: bytes) -> str:
    """Return a PDF name without its slash and with its `#` escapes decoded."""
    parts = name[1:].split(b"#")
    plain = parts[0]
    for each in parts[1:]:
        try:
            plain += bytes([int(each[:2], 16)]) + each[2:]
        except ValueError:
            plain += b"#" + each
    return plain.decode("utf-8", "surrogateescape")
