"""Implements the command `citekit ask`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from citekit.domain.answering import CheckedAnswer, CheckedQuote, CheckedStatement, Passage
from citekit.domain.errors import FaultyAnswer, MapperUnavailable
from citekit.domain.phrases import counted
from citekit.domain.text_search.limits import PASSAGES
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command, password_option, resources_option, roots_option
from citekit.entrypoints.cli.errors import CommandError
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.terminal import styled
from citekit.entrypoints.found_text import reason_lines
from citekit.wire.answers import to_plain

_NOTHING = "No pages were found: no searched file has text that can be read, or none contains a word of the question."

LINE_LIMIT = 400
"""The maximum number of characters that are shown of a line."""


@click.command("ask", cls=Command)
@click.argument("question", nargs=-1, required=True)
@resources_option()
@click.option(
    "--service",
    type=click.Choice(["auto", "gemini", "openai", "none"]),
    default="auto",
    show_default=True,
    help="The model service. auto is the one in CITEKIT_MAPPER or, without that, the one whose key is set "
    "(gemini before openai). openai includes compatible servers (--base-url).",
)
@click.option("--model", metavar="NAME", help="The model (default: $CITEKIT_MODEL, or the service's default).")
@click.option(
    "--base-url",
    metavar="URL",
    help="The base URL of the service, such as that of an OpenAI-compatible server (default: $CITEKIT_BASE_URL, or the "
    "service's default).",
)
@click.option(
    "--pages",
    type=click.IntRange(1, 50),
    default=PASSAGES,
    show_default=True,
    help="The maximum number of pages that the model gets. Each has up to 6,000 characters (about 1,500 tokens in English).",
)
@click.option(
    "--max-requests",
    type=click.IntRange(1),
    metavar="N",
    help="The maximum number of requests to the model for one answer (default: $CITEKIT_MAX_REQUESTS, or no limit). An "
    "answer takes at most four, not counting retries of failed requests. The request of the reranker 'model' is not "
    "counted.",
)
@roots_option()
@password_option("a source PDF")
@pass_session
def command(
    session: Session,
    question: tuple[str, ...],
    resources: tuple[str, ...],
    service: str,
    model: str | None,
    base_url: str | None,
    pages: int,
    max_requests: int | None,
    roots: tuple[str, ...],
    password: str | None,
) -> None:
    """Answer a question from the mapped files, with verified quotes.

    The pages that most likely answer QUESTION are sent to a model, which answers with quotes from them. CiteKit then
    searches for every quote on these pages. A statement is part of the answer only if all of its quotes are found; the
    others are listed separately. Genuine quotes do not prove that a statement follows from them, so read them. Numbers
    that are not in any quote are marked.

    If quotes are not found, the model gets one chance to correct its answer. Without a model (--service none, no key, or
    CITEKIT_MAPPER=local), the best pages are shown, and nothing leaves this computer unless another setting, such as
    CITEKIT_RERANKER, names a service.

    The exit code is 0 if at least one statement is supported, or if pages were found and no model was asked. Otherwise,
    it is 1.
    """
    app = session.app_with(model=model, base_url=base_url, max_requests=max_requests, password=password)
    answerer = app.answer_model(service)
    with watching(session, "Answering") as watch:
        try:
            answer = app.answer_question(
                " ".join(question),
                resources,
                model=answerer,
                limit=pages,
                roots=[Path(root) for root in roots],
                progress=watch,
            )
        except (FaultyAnswer, MapperUnavailable) as error:
            error.add_note("To see the best pages without a model, use --service none.")
            raise
    plain = to_plain(answer)
    if not answer.passages:
        session.say(reason_lines("Not searched", answer.skipped))
        nothing = _NOTHING if app.maps.ids() else "Nothing is mapped."
        raise CommandError("NothingFound", f"{nothing} {session.home_hint()}", plain)
    if answer.model is None:
        if service == "auto":
            session.note(_no_model(app.settings.mapper))
        session.answer(plain, _passage_lines(answer.passages))
        return
    if answer.supported:
        session.answer(plain, _answer_lines(answer))
        return
    session.say(_answer_lines(answer))
    if answer.withheld:
        raise CommandError("NotSupported", "The model answered, but no statement is supported by quotes.", plain)
    raise CommandError("Unanswered", "According to the model, these pages do not answer the question.", plain)


def _no_model(mapper: str) -> str:
    why = "no key is set (GEMINI_API_KEY or OPENAI_API_KEY)" if mapper == "auto" else f"CITEKIT_MAPPER is {mapper}"
    return f"No model was asked, because {why} and no service was named (--service). These are the best pages."


def _answer_lines(answer: CheckedAnswer) -> Iterator[str]:
    for each in answer.supported:
        yield from _statement_lines(each)
    if answer.withheld:
        yield styled("Not supported by quotes, so not part of the answer:", fg="yellow")
        for each in answer.withheld:
            yield from _statement_lines(each)
    if not answer.statements:
        yield from _passage_lines(answer.passages)
    cost = answer.cost
    yield styled(
        f"{answer.model}: {counted(cost.requests, 'request')}, {cost.input_tokens:,} input tokens, "
        f"{cost.output_tokens:,} output tokens",
        dim=True,
    )


def _statement_lines(statement: CheckedStatement) -> Iterator[str]:
    yield printable(" ".join(statement.text.split()))
    for quote in statement.quotes:
        yield from _quote_lines(quote)
    if not statement.quotes:
        yield f"  {styled('no quote', fg='red')}"
    if statement.unquoted:
        yield f"  {styled('not in the quotes', fg='yellow')}: {printable(', '.join(statement.unquoted))}"


def _quote_lines(quote: CheckedQuote) -> Iterator[str]:
    verdict = quote.verdict
    if verdict is None:
        yield f"  {styled('not checked', fg='red')}: {printable(quote.problem)}"
    elif verdict.holds:
        yield f"  {styled(verdict.finding.value, fg='green')}  {printable(str(verdict.places[0].address))}"
    elif not verdict.visible:
        yield f"  {styled(verdict.label, fg='red')}"
    else:
        yield f"  {styled(verdict.finding.value, fg='red')}"
    yield f'  > "{printable(" ".join(quote.quote.split()))}"'


def _passage_lines(passages: Sequence[Passage]) -> Iterator[str]:
    for each in passages:
        yield f"{printable(str(each.place))}  {each.score:.2f}"
        lines = (line for line in each.best.split("\n") if line.strip())
        yield from (
            f"  > {printable(line if len(line) <= LINE_LIMIT else f'{line[:LINE_LIMIT]}...')}" for line in lines
        )
