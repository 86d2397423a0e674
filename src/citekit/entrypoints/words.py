"""The words that callers use for kinds and forms."""

from __future__ import annotations

from citekit.domain.errors import RequestRefused
from citekit.domain.evidence import Form
from citekit.domain.modality import Modality
from citekit.wire.locations import modality_of


def read_modality(word: str) -> Modality:
    """`document` (or `pdf`), `video`, `audio`, `image` or `text`. Raises `RequestRefused`."""
    found = modality_of(word)
    if found is None:
        raise RequestRefused(f"{word!r} is no kind of resource: there are {', '.join(Modality)}.")
    return found


def read_form(word: str) -> Form:
    """`native`, `pdf`, `png`, `text`, `html` or `frame`. Raises `RequestRefused`."""
    found = next((form for form in Form if form.value == word), None)
    if found is None:
        raise RequestRefused(f"{word!r} is no form of evidence: there are {', '.join(Form)}.")
    return found
