"""Lengths that depend on the size of the page, and the scale of drawings."""

from __future__ import annotations

import pytest

from citekit.adapters.formats.xhtml.css_properties import HEIGHT, WIDTH, Units, length
from citekit.adapters.formats.xhtml.style_visibility import Shown, in_svg


@pytest.mark.parametrize("kind", ["", "s", "l", "d"])
def test_units_of_the_longer_and_the_shorter_side(kind: str) -> None:
    longer, shorter = (length("width", f"100{kind}{unit}", Units()) for unit in ("vmax", "vmin"))

    assert longer == pytest.approx(WIDTH)
    assert shorter == pytest.approx(HEIGHT)


def test_a_drawing_without_a_height_is_not_taller_than_the_page() -> None:
    assert in_svg(Shown(), {"viewbox": "0 0 1000 1000"}).scale == pytest.approx(HEIGHT / 1000)
