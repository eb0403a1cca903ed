"""Sentences in French: the numbers, and the spaces before signs, that English, German and Spanish do not have."""

from __future__ import annotations

import re
from typing import Final

import pytest

from service.engine.events import Finished
from service.engine.tiles import parse_tile
from service.engine.variants import variants
from service.render.sentences.board import board_description, state_sentence
from service.render.sentences.events import event_sentence, points_phrase
from service.render.sentences.numbers import number_word, tile_name
from service.render.sentences.places import Reader
from service.render.sentences.texts import plural
from service.texts import read_texts, rule_page
from tests.render.test_sentences import DRAW, EMPTY, FLIP, NAMES, ON_TWELVE, RIGHT, a_view, played
from tools.check_texts import TEXTS

FRENCH: Final = "fr"
CODE: Final = re.compile(r"`[^`]*`|\"\w+\":")
UNSPACED: Final = re.compile(r"[^\u202f][?!;»]|[^\u202f]:(?=\s|$)|«[^\u202f]|'")


@pytest.mark.parametrize(
    ("number", "french"),
    [
        *((61, "soixante et un"), (71, "soixante et onze"), (80, "quatre-vingts")),
        *((81, "quatre-vingt-un"), (97, "quatre-vingt-dix-sept"), (100, "cent")),
        *((200, "deux cents"), (280, "deux cent quatre-vingts"), (-31, "moins trente et un")),
    ],
)
def test_a_number_is_said_as_people_count(number: int, french: str) -> None:
    assert number_word(number, FRENCH) == french


def test_one_has_the_gender_of_the_noun() -> None:
    assert [points_phrase(each, FRENCH) for each in (1, 21)] == ["un point", "vingt et un points"]
    assert [plural("tiles", each, FRENCH) for each in (1, 21)] == ["un domino", "vingt et un dominos"]
    assert [plural("wins", each, FRENCH) for each in (1, 21)] == ["une victoire", "vingt et une victoires"]


def test_a_tile_and_its_place_have_their_articles() -> None:
    reader = Reader(0, NAMES, FRENCH)
    assert event_sentence(played(RIGHT, "right"), RIGHT, reader) == (
        "Bo pose le quatre six à droite\u202f; bouts un et six."
    )
    assert event_sentence(played(ON_TWELVE, "e9", points=0), ON_TWELVE, reader) == (
        "Bo pose le double onze sur le onze du dix onze. Somme cinquante-six, aucun point."
    )
    assert board_description(ON_TWELVE, FRENCH).startswith(
        "Il y a cinq dominos sur la table. Le premier domino est le double douze. "
        "Gauche\u202f: douze dix, double dix. Le premier petit côté du double dix\u202f: dix onze, double onze. "
    )
    assert tile_name(parse_tile("6-6"), FRENCH, "genitive") == "du double six"


def test_a_state_is_said() -> None:
    assert state_sentence(a_view(DRAW, FLIP), Reader(0, NAMES, FRENCH)) == (
        "À toi de jouer. Tu ne peux rien poser. Tu peux piocher ou retourner le domino d’ouverture."
    )
    assert event_sentence(Finished((0, 1)), EMPTY, Reader(1, NAMES, FRENCH)) == "Partie gagnée\u202f: toi et Ada."


def test_a_sign_of_two_parts_has_a_narrow_space_beside_it_at_which_no_line_breaks() -> None:
    texts = dict(read_texts(TEXTS / FRENCH)) | {key: rule_page(key, FRENCH) for key in variants()}
    told = {key: CODE.sub("", text if isinstance(text, str) else " ".join(text)) for key, text in texts.items()}
    assert [key for key, text in told.items() if UNSPACED.search(text)] == []
