"""What small files cost: those that once cost much, and those that a search makes for each format.

The search breeds files: a body of repeated pieces of the format's grammar (`head` once, then `piece * count`, then
`closer * count`). The dearest bodies are changed and crossed. The fitness of a file is the processor time and the memory of its
dearest step. The same seed tries the same files first; which are bred further depends on what they cost on this machine.
`python -m tests.faults.bills FILE SEED COUNT` breeds one format and shows the dearest.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from attrs import evolve, frozen

from tests.faults import served
from tests.faults.bill_grammars import BRIEF as BRIEF_FILES
from tests.faults.bill_grammars import GRAMMARS, Grammar
from tests.faults.bill_media_shapes import SHAPES as MEDIA_SHAPES
from tests.faults.bill_meter import MEGABYTES, SECONDS, SMALL, Bill, Meter, shown
from tests.faults.bill_office_shapes import SHAPES as OFFICE_SHAPES
from tests.faults.bill_shapes import SHAPES as FIRST_SHAPES
from tests.faults.bill_shapes import Shape
from tests.faults.mutations import seeded
from tests.faults.table import BRIEF, Row, Scale

AREA = "bills"

SHAPES = (*FIRST_SHAPES, *OFFICE_SHAPES, *MEDIA_SHAPES)
"""Every shape, the known ones and those that a search found."""

SIZE = 900_000
"""Bytes of the files that a long search makes; those of a brief one have a tenth."""

_KEPT = 4
"""Of the files tried so far, those that the next ones are bred from."""


@frozen
class Gene:
    """A body: `head`, then each piece as often as it fits into an equal share of the size, its closer as often."""

    head: bytes
    parts: tuple[tuple[bytes, bytes], ...]

    def body(self, size: int) -> bytes:
        """About `size` bytes."""
        share = size // max(1, len(self.parts))
        return self.head + b"".join(
            piece * (share // len(piece + closer)) + closer * (share // len(piece + closer))
            for piece, closer in self.parts
        )


@frozen
class Bred:
    """A gene, the file that it made, and what that cost."""

    gene: Gene
    data: bytes
    bill: Bill

    @property
    def fitness(self) -> float:
        """1 at the limits."""
        if self.bill.died:
            return 2.0
        return max(self.bill.seconds / SECONDS, self.bill.megabytes / MEGABYTES)


def run(scale: Scale) -> Sequence[Row]:
    """The known shapes; then about `scale.inputs / 300` files bred for each format, of a brief run two for a few formats."""
    is_brief = scale.inputs <= BRIEF.inputs
    with Meter.started() as meter, tempfile.TemporaryDirectory(prefix="citekit-bills-") as folder:
        known = scale.share([shape for shape in SHAPES if not shape.is_refused and (shape.brief or not is_brief)])
        rows = [_known(meter, known, Path(folder))]
        for grammar in scale.share(GRAMMARS):
            if not is_brief or grammar.file in BRIEF_FILES:
                count = 2 if is_brief else max(4, scale.inputs // 300)
                rows.append(
                    _row(
                        grammar,
                        list(bred(meter, grammar, count, SIZE // 10 if is_brief else SIZE, Path(folder))),
                        Path(folder),
                    )
                )
    return rows


def bill_of(meter: Meter, shape: Shape, folder: Path, seconds: float = 2 * SECONDS) -> tuple[int, Bill]:
    """The size of the file that a shape makes, and what it costs."""
    path = folder / shape.file
    path.write_bytes(shape.make())
    try:
        return path.stat().st_size, meter.bill(path, seconds)
    finally:
        path.unlink()


def _known(meter: Meter, shapes: Sequence[Shape], folder: Path) -> Row:
    faults = []
    for shape in shapes:
        size, bill = bill_of(meter, shape, folder)
        if bill.fault(size) and (fault := _fault_of_server(shape.make(), shape.file, folder)):
            faults.append(f"{shape.file} ({shape.name}): {bill.fault(size)}, through the server {fault}")
    return Row(AREA, "shapes that once cost much", len(shapes), len(shapes) - len(faults), "; ".join(faults))


def _fault_of_server(data: bytes, file: str, folder: Path) -> str:
    """What is not as promised with such a file through the server; empty for nothing.

    Asked only where a file takes too much without the sandbox, as on a slow machine: the sandbox may refuse it in time.
    """
    path = folder / file
    path.write_bytes(data)
    try:
        return "; ".join(call.fault for _, calls in served.bills([path], ()) for call in calls if call.fault)
    finally:
        path.unlink()


def _row(grammar: Grammar, found: Sequence[Bred], folder: Path) -> Row:
    over = [
        each for each in found if each.bill.fault(len(each.data)) and _fault_of_server(each.data, grammar.file, folder)
    ]
    dearest = max(found, key=lambda each: each.fitness)
    note = "; ".join(f"{each.bill.fault(len(each.data))}: {each.gene}"[:300] for each in over[:2])
    note = note or f"dearest {dearest.bill.seconds:.1f} s, {dearest.bill.megabytes} MB"
    return Row(AREA, f"bred: {grammar.file}", len(found), len(found) - len(over), note)


def bred(meter: Meter, grammar: Grammar, count: int, size: int, folder: Path, seed: int = 0) -> Iterator[Bred]:
    """`count` files of a format, half of them of chance, the others bred from the dearest so far."""
    chance = seeded(AREA, grammar.file, seed)
    found: list[Bred] = []
    for number in range(count):
        best = sorted(found, key=lambda each: -each.fitness)[:_KEPT]
        gene = _random(chance, grammar) if number < (count + 1) // 2 else _changed(chance, grammar, best)
        data = _fitted(grammar, gene, size)
        path = folder / grammar.file
        path.write_bytes(data)
        found.append(Bred(gene, data, meter.bill(path)))
        path.unlink()
        yield found[-1]


def _fitted(grammar: Grammar, gene: Gene, size: int) -> bytes:
    """The file of a gene, below the size of small ones."""
    wanted = size * grammar.density
    data = grammar.wrap(gene.body(wanted))
    while len(data) >= SMALL:
        wanted //= 2
        data = grammar.wrap(gene.body(wanted))
    return data


def _random(chance: Random, grammar: Grammar) -> Gene:
    head = b"".join(chance.choices(grammar.pieces, k=chance.choice((0, 0, 1, 3))))
    return Gene(head, tuple(_part(chance, grammar) for _ in range(chance.choice((1, 1, 1, 2, 3)))))


def _part(chance: Random, grammar: Grammar) -> tuple[bytes, bytes]:
    piece = b"".join(chance.choices(grammar.pieces, k=chance.choice((1, 1, 2, 2, 3, 5))))
    closer = b"".join(chance.choices(grammar.pieces, k=chance.choice((0, 0, 1, 2))))
    return piece, closer


def _changed(chance: Random, grammar: Grammar, best: Sequence[Bred]) -> Gene:
    """One of the dearest genes with something else in it, or two of them one after the other."""
    gene, other = chance.choice(best).gene, chance.choice(best).gene
    at = chance.randrange(len(gene.parts))
    piece, closer = gene.parts[at]
    extra = chance.choice(grammar.pieces)
    match chance.randrange(6):
        case 0:
            return Gene(gene.head + other.head, (*gene.parts, *other.parts)[:4])
        case 1:
            return evolve(gene, head=gene.head + extra)
        case 2:
            changed = piece + extra, closer
        case 3:
            changed = extra + piece, closer
        case 4:
            changed = piece, closer + extra
        case _:
            changed = piece[len(piece) // 2 :] + other.parts[0][0][: len(other.parts[0][0]) // 2] or extra, closer
    return evolve(gene, parts=(*gene.parts[:at], changed, *gene.parts[at + 1 :]))


def main() -> None:
    """Breed one format."""
    file, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    grammar = next(each for each in GRAMMARS if each.file == file)
    with Meter.started() as meter, tempfile.TemporaryDirectory(prefix="citekit-bills-") as folder:
        found = list(bred(meter, grammar, count, SIZE, Path(folder), seed))
    for each in sorted(found, key=lambda each: -each.fitness)[:5]:
        print(f"{each.gene} {len(each.data):,} bytes: {shown(each.bill)}")


if __name__ == "__main__":
    main()
