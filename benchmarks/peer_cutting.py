"""Runs in the environment of citekit 0.2.1: resolves the nodes that are named on standard input, and times each."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main() -> None:
    """Answer each line `[resource, node]` with the seconds and the bytes, or with what was objected to."""
    import citekit.client  # type: ignore[import-not-found]  # of another environment

    client = citekit.client.CiteKitClient()
    for line in sys.stdin:
        answer: dict[str, object]
        resource_id, node_id = json.loads(line)
        try:
            began = time.perf_counter()
            evidence = client.resolve(resource_id, node_id)
            seconds = time.perf_counter() - began
            answer = {"seconds": seconds, "bytes": Path(evidence.output_path).stat().st_size}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
