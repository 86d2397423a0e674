"""PDFs written object by object, with whatever no honest program writes."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

CONTENT = b"BT /F1 18 Tf 40 700 Td (Chapter One) Tj ET"


def stream(data: bytes, entries: str = "") -> bytes:
    """A stream object."""
    return f"<<{entries}/Length {len(data)}>>\nstream\n".encode("latin-1") + data + b"\nendstream"


def packed(data: bytes, entries: str = "") -> bytes:
    """A deflated stream object."""
    return stream(zlib.compress(data, 9), f"{entries}/Filter/FlateDecode")


def pdf(objects: Mapping[int, str | bytes], trailer: str = "", *, table: bool = True) -> bytes:
    """The file of numbered objects; the first is the catalog."""
    out, places = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), dict[int, int]()
    for number, content in sorted(objects.items()):
        places[number] = len(out)
        out += (
            b"%d 0 obj\n" % number
            + (content.encode("latin-1") if isinstance(content, str) else content)
            + b"\nendobj\n"
        )
    start, size = len(out), max(objects) + 1
    if table:
        out += b"xref\n0 %d\n0000000000 65535 f \n" % size
        out += b"".join(
            b"%010d %05d %c \n" % (places.get(n, 0), 0 if n in places else 65535, b"n"[0] if n in places else b"f"[0])
            for n in range(1, size)
        )
    out += f"trailer\n<</Size {size}/Root 1 0 R{trailer}>>\nstartxref\n{start}\n%%EOF\n".encode("latin-1")
    return bytes(out)


def pages(
    catalog: str = "", page: str = "", content: bytes = CONTENT, count: int = 2, **more: str | bytes
) -> dict[int, str | bytes]:
    """The objects of a document of `count` pages; `more` are further objects as `o20=...`.

    `catalog` and `page` are further entries of the catalog and of the first page.
    """
    kids = " ".join(f"{5 + number} 0 R" for number in range(count))
    found: dict[int, str | bytes] = {
        1: f"<</Type/Catalog/Pages 2 0 R{catalog}>>",
        2: f"<</Type/Pages/Kids[{kids}]/Count {count}>>",
        3: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        4: stream(content),
    }
    for number in range(count):
        extra = page if number == 0 else ""
        box = "" if "/MediaBox" in extra else "/MediaBox[0 0 595 842]"
        found[5 + number] = f"<</Type/Page/Parent 2 0 R{box}/Contents 4 0 R/Resources<</Font<</F1 3 0 R>>>>{extra}>>"
    return {**found, **{int(name[1:]): value for name, value in more.items()}}
