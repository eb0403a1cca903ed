"""What is said of a hosted game: of its seats, its tokens, and one event after the other."""

from __future__ import annotations

import pytest

from service.engine.deal import Deck, seed_from_text
from service.engine.events import Event, Finished, Flipped, Passed, Played
from service.engine.layout import LayoutForm, empty_layout
from service.engine.tiles import parse_tile
from service.engine.variants import variants
from service.engine.view import DealtView
from service.games.model.game import Game, rules_for
from service.games.model.game_events import Created, GameEvent, Joined, TokenChanged
from service.games.model.seats import Seat, Seats
from service.games.model.views import EventView, Reset, view_game
from service.games.queries.sentences import EventSentences, game_sentence
from service.games.store.repository import DEFAULT_POLICY
from service.render.sentences.places import Reader

RULES = rules_for("domino", {}, 3)


def game_of(*names: str | None) -> Game:
    """A game whose first round is over; a seat without a name is open."""
    return Game(
        id="an id",
        variant=variants()["domino"],
        options={},
        rules=RULES,
        seats=Seats([Seat("open" if name is None else "human", name) for name in names]),
        join_hash=None,
        arranged=False,
        deck=Deck(seed_from_text("a seed")),
        version=1,
        created_at=0,
        updated_at=0,
        round_ends=(),
        state=RULES.start()._replace(phase="round_over"),
    )


@pytest.mark.parametrize(
    ("names", "english", "german"),
    [
        (("Ada", "Bo", None), "Waiting for one more player.", "Es fehlt noch ein Mitspieler."),
        (("Ada", None, None), "Waiting for two more players.", "Es fehlen noch zwei Mitspieler."),
        (("Ada", "Bo", "Cy"), "The first round is dealt next.", "Die erste Runde wird jetzt gegeben."),
    ],
)
def test_a_game_waits_for_its_players(names: tuple[str | None, ...], english: str, german: str) -> None:
    view = view_game(game_of(*names), 0, DEFAULT_POLICY.lifetimes)
    assert [game_sentence(view, language) for language in ("en", "de")] == [english, german]


@pytest.mark.parametrize(
    ("event", "english", "german"),
    [
        (Created(), "The game was created.", "Das Spiel ist angelegt."),
        (Joined(1, "Bo"), "Bo joined the game.", "Bo ist dabei."),
        (Joined(0, "Ada"), "You joined the game.", "Du bist dabei."),
        (TokenChanged(1), "Player 2 has a new token.", "Spieler 2 hat ein neues Token."),
        (TokenChanged(0), "You have a new token.", "Du hast ein neues Token."),
        (Finished((2,)), "Player 3 wins the match.", "Spieler 3 gewinnt die Partie."),
    ],
)
def test_an_event_is_said_in_english_and_in_german(event: GameEvent, english: str, german: str) -> None:
    told = []
    for language in ("en", "de"):
        sentences = EventSentences(RULES, empty_layout(RULES.form), Reader(0, ("Ada", None, None), language))
        told.append(sentences.sentence(EventView(1, 0, event)))
    assert told == [english, german]


def test_a_play_that_does_not_fit_the_table_is_told_without_its_place() -> None:
    """After a failover of the store, a stream may go on with events that others led to."""
    impossible: list[Event] = [
        Played(2, parse_tile("4-6"), "e7", face_down=False),
        Played(2, parse_tile("2-6"), "right", face_down=False),
        Played(2, parse_tile("4-6"), None, face_down=False),
        Flipped(2),
    ]
    lead = Played(1, parse_tile("1-4"), None, face_down=False)
    right = Played(0, parse_tile("4-4"), "right", face_down=False)
    for event in impossible:
        sentences = EventSentences(RULES, empty_layout(RULES.form), Reader(None, ("Ada", "Bo", "Cy"), "en"))
        sentences.sentence(EventView(1, 0, DealtView(1, arranged=False, hand=None)))
        for each in (event,) if isinstance(event, Flipped) else (lead, event):
            told = sentences.sentence(EventView(2, 0, each))
        assert told in {
            "Cy played four six.",
            "Cy played two six.",
            "Cy opened with four six.",
            "Cy turned the opening tile over.",
        }
        assert sentences.sentence(EventView(3, 0, right)) == "Ada played double four."
        sentences.sentence(EventView(4, 0, DealtView(2, arranged=False, hand=None)))
        sentences.sentence(EventView(5, 0, lead))
        assert sentences.sentence(EventView(6, 0, right)) == "Ada played double four on the right; ends one and four."


def test_the_sentences_follow_the_table_and_the_names() -> None:
    game = game_of("Ada", "Bo", "Cy")
    at_reset = game._replace(
        state=game.state._replace(round=1, layout=empty_layout(RULES.form).lead(parse_tile("0-6"), 0, "never"))
    )
    sentences = EventSentences(RULES, empty_layout(LayoutForm()), Reader(None, ("Ada", None, None), "en"))
    events = [
        EventView(1, 0, Passed(1)),
        EventView(2, 0, Joined(1, "Bo")),
        EventView(3, 0, DealtView(1, arranged=False, hand=None)),
        EventView(4, 0, Played(1, parse_tile("1-4"), None, face_down=False)),
        EventView(5, 0, Played(2, parse_tile("4-6"), "right", face_down=False)),
        EventView(6, 0, DealtView(2, arranged=False, hand=None)),
        EventView(7, 0, Played(0, parse_tile("1-1"), None, face_down=False)),
        EventView(8, 0, Reset(view_game(at_reset, None, DEFAULT_POLICY.lifetimes))),
        EventView(9, 0, Played(2, parse_tile("0-5"), "left", face_down=False)),
    ]
    assert [sentences.sentence(each) for each in events] == [
        *("Player 2 leaves the lead to the partner.", "Bo joined the game.", "Round one was dealt."),
        *("Bo opened with one four.", "Player 3 played four six on the right; ends one and six."),
        *("Round two was dealt.", "Ada opened with double one.", "The round is over."),
        "Cy played blank five on the left; ends five and six.",
    ]
