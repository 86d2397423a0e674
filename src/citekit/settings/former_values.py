"""Former values of settings. They still work, and a warning gives the new value."""

from __future__ import annotations

from functools import cache

_PARSERS = {"apart": "subprocess", "here": "inline"}


def current_parsers(value: str) -> str:
    """The current name of a value of `CITEKIT_PARSERS`. Logs a warning once for each former value."""
    new = _PARSERS.get(value)
    if new is None:
        return value
    _warn("CITEKIT_PARSERS", value, new)
    return new


@cache
def _warn(setting: str, value: str, new: str) -> None:
    import logging

    logging.getLogger(__name__).warning("The value '%s' of %s is now called '%s'.", value, setting, new)
