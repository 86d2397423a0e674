"""`python -m benchmarks.library [LIBRARY]`: a whole run over a real library, then the index and the catalogue at scale."""

from __future__ import annotations

import sys

from benchmarks.library import catalogue, scale, whole_run

if sys.argv[1:]:
    whole_run.main(sys.argv[1])
scale.main([10_000, 50_000, 450_000])
catalogue.main()
