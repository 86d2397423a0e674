"""Outlines comics (CBZ) by the bookmarks in `ComicInfo.xml`, or else by folders. Each image is a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from attrs import frozen

from citekit.adapters.formats.comic.archive import ComicArchive, ComicInfo, open_comic
from citekit.adapters.formats.shared.outline import Outline, OutlineItem
from citekit.domain.extent import Extent
from citekit.domain.locations import Pages
from citekit.domain.progress import Progress
from citekit.domain.source import Source

PAGE_NODE_LIMIT = 2000
"""The maximum number of pages of a comic with a node for each page. A longer comic has nodes for ranges."""

_DEPTH = 8
_TYPES = {"frontcover": "cover", "backcover": "cover", "story": "page", "innercover": "cover"}
"""Page types of `ComicInfo.xml` for which maps use another word. Other types stay, in lowercase."""


class CbzOutliner:
    """Outlines comics without decoding images."""

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. The chapters contain their pages."""
        progress(0, 1, "reading the comic")
        with open_comic(source.path) as comic:
            info = comic.info()
            builder = _OutlineBuilder(comic, info)
            facts = {"authors": list(info.authors), "language": info.language, "series": info.series}
            return Outline(
                title=_title(info),
                extent=Extent(pages=len(comic.names)),
                items=tuple(builder.items()),
                facts={**{name: value for name, value in facts.items() if value}},
            )


def _title(info: ComicInfo) -> str | None:
    """Return the title of the comic, or else its series with its number, or None."""
    numbered = f"{info.series} {info.number}" if info.series and info.number else info.series
    return info.title or numbered


@frozen
class _OutlineBuilder:
    comic: ComicArchive
    info: ComicInfo

    def items(self) -> Iterator[OutlineItem]:
        count = len(self.comic.names)
        bookmarks = [
            (page, attributes["bookmark"])
            for page, attributes in sorted(self.info.pages.items())
            if attributes.get("bookmark") and page <= count
        ]
        if bookmarks:
            yield from self._pages(1, bookmarks[0][0] - 1)
            ends = [page - 1 for page, _ in bookmarks[1:]] + [count]
            for (first, title), last in zip(bookmarks, ends, strict=True):
                yield self._chapter(title, first, last, tuple(self._pages(first, last)))
            return
        yield from self._folders(
            [name.split("/")[:-1] for name in self.comic.names], 1, _common_folders(self.comic.names)
        )

    def _folders(self, folders: Sequence[Sequence[str]], first: int, depth: int) -> Iterator[OutlineItem]:
        """Yield a chapter per folder, and a page per image that is in no subfolder.

        `folders` contains the folder path of each page from `first` on. `depth` is the level in these paths, from 0, by
        which pages are grouped.
        """
        for folder, group in groupby(
            folders, key=lambda parts: parts[depth] if depth < min(len(parts), _DEPTH) else ""
        ):
            inside = list(group)
            last = first + len(inside) - 1
            if folder:
                yield self._chapter(folder, first, last, tuple(self._folders(inside, first, depth + 1)))
            else:
                yield from self._pages(first, last)
            first = last + 1

    def _chapter(self, title: str, first: int, last: int, below: Sequence[OutlineItem]) -> OutlineItem:
        return OutlineItem(title, "chapter", Pages.span(first, last), children=below)

    def _pages(self, first: int, last: int) -> Iterator[OutlineItem]:
        """Yield an item for each page, or a single item for all if the comic has more than `PAGE_NODE_LIMIT` pages."""
        if len(self.comic.names) > PAGE_NODE_LIMIT:
            if first <= last:
                title = f"Pages {first}-{last}" if first < last else f"Page {first}"
                yield OutlineItem(title, "pages", Pages.span(first, last))
            return
        for page in range(first, last + 1):
            types = self.info.pages.get(page, {}).get("type", "").split()
            type = _TYPES.get(types[0].lower(), types[0].lower()) if types else "page"
            title = self.comic.names[page - 1].rpartition("/")[2].rpartition(".")[0]
            yield OutlineItem(title or f"Page {page}", type, Pages((page,)), name=f"page_{page}")


def _common_folders(names: Sequence[str]) -> int:
    """Return how many levels of folders all pages share. These folders do not distinguish chapters."""
    first, last = names[0].split("/")[:-1], names[-1].split("/")[:-1]
    every = [name.split("/")[:-1] for name in names]
    shared = 0
    while shared < min(len(first), len(last)) and all(parts[: shared + 1] == first[: shared + 1] for parts in every):
        shared += 1
    return shared
