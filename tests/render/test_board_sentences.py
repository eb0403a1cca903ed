"""The table in words: worked examples, and laws over the tables of all games."""

from __future__ import annotations

import re
from typing import Final

import pytest

from service.engine.layout import (
    BOTH_LONG_SIDES,
    CLOSED,
    FIRST_LONG_SIDE,
    GATED,
    IMMEDIATELY,
    LEAD_COVERED,
    LEFT,
    NEVER,
    RIGHT,
    SHORT,
    Branching,
    Gates,
    Layout,
    LayoutForm,
    empty_layout,
)
from service.engine.tiles import parse_tile
from service.engine.variants import variants
from service.render.sentences.board import MAX_DESCRIPTION, board_description, board_sentence
from service.render.sentences.numbers import double_name, half_names, number_word, pip_word, tile_name
from service.render.sentences.places import Places, place_name
from service.texts import LANGUAGES, Language, template, text
from tests.laws.matches import Match, law


def layout_of(
    *plays: str,
    two_ended: bool = False,
    line_ends: tuple[str, ...] = (),
    gates: Gates = FIRST_LONG_SIDE,
    branching: Branching = NEVER,
    scored: bool = False,
) -> Layout:
    """A table: the lead, then tiles with the end that each joins (``1-2@right``), face down with ``!``.

    ``branching`` is that of the lead; with ``scored`` every double branches, and ends are counted as in rules 3.5.
    """
    value = variants()["fido"].rules({}, 3).form.end_value if scored else None
    form = LayoutForm((LEFT, RIGHT) if two_ended else line_ends, value, gates)
    layout = empty_layout(form).lead(parse_tile(plays[0]), 0, branching)
    for play in plays[1:]:
        tile, _, name = play.rstrip("!").partition("@")
        at = layout.end(name)
        assert at is not None
        layout = layout.join(
            at, parse_tile(tile), 1, face_down=play.endswith("!"), branching=IMMEDIATELY if scored else NEVER
        )
    return layout


NUMBERS: Final = [
    *((0, "zero", "null"), (1, "one", "eins"), (12, "twelve", "zwölf"), (16, "sixteen", "sechzehn")),
    *((17, "seventeen", "siebzehn"), (20, "twenty", "zwanzig"), (21, "twenty-one", "einundzwanzig")),
    *((30, "thirty", "dreißig"), (35, "thirty-five", "fünfunddreißig"), (66, "sixty-six", "sechsundsechzig")),
    *((77, "seventy-seven", "siebenundsiebzig"), (100, "one hundred", "einhundert")),
    *((101, "one hundred and one", "einhunderteins"), (117, "one hundred and seventeen", "einhundertsiebzehn")),
    *((200, "two hundred", "zweihundert"), (621, "six hundred and twenty-one", "sechshunderteinundzwanzig")),
    *((999, "nine hundred and ninety-nine", "neunhundertneunundneunzig"), (1000, "1000", "1000")),
    (-275, "minus two hundred and seventy-five", "minus zweihundertfünfundsiebzig"),
]


@pytest.mark.parametrize(("number", "english", "german"), NUMBERS)
def test_a_number_is_said_as_people_count(number: int, english: str, german: str) -> None:
    assert (number_word(number, "en"), number_word(number, "de")) == (english, german)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_number_up_to_999_has_a_word_of_its_own(language: Language) -> None:
    words = [number_word(number, language) for number in range(1000)]
    assert len(set(words)) == len(words)
    assert all(re.fullmatch(r"[^\W\d_]+([ -][^\W\d_]+)*", word) and word.islower() for word in words)


TILES: Final = [
    *(("3-5", "three five", "drei fünf"), ("0-4", "blank four", "blank vier")),
    *(("10-12", "ten twelve", "zehn zwölf"), ("0-0", "double blank", "Blankpasch")),
    *(("1-1", "double one", "Einerpasch"), ("2-2", "double two", "Zweierpasch")),
    *(("3-3", "double three", "Dreierpasch"), ("4-4", "double four", "Viererpasch")),
    *(("5-5", "double five", "Fünferpasch"), ("6-6", "double six", "Sechserpasch")),
    *(("7-7", "double seven", "Siebenerpasch"), ("11-11", "double eleven", "Elferpasch")),
    *(("12-12", "double twelve", "Zwölferpasch"), ("17-17", "double seventeen", "Siebzehnerpasch")),
    ("18-18", "double eighteen", "Achtzehnerpasch"),
]


@pytest.mark.parametrize(("tile", "english", "german"), TILES)
def test_a_tile_is_said_in_words(tile: str, english: str, german: str) -> None:
    named = parse_tile(tile)
    if named.double:
        assert (double_name(named, "en"), double_name(named, "de")) == (english, german)
        assert tile_name(named, "de", "accusative") == f"den {german}"
        assert tile_name(named, "de", "dative") == f"dem {german}"
        assert tile_name(named, "de", "genitive") == f"des {german}s"
    else:
        assert (tile_name(named, "en"), tile_name(named, "de")) == (english, german)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_numbers_of_tiles_have_nineteen_words(language: Language) -> None:
    assert len({pip_word(number, language) for number in range(19)}) == 19


def test_an_empty_table_is_said_to_be_empty() -> None:
    layout = empty_layout(LayoutForm())
    for describe in (board_sentence, board_description):
        assert describe(layout, "en") == "No tile lies on the table."
        assert describe(layout, "de") == "Noch liegt kein Stein."


def test_5_4_a_line_is_read_from_left_to_right() -> None:
    layout = layout_of("1-1", "1-2@right", "2-5@right", "4-5@right", "1-3@left", two_ended=True)
    assert board_sentence(layout, "en") == "Five tiles lie on the table. Ends: left three, right four."
    assert board_sentence(layout, "de") == "Fünf Steine liegen. Enden: links drei, rechts vier."
    assert board_description(layout, "en") == (
        "Five tiles lie on the table. From left to right: three one, double one, one two, two five, five four. "
        "Ends: left three, right four."
    )
    assert "Von links nach rechts: drei eins, Einerpasch, eins zwei, " in board_description(layout, "de")


def test_1_3_four_arms_are_left_right_up_and_down() -> None:
    layout = layout_of("0-0", "0-6@e1", "6-6@e5!", "0-4@e3", branching=IMMEDIATELY)
    assert board_sentence(layout, "en") == (
        "Four tiles lie on the table. Ends: left closed, right blank, up four, down blank."
    )
    assert board_sentence(layout, "de") == "Vier Steine liegen. Enden: links zu, rechts blank, oben vier, unten blank."
    assert board_description(layout, "en").startswith(
        "Four tiles lie on the table. The first tile is double blank. "
        "Left: blank six, double six face down. Up: blank four. Ends: "
    )
    assert "Links: blank sechs, Sechserpasch verdeckt. Oben: blank vier. " in board_description(layout, "de")


def test_2_4_ends_that_open_later_are_told_as_such() -> None:
    layout = layout_of("3-3", branching=GATED)
    assert board_sentence(layout, "en") == (
        "One tile lies on the table. Ends: left three, right three, up three not open yet, down three not open yet."
    )
    assert "oben drei noch nicht offen, unten drei noch nicht offen." in board_sentence(layout, "de")


def test_8_5_short_sides_open_later_than_the_first_long_side() -> None:
    layout = layout_of("3-3", "3-5@e1", branching=GATED, gates=BOTH_LONG_SIDES)
    assert board_sentence(layout, "en") == (
        "Two tiles lie on the table. Ends: left five, right three, up three not open yet, down three not open yet."
    )


def test_12_3_arms_that_open_later_are_told_as_such() -> None:
    cross = ("6-6", "3-6@e1", "0-6@e3", "2-6@e4")
    layout = layout_of(*cross, branching=IMMEDIATELY, gates=LEAD_COVERED)
    assert board_sentence(layout, "en") == (
        "Four tiles lie on the table. Ends: left three not open yet, right six, up blank not open yet, "
        "down two not open yet."
    )
    assert board_sentence(layout, "de") == (
        "Vier Steine liegen. Enden: links drei noch nicht offen, rechts sechs, oben blank noch nicht offen, "
        "unten zwei noch nicht offen."
    )
    layout = layout_of(*cross, "1-6@e2", branching=IMMEDIATELY, gates=LEAD_COVERED)
    assert (
        board_sentence(layout, "en") == "Five tiles lie on the table. Ends: left three, right one, up blank, down two."
    )


def test_13_3_the_only_end_is_told_as_one() -> None:
    layout = layout_of("5-5", "1-5@right", "1-1@right", line_ends=(RIGHT,))
    assert board_sentence(layout, "en") == "Three tiles lie on the table. End: right one."
    assert board_sentence(layout, "de") == "Drei Steine liegen. Ende: rechts eins."
    assert board_description(layout, "en") == (
        "Three tiles lie on the table. From left to right: double five, five one, double one. End: right one."
    )


def test_2_5_a_table_whose_ends_are_all_closed_says_so() -> None:
    layout = layout_of("0-0", "0-6@e1", "6-6@e3!", "0-4@e2", "4-4@e5!")
    assert board_sentence(layout, "en") == "Five tiles lie on the table. All ends are closed."
    assert board_sentence(layout, "de") == "Fünf Steine liegen. Alle Enden sind zu."


def test_3_5_behind_a_branch_a_place_is_named_by_its_host() -> None:
    layout = layout_of("12-12", "10-12@e1", "10-11@e5", "0-12@e2", "11-11@e6", branching=GATED, scored=True)
    assert board_sentence(layout, "en") == (
        "Five tiles lie on the table. Ends: the long side of double eleven, both short sides of double eleven, "
        "right blank, up twelve, down twelve. Sum forty-six."
    )
    assert board_sentence(layout, "de") == (
        "Fünf Steine liegen. Enden: die lange Seite des Elferpaschs, beide kurzen Seiten des Elferpaschs, "
        "rechts blank, oben zwölf, unten zwölf. Summe sechsundvierzig."
    )
    end = next(each for each in layout.ends if each.side == SHORT and each.host == 4)
    layout = layout.join(end, parse_tile("1-11"), 0, face_down=False, branching=NEVER)
    assert "the one of one eleven, the second short side of double eleven" in board_sentence(layout, "en")
    assert "die Eins von eins elf, die zweite kurze Seite des Elferpaschs" in board_sentence(layout, "de")
    assert "The first short side of double eleven: eleven one." in board_description(layout, "en")
    assert "Die erste kurze Seite des Elferpaschs: elf eins." in board_description(layout, "de")


@law(matches=6, drawn=2)
def test_every_end_of_a_table_has_a_name_of_its_own_that_it_keeps(match: Match) -> None:
    known: dict[tuple[str, int], str] = {}
    for happening in match.happenings:
        layout = happening.after.layout
        if len(layout.placements) <= 1:
            known = {}
        places = Places(layout)
        names = {(end.name, end.host): place_name(places.of_end(end.name), "en") for end in layout.ends}
        assert len(set(names.values())) == len(names)
        for end, name in names.items():
            assert known.setdefault(end, name) == name


@law(matches=6, drawn=2)
def test_a_description_tells_every_tile_once(match: Match) -> None:
    for state in match.some_states(8):
        layout = state.layout
        for language in LANGUAGES:
            described = board_description(layout, language)
            assert len(described) <= MAX_DESCRIPTION
            assert described.endswith(".")
            assert not re.search(r"\d", described)
            line = re.sub(rf"{template('sentences.board.ends.other', language).partition('{')[0]}.*", "", described)
            for placement in layout.placements:
                tile = placement.tile
                halves = {half_names(tile.low, tile.high, language), half_names(tile.high, tile.low, language)}
                names = {double_name(tile, language)} if tile.double else halves
                assert any(re.search(rf"\b{name}\b", line) for name in names), tile
            closed = sum([end.gate == CLOSED for end in layout.ends])
            face_down = text("tiles.face_down", language, tile="").strip()
            assert described.count(face_down) == sum([each.face_down for each in layout.placements]) <= closed


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_longest_description_stays_within_its_bound(language: Language) -> None:
    first, *tiles = variants()["fido"].rules({"set": 18}, 3).tiles[::-1]
    layout = empty_layout(LayoutForm(())).lead(first, 0, IMMEDIATELY)
    while tiles:
        tile, end = next((tile, end) for tile in tiles for end in layout.ends if end.number in (tile.low, tile.high))
        layout = layout.join(end, tile, 0, face_down=False, branching=IMMEDIATELY)
        tiles.remove(tile)
    assert len(layout.placements) == 190
    described = board_description(layout, language)
    assert MAX_DESCRIPTION - 200 < len(described) <= MAX_DESCRIPTION
    assert template("sentences.board.more.other", language).rpartition("}")[2] in described
