"""A recorded match as text for people: each move with the layout after it, and the results.

Owns the format of the text, with ``WIDTH`` columns, and the wording of plays and scores, in the notation of
``layout_text``; ``sentences`` has all other sentences. The text ends at the first event that breaks the rules, which
``records.verification`` reports. Names are untrusted: characters that are not printable are replaced. Does not depend
on whether the record is authentic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from service.engine.events import Dealt, Drew, Eliminated, Finished, Flipped, Played, RoundEnded, RoundResult
from service.engine.options import format_value
from service.engine.presence import PresenceEvent
from service.engine.state import FINISHED, Hand, State
from service.engine.variant import Rules
from service.engine.variants import variants
from service.engine.view import RecordedEvent
from service.records.notation.scanner import format_tiles
from service.records.record import SPECTATOR, Record, RecordedClock
from service.records.replay import Step, replay_record
from service.records.report import Fault
from service.records.verification import rules_of
from service.render.layout_text import LEGEND, render_layout, wrap_words
from service.render.sentences.events import event_sentence
from service.render.sentences.places import Reader, joined
from service.texts import DEFAULT_LANGUAGE, text

WIDTH: Final = 80
_MARGIN: Final = 6
_MAX_NAME: Final = 16


def render_transcript(record: Record) -> Iterator[str]:
    """Yield the lines of the transcript."""
    rules, _ = rules_of(record)
    writer = _TranscriptWriter(record)
    yield from writer.head()
    if rules is None:
        return
    for step in replay_record(record, rules):
        if isinstance(step, Fault):
            yield ""
            yield "Here the transcript ends."
            return
        yield from writer.step(rules, step)


class _TranscriptWriter:
    def __init__(self, record: Record) -> None:
        self._record = record
        self._names = [_printable(name) or f"seat {seat}" for seat, name in enumerate(record.players)]
        self._longest = max(map(len, self._names))

    def head(self) -> Iterator[str]:
        record = self._record
        variant = variants().get(record.variant)
        name = text(f"games.{variant.key}.name", DEFAULT_LANGUAGE) if variant else record.variant
        yield from wrap_words(f"{name}: {joined(self._names, DEFAULT_LANGUAGE)}".split(" "), WIDTH)
        facts = [f"{key} {format_value(value)}" for key, value in record.options]
        facts += [f"{self._names[bot.seat]}: computer player {bot.level} {bot.edition}" for bot in record.bots]
        facts += [] if record.clock is None else [_clock(record.clock)]
        facts += [record.date] if record.date else []
        facts += [f"game {_printable(record.game, 64)}"] if record.game else []
        facts.append(f"fairness {record.fairness}")
        if record.viewer is not None:
            viewer = record.viewer
            facts.append(f"seen by {'a spectator' if viewer == SPECTATOR else self._viewer_name(viewer)}")
        yield from wrap_words(facts, WIDTH, separator=" · ")
        yield from wrap_words(LEGEND.split(" · "), WIDTH, separator=" · ")

    def _viewer_name(self, seat: int | str) -> str:
        return self._names[seat] if isinstance(seat, int) and seat < len(self._names) else f"seat {seat}"

    def step(self, rules: Rules, step: Step) -> Iterator[str]:
        """Yield the lines of an event and of the state after it."""
        event, state = step.line.event, step.state
        if isinstance(event, Dealt):
            yield ""
            yield f"── Round {event.round} ".ljust(WIDTH, "─")
        yield ""
        if isinstance(event, Dealt):
            yield from self._numbered(step, "Dealt, as arranged:" if event.arranged else "Dealt:")
            yield from self._hands(event.hands, event.stock)
            return
        yield from self._numbered(step, self._sentence(rules, event, state))
        if isinstance(event, RoundEnded):
            yield from self._round_result(rules, event.round, state)
        elif isinstance(event, Finished):
            yield from self._settlement(rules, state)
        elif not isinstance(event, Eliminated | PresenceEvent):
            if isinstance(event, Played | Flipped):
                yield from (f"{'':{_MARGIN}}{line}" for line in render_layout(state.layout, WIDTH - _MARGIN))
            yield from self._standing(rules, state)

    def _numbered(self, step: Step, text: str) -> Iterator[str]:
        number = f"{step.line.version:{_MARGIN - 2}}  "
        for line in wrap_words(text.split(" "), WIDTH - len(number)):
            yield number + line
            number = " " * len(number)

    def _sentence(self, rules: Rules, event: RecordedEvent, state: State) -> str:
        """Return the sentence of an event. It names tiles and ends in the notation of the layout, not in words."""
        if isinstance(event, Played):
            name = self._names[event.seat]
            play = f"opened with {event.tile}" if event.end is None else f"played {event.tile} at {event.end}"
            play += "" if event.outer is None else f" with {event.outer} outside"
            down = ", face down" if event.face_down else ""
            counted = "" if event.ends_sum is None else f": the ends come to {event.ends_sum}"
            points = f", {event.points:+} for {name}" if event.points else ""
            return f"{name} {play}{down}{counted}{points}."
        if isinstance(event, Drew):
            return f"{self._names[event.seat]} drew {event.tile}."
        reader = Reader(None, tuple(self._names), DEFAULT_LANGUAGE).of_game(rules)
        return event_sentence(event, state.layout, reader)

    def _standing(self, rules: Rules, state: State) -> Iterator[str]:
        facts = [f"hands {' '.join(str(len(hand)) for hand in state.hands)}", f"stock {len(state.stock)}"]
        if rules.scores_plays:
            facts.append(f"points {' '.join(map(str, state.running_totals()))}")
        yield f"{'':{_MARGIN}}{' · '.join(facts)}"

    def _hands(self, hands: Sequence[Hand], stock: Hand) -> Iterator[str]:
        for name, hand in [*zip(self._names, hands, strict=True), ("stock", stock)]:
            if hand != () or name == "stock":
                yield from self._row(name, format_tiles(hand).split(" "))

    def _row(self, name: str, words: Sequence[str]) -> Iterator[str]:
        column = max(self._longest, len("stock")) + 2
        for at, line in enumerate(wrap_words(words, WIDTH - _MARGIN - column)):
            yield f"{'':{_MARGIN}}{name if not at else '':{column}}{line}"

    def _round_result(self, rules: Rules, result: RoundResult, state: State) -> Iterator[str]:
        column = self._longest + 2
        held, score = ("pips", "wins") if rules.unit == "wins" else ("in hand", "score")
        yield f"{'':{_MARGIN + column}}{held:>8}{score:>8}{'total':>8}"
        values = {hand.seat: hand for hand in result.hands}
        for seat, name in enumerate(self._names):
            hand = values.get(seat)
            if hand is None:
                continue
            marks = [mark for mark, who in (("(won)", result.winner), ("(lost)", result.loser)) if who == seat]
            numbers = f"{hand.value:>8}{result.scores[seat]:>+8}{state.totals[seat]:>8}"
            start = f"{'':{_MARGIN}}{name:{column}}{numbers}   "
            for line in wrap_words([*format_tiles(hand.tiles).split(" "), *marks], WIDTH - len(start)):
                yield start + line
                start = " " * len(start)
        if result.carried and rules.unit == "points":
            yield f"{'':{_MARGIN}}{result.carried} points are carried."
        if result.lines:
            yield ""
        for entry in result.lines:
            words = f"{entry.points:+}, rules {entry.rule}: {entry.text}".split(" ")
            yield from self._row(self._names[entry.seat], words)

    def _settlement(self, rules: Rules, state: State) -> Iterator[str]:
        if rules.settlement is None or state.phase != FINISHED:
            return
        for payment in rules.settlement(state).payments:
            yield (f"{'':{_MARGIN}}{self._names[payment.payer]} pays {self._names[payment.payee]} {payment.amount}.")


def _clock(clock: RecordedClock) -> str:
    bank = f"bank {clock.bank} s, increment {clock.increment} s"
    return f"clock: {bank if clock.turn is None else f'turn {clock.turn} s'}, then {clock.absence}"


def _printable(text: str, max_length: int = _MAX_NAME) -> str:
    """Return the text in at most ``max_length`` characters; characters that are not printable are replaced."""
    safe = "".join([character if character.isprintable() else "�" for character in text])
    return safe if len(safe) <= max_length else f"{safe[: max_length - 1]}…"
