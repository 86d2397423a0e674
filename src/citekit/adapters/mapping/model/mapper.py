"""The mapper that asks a model, and believes it only as far as the file bears it out."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from citekit.adapters.mapping.local.outline import TITLE_LIMIT, Draft, Outline, one_line, plant
from citekit.adapters.mapping.local.outliners import CODE
from citekit.adapters.mapping.model import prompt
from citekit.adapters.mapping.model.asking import Talk
from citekit.adapters.mapping.model.chapters import ChapterScale
from citekit.adapters.mapping.model.claims import Fault
from citekit.adapters.mapping.model.conversation import Limits, Question, Service, Session, TextPart, Usage
from citekit.adapters.mapping.model.examining import Examiner, merged
from citekit.adapters.mapping.model.pdf_titles import PdfText, pdf_text
from citekit.adapters.mapping.model.pieces import PIECE_LIMIT, Clips, Piece, Stills, View
from citekit.adapters.mapping.model.scale_counted import LineScale, PageScale
from citekit.adapters.mapping.model.scale_flowing import BoxScale, TimeScale
from citekit.adapters.mapping.model.scales import Scale
from citekit.adapters.mapping.model.schema import answer_schema
from citekit.adapters.mapping.model.side_by_side import side_by_side
from citekit.adapters.mapping.model.snapping import known_places
from citekit.adapters.mapping.model.trees import Branch
from citekit.adapters.mapping.model.view_image import image_pieces
from citekit.adapters.mapping.model.view_media import media_pieces
from citekit.adapters.mapping.model.view_pdf import pdf_pieces
from citekit.adapters.mapping.model.view_text import book_pieces, text_pieces
from citekit.adapters.mapping.model.viewing import FileViewer, Viewer
from citekit.domain.errors import FaultyAnswer, SourceUnsupported
from citekit.domain.formats import BOOKS, Format
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.modality import Modality
from citekit.domain.ports.mapper import Mapper
from citekit.domain.ports.media_probe import MediaProbe
from citekit.domain.ports.reader import Reader
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.soundness import unsound
from citekit.domain.source import Source
from citekit.wire.locations import from_plain

CHECKS_VERSION = "1"
"""Changes whenever the same answer would give another map."""

_FACTS = (
    "page_count", "page_labels", "author", "subject", "authors", "language", "duration", "dimensions", "line_count",
    "chapter_count", "format",
)  # fmt: skip


@frozen(kw_only=True)
class ModelMapper:
    """Asks `service` for the structure of a file, in terms of what `local` (the local mapper) knows of it.

    Long files are asked about in pieces, `concurrency` at a time. `max_requests` bounds the pieces (the service's budget
    bounds all requests). `model_name` stands in the map's identity where the model's own name does not tell servers apart.
    `viewer` opens what is shown; `stills` and `clips` show a film to a service that does not take it whole.
    """

    service: Service
    local: Mapper = field(repr=False)
    reader: Reader = field(repr=False)
    probe: MediaProbe = field(repr=False)
    viewer: Viewer = field(factory=FileViewer, repr=False)
    model_name: str | None = None
    concurrency: int = 4
    max_requests: int | None = None
    stills: Stills | None = field(default=None, repr=False)
    clips: Clips | None = field(default=None, repr=False)

    @property
    def identity(self) -> MapperIdentity:
        """The service, its model, and the version of the words said to it and of the checks of its answers."""
        return MapperIdentity(
            self.service.name, f"{prompt.PROMPT_VERSION}.{CHECKS_VERSION}", self.model_name or self.service.model
        )

    def supports(self, format: Format) -> bool:
        """Whether the service can be shown such files."""
        return self.service.limits(format) is not None and self.local.supports(format)

    def beside(self, source: Source) -> Sequence[Path]:
        """As the local mapper has it: its map is what the model is told, and the subtitles are shown."""
        return self.local.beside(source)

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """The model's map, held against the file.

        Its metadata holds, beside the facts of the local map: `usage`, `notes` about what was put right, and in `dropped`
        `path: reason` lines about nodes that were left out. Raises as `Mapper.map`, and `FaultyAnswer` where too little of
        the answer is right: no node, or less than a third.
        """
        limits = self.service.limits(source.format)
        if limits is None:
            raise SourceUnsupported(f"{self.service.name} cannot map {source.format.name} files: {source.path}.")
        known = self.local.map(source, resource_id, progress)
        with tempfile.TemporaryDirectory(prefix="citekit-") as folder:
            job = self._job(source, known, limits, Path(folder), progress)
            with self.service.session() as session:
                told = side_by_side(
                    [lambda report, n=n: job.ask(session, n, report) for n in range(len(job.pieces))],  # type: ignore[misc]
                    self.concurrency,
                    progress,
                )
        return self._map(job, known, told)

    def _job(self, source: Source, known: ResourceMap, limits: Limits, folder: Path, progress: Progress) -> Job:
        book = self.reader.read(source.path) if source.format.name in BOOKS else None
        scale = _scale(known, self.service, ChapterScale.of(book) if book is not None else None)
        view = View(
            source=source, local=known, scale=scale, limits=limits, service=self.service.name, folder=folder,
            reader=self.reader, probe=self.probe, viewer=self.viewer, progress=progress,
            max_pieces=self.max_requests or PIECE_LIMIT, stills=self.stills, clips=self.clips,
        )  # fmt: skip
        if book is not None and isinstance(scale, ChapterScale):
            pieces = book_pieces(view, book, scale)
        else:
            pieces = _PIECES[scale.unit](view)
        examiner = Examiner(
            scale=scale,
            default_type=prompt.DEFAULT_TYPE.get(known.modality, "section"),
            pdf=self._pdf(source, known, scale, progress) if scale.unit == "page" else None,
            known=known_places(known.nodes, scale) if scale.unit == "line" else {},
            code=source.format.name in CODE,
        )
        what = f"the map that {self.service.name} ({self.service.model}) made of {source.path}"
        return Job(source, known, scale, pieces, examiner, what)

    def _pdf(self, source: Source, known: ResourceMap, scale: Scale, progress: Progress) -> PdfText:
        return pdf_text(self.viewer.page_lines(source.path, progress), _marks(known, scale))

    def _map(self, job: Job, known: ResourceMap, told: Sequence[Told]) -> ResourceMap:
        claimed, dropped = sum(each.claimed for each in told), [line for each in told for line in each.dropped]
        branches = merged([each.branches for each in told])
        kept = sum(1 for top in branches for _ in top.walk())
        if not kept or kept * 3 < claimed:
            raise FaultyAnswer(job.what, dropped or ["nodes: there is none"])
        title = next((each.title for each in told if each.title), None) or known.title
        outline = Outline(title=title, bounds=known.bounds, drafts=job.drafts(branches))
        made = evolve(
            known,
            title=one_line(title, TITLE_LIMIT) or known.title,
            nodes=plant(outline),
            metadata=self._metadata(known, told, dropped),
        )
        faults = unsound(made)
        if faults:
            raise FaultyAnswer(job.what, faults)
        return made

    def _metadata(self, known: ResourceMap, told: Sequence[Told], dropped: Sequence[str]) -> Mapping[str, Any]:
        usage = sum((each.usage for each in told), Usage())
        notes = list(dict.fromkeys(note for each in told for note in each.notes))
        return {
            **{key: value for key, value in known.metadata.items() if key != "notes"},
            "mapper": self.identity.to_metadata(),
            "usage": {
                "requests": usage.requests,
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
            },
            **({"notes": notes} if notes else {}),
            **({"dropped": list(dropped)} if dropped else {}),
        }


@frozen
class Told:
    """What came of one piece: `claimed` counts the nodes that the model named."""

    title: str | None
    branches: Sequence[Branch]
    claimed: int
    dropped: Sequence[str]
    notes: Sequence[str]
    usage: Usage


@frozen
class Job:
    """One file, and all that is needed to ask about any piece of it."""

    source: Source
    known: ResourceMap
    scale: Scale
    pieces: Sequence[Piece]
    examiner: Examiner
    what: str

    def ask(self, session: Session, number: int, progress: Progress) -> Told:
        """What the model says about piece `number`, with its faults told to it once."""
        piece = self.pieces[number]
        talk = Talk(session, self._question(piece), self.what, progress)
        answer = talk.answer()
        examined = self.examiner.examine(answer.items, piece)
        if examined.faults:
            progress(0, None, f"asking again about {len(examined.faults)} places that are wrong")
            examined = self.examiner.examine(talk.mended(answer.items, examined.faults), piece)
        where = f"part {number + 1}: " if len(self.pieces) > 1 else ""
        notes = [f"{where}{note}" if where else note for note in examined.notes]
        if not examined.branches and len(self.pieces) > 1:
            notes.append(f"Nothing was found in part {number + 1}, {self.scale.told(piece.window)}.")
        return Told(
            answer.title,
            examined.branches,
            len(answer.items),
            [f"{where}{fault}" for fault in _one_each(examined.faults)],
            [*piece.notes, *talk.notes, *notes],
            talk.usage,
        )

    def drafts(self, branches: Sequence[Branch]) -> tuple[Draft, ...]:
        """The branches as drafts of nodes."""
        return tuple(self._draft(branch) for branch in branches)

    def _draft(self, branch: Branch) -> Draft:
        claim = branch.claim
        if claim.named and not branch.below and (claim.named[0], claim.named[-1]) == branch.place:
            location = from_plain({"modality": "document", "pages": list(claim.named)})
        else:
            location = self.scale.location(branch.place)
        code = self.examiner.code
        return Draft(claim.title, claim.type, location, claim.summary, self.drafts(branch.below), keep_case=code)

    def _question(self, piece: Piece) -> Question:
        modality = self.known.modality
        facts = {"file name": self.source.path.name, "title": self.known.title}
        facts |= {name: self.known.metadata[name] for name in _FACTS if self.known.metadata.get(name)}
        asked = prompt.about(_KIND.get(self.source.format.name, modality.value), facts, self.scale, piece.said)
        bones = prompt.skeleton(self.known.nodes, self.scale, piece.window, piece.shift)
        words = f"{asked}\n\n{bones}" if bones else asked
        return Question(
            prompt.SYSTEM, (TextPart(words), *piece.see()), answer_schema(self.scale, prompt.TYPES[modality])
        )


_KIND = {"pdf": "PDF document", "subtitles": "file of subtitles", **dict.fromkeys(BOOKS, "book")}

_PIECES = {
    "page": pdf_pieces,
    "line": text_pieces,
    "second": media_pieces,
    "box": image_pieces,
}


def _one_each(faults: Sequence[Fault]) -> list[Fault]:
    """The first fault of each node."""
    return list({fault.node: fault for fault in reversed(faults)}.values())[::-1]


def _marks(known: ResourceMap, scale: Scale) -> list[tuple[str, int]]:
    """The titles of the local map with the pages where they begin."""
    places = ((node.title, scale.placed(node.location)) for node in known.walk())
    return [(title, int(place[0])) for title, place in places if place is not None]


def _scale(known: ResourceMap, service: Service, book: ChapterScale | None) -> Scale:
    """How places in the file are counted; a service may say by `boxes = "box_2d"` how its models tell boxes."""
    bounds = known.bounds
    if book is not None:
        return book
    if known.modality is Modality.IMAGE:
        boxes = getattr(service, "boxes", "box_2d" if service.name == "gemini" else "bbox")
        return BoxScale(thousandths=boxes == "box_2d")
    if known.modality in (Modality.VIDEO, Modality.AUDIO):
        return TimeScale(bounds.seconds or 0.0, known.modality)
    return PageScale(bounds.pages or 1) if known.modality is Modality.DOCUMENT else LineScale(bounds.lines or 1)
