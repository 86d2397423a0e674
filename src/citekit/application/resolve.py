"""Turn a node or an address into evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from attrs import field, frozen

from citekit.application.ingest import Ingest
from citekit.application.locating import LocateSource
from citekit.domain.address import Address
from citekit.domain.errors import FormUnsupported, ResourceMissing, SourceChanged
from citekit.domain.evidence import Evidence, EvidenceKey, Extraction, Form, Options, Receipt, StoredEvidence
from citekit.domain.formats import Format
from citekit.domain.locations import Location, Virtual
from citekit.domain.node import Node
from citekit.domain.ports.evidence_store import EvidenceStore
from citekit.domain.ports.extractor import Extractor
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.outputs import Outputs
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

_UNSAFE = re.compile(r"[^\w~-]+")


@frozen
class Resolve:
    """Cuts a part out of a source, or finds it where it was cut before."""

    maps: MapStore
    evidence: EvidenceStore
    outputs: Outputs
    extractors: Sequence[Extractor] = field(converter=tuple)
    locate: LocateSource
    ingest: Ingest

    def node(
        self,
        resource_id: str,
        node_id: str,
        *,
        virtual: bool = False,
        options: Options = Options(),
        remap: bool = False,
        roots: Sequence[Path] = (),
        progress: Progress = silent,
    ) -> Evidence:
        """The evidence of a node.

        `virtual` answers without touching the file's content: no path, but whether the map is stale. `remap` maps a
        changed source again instead of refusing. Raises `ResourceMissing`, `NodeMissing`, `SourceChanged`,
        `SourceMoved`, and what the extractor and the stores raise.
        """
        resource_map = self.maps.get(resource_id)
        node = resource_map.find(node_id)
        if virtual or isinstance(node.location, Virtual):
            return self._virtual(resource_map, node, node.location)
        try:
            source = self.locate(resource_map, roots)
        except SourceChanged as changed:
            if not remap:
                raise
            resource_map = self.ingest(Path(changed.path), wanted_id=resource_id, progress=progress).resource_map
            node = resource_map.find(node_id)
            source = self.locate(resource_map, roots)
        name = f"{resource_id}_{node_id.replace('.', '_')}"
        return self._physical(resource_map, source, node, node.location, name, options, progress)

    def address(
        self,
        address: Address,
        *,
        virtual: bool = False,
        options: Options = Options(),
        remap: bool = False,
        roots: Sequence[Path] = (),
        progress: Progress = silent,
    ) -> Evidence:
        """The evidence of any part, node or not. `node` in the answer is the innermost one that holds it.

        Raises as `node` does, and `LocationOutside`; `ResourceMissing` for an address of another kind of resource.
        """
        resource_map = self.maps.get(address.resource_id)
        location = address.location
        if resource_map.modality is not location.modality and not isinstance(location, Virtual):
            raise ResourceMissing(
                address.resource_id, f"{resource_map.modality.scheme}://{address.resource_id}", [address.resource_id]
            )
        location = location.clamp(resource_map.bounds)
        node = resource_map.innermost(location)
        if virtual or isinstance(location, Virtual):
            return self._virtual(resource_map, node, location)
        try:
            source = self.locate(resource_map, roots)
        except SourceChanged as changed:
            if not remap:
                raise
            resource_map = self.ingest(
                Path(changed.path), wanted_id=address.resource_id, progress=progress
            ).resource_map
            location = location.clamp(resource_map.bounds)
            node = resource_map.innermost(location)
            source = self.locate(resource_map, roots)
        fragment = str(Address("x", location)).partition("#")[2]
        name = f"{address.resource_id}_{fragment.replace('=', '_').replace(',', '_').replace('.', '_')}"
        return self._physical(resource_map, source, node, location, name, options, progress)

    def forms(self, format: Format, location: Location) -> list[Form]:
        """Every form in which that place of such a file can be cut out."""
        found = [form for extractor in self.extractors for form in extractor.forms(format, location)]
        return list(dict.fromkeys(found))

    def again(self, receipt: Receipt, source: Source, target: Path) -> Extraction | None:
        """Cut what a receipt describes once more, to `target`; None where that extractor or version is not here."""
        for extractor in self.extractors:
            can = receipt.options.form in extractor.forms(source.format, receipt.location)
            if can and extractor.identity == receipt.extractor:
                return extractor.extract(source, receipt.location, receipt.options, target)
        return None

    def _virtual(self, resource_map: ResourceMap, node: Node | None, location: Location) -> Evidence:
        stale = self.locate.staleness(resource_map)
        return Evidence(resource_id=resource_map.resource_id, node=node, location=location, stale=stale)

    def _physical(
        self,
        resource_map: ResourceMap,
        source: Source,
        node: Node | None,
        location: Location,
        name: str,
        options: Options,
        progress: Progress,
    ) -> Evidence:
        place = location.clamp(resource_map.bounds)
        extractor = self._extractor(source, place, options)
        key = EvidenceKey.of(source.digest, place, extractor.identity, options)
        stored = self.evidence.obtain(
            key, lambda target: extractor.extract(source, place, options, target, progress=progress)
        )
        receipt = _receipt(resource_map.resource_id, source, place, extractor, options, stored)
        suffix = "_accurate" if options.accurate else ""
        path = self.outputs.place(stored, receipt, _UNSAFE.sub("_", name) + suffix)
        return Evidence(
            resource_id=resource_map.resource_id,
            node=node,
            location=location,
            output_path=path,
            receipt=receipt,
            made_now=stored.made_now,
        )

    def _extractor(self, source: Source, place: Location, options: Options) -> Extractor:
        for extractor in self.extractors:
            if options.form in extractor.forms(source.format, place):
                return extractor
        known = ", ".join(form.value for form in self.forms(source.format, place)) or "none"
        raise FormUnsupported(
            f"A part of a {source.format.name} file cannot be had as {options.form.value} (it can be had as: {known})."
        )


def _receipt(
    resource_id: str, source: Source, place: Location, extractor: Extractor, options: Options, stored: StoredEvidence
) -> Receipt:
    return Receipt(
        key=stored.key,
        source_digest=source.digest,
        source_path=str(source.path),
        source_size=source.size,
        resource_id=resource_id,
        location=place,
        extractor=extractor.identity,
        options=options,
        evidence_digest=stored.digest,
        evidence_size=stored.size,
        media_type=stored.extraction.media_type,
        extent=stored.extraction.extent,
        bytes_from=stored.extraction.bytes_from,
        notes=stored.extraction.notes,
        created=stored.created,
    )
