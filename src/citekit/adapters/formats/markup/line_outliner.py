"""What the outliners of these languages have in common: headings read line by line, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attrs import define, evolve, field, frozen

from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner
from citekit.adapters.formats.shared.sections import SUMMARY_LINES, TextHeading, by_line, sections
from citekit.adapters.formats.shared.summaries import first_sentence, has_text
from citekit.adapters.formats.shared.text_file import TextFile, open_text
from citekit.domain.progress import Progress
from citekit.domain.source import Source


@define
class Found:
    """What a document says of itself: its title, and its headings in order.

    Its text begins on the line `opening`, where that is said: what stands before it sets the document up.
    """

    title: str | None = None
    headings: list[TextHeading] = field(factory=list)
    opening: int = 0


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
            outline = self.fallback.outline(source, progress)
            return evolve(outline, title=found.title or outline.title)
        drafts = sections(text, by_line(found.headings), self.plain)
        return Outline(
            title=found.title or found.headings[0].title,
            bounds=text.bounds,
            items=(*self._preamble(text, found, drafts[:1]), *drafts[1:]),
            facts=text.facts,
        )

    def _preamble(self, text: TextFile, found: Found, first: Sequence[OutlineItem]) -> Sequence[OutlineItem]:
        """The first draft; where it is a preamble, named by the text in it instead of what sets it up."""
        if not found.opening or not first or first[0].type != "preamble":
            return first
        lines = next(text.passages([(found.opening, found.headings[0].line - 1)]), [])
        said = [self.plain(line) for line in lines[:SUMMARY_LINES]]
        title = next((line for line in said if has_text(line)), found.title or "Preamble")
        return (evolve(first[0], title=title, summary=first_sentence(said, skip=title)),)
