"""Children that were taken over by a file, and answer what they like: every port that asks one, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from citekit.adapters.quotes.stored_form import from_plain
from citekit.adapters.sandbox.sandboxed_files import IsolatedExtractor, IsolatedMapper, IsolatedMeasurer
from citekit.adapters.sandbox.sandboxed_readers import (
    IsolatedProbe,
    IsolatedQuotableTexts,
    IsolatedReader,
    IsolatedTextReader,
)
from citekit.adapters.sandbox.worker_pool import Limits, ParserBrokenError, WorkerPool
from citekit.adapters.system.child_process import ChildProcessEndedError
from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError
from citekit.domain.evidence import Options
from citekit.domain.formats import format_named
from citekit.domain.locations import Pages
from citekit.domain.quotes.finding import matches
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.quotes.quote import ways_to_read
from citekit.domain.source import Source


@define
class Liar:
    """Says `messages` one after another, then dies."""

    messages: Iterator[bytes]
    was_killed: bool = field(default=False, init=False)

    def send(self, _: bytes) -> None:
        """See `Child.send`."""

    def receive(self, _: float) -> bytes:
        """See `Child.receive`."""
        for message in self.messages:
            return message
        raise ChildProcessEndedError(-11)

    def processor_time(self) -> None:
        """See `Child.processor_time`."""

    def lower_priority(self) -> None:
        """See `Child.lower_priority`."""

    def restore_priority(self) -> bool:
        """See `Child.restore_priority`."""
        return True

    def kill(self) -> None:
        """See `Child.kill`."""
        self.was_killed = True

    def close(self) -> int:
        """See `Child.close`."""
        return 0


@define
class LyingChildren(WorkerPool):
    """Every child is such a liar."""

    lines: Sequence[bytes] = field(default=(), kw_only=True)

    def _started(self) -> Any:
        return Liar(iter(self.lines))


@frozen
class _Clock:
    def now(self) -> datetime:
        return datetime(2025, 1, 1, tzinfo=UTC)


@cache
def _source() -> Source:
    format = format_named("pdf")
    assert format is not None
    return Source(Path("/files/bad.pdf"), Digest("0" * 64), 5, format)


def _ways(children: WorkerPool) -> list[Callable[[], object]]:
    here: Any = None
    source, path = _source(), _source().path
    reader = IsolatedReader(children)
    text = IsolatedTextReader(here, children, lambda _: True)
    cutter = IsolatedExtractor(here, "pdf", children)
    return [
        lambda: IsolatedMapper(here, children, _Clock(), lambda _: True).map(source, "bad", _heard),
        lambda: cutter.extract(source, Pages((1,)), Options(), Path("/target/x"), _heard),
        lambda: IsolatedMeasurer(here, children, lambda _: True).measure(source),
        lambda: IsolatedProbe(children).probe(path),
        lambda: reader.read(path),
        lambda: reader.texts(path, 1),
        lambda: reader.html(path, 1, progress=_heard),
        lambda: text.read(source, _heard),
        lambda: _searched(IsolatedQuotableTexts(here, children, lambda _: True, from_plain).read(source, _heard)),
        lambda: IsolatedQuotableTexts(here, children, lambda _: True, from_plain).drawn(source, [1]),
        lambda: text.facts(source),
    ]


def _searched(texts: Sequence[Quotable]) -> None:
    """Look for a quote in what a liar gave as texts: no place in them is outside of them."""
    for text in texts:
        for pieces in ways_to_read(text.letters[:20] or "words"):
            assert all(
                0 <= each.start < each.end <= len(text.text) for each in matches(text, pieces, 0, len(text.text))
            )


def _heard(done: float, total: float | None = None, message: str = "") -> None:
    assert isinstance(done, float)
    assert total is None or isinstance(total, float)
    assert isinstance(message, str)


def asked_of(lines: Sequence[bytes]) -> int:
    """Ask liars who say `lines` everything; how many answers were taken. Raises the last of our errors where none was."""
    taken, last = 0, None
    children = LyingChildren(lambda: [], dict, Limits(seconds=1.0, output=1), lines=lines)
    for way in _ways(children):
        try:
            way()
            taken += 1
        except CiteKitError as error:
            last = error
        except ParserBrokenError:  # it says that it is broken: that goes into the log, as a fault of ours
            taken += 1
    assert children.at_work == 0
    if not taken and last is not None:
        raise last
    return taken
