"""Sentences in Portuguese: the grammar that English, German and Spanish do not have."""

from __future__ import annotations

from typing import Final

import pytest

from service.engine.tiles import parse_tile
from service.render.sentences.board import board_description, state_sentence
from service.render.sentences.events import event_sentence, points_phrase
from service.render.sentences.numbers import number_word, tile_name
from service.render.sentences.places import Reader
from service.render.sentences.texts import plural
from tests.render.test_sentences import DRAW, FLIP, NAMES, ON_TWELVE, RIGHT, a_view, played

PORTUGUESE: Final = "pt"


@pytest.mark.parametrize(
    ("number", "points", "tiles"),
    [
        (1, "um ponto", "uma pedra"),
        (2, "dois pontos", "duas pedras"),
        (21, "vinte e um pontos", "vinte e uma pedras"),
        (102, "cento e dois pontos", "cento e duas pedras"),
        (112, "cento e doze pontos", "cento e doze pedras"),
    ],
)
def test_one_and_two_have_the_gender_of_the_noun(number: int, points: str, tiles: str) -> None:
    assert points_phrase(number, PORTUGUESE) == points
    assert plural("tiles", number, PORTUGUESE) == tiles


def test_a_number_is_said_as_people_count() -> None:
    said = [number_word(number, PORTUGUESE) for number in (100, 275, 500, -31)]
    assert said == ["cem", "duzentos e setenta e cinco", "quinhentos", "menos trinta e um"]


def test_a_place_is_joined_with_its_article() -> None:
    reader = Reader(0, NAMES, PORTUGUESE)
    assert event_sentence(played(RIGHT, "right"), RIGHT, reader) == "Bo joga quatro seis à direita; pontas um e seis."
    assert event_sentence(played(ON_TWELVE, "e9", points=0), ON_TWELVE, reader) == (
        "Bo joga carroça de onze no onze de dez onze. Soma cinquenta e seis, nenhum ponto."
    )
    assert board_description(ON_TWELVE, PORTUGUESE).startswith(
        "Há cinco pedras na mesa. A primeira pedra é carroça de doze. Esquerda: doze dez, carroça de dez. "
        "O primeiro lado curto da carroça de dez: dez onze, carroça de onze. "
    )
    assert tile_name(parse_tile("6-6"), PORTUGUESE, "genitive") == "da carroça de seis"


def test_a_state_is_said() -> None:
    assert state_sentence(a_view(DRAW, FLIP), Reader(0, NAMES, PORTUGUESE)) == (
        "É a sua vez. Nenhuma pedra encaixa. Você pode comprar ou virar a pedra de saída."
    )
