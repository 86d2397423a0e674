"""Asks a model about one file, window by window, and validates its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen

from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.adapters.mappers.llm import prompt
from citekit.adapters.mappers.llm.answer_cache import AnswerCache, CachedAnswer, cache_key
from citekit.adapters.mappers.llm.answers import Answer
from citekit.adapters.mappers.llm.conversation import Conversation, UsageTotal
from citekit.adapters.mappers.llm.location_codec import LocationCodec
from citekit.adapters.mappers.llm.messages import Question, Session, TextPart
from citekit.adapters.mappers.llm.proposal_tree import Branch
from citekit.adapters.mappers.llm.proposals import Fault
from citekit.adapters.mappers.llm.validator import AnswerValidator, ValidatedAnswer
from citekit.adapters.mappers.llm.windows import Window
from citekit.domain.errors import MapperUnavailable
from citekit.domain.formats import BOOKS
from citekit.domain.model_usage import Usage
from citekit.domain.progress import Progress
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from citekit.wire.locations import from_plain
from citekit.wire.schema import MAP_SCHEMA, NODE_SCHEMA

CACHED_NOTE = "Answers about this file from an earlier, unfinished run were used."

_PROMPT_METADATA = (
    "page_count", "page_labels", "author", "subject", "authors", "language", "duration", "dimensions", "line_count",
    "chapter_count", "format",
)  # fmt: skip

_KINDS = {"pdf": "PDF document", "subtitles": "subtitle file", **dict.fromkeys(BOOKS, "book")}


@frozen
class WindowResult:
    """The validated answer about one window of a file.

    `proposed` counts the nodes that the model proposed. `titles_unchecked` counts the titles of nodes at whose locations
    there is no text.
    """

    title: str | None
    branches: Sequence[Branch]
    proposed: int
    dropped: Sequence[str]
    notes: Sequence[str]
    usage: Usage
    titles_checked: int
    titles_found: int
    titles_unchecked: int

    @property
    def is_faulty(self) -> bool:
        """Whether fewer than a third of the nodes are valid, or fewer than a third of the checked titles were found."""
        valid = sum(1 for top in self.branches for _ in top.walk())
        return self.titles_found * 3 < self.titles_checked or valid * 3 < self.proposed


@frozen
class MappingTask:
    """One file and everything needed to ask a model about its windows.

    `description` names the new map in error messages. `redact` removes secrets from answers.
    """

    source: Source
    local_map: ResourceMap
    codec: LocationCodec
    windows: Sequence[Window]
    validator: AnswerValidator
    description: str
    cache: AnswerCache
    map_key: str
    redact: Callable[[str], str]
    usage_total: UsageTotal = field(factory=UsageTotal)

    def cached_result(self, number: int) -> WindowResult | None:
        """Return the result for window `number` from an earlier run; None if the model must still be asked about it."""
        cached = self.cache.get(self.map_key, self._window_key(number))
        if cached is None or cached.answer.truncated:
            return None
        validated = self.validator.validate(cached.answer.items, self.windows[number])
        if validated.is_invented or (validated.faults and not cached.repaired):
            return None
        return self._result(number, cached, validated, (CACHED_NOTE,))

    def ask(self, session: Session, number: int, progress: Progress) -> WindowResult:
        """Ask the model about window `number`, or continue from its cached answer, and ask once to correct faults.

        Raise the errors of `Conversation.answer`.
        """
        window, cached = self.windows[number], self.cache.get(self.map_key, self._window_key(number))
        conversation = Conversation(
            session, self._question(window), self.description, progress, self.usage_total, self.redact
        )
        if cached is not None and not self.validator.validate(cached.answer.items, window).is_invented:
            conversation.usage, conversation.notes = cached.usage, list(cached.notes)
            conversation.resume(cached.answer)
            answer = cached.answer
        else:
            answer = conversation.answer()
            self._store(number, conversation, answer)
        if answer.truncated:
            answer = conversation.completed(answer)
            self._store(number, conversation, evolve(answer, truncated=False))
        validated = self.validator.validate(answer.items, window)
        if validated.faults:
            answer, validated = self._corrected(conversation, answer, validated, window)
            self._store(number, conversation, answer, repaired=True)
        return self._result(number, _cacheable(conversation, answer), validated)

    def _corrected(
        self, conversation: Conversation, answer: Answer, validated: ValidatedAnswer, window: Window
    ) -> tuple[Answer, ValidatedAnswer]:
        """Return the answer after the model corrected its faults, or the original one if the service fails; and its
        validation.
        """
        faults = validated.faults
        conversation.progress(0, None, "asking the model to correct its answer")
        try:
            if validated.is_invented:
                words = prompt.titles_missing(faults, validated.titles_checked, validated.titles_found)
                better = conversation.answer_again(words)
            else:
                better = evolve(answer, items=conversation.corrected_nodes(answer.items, faults))
        except MapperUnavailable as error:
            conversation.notes.append(
                f"The follow-up request to correct the answer (faults: {len(faults)}) failed: {error}"
            )
            return answer, validated
        return better, self.validator.validate(better.items, window)

    def _result(
        self, number: int, cached: CachedAnswer, validated: ValidatedAnswer, notes: Sequence[str] = ()
    ) -> WindowResult:
        window = self.windows[number]
        prefix = f"part {number + 1}: " if len(self.windows) > 1 else ""
        about_nodes = [f"{prefix}{note}" for note in validated.notes]
        if not validated.branches and len(self.windows) > 1:
            about_nodes.append(f"No valid nodes were found in part {number + 1} ({self.codec.describe(window.span)}).")
        return WindowResult(
            cached.answer.title,
            validated.branches,
            len(cached.answer.items),
            [f"{prefix}{fault}" for fault in _first_per_node(validated.faults)],
            [*window.notes, *cached.notes, *notes, *about_nodes],
            cached.usage,
            validated.titles_checked,
            validated.titles_found,
            validated.titles_unchecked,
        )

    def _store(self, number: int, conversation: Conversation, answer: Answer, *, repaired: bool = False) -> None:
        cached = evolve(_cacheable(conversation, answer), repaired=repaired)
        self.cache.put(self.map_key, self._window_key(number), cached)

    def drop_faulty(self, results: Sequence[WindowResult]) -> None:
        """Remove the cached answers with faulty `results`, or all if no result is faulty, so that a new run requests
        them again.
        """
        faulty = [number for number, result in enumerate(results) if result.is_faulty]
        for number in faulty or range(len(results)):
            self.cache.discard(self.map_key, self._window_key(number))

    def _window_key(self, number: int) -> str:
        window = self.windows[number]
        return cache_key(
            prompt.SYSTEM, self._task_text(window), self._schema(), window.span, window.shift, window.notes
        )

    def usage_summary(self) -> str:
        """Return sentences with the requests and tokens used so far and the number of cached answers; "" if all are 0."""
        usage, count = self.usage_total.usage, self.cache.count(self.map_key)
        spent = (
            f"Requests answered so far: {usage.requests} (input tokens: {usage.input_tokens}, output tokens: "
            f"{usage.output_tokens})."
            if usage.requests
            else ""
        )
        if not count:
            return f"{spent} No answer was cached." if usage.requests else ""
        kept = (
            "The answer so far is"
            if len(self.windows) == 1
            else f"The answers for {count} of {len(self.windows)} parts are"
        )
        return f"{spent} {kept} cached: map the file again to request only the rest.".lstrip()

    def items(self, branches: Sequence[Branch]) -> tuple[OutlineItem, ...]:
        """Return the branches as items of an outline."""
        return tuple(self._outline_item(branch) for branch in branches)

    def _outline_item(self, branch: Branch) -> OutlineItem:
        proposal, pages = branch.proposal, branch.proposal.listed_pages
        if pages and not branch.children and (pages[0], pages[-1]) == branch.span:
            location = from_plain({"modality": "document", "pages": list(pages)})
        else:
            location = self.codec.to_location(branch.span)
        children, keep_case = self.items(branch.children), self.validator.code
        return OutlineItem(proposal.title, proposal.type, location, proposal.summary, children, keep_case=keep_case)

    def _question(self, window: Window) -> Question:
        return Question(prompt.SYSTEM, (*window.load_parts(), TextPart(self._task_text(window))), self._schema())

    def _schema(self) -> Mapping[str, object]:
        return answer_schema(self.codec, prompt.TYPES[self.local_map.modality])

    def _task_text(self, window: Window) -> str:
        local_map = self.local_map
        metadata = {"file name": self.source.path.name, "title": local_map.title}
        metadata |= {name: local_map.metadata[name] for name in _PROMPT_METADATA if local_map.metadata.get(name)}
        kind = _KINDS.get(self.source.format.name, local_map.modality.value)
        task = prompt.task(kind, metadata, self.codec, window.span, window.instruction)
        outline = prompt.skeleton(local_map.nodes, self.codec, window.span, window.shift)
        return f"{task}\n\n{outline}" if outline else task


def _first_per_node(faults: Sequence[Fault]) -> list[Fault]:
    return list({fault.node: fault for fault in reversed(faults)}.values())[::-1]


def _cacheable(conversation: Conversation, answer: Answer) -> CachedAnswer:
    return CachedAnswer(answer, conversation.usage, tuple(conversation.notes))


def answer_schema(codec: LocationCodec, types: str) -> dict[str, Any]:
    """Return the JSON Schema of an answer whose locations are written as `codec` defines. `types` suggests types of
    nodes.

    Nodes have levels instead of `children`, because not all model services support recursive schemas. A range has a
    first and a last number, because a list of all pages would need more output tokens.
    """
    node = NODE_SCHEMA["properties"]
    fields = {
        "level": {
            "type": "integer",
            "description": "1 at the top; otherwise, one more than the level of the part that contains this part.",
        },
        "title": {**node["title"], "description": "As written in the file, if the part has a title there."},
        "type": {**node["type"], "description": f"One word: {types}."},
        "summary": {**node["summary"], "description": "One or two sentences that say what the part says or shows."},
        **codec.fields,
    }
    return _object(
        {
            "title": {**MAP_SCHEMA["properties"]["title"], "description": "The title of the whole file."},
            "nodes": {
                "type": "array",
                "items": _object(fields),
                "description": "The parts of the file, in reading order.",
            },
        }
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
