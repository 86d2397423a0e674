"""Runs in the peer's environment: `pdf_peer_script.py PDF PAGE,PAGE,...` prints its headings and seconds as JSON.

Headings are the lines of its Markdown that begin with `#`, marks of emphasis taken out; pages count from 1.
"""

from __future__ import annotations

import json
import re
import sys
import time

_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"\*\*|__|~~|`|</?[a-z]+>|(?<!\w)[*_]|[*_](?!\w)|\\(?=\W)")


def main(path: str, pages: list[int]) -> dict[str, object]:
    import pymupdf
    import pymupdf4llm  # type: ignore[import-not-found]  # of another environment

    document = pymupdf.open(path)
    began = time.process_time()
    chunks = pymupdf4llm.to_markdown(
        document, pages=[page - 1 for page in pages], page_chunks=True, header=False, footer=False, use_ocr=False
    )
    seconds = time.process_time() - began
    found = []
    for page, chunk in zip(pages, chunks, strict=True):
        for line in chunk["text"].splitlines():
            heading = _HEADING.match(line)
            if heading:
                found.append((len(heading[1]), _MARKS.sub("", _LINK.sub(r"\1", heading[2])).strip(), page))
    return {"nodes": found, "seconds": seconds, "pages": len(pages)}


if __name__ == "__main__":
    output, sys.stdout = sys.stdout, sys.stderr
    answer = main(sys.argv[1], [int(page) for page in sys.argv[2].split(",")])
    print(json.dumps(answer), file=output)
