"""Sentences in Spanish: worked examples, and the grammar that English and German do not have."""

from __future__ import annotations

from typing import Final

import pytest

from service.engine.events import (
    Drew,
    Eliminated,
    Finished,
    Flipped,
    Passed,
    Played,
    RemainingHand,
    RoundEnded,
    RoundResult,
)
from service.engine.layout import Layout
from service.engine.tiles import parse_tile
from service.engine.view import DealtView, View
from service.render.sentences.board import board_description, board_sentence, state_sentence
from service.render.sentences.events import KnownEvent, event_sentence, points_phrase
from service.render.sentences.numbers import NumberWord, double_name, number_word, tile_name
from service.render.sentences.places import Reader
from service.render.sentences.texts import plural
from tests.render.test_board_sentences import layout_of
from tests.render.test_sentences import (
    CLOSED,
    DEAL,
    DONE,
    DRAW,
    EMPTY,
    FIRST,
    FLIP,
    LAID,
    NAMES,
    ON_TWELVE,
    RIGHT,
    SECOND,
    a_view,
    played,
)
from tests.render.test_sentences import PASS as TO_PASS

SPANISH: Final = "es"

NUMBERS: Final = [
    *((0, "cero"), (16, "dieciséis"), (21, "veintiuno"), (22, "veintidós"), (31, "treinta y uno")),
    *((99, "noventa y nueve"), (100, "cien"), (101, "ciento uno"), (275, "doscientos setenta y cinco")),
    *((500, "quinientos"), (700, "setecientos"), (900, "novecientos"), (-31, "menos treinta y uno")),
]

EVENTS: Final[list[tuple[KnownEvent, Layout, int | None, str]]] = [
    (DealtView(2, arranged=False, hand=None), EMPTY, None, "Ronda dos repartida."),
    (DealtView(1, arranged=False, hand=(parse_tile("3-5"),)), EMPTY, 0, "Ronda uno repartida. Tienes una ficha."),
    (Played(1, parse_tile("6-6"), None, face_down=False), layout_of("6-6"), 0, "Bo sale con doble seis."),
    (played(RIGHT, "right"), RIGHT, 0, "Bo pone cuatro seis a la derecha; extremos uno y seis."),
    (played(RIGHT, "right"), RIGHT, 1, "Pones cuatro seis a la derecha; extremos uno y seis."),
    (played(CLOSED, "e3"), CLOSED, 0, "Bo pone doble seis a la izquierda, boca abajo: este brazo queda cerrado."),
    (
        played(ON_TWELVE, "e9", points=0),
        ON_TWELVE,
        0,
        "Bo pone doble once en el once de diez once. Suma cincuenta y seis, ningún punto.",
    ),
    (Drew(1, parse_tile("2-2")), EMPTY, None, "Bo roba doble dos."),
    (Passed(0), LAID, 0, "Pasas."),
    (Flipped(1), EMPTY, 0, "Bo voltea la ficha de salida."),
    (Eliminated(0), EMPTY, 0, "Quedas fuera de la partida."),
    (Finished((0, 2)), EMPTY, 1, "Ada y Jugador 3 ganan la partida."),
    (Finished((0, 1)), EMPTY, 1, "Partida ganada: tú y Ada."),
]

STATES: Final[list[tuple[View, str]]] = [
    (a_view(FIRST, SECOND, DONE), "Te toca. Puedes poner dos fichas. También puedes terminar tu turno."),
    (a_view(FIRST), "Te toca. Puedes poner una ficha."),
    (a_view(DRAW, FLIP), "Te toca. No puedes poner ninguna. Puedes robar o voltear la ficha de salida."),
    (a_view(TO_PASS), "Te toca. No puedes poner ninguna. Puedes pasar."),
    (a_view(turn=1), "Le toca a Bo."),
    (a_view(DEAL, phase="round_over"), "La ronda ha terminado. Puedes repartir la siguiente."),
]


@pytest.mark.parametrize(("number", "spanish"), NUMBERS)
def test_a_number_is_said_as_people_count(number: int, spanish: str) -> None:
    assert number_word(number, SPANISH) == spanish


@pytest.mark.parametrize(
    ("number", "points", "tiles"),
    [
        (1, "un punto", "una ficha"),
        (2, "dos puntos", "dos fichas"),
        (21, "veintiún puntos", "veintiuna fichas"),
        (31, "treinta y un puntos", "treinta y una fichas"),
        (101, "ciento un puntos", "ciento una fichas"),
        (121, "ciento veintiún puntos", "ciento veintiuna fichas"),
    ],
)
def test_a_number_before_a_noun_has_the_gender_of_the_noun(number: int, points: str, tiles: str) -> None:
    assert points_phrase(number, SPANISH) == points
    assert plural("tiles", number, SPANISH) == tiles


def test_points_have_a_singular() -> None:
    assert [points_phrase(points, SPANISH) for points in (0, -1, -21)] == [
        "ningún punto",
        "menos un punto",
        "menos veintiún puntos",
    ]


def test_the_first_ending_that_a_word_has_is_changed_and_only_at_its_end() -> None:
    assert f"{NumberWord('veintiuno'):iuno/iún|uno/un}" == "veintiún"
    assert f"{NumberWord('ciento uno'):iuno/iún|uno/un}" == "ciento un"
    assert f"{NumberWord('uno y dos'):uno/una}" == "uno y dos"
    assert f"{NumberWord('uno')}" == "uno"


def test_a_tile_is_said_in_words() -> None:
    assert tile_name(parse_tile("0-4"), SPANISH) == "blanco cuatro"
    assert double_name(parse_tile("0-0"), SPANISH) == "doble blanco"
    assert tile_name(parse_tile("6-6"), SPANISH, "genitive") == "del doble seis"


@pytest.mark.parametrize(("event", "layout", "seat", "spanish"), EVENTS)
def test_an_event_is_said(event: KnownEvent, layout: Layout, seat: int | None, spanish: str) -> None:
    assert event_sentence(event, layout, Reader(seat, NAMES, SPANISH)) == spanish


def test_the_end_of_a_round_is_said() -> None:
    hands = tuple([RemainingHand(seat, (), 0) for seat in range(2)])
    blocked = RoundResult(21, "blocked", hands, (-1, 71), (), None, 1, 0)
    carried = RoundResult(1, "closed", hands, (0, 0), (), None, None, 1)
    assert event_sentence(RoundEnded(blocked), EMPTY, Reader(0, NAMES, SPANISH)) == (
        "Termina la ronda veintiuno: tranque, ya no encaja nada. Menos un punto para ti."
    )
    assert event_sentence(RoundEnded(blocked), EMPTY, Reader(None, NAMES, SPANISH)).endswith(
        " Setenta y un puntos para Bo."
    )
    assert event_sentence(RoundEnded(carried), EMPTY, Reader(0, NAMES, SPANISH)).endswith(" Un punto se acumula.")


@pytest.mark.parametrize(("shown", "spanish"), STATES)
def test_a_state_is_said(shown: View, spanish: str) -> None:
    seat = None if shown.you is None else shown.you.seat
    assert state_sentence(shown, Reader(seat, NAMES, SPANISH)) == spanish


def test_a_table_is_said() -> None:
    assert board_sentence(CLOSED, SPANISH) == (
        "Hay tres fichas en la mesa. Extremos: izquierda (cerrado), derecha blanco."
    )
    assert board_description(ON_TWELVE, SPANISH).startswith(
        "Hay cinco fichas en la mesa. La primera ficha es doble doce. Izquierda: doce diez, doble diez. "
        "El primer lado corto del doble diez: diez once, doble once. "
    )
