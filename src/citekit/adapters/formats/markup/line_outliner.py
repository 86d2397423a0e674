"""Contains the outliner for markup languages whose headings can be read line by line in one pass."""

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
class DocumentHeadings:
    """The title of a document, and its headings and captions, which may be out of order.

    `opening` is the 1-based line after the setup commands, or 0 if it is unknown.
    """

    title: str | None = None
    headings: list[TextHeading] = field(factory=list)
    opening: int = 0


@frozen
class MarkupOutliner:
    """Outlines the files of one markup language.

    `read` finds the headings, and `plain` removes the markup from a line. `fallback` outlines files that are very long
    or have no headings.
    """

    read: Callable[[Iterable[str]], DocumentHeadings]
    plain: Callable[[str], str]
    fallback: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. The sections are nested by their headings."""
        text = open_text(source.path, progress)
        found = DocumentHeadings() if text.is_long else self.read(text.lines(progress))
        if not found.headings:
            outline = self.fallback.outline(source, progress)
            return evolve(outline, title=found.title or outline.title)
        items = sections(text, by_line(found.headings), self.plain)
        return Outline(
            title=found.title or found.headings[0].title,
            extent=text.extent,
            items=(*self._preamble(text, found, items[:1]), *items[1:]),
            facts=text.facts,
        )

    def _preamble(self, text: TextFile, found: DocumentHeadings, first: Sequence[OutlineItem]) -> Sequence[OutlineItem]:
        """Return `first`, which has the first outline item. If that is a preamble, its title and its summary are made
        from the text after the setup commands.
        """
        if not found.opening or not first or first[0].type != "preamble":
            return first
        lines = next(text.passages([(found.opening, found.headings[0].line - 1)]), [])
        visible = [self.plain(line) for line in lines[:SUMMARY_LINES]]
        title = next((line for line in visible if has_text(line)), found.title or "Preamble")
        return (evolve(first[0], title=title, summary=first_sentence(visible, skip=title)),)
