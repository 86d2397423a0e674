"""What the outliners of these languages have in common: headings read line by line, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import define, field, frozen

from citekit.adapters.drivers.text_file import open_text
from citekit.adapters.mapping.local.outline import Outline, Outliner
from citekit.adapters.mapping.local.sections import TextHeading, by_line, sections
from citekit.domain.progress import Progress
from citekit.domain.source import Source


@define
class Found:
    """What a document says of itself: its title, and its headings in order."""

    title: str | None = None
    headings: list[TextHeading] = field(factory=list)


@frozen
class MarkupOutliner:
    """`read` finds the headings of a document in its lines, `plain` takes the markup out of a line.

    `fallback` maps files that are long, or hold no heading.
    """

    read: Callable[[Iterable[str]], Found]
    plain: Callable[[str], str]
    fallback: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """Sections nested by their headings. Raises `SourceUnreadable`."""
        text = open_text(source.path, progress)
        found = Found() if text.is_long else self.read(text.lines(progress))
        if not found.headings:
            return self.fallback.outline(source, progress)
        return Outline(
            title=found.title or found.headings[0].title,
            bounds=text.bounds,
            drafts=sections(text, by_line(found.headings), self.plain),
            facts=text.facts,
        )
