"""The deals of the engine are those of the published vectors, and everything that should change a deal does.

``docs/verify/vectors.json`` is for whoever writes a verifier. It is a promise, so no flag rewrites it.
"""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import combinations
from typing import Any, Final

from service.engine.deal import SCHEME, Deck, commitment, round_seed, shuffle, shuffle_seed, split
from service.engine.events import DealProof, Dealt
from service.engine.moves import DEAL
from service.engine.referee import advance
from service.engine.tiles import double_set, sort_tiles
from service.engine.variants import variants
from tests.vectors.verifiers import VECTORS as FILE

VECTORS: Final[dict[str, Any]] = json.loads(FILE.read_bytes())
DOCUMENTS: Final = [each for each in VECTORS["documents"] if each["says"]]
HOLDING: Final = [
    (each["document"], entry)
    for each in DOCUMENTS
    if "wrong" not in each["says"]
    for entry in each["document"]["rounds"]
    if "seed" in entry
]


# The vectors


def test_every_seed_has_its_commitment() -> None:
    for each in VECTORS["commitments"]:
        assert commitment(bytes.fromhex(each["seed"])).hex() == each["commitment"], each


def test_every_seed_with_client_seeds_makes_its_seed_of_the_shuffle() -> None:
    for each in VECTORS["shuffle_seeds"]:
        made = shuffle_seed(bytes.fromhex(each["seed"]), each["game_id"], each["round"], each["client_seeds"])
        assert made.hex() == each["shuffle_seed"], each


def test_every_seed_of_a_shuffle_gives_its_order() -> None:
    for each in VECTORS["orders"]:
        seed = bytes.fromhex(each["shuffle_seed"])
        order = shuffle(double_set(each["set"]), seed, each["round"], each["attempt"])
        assert " ".join([tile.name for tile in order]) == each["order"], each


def deal_again(document: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    """What the engine makes of the seeds of a round of a fairness document."""
    seed, number = bytes.fromhex(entry["seed"]), entry["round"]
    made = {"round": number, "commitment": commitment(seed).hex(), "seed": entry["seed"]}
    if "client_seeds" not in entry:
        return made
    key = shuffle_seed(seed, document["game_id"], number, entry["client_seeds"])
    order = shuffle(double_set(document["set"]), key, number, entry["attempt"])
    hands, stock = split(order, [len(hand) for hand in entry["hands"]])
    return made | {
        "client_seeds": entry["client_seeds"],
        "attempt": entry["attempt"],
        "hands": [[tile.name for tile in sort_tiles(hand)] for hand in hands],
        "stock": [tile.name for tile in stock],
    }


def test_the_engine_deals_every_round_that_holds_and_no_other() -> None:
    assert len(HOLDING) > 40
    for document, entry in HOLDING:
        assert deal_again(document, entry) == entry


def test_the_vectors_have_every_set_every_number_of_seats_and_every_kind_of_text() -> None:
    texts = {text for _, entry in HOLDING for text in entry.get("client_seeds", ())}
    assert {document["set"] for document, _ in HOLDING} == {6, 9, 12, 15, 18}
    assert {document["seats"] for document, _ in HOLDING} == set(range(2, 14))
    assert {entry.get("attempt", 0) for _, entry in HOLDING} == {0, 1, 2}
    assert max(entry["round"] for _, entry in HOLDING) > 9
    assert any([] in entry.get("hands", ()) for _, entry in HOLDING)
    assert {"", "🁣", "e\u0301"} <= texts
    assert {len(text.encode()) - len(text) for text in texts} >= {0, 1, 3}


def test_the_vectors_have_a_refusal_of_every_kind_of_change() -> None:
    refused = [each["about"] for each in VECTORS["documents"] if "wrong" in each["says"]]
    assert len(refused) == len(set(refused)) > 40
    for word in ("swapped", "another seed", "another client seed", "another attempt", "another commitment"):
        assert any(word in about for about in refused)


def test_the_seeds_of_the_rounds_stay_what_they_are() -> None:
    """Games that were begun before a change of the code have published their commitments already."""
    master = bytes(range(32))
    assert round_seed(master, 1).hex() == "355a46bd6a59babefc6eb895c0152859c847cc98735cacd5b2e713a09730dbda"
    assert round_seed(master, 10).hex() == "9e566df8d5d3a12ab39d48a51e573b1d89d418fc7e4f70dca61685d5bce35e84"


# What the deck deals


def deck(
    number: int = 0, *, game: str = "5m1Gd5tIvN3vYhYkS0oJGA", client_seeds: tuple[str, ...] = ("", "", "", "")
) -> Deck:
    return Deck(sha256(f"deck {number}".encode()).digest(), game=game, client_seeds=client_seeds)


def dealt(from_deck: Deck, round_number: int = 1, seats: int = 4) -> Dealt:
    rules = variants()["dominospiel"].rules({}, seats)
    (event,), _ = advance(rules, from_deck, rules.start()._replace(round=round_number - 1), 0, move=DEAL)
    assert isinstance(event, Dealt)
    return event


def tiles_of(from_deck: Deck, round_number: int = 1) -> object:
    event = dealt(from_deck, round_number)
    return event.hands, event.stock


def test_a_deal_tells_what_it_was_drawn_from_and_the_commitment_to_the_next() -> None:
    mine = deck(client_seeds=("", "mu", "", "zwölf"))
    assert dealt(mine, 3).proof == DealProof(0, ("", "mu", "", "zwölf"), commitment(round_seed(mine.seed, 4)))


def test_every_seat_can_change_the_deal() -> None:
    changed = [deck().with_client_seed(seat, "mu") for seat in range(4)]
    assert all_differ([tiles_of(each) for each in (deck(), *changed)])


def test_one_character_of_a_client_seed_changes_the_deal() -> None:
    texts = ["", " ", "  ", "a", "A", "b", "aa", "a ", "\u00e9", "e\u0301", "e", "0", "00", "🁣", "🁫", "🁣🁣"]
    assert all_differ([tiles_of(deck(client_seeds=("x", text, "", ""))) for text in texts])


def test_another_game_round_or_secret_changes_the_deal() -> None:
    others = [deck(1), deck(2), deck(game="5m1Gd5tIvN3vYhYkS0oJGB"), deck(game="")]
    assert all_differ([*[tiles_of(deck(), number) for number in range(1, 30)], *[tiles_of(each) for each in others]])


def test_a_seat_more_changes_the_deal_even_if_it_adds_nothing() -> None:
    seed = bytes(32)
    assert all_differ([shuffle_seed(seed, "game", 1, ("a", *[""] * more)) for more in range(13)])


def test_no_two_lists_of_client_seeds_run_into_each_other() -> None:
    """Wherever the boundaries are, and whatever is a number or the id of the game elsewhere."""
    lists = [
        ("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc"), ("a", "b", "c"), ("ab", "c", ""), ("", "ab", "c"), ("abc",),
        ("c", "ab"), ("2", "ab", "c"), ("\0\0\0\1a", "bc"), ("a\0\0\0\2bc",), ("a\0\0\0\2bc", ""),
    ]  # fmt: skip
    assert all_differ([shuffle_seed(bytes(32), game, 1, each) for game in ("", "2", "game") for each in lists])


def test_commitments_do_not_depend_on_client_seeds() -> None:
    for number in range(1, 5):
        bare, given = deck(), deck(client_seeds=("a", "b", "c", "d"))
        assert bare.commitment(number) == given.commitment(number) == commitment(round_seed(bare.seed, number))


def test_all_commitments_and_seeds_differ_and_neither_shows_in_the_other() -> None:
    seeds = [round_seed(deck(number).seed, count) for number in range(30) for count in range(1, 30)]
    entry = [commitment(seed) for seed in seeds]
    masters = [deck(number).seed for number in range(30)]
    assert all_differ([*seeds, *entry, *masters])


def test_a_seed_that_is_told_does_not_lead_to_the_next() -> None:
    """None of the ways from one to another that the method has ends at the next round's seed."""
    master = deck().seed
    for number in range(1, 10):
        seed, following = round_seed(master, number), round_seed(master, number + 1)
        ways = [round_seed(seed, each) for each in range(1, 12)]
        ways += [shuffle_seed(seed, deck().game or "", each, ("",) * 4) for each in range(1, 12)]
        ways += [commitment(seed), sha256(seed).digest(), commitment(commitment(seed))]
        assert following not in ways
        assert commitment(following) not in ways


def test_half_the_bits_change_from_a_seed_to_the_next() -> None:
    for pair in combinations([round_seed(deck().seed, number) for number in range(1, 40)], 2):
        first, second = [int.from_bytes(each, "big") for each in pair]
        assert 128 - 5 * 8 < (first ^ second).bit_count() < 128 + 5 * 8


def test_an_arranged_deck_promises_nothing() -> None:
    arranged = Deck(bytes(32))
    assert arranged.commitment(1) is None
    assert dealt(arranged).proof is None
    assert VECTORS["method"] == SCHEME


def all_differ(found: list[Any]) -> bool:
    return len(found) > 1 and len(set(found)) == len(found)
