"""What is said of an event and of a state: worked examples in English and German, and the grammar of the texts."""

from __future__ import annotations

from importlib.resources import files
from typing import Final, get_args

import pytest

from service import texts
from service.engine.events import (
    Drew,
    Eliminated,
    EndReason,
    Finished,
    Flipped,
    Manche,
    Passed,
    Played,
    RemainingHand,
    RoundEnded,
    RoundResult,
)
from service.engine.layout import GATED, NEVER, Branching, Layout
from service.engine.moves import ACTIONS, PLAY, Move, play
from service.engine.state import Phase
from service.engine.tiles import parse_tile
from service.engine.variants import variants
from service.engine.view import DealtView, DrewView, View, You, view
from service.render.sentences.board import state_sentence
from service.render.sentences.events import KnownEvent, event_sentence, points_phrase
from service.render.sentences.places import MAX_NAME, MAX_SENTENCE, Reader
from service.texts import LANGUAGES, has_text, read_texts, template
from tests.render.test_board_sentences import layout_of

TOLD_IN: Final = ("en", "de")
NAMES: Final = ("Ada", "Bo", None)
EMPTY: Final = layout_of("0-0", two_ended=True)._replace(placements=(), ends=())
LAID: Final = layout_of("0-0", two_ended=True)
DOUBLE_TWO: Final = parse_tile("2-2")


def said(event: KnownEvent, layout: Layout = EMPTY, seat: int | None = 0) -> tuple[str, str]:
    """What is said to this seat, in English and in German."""
    english, german = (event_sentence(event, layout, Reader(seat, NAMES, language)) for language in TOLD_IN)
    return english, german


def played(layout: Layout, name: str, *, points: int | None = None) -> Played:
    """The event of the tile that was laid last, at the end of this name."""
    tile, _, _, seat, face_down, _ = layout.placements[-1]
    return Played(seat, tile, name, face_down, points, None if points is None else layout.ends_sum)


RIGHT: Final = layout_of("1-4", "4-6@right", two_ended=True)
CLOSED: Final = layout_of("0-0", "0-6@e1", "6-6@e3!")
SCORED: Final = layout_of("12-12", "10-12@e1", "10-11@e5", branching="gated", scored=True)
UP: Final = layout_of("0-0", "0-4@e3", branching="at once")
BEHIND: Final = layout_of("12-12", "11-12@e1", "11-11@e5", "11-18@e7", "18-18@e9!", branching="gated", scored=True)
ON_TWELVE: Final = layout_of("12-12", "10-12@e1", "10-10@e5", "10-11@e7", "11-11@e9", branching="gated", scored=True)

SIDE: Final = layout_of("12-12", "10-12@e1", "10-10@e5", "10-11@e7", branching="gated", scored=True)
FAR: Final = layout_of("12-12", "10-12@e1", "10-10@e5", "0-10@e6", branching="gated", scored=True)


def behind_the_mother() -> Layout:
    """A tile on a double that does not branch, on an arm of a double that does (rules 2.4)."""
    layout = layout_of("1-2", "2-4@e2")
    plays: list[tuple[str, str, Branching]] = [
        ("4-4", "e3", GATED),
        ("4-6", "e4", NEVER),
        ("6-6", "e7", NEVER),
        ("1-6", "e8", NEVER),
    ]
    for tile, name, branching in plays:
        at = layout.end(name)
        assert at is not None
        layout = layout.join(at, parse_tile(tile), 1, face_down=False, branching=branching)
    return layout


EVENTS: Final[list[tuple[KnownEvent, Layout, int | None, str, str]]] = [
    (DealtView(2, arranged=False, hand=None), EMPTY, None, "Round two was dealt.", "Runde zwei ist gegeben."),
    (DealtView(2, arranged=False, hand=()), EMPTY, 0, "Round two was dealt.", "Runde zwei ist gegeben."),
    (
        DealtView(1, arranged=False, hand=(DOUBLE_TWO,)),
        EMPTY,
        0,
        "Round one was dealt. You have one tile.",
        "Runde eins ist gegeben. Du hast einen Stein.",
    ),
    (
        DealtView(1, arranged=False, hand=(DOUBLE_TWO,) * 7),
        EMPTY,
        0,
        "Round one was dealt. You have seven tiles.",
        "Runde eins ist gegeben. Du hast sieben Steine.",
    ),
    (
        Played(1, parse_tile("6-6"), None, face_down=False),
        layout_of("6-6"),
        0,
        "Bo opened with double six.",
        "Bo eröffnet mit dem Sechserpasch.",
    ),
    (
        Played(0, parse_tile("1-2"), None, face_down=False),
        layout_of("1-2"),
        0,
        "You opened with one two.",
        "Du eröffnest mit eins zwei.",
    ),
    (
        played(RIGHT, "right"),
        RIGHT,
        0,
        "Bo played four six on the right; ends one and six.",
        "Bo legt vier sechs rechts an; Enden eins und sechs.",
    ),
    (
        played(RIGHT, "right"),
        RIGHT,
        1,
        "You played four six on the right; ends one and six.",
        "Du legst vier sechs rechts an; Enden eins und sechs.",
    ),
    (
        played(UP, "e3"),
        UP,
        0,
        "Bo played blank four upwards; ends blank, blank, four and blank.",
        "Bo legt blank vier oben an; Enden blank, blank, vier und blank.",
    ),
    (
        played(CLOSED, "e3"),
        CLOSED,
        0,
        "Bo played double six on the left, face down: this arm is closed.",
        "Bo legt den Sechserpasch links an, verdeckt: dieser Arm ist zu.",
    ),
    (
        played(SCORED, "e5", points=5),
        SCORED,
        0,
        "Bo played ten eleven on the left. Sum thirty-five, five points.",
        "Bo legt zehn elf links an. Summe fünfunddreißig, fünf Punkte.",
    ),
    (
        played(BEHIND, "e9"),
        BEHIND,
        0,
        "Bo played double eighteen on the eighteen of eleven eighteen, face down: this arm is closed.",
        "Bo legt den Achtzehnerpasch an die Achtzehn von elf achtzehn, verdeckt: dieser Arm ist zu.",
    ),
    (
        played(ON_TWELVE, "e9", points=0),
        ON_TWELVE,
        0,
        "Bo played double eleven on the eleven of ten eleven. Sum fifty-six, no points.",
        "Bo legt den Elferpasch an die Elf von zehn elf. Summe sechsundfünfzig, keine Punkte.",
    ),
    (
        played(SIDE, "e7", points=0),
        SIDE,
        0,
        "Bo played ten eleven on the first short side of double ten. Sum forty-five, no points.",
        "Bo legt zehn elf an die erste kurze Seite des Zehnerpaschs. Summe fünfundvierzig, keine Punkte.",
    ),
    (
        played(FAR, "e6", points=0),
        FAR,
        0,
        "Bo played blank ten on the long side of double ten. Sum forty-four, no points.",
        "Bo legt blank zehn an die lange Seite des Zehnerpaschs. Summe vierundvierzig, keine Punkte.",
    ),
    (
        played(behind_the_mother(), "e8"),
        behind_the_mother(),
        0,
        "Bo played one six on double six; ends one, one, four and four.",
        "Bo legt eins sechs an den Sechserpasch; Enden eins, eins, vier und vier.",
    ),
    (DrewView(1, None), EMPTY, 0, "Bo drew a tile.", "Bo zieht einen Stein."),
    (DrewView(2, None), EMPTY, 0, "Player 3 drew a tile.", "Spieler 3 zieht einen Stein."),
    (DrewView(0, DOUBLE_TWO), EMPTY, 0, "You drew double two.", "Du ziehst den Zweierpasch."),
    (DrewView(0, parse_tile("0-5")), EMPTY, 0, "You drew blank five.", "Du ziehst blank fünf."),
    (Drew(1, DOUBLE_TWO), EMPTY, None, "Bo drew double two.", "Bo zieht den Zweierpasch."),
    (Passed(1), LAID, 0, "Bo passed.", "Bo setzt aus."),
    (Passed(0), LAID, 0, "You passed.", "Du setzt aus."),
    (*(Passed(1), EMPTY, 0), *("Bo leaves the lead to the partner.", "Bo überlässt dem Partner die Eröffnung.")),
    (Flipped(1), EMPTY, 0, "Bo turned the opening tile over.", "Bo dreht den Eröffnungsstein um."),
    (Eliminated(1), EMPTY, 0, "Bo is out of the match.", "Bo scheidet aus."),
    (Eliminated(0), EMPTY, 0, "You are out of the match.", "Du scheidest aus."),
    (Finished((1,)), EMPTY, 0, "Bo wins the match.", "Bo gewinnt die Partie."),
    (Finished((0,)), EMPTY, 0, "You win the match.", "Du gewinnst die Partie."),
    (Finished((0, 2)), EMPTY, 1, "Ada and Player 3 win the match.", "Ada und Spieler 3 gewinnen die Partie."),
    (Finished((0, 1)), EMPTY, 1, "You and Ada win the match.", "Du und Ada gewinnt die Partie."),
    (
        Finished((0, 1, 2)),
        EMPTY,
        None,
        "Ada, Bo and Player 3 win the match.",
        "Ada, Bo und Spieler 3 gewinnen die Partie.",
    ),
]


@pytest.mark.parametrize(("event", "layout", "seat", "english", "german"), EVENTS)
def test_an_event_is_said_in_english_and_in_german(
    event: KnownEvent, layout: Layout, seat: int | None, english: str, german: str
) -> None:
    assert said(event, layout, seat) == (english, german)


def ended(by: EndReason, *scores: int, winner: int | None = None, loser: int | None = None, carried: int = 0) -> str:
    hands = tuple([RemainingHand(seat, (), 0) for seat in range(len(scores))])
    result = RoundResult(21, by, hands, scores, (), winner, loser, carried)
    return " | ".join([*said(RoundEnded(result)), *said(RoundEnded(result), seat=None)])


def test_the_end_of_a_round_tells_who_wins_it_and_the_points_of_the_reader_or_of_who_has_some() -> None:
    assert ended("out", -275, 625, winner=1) == (
        "Bo goes out and wins round twenty-one. Minus two hundred and seventy-five points for you. | "
        "Bo hat keinen Stein mehr und gewinnt Runde einundzwanzig. Minus zweihundertfünfundsiebzig Punkte für dich. | "
        "Bo goes out and wins round twenty-one. Six hundred and twenty-five points for Bo. | "
        "Bo hat keinen Stein mehr und gewinnt Runde einundzwanzig. Sechshundertfünfundzwanzig Punkte für Bo."
    )
    assert ended("out", 0, 1, winner=0).startswith("You go out and win round twenty-one. No points for you. | ")
    assert ended("blocked", 0, 9, winner=1).startswith(
        "Bo wins round twenty-one: nothing fits any more. Nine points for Bo. | "
    )
    assert ended("blocked", 0, 9).startswith("Round twenty-one is over: nothing fits any more. Nine points for Bo. | ")
    against = RoundResult(21, "out", tuple([RemainingHand(seat, (), 0) for seat in range(2)]), (7, 0), (), 1, None, 0)
    assert event_sentence(RoundEnded(against), None, Reader(0, NAMES, "en", low_wins=True)) == (
        "Bo goes out and wins round twenty-one. Seven points against you."
    )
    assert ended("blocked", -1, 71, loser=1) == (
        "Round twenty-one is over: nothing fits any more. Minus one point for you. | "
        "Runde einundzwanzig ist vorbei: nichts passt mehr. Minus ein Punkt für dich. | "
        "Round twenty-one is over: nothing fits any more. Seventy-one points for Bo. | "
        "Runde einundzwanzig ist vorbei: nichts passt mehr. Einundsiebzig Punkte für Bo."
    )
    assert ended("closed", 0, 0, carried=45).endswith(
        "Runde einundzwanzig ist vorbei: alle Enden sind zu. Fünfundvierzig Punkte werden übertragen."
    )


@pytest.mark.parametrize(
    ("seat", "told"),
    [(0, "You have two stars."), (1, "You have one star."), (2, "You have no star."), (None, "Ada has two stars.")],
)
def test_the_end_of_a_round_tells_the_stars_of_the_reader_or_else_of_the_winner(seat: int | None, told: str) -> None:
    hands = tuple([RemainingHand(each, (), 0) for each in range(3)])
    result = RoundResult(2, "blocked", hands, (1, 0, 0), (), winner=0, manche=Manche(1, (2, 1, 0)))
    assert event_sentence(RoundEnded(result), None, Reader(seat, NAMES, "en")).endswith(f". {told}")


@pytest.mark.parametrize("reason", get_args(EndReason))
def test_every_reason_for_the_end_of_a_round_is_told(reason: EndReason) -> None:
    assert ended(reason, 1, 2)


def test_points_without_a_sum_are_told_with_the_ends_and_none_are_not_mentioned() -> None:
    def scored(points: int) -> tuple[str, str]:
        return said(played(RIGHT, "right")._replace(points=points), RIGHT)

    assert scored(2) == (
        "Bo played four six on the right; ends one and six. Two points.",
        "Bo legt vier sechs rechts an; Enden eins und sechs. Zwei Punkte.",
    )
    assert scored(0) == (
        "Bo played four six on the right; ends one and six.",
        "Bo legt vier sechs rechts an; Enden eins und sechs.",
    )


def test_points_have_a_singular() -> None:
    assert [points_phrase(points, "en") for points in (0, 1, 2, -1)] == [
        "no points",
        "one point",
        "two points",
        "minus one point",
    ]
    assert [points_phrase(points, "de") for points in (0, 1, 2)] == ["keine Punkte", "ein Punkt", "zwei Punkte"]


# States


def a_view(
    *moves: Move,
    turn: int = 0,
    seat: int | None = 0,
    layout: Layout = RIGHT,
    phase: Phase = "playing",
    winners: tuple[int, ...] = (),
) -> View:
    """What this seat sees of a match of three, with these legal moves."""
    rules = variants()["domino"].rules({}, 3)
    shown = view(rules, rules.start()._replace(layout=layout, turn=turn, phase=phase, winners=winners), None)
    return shown._replace(you=None if seat is None else You(seat, (), None), legal_moves=moves)


def stated(shown: View) -> tuple[str, str]:
    seat = None if shown.you is None else shown.you.seat
    english, german = (state_sentence(shown, Reader(seat, NAMES, language)) for language in TOLD_IN)
    return english, german


FIRST, SECOND, THIRD = (play(parse_tile(name), "left") for name in ("1-2", "1-3", "1-5"))
DRAW, PASS, DONE, FLIP, DEAL = (Move(action) for action in ("draw", "pass", "done", "flip", "deal"))

STATES: Final[list[tuple[View, str, str]]] = [
    (a_view(FIRST, SECOND, THIRD), "Your turn. Three tiles fit.", "Du bist dran. Drei Steine passen."),
    (a_view(FIRST), "Your turn. One tile fits.", "Du bist dran. Ein Stein passt."),
    (a_view(FIRST, play(parse_tile("1-2"), "right")), "Your turn. One tile fits.", "Du bist dran. Ein Stein passt."),
    (a_view(DRAW), "Your turn. Nothing fits. You may draw.", "Du bist dran. Nichts passt. Du kannst ziehen."),
    (a_view(PASS), "Your turn. Nothing fits. You may pass.", "Du bist dran. Nichts passt. Du kannst aussetzen."),
    (
        a_view(DRAW, FLIP),
        "Your turn. Nothing fits. You may draw or turn the opening tile over.",
        "Du bist dran. Nichts passt. Du kannst ziehen oder den Eröffnungsstein umdrehen.",
    ),
    (
        a_view(FIRST, SECOND, DONE),
        "Your turn. Two tiles fit. You may also end your turn.",
        "Du bist dran. Zwei Steine passen. Du kannst auch aufhören.",
    ),
    (
        a_view(play(DOUBLE_TWO, None), layout=EMPTY),
        "Your turn. You open with double two.",
        "Du bist dran. Du eröffnest mit dem Zweierpasch.",
    ),
    (
        a_view(play(DOUBLE_TWO, None), play(parse_tile("1-1"), None), layout=EMPTY),
        "Your turn. You open with one of two tiles.",
        "Du bist dran. Du eröffnest mit einem von zwei Steinen.",
    ),
    (a_view(turn=1), "It is Bo's turn.", "Bo ist dran."),
    (a_view(turn=2, seat=None), "It is Player 3's turn.", "Spieler 3 ist dran."),
    (
        a_view(DEAL, phase="round_over"),
        "The round is over. You may deal the next one.",
        "Die Runde ist vorbei. Du kannst die nächste geben.",
    ),
    (a_view(phase="round_over"), "The round is over.", "Die Runde ist vorbei."),
    (a_view(phase="finished", winners=(1,)), "Bo wins the match.", "Bo gewinnt die Partie."),
    (a_view(phase="finished", winners=(0, 1)), "You and Bo win the match.", "Du und Bo gewinnt die Partie."),
]


@pytest.mark.parametrize(("shown", "english", "german"), STATES)
def test_a_state_is_said_in_english_and_in_german(shown: View, english: str, german: str) -> None:
    assert stated(shown) == (english, german)


def test_every_phase_and_every_action_has_its_words() -> None:
    assert {shown.phase for shown, _, _ in STATES} == set(get_args(Phase))
    for action in ACTIONS:
        if action != PLAY:
            assert has_text(f"sentences.action.{action}")
            assert all(sentence.endswith(".") for sentence in stated(a_view(Move(action))))


# The texts


def test_a_text_for_the_player_stands_beside_one_for_the_others() -> None:
    sentences = [key for key, _ in read_texts(files(texts) / "en") if key.startswith("sentences.")]
    for key in sentences:
        other, _, person = key.removeprefix("sentences.").rpartition(".")
        if person == "you" and other not in ("", "dealt", "finished", "renamed"):
            assert "{name}" in template(f"sentences.{other}", "en")
            assert "{name}" not in template(key, "en")


# Names


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_long_name_is_shortened_where_the_sentence_would_be_too_long(language: str) -> None:
    reader = Reader(None, ("A" * 60, "B" * 60, "C" * MAX_NAME), language)
    assert event_sentence(Passed(0), LAID, reader).startswith("A" * (MAX_NAME - 1) + "… ")
    assert event_sentence(Passed(2), LAID, reader).startswith("C" * MAX_NAME + " ")
    everybody = Reader(None, tuple([chr(65 + seat) * 60 for seat in range(13)]), language)
    sentence = event_sentence(Finished(tuple(range(13))), EMPTY, everybody)
    assert len(sentence) <= MAX_SENTENCE
    assert all(f"{chr(65 + seat)}…" in sentence for seat in range(13))


def test_nothing_is_cut_off_from_the_character_it_belongs_to() -> None:
    accents = "a" * (MAX_NAME - 2) + "e\u0301e\u0301e\u0301"
    family = "a" * (MAX_NAME - 3) + "👩\u200d👩\u200d👧 and more"
    assert event_sentence(Passed(0), LAID, Reader(None, (accents,), "en")) == f"{'a' * (MAX_NAME - 2)}… passed."
    assert event_sentence(Passed(0), LAID, Reader(None, (family,), "en")) == f"{'a' * (MAX_NAME - 3)}… passed."


@pytest.mark.parametrize("name", ["{name}", "{0.__class__}", "%s", "<b>Bo</b>", 'Bo" , "x', "*Bo*", "Bo.\\u0041"])
def test_a_name_is_plain_text(name: str) -> None:
    assert event_sentence(DrewView(0, None), EMPTY, Reader(None, (name,), "en")) == f"{name} drew a tile."


def test_a_partner_is_named_as_such() -> None:
    english, german = (Reader(1, NAMES, language, frozenset({0})) for language in ("en", "de"))
    assert event_sentence(Passed(0), LAID, english) == "Ada (partner) passed."
    assert event_sentence(Passed(0), LAID, german) == "Ada (Partner) setzt aus."
    shown = a_view(seat=1)
    assert state_sentence(shown, english) == "It is the turn of Ada (partner)."
    assert state_sentence(shown, german) == "Ada (Partner) ist dran."
    long = Reader(1, ("A" * 60, "B" * 60, "C" * 60), "en", frozenset({0, 2}))
    assert len(state_sentence(a_view(seat=1, phase="finished", winners=(0, 2)), long)) <= MAX_SENTENCE
