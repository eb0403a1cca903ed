"""The verification of records.

Owns the checks of the head and of the order of rounds and versions, and combines them with the checks of deals and
seeds (``event_checks``) and of the play (``replay``). It trusts nothing in a record. The time is linear in the length
of the record. Does not depend on the text of a record, except for the line numbers of findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from service.bots.choice import LEVELS, NEWEST_EDITION
from service.engine.errors import InvalidSetup
from service.engine.events import Dealt
from service.engine.state import FINISHED, State
from service.engine.variant import Rules
from service.engine.variants import variants
from service.engine.view import RecordedDeal
from service.reasons import sentence
from service.records.bot_checks import NO_DECISIONS, BotLimits, DecisionChecker
from service.records.event_checks import deal_faults, fairness_faults, is_over, is_provable, seed_faults
from service.records.record import ARRANGED, PROVABLE, Record, RecordedRound
from service.records.replay import AUTOMATIC_EVENTS, MOVES, replay_record
from service.records.report import Fault, Finding, Report
from service.records.writer import HEAD, line_numbers, resolved_options

MAX_FINDINGS: Final = 100
"""The maximum number of findings in a report."""
YIELD_EVERY: Final = 64
"""The number of events between two calls of ``yield_control``."""


def verify(record: Record, yield_control: Callable[[], None] = lambda: None, bots: BotLimits = NO_DECISIONS) -> Report:
    """Return the report about a record: the play is checked up to its first fault, everything else completely.

    ``yield_control`` is called between rounds, every few events, and before each decision of a computer player that is
    computed again, so that a server can handle other requests. ``bots`` limits these decisions.
    """
    report = Report(fairness=record.fairness)
    rules, faults = rules_of(record)
    for check in (_frame_faults, fairness_faults):
        faults += check(record)
        yield_control()
    if rules is not None:
        faults += _check_deals(record, rules, report, yield_control)
        faults += _check_play(record, rules, report, yield_control, bots=bots)
    yield_control()
    findings = findings_of(record, faults)
    report.findings, report.omitted = findings[:MAX_FINDINGS], max(0, len(findings) - MAX_FINDINGS)
    return report


def _check_deals(record: Record, rules: Rules, report: Report, yield_control: Callable[[], None]) -> Iterator[Fault]:
    """Yield the faults of all complete deals, and count these."""
    for index, recorded in enumerate(record.rounds):
        yield_control()
        dealt = recorded.lines[0].event if recorded.lines else None
        if isinstance(dealt, Dealt):
            faults = _faults_of_deal(rules, record, index, dealt)
            report.deals += 1
            report.proven += not faults and is_provable(record, recorded)
            yield from faults


def _check_play(
    record: Record, rules: Rules, report: Report, yield_control: Callable[[], None], *, bots: BotLimits
) -> Iterator[Fault]:
    """Yield the faults of the moves of computer players, and the first fault of the play or else of the result."""
    state: State | None = None
    events = 0
    decisions = DecisionChecker(record, rules, bots, yield_control)
    for events, step in enumerate(replay_record(record, rules), 1):
        if isinstance(step, Fault):
            yield step
            break
        state = step.state
        wrong_move = decisions.add(step)
        if wrong_move is not None:
            yield wrong_move
        report.moves += isinstance(step.line.event, MOVES)
        if events % YIELD_EVERY == 0:
            yield_control()
    else:
        if events == sum([len(recorded.lines) for recorded in record.rounds]):
            yield from _result_faults(record, state)
    report.finished = state is not None and state.phase == FINISHED
    report.decisions, report.unchecked = decisions.checked, tuple(sorted(decisions.unchecked.items()))


def rules_of(record: Record) -> tuple[Rules | None, list[Fault]]:
    """Return the rules of the record and the faults of the tags that select them; no rules if they cannot be found."""
    variant = variants().get(record.variant)
    if variant is None:
        return None, [Fault("unknown_variant", (HEAD, "Variant"), f"There is no game {record.variant} here.")]
    if record.edition != variant.edition:
        message = f"The rules of {variant.key} have the edition {variant.edition} here."
        return None, [Fault("unknown_edition", (HEAD, "Edition"), message)]
    try:
        rules = variant.rules(dict(record.options), len(record.players))
    except InvalidSetup as refusal:
        faults = []
        for path, reasons in refusal.errors.items():
            code, tag = ("bad_players", "Player 0") if path == "players" else ("bad_options", "Options")
            faults += [Fault(code, (HEAD, tag), sentence(reason)) for reason in reasons]
        return None, faults
    expected = resolved_options(variant, rules)
    if record.options != expected:
        message = f"The house rules, each settled, are {', '.join([key for key, _ in expected])}, in this order."
        return rules, [Fault("bad_options", (HEAD, "Options"), message)]
    return rules, []


def _frame_faults(record: Record) -> Iterator[Fault]:
    if "" in record.players and any([_is_dealt_anew(recorded) for recorded in record.rounds]):
        place = (HEAD, f"Player {record.players.index('')}")
        yield Fault("bad_players", place, "Nothing is dealt as long as a seat is open.")
    for bot in record.bots:
        place = (HEAD, f"Player {bot.seat}")
        if bot.edition <= NEWEST_EDITION and bot.level not in LEVELS:
            yield Fault("unknown_bot", place, f"The levels are {', '.join(LEVELS)}.")
        if not record.players[bot.seat]:
            yield Fault("unknown_bot", place, "A computer player has a name.")
    for index, recorded in enumerate(record.rounds):
        if recorded.number != index + 1:
            yield Fault("wrong_round", (index, "Round"), f"This is round {index + 1}.")
        if not recorded.lines and (index + 1 < len(record.rounds) or record.fairness != PROVABLE):
            yield Fault("not_dealt", (index, "Round"), "The round was not dealt.")
    yield from _version_faults(record)


def _is_dealt_anew(recorded: RecordedRound) -> bool:
    """Return whether the round was dealt in this game; the deals that a fork copies are marked as arranged."""
    first = recorded.lines[0].event if recorded.lines else None
    return first is not None and not (isinstance(first, Dealt | RecordedDeal) and first.arranged)


def _version_faults(record: Record) -> Iterator[Fault]:
    """Yield a fault for the first version that is not higher than the previous one; the created game has version 1."""
    before = 1
    for index, recorded in enumerate(record.rounds):
        for line_index, (version, event) in enumerate(recorded.lines):
            if version <= before:
                yield Fault("wrong_version", (index, line_index), f"The versions ascend; the one before is {before}.")
                return
            if line_index and isinstance(event, AUTOMATIC_EVENTS) and version != before + 1:
                message = f"What follows from the event before has the next version: {before + 1}."
                yield Fault("wrong_version", (index, line_index), message)
                return
            before = version


def _faults_of_deal(rules: Rules, record: Record, index: int, dealt: Dealt) -> list[Fault]:
    place = (index, 0)
    faults = []
    if dealt.arranged and record.fairness != ARRANGED:
        faults.append(Fault("wrong_fairness", place, f"The deal was arranged; the fairness is {record.fairness}."))
    dealt = replace(dealt, round=index + 1)
    errors = list(deal_faults(rules, dealt, place))
    if not errors and is_over(record.rounds[index]):
        errors += seed_faults(rules, record, index, dealt)
    return faults + errors


def _result_faults(record: Record, state: State | None) -> list[Fault]:
    winners = state.winners if state is not None and state.phase == FINISHED else None
    if record.result == winners:
        return []
    outcome = "the match goes on" if winners is None else f"won by {' '.join(map(str, winners))}"
    return [Fault("wrong_result", (HEAD, "Result"), f"The result is another: {outcome}.")]


def findings_of(record: Record, faults: list[Fault]) -> tuple[Finding, ...]:
    """Return the faults as findings, in the order of their lines in the text."""
    if not faults:
        return ()
    lines = line_numbers(record)
    findings = []
    for code, place, message in faults:
        index, part = place
        recorded = None if index == HEAD else record.rounds[index]
        number = None if recorded is None else recorded.number
        version = None if recorded is None or isinstance(part, str) else recorded.lines[part].version
        findings.append(Finding(code, number, version, lines.get(place), message))
    return tuple(sorted(findings, key=lambda finding: finding.line or 0))
