"""The mapper that asks a model, and believes it only as far as the file bears it out."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from attrs import evolve, field, frozen

from citekit.adapters.formats.registry import CODE
from citekit.adapters.formats.shared.outline import TITLE_LIMIT, Draft, Outline, one_line, plant
from citekit.adapters.mappers.llm import prompt
from citekit.adapters.mappers.llm.answer_cache import AnswerCache, CachedAnswer, MemoryAnswerCache, cache_key
from citekit.adapters.mappers.llm.answer_schema import answer_schema
from citekit.adapters.mappers.llm.answers import Answer
from citekit.adapters.mappers.llm.codec_chapters import ParagraphCodec
from citekit.adapters.mappers.llm.codec_pages_lines import LineCodec, PageCodec
from citekit.adapters.mappers.llm.codec_time_image import BoxCodec, TimeCodec
from citekit.adapters.mappers.llm.conversation import Conversation, UsageTotal
from citekit.adapters.mappers.llm.file_views import FileViewer, Viewer
from citekit.adapters.mappers.llm.location_codec import LocationCodec
from citekit.adapters.mappers.llm.media_views import media_windows
from citekit.adapters.mappers.llm.messages import Generation, Limits, Question, Service, Session, TextPart, Usage
from citekit.adapters.mappers.llm.page_views import image_windows, pdf_windows
from citekit.adapters.mappers.llm.parallel import Slots, run_parallel
from citekit.adapters.mappers.llm.pdf_titles import pdf_text
from citekit.adapters.mappers.llm.proposal_tree import Branch
from citekit.adapters.mappers.llm.proposals import Fault
from citekit.adapters.mappers.llm.snapping import definitions_of
from citekit.adapters.mappers.llm.text_views import book_windows, text_windows
from citekit.adapters.mappers.llm.title_context import known_titles, may_title_file, title_context
from citekit.adapters.mappers.llm.validator import AnswerValidator, ValidatedAnswer, merge_windows
from citekit.adapters.mappers.llm.windows import WINDOW_LIMIT, Clips, SourceView, Stills, Window
from citekit.domain.errors import Cancelled, CiteKitError, FaultyAnswer, MapperUnavailable, SourceUnsupported
from citekit.domain.formats import BOOKS, Format
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.modality import Modality
from citekit.domain.ports.mapper import Mapper
from citekit.domain.ports.media_probe import MediaProbe
from citekit.domain.ports.reader import Reader
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from citekit.domain.validation import map_issues
from citekit.wire.locations import from_plain

CHECKS_VERSION = "3"
"""Changes whenever the same answer would give another map."""

CACHED_NOTE = "Answers about this file from an earlier run, which did not finish, were used."

_PROMPT_METADATA = (
    "page_count", "page_labels", "author", "subject", "authors", "language", "duration", "dimensions", "line_count",
    "chapter_count", "format",
)  # fmt: skip


@frozen(kw_only=True)
class ModelMapper:
    """Asks `service` for the structure of a file, in terms of what `local` (the local mapper) knows of it.

    Long files are asked about in windows. `concurrency` requests wait at a time, over all files; `files` files are read and
    prepared at a time (None: as many as are mapped). `max_requests` bounds the pieces (the service's budget
    bounds all requests). `model_name` stands in the map's identity where the model's own name does not tell servers apart.
    `viewer` opens what is shown; `stills` and `clips` show a film to a service that does not take it whole. `kept` stores
    the answers about an unfinished map; `generation` is part of their key. `redact` takes secrets out of answers.
    """

    service: Service
    local: Mapper = field(repr=False)
    reader: Reader = field(repr=False)
    probe: MediaProbe = field(repr=False)
    viewer: Viewer = field(factory=FileViewer, repr=False)
    model_name: str | None = None
    concurrency: int = 8
    files: int | None = None
    max_requests: int | None = None
    stills: Stills | None = field(default=None, repr=False)
    clips: Clips | None = field(default=None, repr=False)
    kept: AnswerCache = field(factory=MemoryAnswerCache, repr=False)
    generation: Generation = field(factory=Generation)
    redact: Callable[[str], str] = field(default=str, repr=False)
    _requests: Slots = field(init=False, repr=False, eq=False)
    _readers: Slots = field(init=False, repr=False, eq=False)

    @_requests.default
    def _request_slots(self) -> Slots:
        return Slots(self.concurrency)

    @_readers.default
    def _reader_slots(self) -> Slots:
        return Slots(self.files or 64)

    @property
    def identity(self) -> MapperIdentity:
        """The service, its model, and the version of the words said to it and of the checks of its answers."""
        return MapperIdentity(
            self.service.name, f"{prompt.PROMPT_VERSION}.{CHECKS_VERSION}", self.model_name or self.service.model
        )

    def supports(self, format: Format) -> bool:
        """Whether the service can be shown such files."""
        return self.service.limits(format) is not None and self.local.supports(format)

    def sidecar_files(self, source: Source) -> Sequence[Path]:
        """As the local mapper has it: its map is what the model is told, and the subtitles are shown."""
        return self.local.sidecar_files(source)

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """The model's map, held against the file.

        Its metadata holds, beside the facts of the local map: `usage`, `notes` about what was put right, and in `dropped`
        `path: reason` lines about nodes that were left out. Raises as `Mapper.map`, and `FaultyAnswer` where too little of
        the answer is right: no node, or less than a third.
        """
        limits = self.service.limits(source.format)
        if limits is None:
            raise SourceUnsupported(f"{self.service.name} cannot map {source.format.name} files: {source.path}.")
        with tempfile.TemporaryDirectory(prefix="citekit-") as folder:
            with self._readers.taken(progress, "waiting until other files are read"):
                known = self.local.map(source, resource_id, progress)
                if known.modality is Modality.AUDIO:  # a film's container without a picture: the limits of sound hold
                    limits = self.service.limits(evolve(source.format, modality=Modality.AUDIO)) or limits
                job = self._job(source, known, limits, Path(folder), progress)
            try:
                made = self._map(job, known, self._told(job, progress))
            except FaultyAnswer as error:
                self.kept.drop(job.map_key)  # what is wrong would be wrong again
                raise _with_account(error, job.account()) from error
            except MapperUnavailable as error:
                raise _with_account(error, job.account()) from error
            except (KeyboardInterrupt, Cancelled) as error:
                if job.spent.usage.requests:
                    error.add_note(job.account())
                raise
            self.kept.drop(job.map_key)
            return made

    def _told(self, job: MappingTask, progress: Progress) -> Sequence[WindowResult]:
        """What came of each window: from kept answers, and from the service for the others."""
        found = {number: told for number in range(len(job.pieces)) if (told := job.kept_result(number)) is not None}
        missing = [number for number in range(len(job.pieces)) if number not in found]
        if missing:
            with self.service.session() as session:
                work = [lambda report, n=n: self._asked(job, session, n, report) for n in missing]
                found |= zip(missing, run_parallel(work, self.concurrency, progress), strict=True)
        return [found[number] for number in range(len(job.pieces))]

    def _asked(self, job: MappingTask, session: Session, number: int, progress: Progress) -> WindowResult:
        with self._requests.taken(progress, "waiting for other requests"):
            return job.ask(session, number, progress)

    def _map_key(self, source: Source) -> str:
        beside = [(str(path), path.stat().st_size) for path in self.local.sidecar_files(source) if path.is_file()]
        identity = self.identity
        return cache_key(
            str(source.digest), identity.name, identity.model, prompt.PROMPT_VERSION, str(self.generation), beside
        )

    def _job(self, source: Source, known: ResourceMap, limits: Limits, folder: Path, progress: Progress) -> MappingTask:
        map_key = self._map_key(source)
        book = self.reader.read(source.path) if source.format.name in BOOKS else None
        scale = _codec(known, self.service, ParagraphCodec.of(book) if book is not None else None)
        view = SourceView(
            source=source, local=known, scale=scale, limits=limits, service=self.service.name, folder=folder,
            reader=self.reader, probe=self.probe, viewer=self.viewer, progress=progress,
            max_pieces=(self.max_requests or WINDOW_LIMIT) + self.kept.count(map_key), stills=self.stills, clips=self.clips,
        )  # fmt: skip
        if book is not None and isinstance(scale, ParagraphCodec):
            pieces = book_windows(view, book, scale)
        else:
            pieces = _WINDOWS[scale.unit](view)
        pages = self.viewer.page_lines(source.path, progress) if scale.unit == "page" else ()
        examiner = AnswerValidator(
            scale=scale,
            default_type=prompt.DEFAULT_TYPE.get(known.modality, "section"),
            pdf=pdf_text(pages, known_titles(known, scale)) if scale.unit == "page" else None,
            text=title_context(view, pages, book),
            known=definitions_of(known.nodes, scale) if scale.unit == "line" else {},
            code=source.format.name in CODE,
        )
        what = f"the map that {self.service.name} ({self.service.model}) made of {source.path}"
        return MappingTask(source, known, scale, pieces, examiner, what, self.kept, map_key, self.redact)

    def _map(self, job: MappingTask, known: ResourceMap, told: Sequence[WindowResult]) -> ResourceMap:
        sought, found = sum(each.sought for each in told), sum(each.found for each in told)
        claimed, dropped = sum(each.claimed for each in told), [line for each in told for line in each.dropped]
        if found * 3 < sought:
            raise FaultyAnswer(job.what, [f"nodes: {sought - found} of {sought} titles are not in the file", *dropped])
        branches = merge_windows([each.branches for each in told])
        kept = sum(1 for top in branches for _ in top.walk())
        if not kept or kept * 3 < claimed:
            raise FaultyAnswer(job.what, dropped or ["nodes: there is none"])
        title, about_title = _file_title(job, known, told)
        outline = Outline(title=title, bounds=known.bounds, drafts=job.drafts(branches))
        made = evolve(
            known,
            title=one_line(title, TITLE_LIMIT) or known.title,
            nodes=plant(outline),
            metadata=self._metadata(known, told, dropped, (about_title, _titles_note(sought, found))),
        )
        faults = map_issues(made)
        if faults:
            raise FaultyAnswer(job.what, faults)
        return made

    def _metadata(
        self, known: ResourceMap, told: Sequence[WindowResult], dropped: Sequence[str], about_titles: Sequence[str]
    ) -> Mapping[str, Any]:
        usage = sum((each.usage for each in told), Usage())
        notes = list(dict.fromkeys(filter(None, (*(note for each in told for note in each.notes), *about_titles))))
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
class WindowResult:
    """What came of one window: `claimed` counts the nodes that the model named.

    `sought` of their titles could be looked for in the text, and `found` are there.
    """

    title: str | None
    branches: Sequence[Branch]
    claimed: int
    dropped: Sequence[str]
    notes: Sequence[str]
    usage: Usage
    sought: int
    found: int


@frozen
class MappingTask:
    """One file, and all that is needed to ask about any piece of it."""

    source: Source
    known: ResourceMap
    scale: LocationCodec
    pieces: Sequence[Window]
    examiner: AnswerValidator
    what: str
    kept: AnswerCache
    map_key: str
    redact: Callable[[str], str]
    spent: UsageTotal = field(factory=UsageTotal)

    def kept_result(self, number: int) -> WindowResult | None:
        """What came of window `number` in an earlier run, if nothing of it is open."""
        kept = self.kept.get(self.map_key, self._key(number))
        if kept is None or kept.answer.truncated:
            return None
        examined = self.examiner.examine(kept.answer.items, self.pieces[number])
        if examined.is_invented or (examined.faults and not kept.repaired):
            return None
        return self._result(number, kept, examined, (CACHED_NOTE,))

    def ask(self, session: Session, number: int, progress: Progress) -> WindowResult:
        """What the model says about window `number`, after its faults were sent to it once."""
        piece, kept = self.pieces[number], self.kept.get(self.map_key, self._key(number))
        talk = Conversation(session, self._question(piece), self.what, progress, self.spent, self.redact)
        if kept is not None and not self.examiner.examine(kept.answer.items, piece).is_invented:
            talk.usage, talk.notes = kept.usage, list(kept.notes)
            talk.resume(kept.answer)
            answer = kept.answer
        else:
            answer = talk.answer()
            self._keep(number, talk, answer)
        if answer.truncated:
            answer = talk.completed(answer)
            self._keep(number, talk, evolve(answer, truncated=False))
        examined = self.examiner.examine(answer.items, piece)
        if examined.faults:
            answer, examined = self._corrected(talk, answer, examined, piece)
            self._keep(number, talk, answer, repaired=True)
        return self._result(number, _cacheable(talk, answer), examined)

    def _corrected(
        self, talk: Conversation, answer: Answer, examined: ValidatedAnswer, piece: Window
    ) -> tuple[Answer, ValidatedAnswer]:
        """The answer after the model was told of its faults; as it was if the service does not answer that."""
        faults = examined.faults
        talk.progress(0, None, f"asking again about {len(faults)} places that are wrong")
        try:
            if examined.is_invented:
                better = talk.anew(prompt.titles_missing(faults, examined.sought, examined.found))
            else:
                better = evolve(answer, items=talk.repaired(answer.items, faults))
        except MapperUnavailable as error:
            talk.notes.append(f"The model could not be asked again about {len(faults)} faults: {error}")
            return answer, examined
        return better, self.examiner.examine(better.items, piece)

    def _result(
        self, number: int, kept: CachedAnswer, examined: ValidatedAnswer, notes: Sequence[str] = ()
    ) -> WindowResult:
        piece = self.pieces[number]
        where = f"part {number + 1}: " if len(self.pieces) > 1 else ""
        found = [f"{where}{note}" if where else note for note in examined.notes]
        if not examined.branches and len(self.pieces) > 1:
            found.append(f"Nothing was found in part {number + 1}, {self.scale.told(piece.window)}.")
        return WindowResult(
            kept.answer.title,
            examined.branches,
            len(kept.answer.items),
            [f"{where}{fault}" for fault in _first_per_node(examined.faults)],
            [*piece.notes, *kept.notes, *notes, *found],
            kept.usage,
            examined.sought,
            examined.found,
        )

    def _keep(self, number: int, talk: Conversation, answer: Answer, *, repaired: bool = False) -> None:
        self.kept.put(self.map_key, self._key(number), evolve(_cacheable(talk, answer), repaired=repaired))

    def _key(self, number: int) -> str:
        piece = self.pieces[number]
        return cache_key(prompt.SYSTEM, self._words(piece), self._schema(), piece.window, piece.shift, piece.notes)

    def account(self) -> str:
        """What was spent, and what of it is kept."""
        usage, count = self.spent.usage, self.kept.count(self.map_key)
        spent = (
            f"Answered so far: {usage.requests} requests ({usage.input_tokens} tokens in, {usage.output_tokens} out)."
            if usage.requests
            else "No request was answered."
        )
        if not count:
            return f"{spent} Nothing of it is kept." if usage.requests else spent
        return (
            f"{spent} The answers about {count} of {len(self.pieces)} parts are kept: "
            "run it again, and only the rest is asked for."
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

    def _question(self, piece: Window) -> Question:
        return Question(prompt.SYSTEM, (*piece.see(), TextPart(self._words(piece))), self._schema())

    def _schema(self) -> Mapping[str, Any]:
        return answer_schema(self.scale, prompt.TYPES[self.known.modality])

    def _words(self, piece: Window) -> str:
        modality = self.known.modality
        facts = {"file name": self.source.path.name, "title": self.known.title}
        facts |= {name: self.known.metadata[name] for name in _PROMPT_METADATA if self.known.metadata.get(name)}
        kind = _KINDS.get(self.source.format.name, modality.value)
        task = prompt.task(kind, facts, self.scale, piece.window, piece.said)
        outline = prompt.skeleton(self.known.nodes, self.scale, piece.window, piece.shift)
        return f"{task}\n\n{outline}" if outline else task


_KINDS = {"pdf": "PDF document", "subtitles": "file of subtitles", **dict.fromkeys(BOOKS, "book")}

_WINDOWS = {
    "page": pdf_windows,
    "line": text_windows,
    "second": media_windows,
    "box": image_windows,
}


def _first_per_node(faults: Sequence[Fault]) -> list[Fault]:
    """The first fault of each node."""
    return list({fault.node: fault for fault in reversed(faults)}.values())[::-1]


def _cacheable(talk: Conversation, answer: Answer) -> CachedAnswer:
    return CachedAnswer(answer, talk.usage, tuple(talk.notes))


def _file_title(job: MappingTask, known: ResourceMap, told: Sequence[WindowResult]) -> tuple[str, str]:
    """The first title that the model gives the file and that is in it, else the local one; and a note about the others."""
    given = [each.title for each in told if each.title]
    text, trusted = job.examiner.text, (known.title, job.source.path.stem)
    right = next((title for title in given if text is None or may_title_file(title, text, trusted)), None)
    if right is None and given:
        return (
            known.title,
            "The title that the model gave the file is not in it: the one found without the model was kept.",
        )
    return right or known.title, ""


def _titles_note(sought: int, found: int) -> str:
    """How many titles are in the file; nothing if all of them are."""
    if not sought:
        return "No title could be checked: there is no text where the nodes are."
    if found == sought:
        return ""
    return (
        f"{sought - found} of {sought} titles are not in the file where the model put them: these nodes were left out."
    )


_E = TypeVar("_E", bound=CiteKitError)


def _with_account(error: _E, account: str) -> _E:
    """The same error, saying what was spent and what is kept."""
    text = " ".join([f"{str(error).rstrip('.')}.", account, *getattr(error, "__notes__", ())])
    error.args = (text, *error.args[1:])
    return error


def _codec(known: ResourceMap, service: Service, book: ParagraphCodec | None) -> LocationCodec:
    """How places in the file are counted; a service may say by `boxes = "box_2d"` how its models tell boxes."""
    bounds = known.bounds
    if book is not None:
        return book
    if known.modality is Modality.IMAGE:
        boxes = getattr(service, "boxes", "box_2d" if service.name == "gemini" else "bbox")
        return BoxCodec(thousandths=boxes == "box_2d")
    if known.modality in (Modality.VIDEO, Modality.AUDIO):
        return TimeCodec(bounds.seconds or 0.0, known.modality)
    return PageCodec(bounds.pages or 1) if known.modality is Modality.DOCUMENT else LineCodec(bounds.lines or 1)
