"""The talk about one piece: asked, asked again where the answer cannot be read or breaks off, told what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, evolve, field

from citekit.adapters.mapping.model import prompt
from citekit.adapters.mapping.model.answers import Answer, Item, joined, read_answer
from citekit.adapters.mapping.model.claims import Fault, title_of
from citekit.adapters.mapping.model.conversation import Question, Reply, Session, TextPart, Usage
from citekit.adapters.mapping.model.pdf_titles import folded
from citekit.domain.errors import FaultyAnswer
from citekit.domain.progress import Progress

TAIL_LIMIT = 8
"""How often the rest of an answer that breaks off is asked for."""

CUT_OFF = "The answer was cut off again and again: what comes after {title!r} may be missing."
_TOO_LONG = "it breaks off before its first node is complete; write less"


@define
class Talk:
    """All that was said about one piece. `what` names the map in errors; `usage` and `notes` add up over the replies."""

    session: Session
    question: Question
    what: str
    progress: Progress
    usage: Usage = field(factory=Usage)
    notes: list[str] = field(factory=list)

    def answer(self) -> Answer:
        """The whole answer. Raises `FaultyAnswer` where it cannot be read twice; `MapperUnavailable`, `Cancelled`."""
        answer = self._read()
        if answer.complaint is not None:
            answer = self._read(prompt.malformed(answer.complaint))
        if answer.complaint is not None:
            raise FaultyAnswer(self.what, [f"$: {answer.complaint}"])
        return self._completed(answer)

    def mended(self, items: Sequence[Item], faults: Sequence[Fault]) -> Sequence[Item]:
        """`items`, those with `faults` exchanged for what the model says after it was told of them."""
        return exchanged(items, {fault.node for fault in faults}, self._read(prompt.mend(faults)).items)

    def _completed(self, answer: Answer) -> Answer:
        """The answer with its missing tail asked for, as long as more of it comes."""
        asked = 0
        while answer.truncated and asked < TAIL_LIMIT:
            asked += 1
            tail = self._read(prompt.carry_on(answer))
            longer = joined(answer, tail)
            done = tail.complaint is None and not tail.truncated
            if done or len(longer.items) > len(answer.items):
                answer = longer
                continue
            break
        if answer.truncated:
            last = title_of(answer.items[-1].record) if answer.items else ""
            self.notes.append(CUT_OFF.format(title=last))
        return answer

    def _read(self, more: str = "") -> Answer:
        parts = (*self.question.parts, TextPart(more)) if more else self.question.parts
        reply = self.session.ask(evolve(self.question, parts=parts), self.progress)
        self._count(reply)
        answer = read_answer(reply.text)
        if answer.complaint is not None and not reply.complete:
            return evolve(answer, complaint=_TOO_LONG)
        return answer

    def _count(self, reply: Reply) -> None:
        self.usage += reply.usage
        self.notes.extend(note for note in reply.notes if note not in self.notes)


def exchanged(items: Sequence[Item], faulty: set[str], new: Sequence[Item]) -> Sequence[Item]:
    """`items` with each of `new` in the place of the item of the same title, faulty ones first.

    Where as many came as are faulty, those without a namesake take the places of faulty ones in order. What else is new is
    passed over: it was not asked for.
    """
    result = list(items)
    free = [n for n, item in enumerate(items) if item.path in faulty]
    taken: set[int] = set()
    strangers: list[Item] = []
    for item in new:
        if item.record is None:
            continue
        place = _namesake(result, item.record, free, taken)
        if place is None:
            strangers.append(item)
        else:
            taken.add(place)
            result[place] = _at(result[place], item)
    open_ = [n for n in free if n not in taken]
    if len(new) == len(free) and len(open_) == len(strangers):
        for n, item in zip(open_, strangers, strict=True):
            result[n] = _at(result[n], item)
    return result


def _namesake(items: Sequence[Item], record: Mapping[str, Any], faulty: Sequence[int], taken: set[int]) -> int | None:
    wanted = folded(title_of(record))
    same = [n for n, item in enumerate(items) if n not in taken and wanted and folded(title_of(item.record)) == wanted]
    return next((n for n in same if n in faulty), same[0] if same else None)


def _at(old: Item, new: Item) -> Item:
    """What is new in the place of what is old; a corrected node that tells no level keeps that of the old one."""
    told = isinstance((new.record or {}).get("level"), int)
    return evolve(new, path=old.path, level=new.level if told else old.level)
