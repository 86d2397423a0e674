"""Asks a model about one window of a file, and follows up on truncated, unreadable, or wrong answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define, evolve, field

from citekit.adapters.libraries.service_keys import redacted
from citekit.adapters.mappers.llm import prompt
from citekit.adapters.mappers.llm.answers import Answer, RawNode, join_answers, read_answer
from citekit.adapters.mappers.llm.messages import (
    Question,
    Reply,
    Session,
    Turn,
    charged,
    without_surrogates,
)
from citekit.adapters.mappers.llm.proposals import Fault, title_of
from citekit.adapters.mappers.llm.title_words import folded
from citekit.domain.errors import FaultyAnswer
from citekit.domain.model_usage import Usage
from citekit.domain.progress import Progress

CONTINUATION_LIMIT = 8
"""The maximum number of requests for the rest of a truncated answer."""

CUT_OFF = "The answer was cut off: parts after {title!r} may be missing."
_NO_COMPLETE_NODE = "it ends before its first node is complete"


_NOT_LOCATION = frozenset({"title", "type", "summary", "context", "level", "id"})


@define
class UsageTotal:
    """The requests and tokens used for a map so far. Several threads can use it."""

    usage: Usage = field(factory=Usage)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def add(self, usage: Usage) -> None:
        """Add the requests and tokens of one reply."""
        with self._lock:
            self.usage += usage


@define
class Conversation:
    """A conversation with a model about one window of a file.

    `description` names the map in error messages. `usage` and `notes` are of this conversation, and `usage_total` is of
    the whole map. `redact` removes secrets from the model's text.
    """

    session: Session
    question: Question
    description: str
    progress: Progress
    usage_total: UsageTotal = field(factory=UsageTotal)
    redact: Callable[[str], str] = str
    usage: Usage = field(factory=Usage)
    notes: list[str] = field(factory=list)
    _last: Reply | None = field(default=None, init=False)

    def answer(self) -> Answer:
        """Ask the question and return the first readable answer, which may be truncated (see `completed`).

        Raise `FaultyAnswer` if two answers are unreadable, and the errors of `Session.ask`.
        """
        return self._readable(self._ask())

    def answer_again(self, words: str) -> Answer:
        """Send the follow-up `words` and return the new answer, continued as in `completed`. Raise the errors of
        `answer`.
        """
        return self.completed(self._readable(self._ask(words)))

    def resume(self, answer: Answer) -> None:
        """Continue from `answer`, which the model gave in an earlier run."""
        self._last = Reply(_json_of(answer), complete=not answer.truncated, usage=Usage())

    def corrected_nodes(self, items: Sequence[RawNode], faults: Sequence[Fault]) -> Sequence[RawNode]:
        """Ask the model to correct the nodes with `faults`, and return `items` with the corrections."""
        return replace_nodes(items, {fault.node for fault in faults}, self._ask(prompt.correction(faults)).items)

    def completed(self, answer: Answer) -> Answer:
        """Return `answer`, continued by up to `CONTINUATION_LIMIT` follow-ups while it is truncated and they add nodes.

        Add a note if it stays truncated.
        """
        asked = 0
        while answer.truncated and asked < CONTINUATION_LIMIT:
            asked += 1
            tail = self._ask(prompt.continuation(answer))
            longer = join_answers(answer, tail)
            done = tail.error is None and not tail.truncated
            if done or len(longer.items) > len(answer.items):
                answer = longer
                continue
            break
        if answer.truncated:
            last = title_of(answer.items[-1].record) if answer.items else ""
            self.notes.append(CUT_OFF.format(title=last))
        return answer

    def _readable(self, answer: Answer) -> Answer:
        if answer.error is not None:
            shorter = "; write less" if answer.error == _NO_COMPLETE_NODE else ""
            answer = self._ask(prompt.malformed(f"{answer.error}{shorter}"))
        if answer.error is not None:
            raise FaultyAnswer(self.description, [f"$: {answer.error}"])
        return answer

    def _ask(self, words: str = "") -> Answer:
        if words and self._last is not None:
            self.question = evolve(self.question, turns=(*self.question.turns, Turn(self._last, words)))
        try:
            reply = self.session.ask(self.question, self.progress)
        except BaseException as error:
            usage = charged(error)
            self.usage += usage
            self.usage_total.add(usage)
            raise
        reply = self._last = evolve(reply, text=without_surrogates(reply.text))
        self._count(reply)
        # The text is redacted before an error message quotes the beginning of it, and again after JSON is decoded.
        answer = _redacted(read_answer(redacted(reply.text, self.redact)), self.redact)
        if answer.error is not None and not reply.complete:
            return evolve(answer, error=_NO_COMPLETE_NODE)
        return answer

    def _count(self, reply: Reply) -> None:
        self.usage += reply.usage
        self.usage_total.add(reply.usage)
        self.notes.extend(note for note in reply.notes if note not in self.notes)


def _redacted(answer: Answer, redact: Callable[[str], str]) -> Answer:
    items = [_redacted_item(item, redact) for item in answer.items]
    title = None if answer.title is None else redacted(answer.title, redact)
    complaint = None if answer.error is None else redacted(answer.error, redact)
    return evolve(answer, title=title, items=items, error=complaint)


def _redacted_item(item: RawNode, redact: Callable[[str], str]) -> RawNode:
    try:
        return evolve(item, record=_redacted_value(item.record, redact), error=redacted(item.error, redact))
    except RecursionError:  # JSON may be nested more deeply than the recursion limit
        return evolve(item, record=None, error="is nested too deeply")


def _redacted_value(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redacted(value, redact)
    if isinstance(value, Mapping):
        return {redacted(name, redact): _redacted_value(each, redact) for name, each in value.items()}
    return [_redacted_value(each, redact) for each in value] if isinstance(value, list) else value


def _json_of(answer: Answer) -> str:
    nodes = [{"level": item.level, **item.record} for item in answer.items if item.record is not None]
    return json.dumps({"title": answer.title, "nodes": nodes}, ensure_ascii=False)


def replace_nodes(items: Sequence[RawNode], faulty: set[str], new: Sequence[RawNode]) -> Sequence[RawNode]:
    """Return `items` with corrections from `new` in place of old nodes. `faulty` contains the paths of faulty nodes.

    A correction replaces the node with the same title, or else the faulty node with the same location. If their numbers
    match, other corrections replace the remaining faulty nodes in order; otherwise, they are ignored.
    """
    result = list(items)
    free = [n for n, item in enumerate(items) if item.path in faulty]
    taken: set[int] = set()
    strangers: list[RawNode] = []
    for item in new:
        if item.record is None:
            continue
        span = _same_title(result, item.record, free, taken)
        if span is None:
            span = _same_location(items, item.record, free, taken)
        if span is None:
            strangers.append(item)
        else:
            taken.add(span)
            result[span] = _in_position(result[span], item)
    open_ = [n for n in free if n not in taken]
    if len(new) == len(free) and len(open_) == len(strangers):
        for n, item in zip(open_, strangers, strict=True):
            result[n] = _in_position(result[n], item)
    return result


def _same_title(
    items: Sequence[RawNode], record: Mapping[str, object], faulty: Sequence[int], taken: set[int]
) -> int | None:
    wanted = folded(title_of(record))
    same = [n for n, item in enumerate(items) if n not in taken and wanted and folded(title_of(item.record)) == wanted]
    return next((n for n in same if n in faulty), same[0] if same else None)


def _same_location(
    items: Sequence[RawNode], record: Mapping[str, object], faulty: Sequence[int], taken: set[int]
) -> int | None:
    """Return the index of the faulty node with the location of `record`, whose title was corrected; None if there is
    none.
    """
    wanted = _location_fields(record)
    return next((n for n in faulty if n not in taken and wanted and _location_fields(items[n].record) == wanted), None)


def _location_fields(record: Mapping[str, object] | None) -> dict[str, object]:
    return {name: value for name, value in (record or {}).items() if name not in _NOT_LOCATION}


def _in_position(old: RawNode, new: RawNode) -> RawNode:
    """Return `new` with the path of `old`, and with the level of `old` if `new` has none."""
    has_level = isinstance((new.record or {}).get("level"), int)
    return evolve(new, path=old.path, level=new.level if has_level else old.level)
