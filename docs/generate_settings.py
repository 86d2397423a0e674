"""Writes the table of variables in docs/reference/settings.md from `VARIABLES`: python docs/generate_settings.py"""

from __future__ import annotations

import re
from pathlib import Path

from citekit.settings import VARIABLES

PAGE = Path(__file__).parent / "reference" / "settings.md"

BEGIN = "<!-- Table written by docs/generate_settings.py from citekit.settings.VARIABLES. Do not edit. -->"
END = "<!-- End of the table. -->"


def page() -> str:
    """The page with the current table. The text around the table is kept."""
    text = PAGE.read_text(encoding="utf-8")
    found, count = re.subn(rf"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: _table(), text, flags=re.DOTALL)
    assert count == 1, f"{PAGE} must contain the table exactly once, between its two comments"
    return found


def _table() -> str:
    rows = "".join(f"| `{name}` | {meaning} |\n" for name, meaning in VARIABLES.items())
    return f"{BEGIN}\n\n| variable | meaning |\n| --- | --- |\n{rows}\n{END}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
