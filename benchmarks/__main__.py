"""`python -m benchmarks`: every question in turn."""

from __future__ import annotations

from benchmarks import resolving, starting

for question in (starting, resolving):
    question.main()
