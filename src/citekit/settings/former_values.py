"""Values of settings that were renamed: the former ones still work, and a warning says the new ones."""

from __future__ import annotations

from functools import cache

_PARSERS = {"apart": "subprocess", "here": "inline"}


def current_parsers(value: str) -> str:
    """The present name of a value of `CITEKIT_PARSERS`. Logs a warning once for each former value."""
    new = _PARSERS.get(value)
    if new is None:
        return value
    _warn("CITEKIT_PARSERS", value, new)
    return new


@cache
def _warn(setting: str, value: str, new: str) -> None:
    import logging

    logging.getLogger(__name__).warning("The value '%s' of %s is now called '%s'.", value, setting, new)
