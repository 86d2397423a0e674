"""Names the setting from which the base URL of the model service comes, for error messages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citekit.settings import Settings


def source_of_base_url(settings: Settings) -> str:
    """Return the name of the variable or option from which the base URL in `settings` comes, or could come."""
    is_variable = settings.base_url and settings.base_url == os.environ.get("CITEKIT_BASE_URL")
    return "CITEKIT_BASE_URL" if is_variable else "--base-url"
