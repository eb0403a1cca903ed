"""What is said of any match: short, in words, in every language, and nothing that its reader may not know."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from service.engine.events import Dealt, Drew
from service.engine.layout import empty_layout
from service.engine.view import event_view
from service.games.model.game_events import EventEnvelope
from service.games.model.views import view_event, view_game
from service.games.queries.sentences import EventSentences, game_sentence
from service.games.store.repository import DEFAULT_POLICY
from service.render.sentences.board import board_description, board_sentence
from service.render.sentences.events import event_sentence
from service.render.sentences.places import MAX_SENTENCE, Reader
from service.texts import LANGUAGES
from tests.laws.hosting import hosted
from tests.laws.matches import Match, law
from tests.laws.test_blindness import twins, viewers
from tests.support.lanes import current

pytestmark = pytest.mark.gate

_MAX_NAME = 60


def names_of(match: Match) -> tuple[str | None, ...]:
    """Names of all lengths, and seats without one."""
    return tuple([match.rng.choice([None, "Bo", chr(65 + seat) * _MAX_NAME]) for seat in match.seats])


def some_viewers(match: Match) -> list[int | None]:
    """A spectator, and some of the seats, as all are told the same in the third person."""
    return [None, *match.rng.sample(match.seats, min(2, len(match.seats)))]


def some_languages(match: Match) -> Sequence[str]:
    """Two of the languages, by night all."""
    return LANGUAGES if current() == "nightly" else match.rng.sample(LANGUAGES, 2)


def assert_sayable(sentence: str) -> None:
    assert len(sentence) <= MAX_SENTENCE, sentence
    assert sentence.endswith(".")
    assert sentence[0].isupper()
    assert not re.search(r"\d\W\d|[{}]|  |\.\.", sentence), sentence


@law()
def test_every_event_is_told_to_every_viewer_in_its_language(match: Match) -> None:
    names = names_of(match)
    for viewer in some_viewers(match):
        for language in some_languages(match):
            layout = empty_layout(match.rules.form)
            sentences = EventSentences(match.rules, layout, Reader(viewer, names, language))
            for version, event in enumerate(match.events, 1):
                assert_sayable(sentences.sentence(view_event(EventEnvelope(version, 0, event, ()), viewer)))


@law()
def test_every_state_is_told_to_every_viewer_in_its_language(match: Match) -> None:
    names = names_of(match)
    for state in match.some_states(8):
        if state.round:
            for viewer in viewers(match):
                game = view_game(hosted(match, state, names), viewer, DEFAULT_POLICY.lifetimes)
                for language in some_languages(match):
                    assert_sayable(game_sentence(game, language))


@law(matches=8)
def test_what_is_told_of_a_play_comes_from_the_table_alone(match: Match) -> None:
    reader = Reader(None, names_of(match), "en")
    sentences = EventSentences(match.rules, empty_layout(match.rules.form), reader)
    for version, happening in enumerate(match.happenings, 1):
        known = view_event(EventEnvelope(version, 0, happening.event, ()), None)
        told = sentences.sentence(known)
        assert EventSentences(match.rules, happening.before.layout, reader).sentence(known) == told


@law(matches=8, drawn=2)
def test_no_sentence_depends_on_hidden_tiles(match: Match) -> None:
    names = names_of(match)
    for state in match.some_states(8):
        for viewer in some_viewers(match):
            for twin in twins(match, state, viewer):
                if not state.round:
                    continue
                for language in LANGUAGES:
                    told = [
                        game_sentence(view_game(hosted(match, each, names), viewer, DEFAULT_POLICY.lifetimes), language)
                        for each in (state, twin)
                    ]
                    assert told[0] == told[1]
                    for describe in (board_sentence, board_description):
                        assert describe(twin.layout, language) == describe(state.layout, language)


@law()
def test_a_draw_and_a_deal_tell_nobody_the_tiles_of_others(match: Match) -> None:
    names = names_of(match)
    for event in match.events:
        if not isinstance(event, Drew | Dealt):
            continue
        for viewer in viewers(match):
            if isinstance(event, Dealt):
                empty = tuple([hand if seat == viewer else () for seat, hand in enumerate(event.hands)])
                twin: Drew | Dealt = Dealt(event.round, empty, (), event.arranged, event.proof)
            elif viewer == event.seat:
                continue
            else:
                twin = Drew(event.seat, match.rng.choice(match.rules.tiles))
            for language in LANGUAGES:
                reader = Reader(viewer, names, language)
                layout = empty_layout(match.rules.form)
                told, again = (event_sentence(event_view(each, viewer), layout, reader) for each in (event, twin))
                assert told == again
