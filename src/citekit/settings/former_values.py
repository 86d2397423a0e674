"""Converts former values of settings to the current values.

The former values still work, and a warning states the current value.
"""

from __future__ import annotations

from functools import cache

_PARSERS = {"apart": "subprocess", "here": "inline"}


def current_parsers(value: str) -> str:
    """Return the current name for a value of `CITEKIT_PARSERS`.

    Log a warning, once for each value, if the value is a former one.
    """
    new = _PARSERS.get(value)
    if new is None:
        return value
    _warn("CITEKIT_PARSERS", value, new)
    return new


@cache
def _warn(setting: str, value: str, new: str) -> None:
    import logging

    logging.getLogger(__name__).warning("The value '%s' of %s is now called '%s'.", value, setting, new)
