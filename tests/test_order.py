"""Each worker of a run begins with the longest tests of its share."""

from __future__ import annotations

from tests.support.order import longest_first

TESTS = [*[("a", 2), ("a", 2), ("b", 1), ("b", 1), ("c", 1), ("d", 0), ("d", 0), ("e", 2), ("f", 0)], *[("g", 2)] * 8]
NUMBERED = list(enumerate(TESTS))


def ordered(workers: int) -> list[tuple[int, tuple[str, int]]]:
    return longest_first(NUMBERED, workers, rank=lambda it: it[1][1], file=lambda it: it[1][0])


def test_no_test_is_lost_or_doubled() -> None:
    for workers in range(1, 20):
        assert sorted(ordered(workers)) == NUMBERED


def test_a_share_begins_with_its_longest_files_which_are_dealt_in_turn() -> None:
    shown = "".join([name for _, (name, _) in ordered(2)])
    assert (shown[:8], shown[8:]) == ("ddbbaaeg", "fcggggggg")


def test_the_tests_of_a_file_stay_in_their_order() -> None:
    numbers = [number for number, (name, _) in ordered(3) if name == "b"]
    assert numbers == sorted(numbers)
