"""`python -m benchmarks.library [LIBRARY]`: a whole run over a real library, then the index and the catalogue at scale."""

from __future__ import annotations

import sys

from benchmarks.library import catalogue, scale, whole_run


def main() -> None:
    """Print the tables; without a library, there is no whole run."""
    if sys.argv[1:]:
        whole_run.main(sys.argv[1])
    scale.main([*scale.SIZES])
    catalogue.main()


if __name__ == "__main__":
    main()
