"""Names the distribution of CiteKit on the package index."""

from __future__ import annotations

DISTRIBUTION = "citekit-evidence"
"""The distribution that contains CiteKit. The distribution `citekit` belongs to another project."""

UPDATE_COMMAND = f"pip install --upgrade {DISTRIBUTION}"
"""The shell command that updates CiteKit."""


def install_command(extra: str) -> str:
    """Return the shell command that installs an extra."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"
