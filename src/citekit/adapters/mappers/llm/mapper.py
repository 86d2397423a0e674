"""The mapper that asks a language model and validates its answers against the file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from attrs import evolve, field, frozen

from citekit.adapters.formats.registry import CODE
from citekit.adapters.formats.shared.outline import TITLE_LIMIT, Outline, make_nodes, one_line
from citekit.adapters.mappers.llm import prompt
from citekit.adapters.mappers.llm.answer_cache import AnswerCache, MemoryAnswerCache, cache_key
from citekit.adapters.mappers.llm.codec_chapters import ParagraphCodec
from citekit.adapters.mappers.llm.codec_pages_lines import LineCodec, PageCodec
from citekit.adapters.mappers.llm.codec_time_image import BoxCodec, TimeCodec
from citekit.adapters.mappers.llm.file_views import FileViewer, Viewer
from citekit.adapters.mappers.llm.location_codec import LocationCodec
from citekit.adapters.mappers.llm.mapping_task import MappingTask, WindowResult
from citekit.adapters.mappers.llm.media_views import media_windows
from citekit.adapters.mappers.llm.messages import Generation, Limits, Service, Session
from citekit.adapters.mappers.llm.page_views import image_windows, pdf_windows
from citekit.adapters.mappers.llm.parallel import Slots, run_parallel
from citekit.adapters.mappers.llm.pdf_titles import pdf_text
from citekit.adapters.mappers.llm.snapping import definitions_of
from citekit.adapters.mappers.llm.text_views import book_windows, text_windows
from citekit.adapters.mappers.llm.title_context import known_titles, may_title_file, title_context
from citekit.adapters.mappers.llm.validator import AnswerValidator, merge_windows
from citekit.adapters.mappers.llm.windows import WINDOW_LIMIT, Clips, SourceView, Stills
from citekit.domain.errors import CiteKitError, FaultyAnswer, MapperUnavailable, SourceUnsupported
from citekit.domain.formats import BOOKS, Format
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.modality import Modality
from citekit.domain.model_usage import Usage
from citekit.domain.ports.mapper import Mapper
from citekit.domain.ports.media_probe import MediaProbe
from citekit.domain.ports.reader import Reader
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from citekit.domain.validation import map_issues

CHECKS_VERSION = "4"
"""Changes whenever the same answer would result in a different map."""

_WINDOWS = {
    "page": pdf_windows,
    "line": text_windows,
    "second": media_windows,
    "box": image_windows,
}


@frozen(kw_only=True)
class ModelMapper:
    """A mapper that asks the model of `service` for the structure of a file. The map that `local` makes is a part of
    the prompt.

    - `max_requests` limits the windows of one file, apart from those with cached answers (None: `WINDOW_LIMIT`).
    - At most `concurrency` requests are open at a time over all files, and at most `files` files are read and prepared
      at a time (None: 64).
    - `model_name` replaces the model's own name in the map's identity, to distinguish servers.
    - `viewer` reads the files to send. `stills` and `clips` make pictures and clips for a service that does not accept
      a whole recording.
    - `cache` stores the answers about an unfinished map, and `generation` is a part of its keys. `redact` removes
      secrets from answers.
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
    cache: AnswerCache = field(factory=MemoryAnswerCache, repr=False)
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
        """The name of the service, the name of the model, and the versions of the prompts and of the validation."""
        return MapperIdentity(
            self.service.name, f"{prompt.PROMPT_VERSION}.{CHECKS_VERSION}", self.model_name or self.service.model
        )

    def supports(self, format: Format) -> bool:
        """Return whether this mapper, the service, and the local mapper support the format."""
        return self._limits(format) is not None and self.local.supports(format)

    def _limits(self, format: Format) -> Limits | None:
        """Return what the service accepts of a format; None if a model cannot map it: of the documents, only PDFs and
        books are shown to a model.
        """
        is_shown = format.modality is not Modality.DOCUMENT or format.name == "pdf" or format.name in BOOKS
        return self.service.limits(format) if is_shown else None

    def sidecar_files(self, source: Source) -> Sequence[Path]:
        """Return the sidecar files that the local mapper reads."""
        return self.local.sidecar_files(source)

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """Return the model's map after validation against the file.

        Its metadata is that of the local map with this mapper's identity, `usage`, its own `notes`, and `dropped`: one
        line `path: reason` for each node that was left out. Raise the errors of `Mapper.map`, and `FaultyAnswer` if the
        answers result in no valid map.
        """
        limits = self._limits(source.format)
        if limits is None:
            raise SourceUnsupported(
                f"The mapper {self.service.name} cannot map {source.format.name} files: {source.path}. Choose another mapper "
                "(CITEKIT_MAPPER, or citekit ingest --mapper)."
            )
        with tempfile.TemporaryDirectory(prefix="citekit-") as folder:
            with self._readers.taken(progress, "waiting until other files have been read"):
                local_map = self.local.map(source, resource_id, progress)
                if local_map.modality is Modality.AUDIO:  # a video container without a picture: the audio limits apply
                    limits = self.service.limits(evolve(source.format, modality=Modality.AUDIO)) or limits
                task = self._task(source, local_map, limits, Path(folder), progress)
            try:
                results = self._results(task, progress)
                try:
                    made = self._assemble(task, results)
                except FaultyAnswer:
                    task.drop_faulty(results)  # with them, a new run would only find the same faults
                    raise
            except (FaultyAnswer, MapperUnavailable) as error:
                raise _with_summary(error, task.usage_summary()) from error
            except BaseException as error:  # Ctrl-C, a cancellation, or an unexpected error
                if task.usage_total.usage.requests:
                    error.add_note(task.usage_summary())
                raise
            self.cache.drop(task.map_key)
            return made

    def _results(self, task: MappingTask, progress: Progress) -> Sequence[WindowResult]:
        """Return the result of each window, from the cache or from the service."""
        count = len(task.windows)
        results = {number: cached for number in range(count) if (cached := task.cached_result(number)) is not None}
        missing = [number for number in range(count) if number not in results]
        if missing:
            with self.service.session() as session:
                work = [lambda report, n=n: self._ask(task, session, n, report) for n in missing]
                results |= zip(missing, run_parallel(work, self.concurrency, progress), strict=True)
        return [results[number] for number in range(count)]

    def _ask(self, task: MappingTask, session: Session, number: int, progress: Progress) -> WindowResult:
        with self._requests.taken(progress, "waiting for other requests"):
            return task.ask(session, number, progress)

    def _map_key(self, source: Source) -> str:
        sidecars = [(str(path), path.stat().st_size) for path in self.local.sidecar_files(source) if path.is_file()]
        identity = self.identity
        return cache_key(
            str(source.digest), identity.name, identity.model, prompt.PROMPT_VERSION, str(self.generation), sidecars
        )

    def _task(
        self, source: Source, local_map: ResourceMap, limits: Limits, folder: Path, progress: Progress
    ) -> MappingTask:
        map_key = self._map_key(source)
        book = self.reader.read(source.path) if source.format.name in BOOKS else None
        codec = _codec(local_map, self.service, ParagraphCodec.of(book) if book is not None else None)
        view = SourceView(
            source=source, local=local_map, codec=codec, limits=limits, service=self.service.name, folder=folder,
            reader=self.reader, probe=self.probe, viewer=self.viewer, progress=progress, stills=self.stills,
            max_windows=self.max_requests or WINDOW_LIMIT, cached=self.cache.count(map_key), clips=self.clips,
        )  # fmt: skip
        if book is not None and isinstance(codec, ParagraphCodec):
            windows = book_windows(view, book, codec)
        else:
            windows = _WINDOWS[codec.unit](view)
        pages = self.viewer.page_lines(source.path, progress) if codec.unit == "page" else ()
        validator = AnswerValidator(
            codec=codec,
            default_type=prompt.DEFAULT_TYPE.get(local_map.modality, "section"),
            pdf=pdf_text(pages, known_titles(local_map, codec)) if codec.unit == "page" else None,
            text=title_context(view, pages, book),
            definitions=definitions_of(local_map.nodes, codec) if codec.unit == "line" else {},
            code=source.format.name in CODE,
        )
        description = f"The map that {self.service.name} ({self.service.model}) made from {source.path} is not valid"
        return MappingTask(source, local_map, codec, windows, validator, description, self.cache, map_key, self.redact)

    def _assemble(self, task: MappingTask, results: Sequence[WindowResult]) -> ResourceMap:
        checked, found = sum(each.titles_checked for each in results), sum(each.titles_found for each in results)
        unchecked = sum(each.titles_unchecked for each in results)
        proposed, dropped = sum(each.proposed for each in results), [line for each in results for line in each.dropped]
        if found * 3 < checked:
            reason = (
                f"nodes: titles that are not in the file where the model located them: {checked - found} of {checked}"
            )
            raise FaultyAnswer(task.description, [reason, *dropped])
        branches = merge_windows([each.branches for each in results])
        valid = sum(1 for top in branches for _ in top.walk())
        if not valid or valid * 3 < proposed:
            raise FaultyAnswer(task.description, dropped or ["nodes: the answer contains no valid nodes"])
        title, title_note = _file_title(task, results)
        outline = Outline(title=title, extent=task.local_map.extent, items=task.items(branches))
        made = evolve(
            task.local_map,
            title=one_line(title, TITLE_LIMIT) or task.local_map.title,
            nodes=make_nodes(outline),
            metadata=self._metadata(
                task.local_map, results, dropped, (title_note, *_titles_notes(checked, found, unchecked))
            ),
        )
        faults = map_issues(made)
        if faults:
            raise FaultyAnswer(task.description, faults)
        return made

    def _metadata(
        self,
        local_map: ResourceMap,
        results: Sequence[WindowResult],
        dropped: Sequence[str],
        title_notes: Sequence[str],
    ) -> Mapping[str, object]:
        usage = sum((each.usage for each in results), Usage())
        notes = list(dict.fromkeys(filter(None, (*(note for each in results for note in each.notes), *title_notes))))
        return {
            **{key: value for key, value in local_map.metadata.items() if key != "notes"},
            "mapper": self.identity.to_metadata(),
            "usage": {
                "requests": usage.requests,
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
            },
            **({"notes": notes} if notes else {}),
            **({"dropped": list(dropped)} if dropped else {}),
        }


def _file_title(task: MappingTask, results: Sequence[WindowResult]) -> tuple[str, str]:
    """Return the title of the file and a note ("" if there is nothing to report).

    A confirmed title from the model is preferred to the title of the local map.
    """
    local_title = task.local_map.title
    proposed = [each.title for each in results if each.title]
    text, trusted = task.validator.text, (local_title, task.source.path.stem)
    confirmed = next((title for title in proposed if text is None or may_title_file(title, text, trusted)), None)
    if confirmed is None and proposed:
        return (
            local_title,
            "No title that the model proposed for the file is in it, so the title found without the model was used.",
        )
    return confirmed or local_title, ""


def _titles_notes(checked: int, found: int, unchecked: int) -> list[str]:
    if not checked:
        return [
            "No title could be checked, because the file has no machine-readable text at the locations of the nodes."
        ]
    notes = []
    if found < checked:
        notes.append(
            "Nodes left out because their titles are not in the file where the model located them: "
            f"{checked - found} of {checked}."
        )
    if unchecked:
        notes.append(
            "Titles that could not be checked, because the file has no machine-readable text at the locations of their "
            f"nodes: {unchecked} of {checked + unchecked}."
        )
    return notes


_E = TypeVar("_E", bound=CiteKitError)


def _with_summary(error: _E, summary: str) -> _E:
    """Return `error` after adding `summary` and the error's notes to its message."""
    text = " ".join(filter(None, [f"{str(error).rstrip('.')}.", summary, *getattr(error, "__notes__", ())]))
    error.args = (text, *error.args[1:])
    return error


def _codec(local_map: ResourceMap, service: Service, book: ParagraphCodec | None) -> LocationCodec:
    """Return the codec for locations in the file: `book`, or else the codec for the modality of the map."""
    extent = local_map.extent
    if book is not None:
        return book
    if local_map.modality is Modality.IMAGE:
        boxes = getattr(service, "boxes", "box_2d" if service.name == "gemini" else "bbox")
        return BoxCodec(thousandths=boxes == "box_2d")
    if local_map.modality in (Modality.VIDEO, Modality.AUDIO):
        return TimeCodec(extent.seconds or 0.0, local_map.modality)
    return PageCodec(extent.pages or 1) if local_map.modality is Modality.DOCUMENT else LineCodec(extent.lines or 1)
