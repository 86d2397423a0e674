"""Converts plain data to attrs objects, and reports errors as `path: reason` lines.

Data in exactly the stored form is read by `fast_path`, because importing cattrs takes 25 ms.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cattrs import Converter, transform_error
from cattrs.errors import BaseValidationError
from cattrs.gen import make_dict_structure_fn, override

from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError, FaultyAnswer, LocationMalformed
from citekit.domain.evidence import EvidenceKey, Extraction, ExtractorIdentity, Form, Options, Receipt, SectionTitles
from citekit.domain.locations import Location
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.numbers import real
from citekit.domain.resource_map import ResourceMap
from citekit.wire import locations
from citekit.wire.finite import check_numbers
from citekit.wire.timestamps import parse_timestamp

_MISSING = "is missing"


def structure(data: object, kind: type[Any], what: str) -> Any:
    """Convert `data` to an object of the class `kind`.

    Raise `FaultyAnswer` with `path: reason` lines if this is not possible. `what` describes the data in it.
    """
    try:
        return CONVERTER.structure(data, kind)
    except (BaseValidationError, CiteKitError, ValueError, TypeError, KeyError) as wrong:
        raise FaultyAnswer(what, faults_of(wrong)) from wrong


def faults_of(wrong: BaseException) -> list[str]:
    """Return the `path: reason` lines for an error of a conversion."""
    if not isinstance(wrong, BaseValidationError):
        return [f"$: {_reason(wrong, None)}"]
    return [_line(text) for text in transform_error(wrong, path="$", format_exception=_reason)]


def _line(text: str) -> str:
    reason, _, path = text.rpartition(" @ ")
    path = path.removeprefix("$").removeprefix(".") or "$"
    path = "type" if path == "modality" else path  # only maps store the modality under another name
    field, colon, rest = reason.partition(": ")
    if colon and field.isidentifier() and field.islower():
        return f"{path}.{field}: {rest}"
    return f"{path}: {reason}"


def _reason(wrong: BaseException, _: type | None) -> str:
    if isinstance(wrong, KeyError):
        return _MISSING
    if isinstance(wrong, CiteKitError | ValueError | TypeError) and str(wrong):
        reason = wrong.reason if isinstance(wrong, LocationMalformed) else str(wrong)
        return re.sub(r"\s+", " ", reason)[:300]
    return "is not valid"


def _text(value: object, _: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"must be a string, not {_shown(value)}")
    return value


def _whole(value: object, _: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"must be a whole number, not {_shown(value)}")
    return value


def _real(value: object, _: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"must be a number, not {_shown(value)}")
    number = real(value)
    if not math.isfinite(number):
        raise ValueError(f"must be a finite number, not {_shown(value)}")
    return number


def _truth(value: object, _: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"must be true or false, not {_shown(value)}")
    return value


def _moment(value: object, _: Any) -> datetime:
    if not isinstance(value, str):
        raise TypeError(f"must be a time in ISO 8601, not {_shown(value)}")
    try:
        return parse_timestamp(value)
    except ValueError:
        raise ValueError(f"must be a time in ISO 8601, not {_shown(value)}") from None


def _location(value: object, _: Any) -> Location:
    if value is None:
        raise ValueError(_MISSING)
    if not isinstance(value, Mapping):
        raise TypeError(f"must be a location, not {_shown(value)}")
    return locations.from_plain(value)


def _plain_mapping(value: object, _: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"must be a JSON object, not {_shown(value)}")
    check_numbers(value)
    return dict(value)


def _modality(value: object, _: Any) -> Modality:
    found = locations.modality_of(value)
    if found is None:
        raise ValueError(f"must be one of {', '.join(Modality)}, not {_shown(value)}")
    return found


def _form(value: object, _: Any) -> Form:
    found = next((form for form in Form if form.value == value), None)
    if found is None:
        raise ValueError(f"must be one of {', '.join(Form)}, not {_shown(value)}")
    return found


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _build() -> Converter:
    converter = Converter()
    hooks: tuple[tuple[type[Any], Any], ...] = (
        (str, _text),
        (int, _whole),
        (float, _real),
        (bool, _truth),
        (datetime, _moment),
    )
    for kind, hook in hooks:
        converter.register_structure_hook(kind, hook)
    converter.register_structure_hook(Modality, _modality)
    converter.register_structure_hook(Form, _form)
    converter.register_structure_hook_func(lambda kind: kind == Location, _location)
    converter.register_structure_hook_func(lambda kind: kind == Mapping[str, Any], _plain_mapping)
    converter.register_structure_hook(Digest, lambda value, _: Digest(_text(value, None)))
    converter.register_structure_hook(EvidenceKey, lambda value, _: EvidenceKey(Digest(_text(value, None))))
    shapes: tuple[tuple[type[Any], dict[str, Any]], ...] = (
        (Node, {}),
        (ResourceMap, {"modality": override(rename="type")}),
        (Extraction, {}),
        (ExtractorIdentity, {}),
        (SectionTitles, {}),
        (Options, {}),
        (Receipt, {}),
    )
    for kind, renamed in shapes:
        converter.register_structure_hook(kind, make_dict_structure_fn(kind, converter, **renamed))
    return converter


CONVERTER = _build()
