"""The conversation about one window: the question, and the follow-ups to an answer that is truncated, unreadable, or
wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define, evolve, field

from citekit.adapters.mappers.llm import prompt
from citekit.adapters.mappers.llm.answers import Answer, RawNode, join_answers, read_answer
from citekit.adapters.mappers.llm.messages import NoReplyError, Question, Reply, Session, Turn, Usage
from citekit.adapters.mappers.llm.proposals import Fault, title_of
from citekit.adapters.mappers.llm.title_words import folded
from citekit.domain.errors import FaultyAnswer
from citekit.domain.progress import Progress

CONTINUATION_LIMIT = 8
"""The maximum number of requests for the rest of a truncated answer."""

CUT_OFF = "The answer was cut off repeatedly: parts after {title!r} may be missing."
_NO_COMPLETE_NODE = "it ends before its first node is complete; write less"


_NOT_LOCATION = frozenset({"title", "type", "summary", "context", "level", "id"})


@define
class UsageTotal:
    """The usage of a map so far, over all of its windows. Safe to use from several threads."""

    usage: Usage = field(factory=Usage)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def add(self, usage: Usage) -> None:
        """Add the usage of one reply."""
        with self._lock:
            self.usage += usage


@define
class Conversation:
    """The conversation about one window. `description` names the map in errors; `usage` and `notes` collect those of
    all replies.

    `usage_total` collects the usage of the whole map. `redact` removes secrets from the model's text.
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
        """The first answer, which may be truncated (see `completed`).

        Raises `FaultyAnswer` if two answers are unreadable; `MapperUnavailable`, `Cancelled`.
        """
        return self._readable(self._ask())

    def answer_again(self, words: str) -> Answer:
        """A whole new answer after the follow-up `words`. Raises the errors of `answer`."""
        return self.completed(self._readable(self._ask(words)))

    def resume(self, answer: Answer) -> None:
        """Continue a conversation in which the model gave `answer` in an earlier run."""
        self._last = Reply(_json_of(answer), complete=not answer.truncated, usage=Usage())

    def corrected_nodes(self, items: Sequence[RawNode], faults: Sequence[Fault]) -> Sequence[RawNode]:
        """`items` in which the model's corrections replace the nodes with `faults`."""
        return replace_nodes(items, {fault.node for fault in faults}, self._ask(prompt.correction(faults)).items)

    def completed(self, answer: Answer) -> Answer:
        """The answer with its missing rest, which is requested as long as each reply adds nodes."""
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
            answer = self._ask(prompt.malformed(answer.error))
        if answer.error is not None:
            raise FaultyAnswer(self.description, [f"$: {answer.error}"])
        return answer

    def _ask(self, words: str = "") -> Answer:
        if words and self._last is not None:
            self.question = evolve(self.question, turns=(*self.question.turns, Turn(self._last, words)))
        try:
            reply = self._last = self.session.ask(self.question, self.progress)
        except NoReplyError as error:
            self.usage += error.usage
            self.usage_total.add(error.usage)
            raise
        self._count(reply)
        answer = _redacted(read_answer(reply.text), self.redact)
        if answer.error is not None and not reply.complete:
            return evolve(answer, error=_NO_COMPLETE_NODE)
        return answer

    def _count(self, reply: Reply) -> None:
        self.usage += reply.usage
        self.usage_total.add(reply.usage)
        self.notes.extend(note for note in reply.notes if note not in self.notes)


def _redacted(answer: Answer, redact: Callable[[str], str]) -> Answer:
    """The answer without secrets. A model or a server may repeat them."""
    items = [_redacted_item(item, redact) for item in answer.items]
    title = None if answer.title is None else redact(answer.title)
    complaint = None if answer.error is None else redact(answer.error)
    return evolve(answer, title=title, items=items, error=complaint)


def _redacted_item(item: RawNode, redact: Callable[[str], str]) -> RawNode:
    try:
        return evolve(item, record=_redacted_value(item.record, redact), error=redact(item.error))
    except RecursionError:  # JSON may be nested more deeply than the recursion limit
        return evolve(item, record=None, error="is nested too deeply")


def _redacted_value(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(name): _redacted_value(each, redact) for name, each in value.items()}
    return [_redacted_value(each, redact) for each in value] if isinstance(value, list) else value


def _json_of(answer: Answer) -> str:
    nodes = [{"level": item.level, **item.record} for item in answer.items if item.record is not None]
    return json.dumps({"title": answer.title, "nodes": nodes}, ensure_ascii=False)


def replace_nodes(items: Sequence[RawNode], faulty: set[str], new: Sequence[RawNode]) -> Sequence[RawNode]:
    """`items` in which each of `new` replaces the node with the same title (faulty nodes first), else the faulty node
    with the same location.

    If there are as many new nodes as faulty ones, those without a match replace the remaining faulty nodes in order.
    Other new nodes are ignored, because they were not requested.
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
    items: Sequence[RawNode], record: Mapping[str, Any], faulty: Sequence[int], taken: set[int]
) -> int | None:
    wanted = folded(title_of(record))
    same = [n for n, item in enumerate(items) if n not in taken and wanted and folded(title_of(item.record)) == wanted]
    return next((n for n in same if n in faulty), same[0] if same else None)


def _same_location(
    items: Sequence[RawNode], record: Mapping[str, Any], faulty: Sequence[int], taken: set[int]
) -> int | None:
    """The index of the faulty node with the location of `record`: its title was the fault."""
    wanted = _location_fields(record)
    return next((n for n in faulty if n not in taken and wanted and _location_fields(items[n].record) == wanted), None)


def _location_fields(record: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (record or {}).items() if name not in _NOT_LOCATION}


def _in_position(old: RawNode, new: RawNode) -> RawNode:
    """`new` with the path of `old`. A corrected node without a level keeps the level of `old`."""
    has_level = isinstance((new.record or {}).get("level"), int)
    return evolve(new, path=old.path, level=new.level if has_level else old.level)
