"""INI files: a node for every section."""

from __future__ import annotations

import re

from attrs import frozen

from citekit.adapters.drivers.text_file import open_text
from citekit.adapters.mapping.local.data.keyed import Entry, drafts, said
from citekit.adapters.mapping.local.outline import Outline, Outliner
from citekit.domain.progress import Progress
from citekit.domain.source import Source

_SECTION = re.compile(r"[ \t]*\[([^\]\[]{1,200})\][ \t]*(?:[;#].*)?\Z")
_PAIR = re.compile(r"([^\s;#=:\[][^=:]{0,100}?)\s*[=:]")


@frozen
class IniOutliner:
    """`fallback` maps what is long, or has no sections."""

    fallback: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """Sections, each to before the next; what comes before the first is `Keys`. Raises `SourceUnreadable`."""
        text = open_text(source.path, progress)
        names, starts, keys = ["Keys"], [1], [list[str]()]
        for number, line in enumerate(() if text.is_long else text.lines(progress), 1):
            section = _SECTION.match(line)
            if section:
                names.append(section[1].strip())
                starts.append(number)
                keys.append([])
            elif len(keys[-1]) < 1000 and (pair := _PAIR.match(line)):
                keys[-1].append(pair[1])
        if len(names) == 1:
            return self.fallback.outline(source, progress)
        ends = [*(start - 1 for start in starts[1:]), text.line_count]
        entries = [
            Entry(name, "section", first, last, said(held))
            for name, first, last, held in zip(names, starts, ends, keys, strict=True)
            if last >= first and (name != "Keys" or held)
        ]
        return Outline(title=None, bounds=text.bounds, drafts=drafts(entries, "sections"), facts=text.facts)
