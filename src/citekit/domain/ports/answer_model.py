"""Defines the port for models that answer questions from passages."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from citekit.domain.answering import Draft
from citekit.domain.progress import Progress


class AnswerConversation(Protocol):
    """A conversation with a model about one question.

    Both methods raise `FaultyAnswer` if the answer cannot be read, and `MapperUnavailable` if the service fails.
    """

    def answer(self, question: str, passages: Sequence[str], progress: Progress) -> Draft:
        """Return the model's answer to the question from `passages`."""

    def correct(self, faults: Sequence[str], progress: Progress) -> Draft:
        """Return a new answer to the same question. `faults` are sentences about quotes that do not hold and about
        statements without quotes.
        """


class AnswerModel(Protocol):
    """A language model that answers a question from passages and supports its statements with quotes from them."""

    @property
    def name(self) -> str:
        """The model and its service, for the user."""

    def conversation(self) -> AbstractContextManager[AnswerConversation]:
        """Start a conversation.

        Raise `MapperUnavailable` if a required key is missing, or if the key or URL is malformed.
        """
