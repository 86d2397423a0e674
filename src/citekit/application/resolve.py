"""Turns a node or an address into evidence: a file with the extracted part of the source, and a receipt."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from attrs import evolve, field, frozen

from citekit.application.ingest import Ingest
from citekit.application.locate_source import LocateSource
from citekit.application.measure_extent import MeasuredExtent, MeasureSource
from citekit.application.resolve_cache import Asked, ResolveCache
from citekit.application.source_access import assert_unchanged
from citekit.domain.address import Address, fragment_of
from citekit.domain.errors import (
    EvidenceCorrupt,
    FormUnsupported,
    HomeUnwritable,
    LocationOutside,
    RequestRefused,
    SourceChanged,
)
from citekit.domain.evidence import (
    Evidence,
    EvidenceKey,
    Extraction,
    ExtractorIdentity,
    Form,
    Options,
    Receipt,
    SectionTitles,
    StoredEvidence,
)
from citekit.domain.extent import Extent
from citekit.domain.formats import ACTIVE_CONTENT, Format, by_name
from citekit.domain.locations import Location, Pages, TimeSpan, Virtual
from citekit.domain.node import Node, NodeName
from citekit.domain.phrases import counted
from citekit.domain.ports.evidence_store import EvidenceStore
from citekit.domain.ports.extractor import Extractor, identity_of
from citekit.domain.ports.locks import report_waiting
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.outputs import Outputs
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from citekit.domain.text_search.section_titles import titles_around
from citekit.domain.validation import TIME_SLACK, kind_issue

AGAIN = 3
"""The maximum number of retries if the file's metadata changed during the extraction, but not its bytes."""

_WAITING = "waiting for another process that is writing evidence with the same name"

_UNSAFE = re.compile(r"[^\w~-]+")
_USUAL = Options()
_WORDS = (Form.TEXT, Form.VTT, Form.SRT)
"""Forms of a part of a recording that depend on its subtitles. Evidence in these forms is not cached in memory."""


@frozen
class _Part:
    node: Node | None
    location: Location
    file_name: str
    owner: str
    is_named: bool = False
    """Whether the node itself was requested, not an address in it."""


@frozen
class Resolve:
    """Extracts the part of a source that a node or an address names, or reuses stored evidence."""

    maps: MapStore
    evidence: EvidenceStore
    outputs: Outputs
    extractors: Sequence[Extractor]  # not copied: the last of them are loaded only when no other accepts a location
    locate: LocateSource
    ingest: Ingest
    measure: MeasureSource
    _repeats: ResolveCache = field(init=False, repr=False)

    @_repeats.default
    def _none_yet(self) -> ResolveCache:
        return ResolveCache(self.maps, self.locate.sources, self.evidence, self.outputs)

    def cached(self, asked: Asked) -> Evidence | None:
        """Return the cached answer to the same request, or None if there is none or anything that it depends on has
        changed.

        Only file metadata is checked. Repeated calls return the same object.
        """
        return self._repeats.again(asked)

    def __call__(
        self,
        what: NodeName | Address,
        *,
        virtual: bool = False,
        options: Options = _USUAL,
        remap: bool = False,
        roots: Sequence[Path] = (),
        progress: Progress = silent,
    ) -> Evidence:
        """Return the evidence for a node, or for the part of a mapped resource that an address names.

        With `virtual`, or for a virtual location, nothing is extracted: the result has an address but no output path,
        and says whether the source has changed, and in `unchecked` why the location could not be checked. With `remap`,
        a changed source is mapped again instead of raising `SourceChanged`. `roots` are additional folders in which a
        moved source is searched for; if it is found, its new path is stored in the map. For an address, the `node` of
        the result is the innermost node that contains it.

        Raise `ResourceMissing`, `NodeMissing`, `LocationOutside`, `SourceChanged`, `SourceMoved`, `FormUnsupported`,
        `RequestRefused` if the address is for another type of resource, and the other errors of `LocateSource`, the
        extractor, the stores, and, with `remap`, `Ingest`.
        """
        asked = Asked(what, virtual, options)
        resource_map = self.maps.get(what.resource_id)
        if virtual:
            return self._cited(asked, resource_map, _wanted(resource_map, what))
        part = self._part(resource_map, what)
        if isinstance(part.location, Virtual):
            return self._cited(asked, resource_map, part.location)
        moved = None
        try:
            source = self.locate(resource_map, roots)
        except SourceChanged as changed:
            if not remap:
                raise
            resource_map = self.ingest(
                Path(changed.path), wanted_id=resource_map.resource_id, named=False, progress=progress
            ).resource_map
            part = self._part(resource_map, what)
            source = self.locate(resource_map, roots)
        else:
            moved = self.locate.moved(resource_map, source)
            if moved is not None:
                self._follow(resource_map, source)
        section = _section(resource_map, part, source, options)
        options = options if section == options.section else evolve(options, section=section)
        source, cut = self._patiently(resource_map, source, part, options, roots, progress)
        if not (isinstance(part.location, TimeSpan) and options.form in _WORDS):
            self._repeats.keep(asked, cut, resource_map, source)
        return cut if moved is None else evolve(cut, moved=moved)

    def _patiently(
        self,
        resource_map: ResourceMap,
        source: Source,
        part: _Part,
        options: Options,
        roots: Sequence[Path],
        progress: Progress,
    ) -> tuple[Source, Evidence]:
        """Return the source file as it was during the extraction, and the evidence.

        The extraction is retried up to `AGAIN` times if only the file's metadata changed.
        """
        for _ in range(AGAIN):
            with suppress(SourceChanged):
                return source, self._physical(resource_map.resource_id, source, part, options, progress)
            source = self.locate(resource_map, roots)
        return source, self._physical(resource_map.resource_id, source, part, options, progress)

    def _cited(self, asked: Asked, resource_map: ResourceMap, wanted: Location) -> Evidence:
        """Return evidence without an output file, whose location is checked against the file if possible."""
        stale = self.locate.staleness(resource_map)
        measured = stale is None and not isinstance(wanted, Virtual)
        reach = self.measure(resource_map) if measured else MeasuredExtent(resource_map.extent)
        part = _part(resource_map, asked.what, reach.extent or resource_map.extent)
        cited = Evidence(
            resource_id=resource_map.resource_id,
            node=part.node,
            location=part.location,
            stale=stale,
            unchecked=reach.doubt,
        )
        if reach.doubt is None:
            self._repeats.keep(asked, cited, resource_map, reach.source)
        return cited

    def _part(self, resource_map: ResourceMap, what: NodeName | Address) -> _Part:
        """Return the part that `what` names. If it exceeds the extent in the map, the file is measured instead."""
        try:
            part = _part(resource_map, what, resource_map.extent)
        except LocationOutside:
            return self._part_of_file(resource_map, what)
        wanted = _wanted(resource_map, what)
        return part if part.location == wanted else self._part_of_file(resource_map, what)

    def _part_of_file(self, resource_map: ResourceMap, what: NodeName | Address) -> _Part:
        return _part(resource_map, what, self.measure(resource_map).extent or resource_map.extent)

    def forms(self, format: Format, location: Location) -> list[Form]:
        """Return the forms in which the location can be extracted from a file of this format."""
        found = [form for extractor in self.extractors for form in extractor.forms(format, location)]
        return list(dict.fromkeys(found))

    def again(self, receipt: Receipt, source: Source, target: Path) -> Extraction | None:
        """Repeat the extraction that a receipt describes, and write the result to `target`.

        Return None if that version of the extractor is not installed. Raise the errors of the extractor.
        """
        for extractor in self.extractors:
            can = receipt.options.form in extractor.forms(source.format, receipt.location)
            if can and identity_of(extractor, source) == receipt.extractor:
                return _named(extractor.extract(source, receipt.location, receipt.options, target), source)
        return None

    def _physical(
        self, resource_id: str, source: Source, part: _Part, options: Options, progress: Progress
    ) -> Evidence:
        place = part.location
        if not isinstance(place, TimeSpan):
            options = evolve(
                options, accurate=False
            )  # every other extraction is exact anyway, so both options share one evidence object
        extractor = self._extractor(source, place, options)
        identity = identity_of(extractor, source)
        key = EvidenceKey.of(source.digest, place, identity, options)
        name = part.file_name + ("_accurate" if options.accurate else "")

        def make(target: Path) -> Extraction:
            with assert_unchanged(self.locate.sources, source, resource_id):
                return extractor.extract(source, place, options, target, progress=progress)

        def placed() -> Evidence:
            stored = self.evidence.obtain(key, make, progress, readers=source.readers)
            stored = evolve(stored, extraction=_named(stored.extraction, source))
            receipt = _receipt(resource_id, source, place, identity, options, stored)
            return Evidence(
                resource_id=resource_id,
                node=part.node,
                location=place,
                output_path=self.outputs.place(stored, receipt, name, part.owner, report_waiting(progress, _WAITING)),
                receipt=receipt,
                made_now=stored.made_now,
            )

        try:
            return placed()
        except EvidenceCorrupt:
            return placed()  # another process evicted the object between the two steps: make it again

    def _follow(self, resource_map: ResourceMap, source: Source) -> None:
        """Record the new path of a moved source in its map, which saves later searches."""
        with suppress(HomeUnwritable):
            self.maps.put(evolve(resource_map, source_path=str(source.path)))

    def _extractor(self, source: Source, place: Location, options: Options) -> Extractor:
        for extractor in self.extractors:
            if options.form in extractor.forms(source.format, place):
                return extractor
        known = ", ".join(form.value for form in self.forms(source.format, place))
        fewer = self._most_pages(source.format, place, options.form)
        if fewer:
            raise FormUnsupported(
                f"At most {counted(fewer, 'page')} of the {source.format.name} file can be extracted as "
                f"{options.form.value} at once. Request fewer pages{known and f', or one of these forms: {known}'}."
            )
        if not known:
            raise FormUnsupported(f"This part of the {source.format.name} file cannot be extracted in any form.")
        raise FormUnsupported(
            f"This part of the {source.format.name} file is not available as {options.form.value}. Valid forms: {known}."
        )

    def _most_pages(self, format: Format, place: Location, form: Form) -> int:
        """Return how many of several pages can be extracted in this form at once, or 0."""
        numbers = place.numbers if isinstance(place, Pages) else ()
        shorter = (Pages(numbers[:count]) for count in range(1, len(numbers)))
        return sum(1 for _ in takewhile(lambda each: form in self.forms(format, each), shorter))


def _wanted(resource_map: ResourceMap, what: NodeName | Address) -> Location:
    """Return the location of the requested node or address, unchecked. Raise `NodeMissing` if there is no such node."""
    return resource_map.find(what.node_id).location if isinstance(what, NodeName) else what.location


def _part(resource_map: ResourceMap, what: NodeName | Address, extent: Extent) -> _Part:
    """Return the part of the resource that `what` names. The location of a node is clamped to `extent`.

    Raise `NodeMissing`, `RequestRefused` for a location of the wrong kind, or `LocationOutside`.
    """
    if isinstance(what, NodeName):
        node = resource_map.find(what.node_id)
        place = _inside_of_kind(node.location, resource_map, extent).clamp(extent)
        name = _file_name(what.resource_id, what.node_id.replace(".", "_"))
        return _Part(node, place, name, f"the node {what.node_id} of {what.resource_id}", is_named=True)
    location = what.location
    if location.modality not in (resource_map.modality, location.modality.VIRTUAL):
        scheme = resource_map.modality.scheme
        raise RequestRefused(
            f"Addresses of '{resource_map.resource_id}' begin with {scheme}://, because its type is {resource_map.modality}."
        )
    place = _inside(_inside_of_kind(location, resource_map, extent), extent)
    name = _file_name(what.resource_id, fragment_of(place))
    return _Part(resource_map.innermost(place), place, name, str(Address(what.resource_id, place)))


def _section(resource_map: ResourceMap, part: _Part, source: Source, options: Options) -> SectionTitles | None:
    """Return the titles that delimit the text of a node of whole PDF pages, if the form is TEXT; otherwise, None."""
    node = part.node if part.is_named and options.form is Form.TEXT and source.format.name == "pdf" else None
    return None if node is None else titles_around(resource_map.outline, node.id)


def _inside_of_kind(location: Location, resource_map: ResourceMap, extent: Extent) -> Location:
    """Return `location` unchanged. Raise `RequestRefused` if the resource cannot have a location of this kind."""
    reason = kind_issue(location, extent)
    if reason is not None:
        raise RequestRefused(f"'{resource_map.resource_id}' has no such location: {reason}.")
    return location


def _inside(location: Location, extent: Extent) -> Location:
    """Return the location. If it has no end, or one slightly beyond the file's end, it ends at the file's end.

    Raise `LocationOutside` if it goes further: a shorter part would not be what the address names.
    """
    place = location.clamp(extent)
    open_ended = isinstance(location, TimeSpan) and (location.end is None or location.end <= _end(place) + TIME_SLACK)
    if place != location and not open_ended:
        raise LocationOutside(
            f"the location {fragment_of(location)} extends beyond the end: only {fragment_of(place)} exists"
        )
    return place


def _end(place: Location) -> float:
    return place.end if isinstance(place, TimeSpan) and place.end is not None else math.inf


def _file_name(resource_id: str, part: str) -> str:
    return f"{_UNSAFE.sub('_', resource_id)}_{_UNSAFE.sub('_', part)}"


def _named(extraction: Extraction, source: Source) -> Extraction:
    """Return the extraction with a file-name suffix and a media type, if it does not have them.

    These are not stored with the evidence: the same bytes can be evidence of `notes.md` and of `notes.txt`. Formats
    that browsers execute get the additional suffix `.txt` and the media type `text/plain`.
    """
    if extraction.suffix:
        return extraction
    suffix = source.path.suffix.lower()
    usual = by_name(f"x{suffix}") == source.format
    suffix = suffix if usual else source.format.suffix
    if source.format.name in ACTIVE_CONTENT:
        return evolve(extraction, suffix=f"{suffix}.txt", media_type="text/plain")
    return evolve(extraction, suffix=suffix, media_type=source.format.media_type)


def _receipt(
    resource_id: str,
    source: Source,
    place: Location,
    extractor: ExtractorIdentity,
    options: Options,
    stored: StoredEvidence,
) -> Receipt:
    return Receipt(
        key=stored.key,
        source_digest=source.digest,
        source_path=str(source.path),
        source_size=source.size,
        resource_id=resource_id,
        location=place,
        extractor=extractor,
        options=options,
        evidence_digest=stored.digest,
        evidence_size=stored.size,
        media_type=stored.extraction.media_type,
        extent=stored.extraction.extent,
        bytes_from=stored.extraction.bytes_from,
        notes=stored.extraction.notes,
        created=stored.created,
    )
