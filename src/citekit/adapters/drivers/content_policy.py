"""What HTML evidence may do in a browser."""

from __future__ import annotations

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""The Content-Security-Policy (CSP Level 3) of every HTML document that is evidence: it may load and run nothing."""
