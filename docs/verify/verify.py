"""Check the deals of a domino game, without trusting the server: ``python verify.py [FILE …]``.

A file is what ``GET /v1/games/{game}/fairness`` answers; without one, or for ``-``, it comes from the standard input.
``--vectors FILE`` checks this program against the published vectors instead. ``fairness.md`` has the method.
Nothing is needed but Python's standard library; nothing here is shared with the service.

Exits with 0 if every published deal holds, 1 if one does not, 2 if there was nothing to check or to read.
"""

from __future__ import annotations

import hmac
import json
import re
import struct
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

# The method


def fields(*values: bytes | str | int) -> bytes:
    """Return each value as its length in 4 bytes and its bytes; a number is written in decimal, a text in UTF-8."""
    data = [value if isinstance(value, bytes) else str(value).encode() for value in values]
    return b"".join(len(each).to_bytes(4, "big") + each for each in data)


def commitment(seed: bytes) -> bytes:
    """Return the commitment to a seed, published before the deal."""
    return sha256(fields("domino-commitment-1", seed)).digest()


def shuffle_seed(seed: bytes, game: str, number: int, client_seeds: list[str]) -> bytes:
    """Return the seed of the shuffles of a round, from its seed and every client seed."""
    return hmac.digest(seed, fields("domino-deal-1", game, number, len(client_seeds), *client_seeds), "sha256")


def stream(key: bytes, number: int, attempt: int) -> Iterator[int]:
    """Yield the words of a shuffle, 32 bits each, without end."""
    for block in count():
        yield from struct.unpack(">8I", hmac.digest(key, fields("domino-shuffle-1", number, attempt, block), "sha256"))


def shuffle(tiles: list[str], key: bytes, number: int, attempt: int) -> list[str]:
    """Return the order of these tiles in this attempt at dealing this round."""
    order, words = [*tiles], stream(key, number, attempt)
    for n in range(len(order), 1, -1):
        j = next(word for word in words if word < 2**32 // n * n) % n
        order[n - 1], order[j] = order[j], order[n - 1]
    return order


def tiles_of(highest: int, without: list[str]) -> list[str]:
    """Return the set in its order, 0-0, 0-1, …, 0-n, 1-1, …, n-n, without the tiles that are not in the game."""
    names = [f"{low}-{high}" for low in range(highest + 1) for high in range(low, highest + 1)]
    return [name for name in names if name not in without]


def cut(order: list[str], sizes: list[int]) -> tuple[list[list[str]], list[str]]:
    """Return the hands, from the front of the order, and the stock."""
    starts = [sum(sizes[:seat]) for seat in range(len(sizes))]
    return [order[start : start + size] for start, size in zip(starts, sizes, strict=True)], order[sum(sizes) :]


# A fairness document


class Unreadable(Exception):
    """What was given is no fairness document."""


def judge(document: dict[str, Any], index: int) -> tuple[str, str]:
    """Return whether a round ``holds``, is ``open`` or ``wrong``, and why."""
    rounds, seats, number = document["rounds"], document["seats"], index + 1
    entry, later = rounds[index], rounds[index + 1 :]
    deal = [key in entry for key in ("attempt", "hands", "stock")]
    if entry["round"] != number:
        return "wrong", "it has another number"
    if entry["commitment"] in [each["commitment"] for each in rounds[:index]]:
        return "wrong", "it has the commitment of an earlier round"
    if "client_seeds" in entry and not later:
        return "wrong", "it is dealt, but the commitment to the next round is not revealed"
    if "seed" not in entry:
        if any(deal):
            return "wrong", "the deal is revealed, but not the seed"
        if any("client_seeds" in each or "seed" in each for each in later):
            return "wrong", "the seed is not revealed, but that of a later round is, or it is dealt"
        return "open", "the seed is not revealed yet"
    seed = bytes.fromhex(entry["seed"])
    if commitment(seed).hex() != entry["commitment"]:
        return "wrong", "the seed does not fit the commitment"
    if "client_seeds" not in entry:
        if any(deal) or later:
            return "wrong", "it is dealt, but the client seeds are not revealed"
        return "holds", "the seed fits the commitment; the round was not dealt"
    if not all(deal):
        return "wrong", "the seed is revealed, but not the whole deal"
    if len(entry["client_seeds"]) != seats or len(entry["hands"]) != seats:
        return "wrong", "it is not dealt to the seats of the game"
    sizes = [len(hand) for hand in entry["hands"]]
    if len({size for size in sizes if size}) != 1:
        return "wrong", "the hands are of different sizes"
    key = shuffle_seed(seed, document["game_id"], number, entry["client_seeds"])
    tiles = tiles_of(document["set"], document.get("without", []))
    for attempt in range(entry["attempt"] + 1):
        hands, stock = cut(shuffle(tiles, key, number, attempt), sizes)
        doubles = [tile for hand in hands for tile in hand if tile.split("-")[0] == tile.split("-")[1]]
        if doubles and attempt < entry["attempt"] and not document.get("deals_again"):
            return "wrong", f"attempt {attempt} was dealt again, though somebody held a double"
    for seat, hand in enumerate(hands):
        if entry["hands"][seat] != sorted(hand, key=tiles.index):
            return "wrong", f"the hand of seat {seat} does not follow from the seed"
    if entry["stock"] != stock:
        return "wrong", "the stock does not follow from the seed"
    return "holds", "the seed fits the commitment, and the deal follows from the seed"


def is_text(value: object) -> bool:
    """Return a text that UTF-8 can say: without half a character."""
    return isinstance(value, str) and not re.search("[\ud800-\udfff]", value)


def is_texts(value: object) -> bool:
    """Return a list of texts."""
    return isinstance(value, list) and all(is_text(each) for each in value)


def is_digest(value: object) -> bool:
    """32 bytes in hexadecimal."""
    return isinstance(value, str) and bool(re.fullmatch("[0-9a-f]{64}", value))


def is_number(low: int, high: int) -> Callable[[object], bool]:
    """Return a whole number between these two."""
    return lambda value: type(value) is int and low <= value <= high


NEEDED: dict[str, Callable[[Any], bool]] = {
    "game_id": is_text,
    "seats": is_number(2, 100),
    "set": is_number(0, 100),
    "rounds": lambda value: isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value),
}
TOLD: dict[str, Callable[[Any], bool]] = {"without": is_texts, "deals_again": lambda value: value is True}
NEEDED_OF_ROUND: dict[str, Callable[[Any], bool]] = {"round": is_number(1, 2**31), "commitment": is_digest}
TOLD_OF_ROUND: dict[str, Callable[[Any], bool]] = {
    "client_seeds": is_texts,
    "seed": is_digest,
    "attempt": is_number(0, 1000),
    "hands": lambda value: isinstance(value, list) and all(is_texts(each) for each in value),
    "stock": is_texts,
}


def check_form(document: Any) -> None:
    """Raise ``Unreadable`` for what has not the form of a fairness document of this method."""
    if not isinstance(document, dict) or not isinstance(document.get("provable"), bool):
        raise Unreadable("this is not a fairness document")
    if not document["provable"]:
        raise Unreadable("there is nothing to check: the deals of this game were arranged, or not committed to")
    if document.get("method") != "domino-deal-1":
        raise Unreadable("this program knows the method domino-deal-1 only")
    for key, has_form in NEEDED.items():
        if key not in document or not has_form(document[key]):
            raise Unreadable(f'"{key}" is missing or has not its form')
    for key, has_form in TOLD.items():
        if key in document and not has_form(document[key]):
            raise Unreadable(f'"{key}" has not its form')
    for index, entry in enumerate(document["rounds"]):
        for key, has_form in (NEEDED_OF_ROUND | TOLD_OF_ROUND).items():
            if not has_form(entry[key]) if key in entry else key in NEEDED_OF_ROUND:
                raise Unreadable(f'"{key}" in rounds[{index}] is missing or has not its form')


def report(document: Any) -> int:
    """Say of every round of a fairness document whether it holds."""
    check_form(document)
    print(f"game {json.dumps(document['game_id'])}, {document['seats']} seats, set up to double-{document['set']}")
    found = []
    for index, entry in enumerate(document["rounds"]):
        word, why = judge(document, index)
        found.append(word)
        print(f"round {index + 1}: {word}: {why}")
        print(f"  commitment {entry['commitment']}")
        if "client_seeds" in entry:
            print("  client seeds", *[json.dumps(each) for each in entry["client_seeds"]])
    print(f"{found.count('holds')} hold, {found.count('open')} open, {found.count('wrong')} wrong")
    return 1 if "wrong" in found else 0 if "holds" in found else 2


# The published vectors


def verdicts(document: Any) -> list[str]:
    """Return the word of every round; none for what cannot be read."""
    try:
        check_form(document)
    except Unreadable:
        return []
    return [judge(document, index)[0] for index in range(len(document["rounds"]))]


VECTORS: dict[str, Callable[[Any], bool]] = {
    "commitments": lambda v: commitment(bytes.fromhex(v["seed"])).hex() == v["commitment"],
    "shuffle_seeds": lambda v: (
        shuffle_seed(bytes.fromhex(v["seed"]), v["game_id"], v["round"], v["client_seeds"]).hex() == v["shuffle_seed"]
    ),
    "orders": lambda v: (
        shuffle(tiles_of(v["set"], []), bytes.fromhex(v["shuffle_seed"]), v["round"], v["attempt"])
        == v["order"].split()
    ),
    "documents": lambda v: verdicts(v["document"]) == v["says"],
}


def report_vectors(vectors: Any) -> int:
    """Say of every kind of vectors how many hold, and of each that does not its place."""
    try:
        found = {kind: [holds(vector) for vector in vectors[kind]] for kind, holds in VECTORS.items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise Unreadable("this is not a file of vectors") from None
    for kind, held in found.items():
        print(f"{kind}: {sum(held)} of {len(held)} hold")
        for index in [index for index, each in enumerate(held) if not each]:
            print(f"  {kind}[{index}] does not")
    return 0 if all(all(held) for held in found.values()) else 1


# The command


def read(name: str) -> Any:
    """Return the JSON in a file."""
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError:
        raise Unreadable("this file cannot be read") from None
    try:
        return json.loads(data.decode(), parse_float=number_of, parse_constant=no_number)
    except (ValueError, RecursionError):
        raise Unreadable("this is not JSON") from None


def number_of(text: str) -> float:
    """Return a number with a fraction or an exponent; it may be a whole one all the same, as 1.0 is."""
    value = float(text)
    return int(value) if value.is_integer() else value


def no_number(text: str) -> float:
    """Refuse what Python would read, though it is not JSON."""
    raise ValueError(text)


def main(arguments: list[str]) -> int:
    """Check every file, or the vectors."""
    show: Callable[[Any], int] = report
    if arguments[:1] == ["--vectors"]:
        arguments, show = arguments[1:], report_vectors
        if len(arguments) != 1:
            arguments = ["--"]
    if any(each.startswith("-") and each != "-" for each in arguments):
        print("usage: verify.py [FILE …], or verify.py --vectors FILE", file=sys.stderr)
        return 2
    left = []
    for name in arguments or ["-"]:
        try:
            left.append(show(read(name)))
        except Unreadable as why:
            print(f"{name}: {why}", file=sys.stderr)
            left.append(2)
    return 1 if 1 in left else max(left)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
