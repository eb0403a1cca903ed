"""What a bounded cache keeps, and what it evicts."""

from __future__ import annotations

from threading import Thread

import pytest

from service.bounded_cache import BoundedCache


@pytest.mark.parametrize(("put", "kept"), [("abc", [None, 1, 2]), ("abac", [2, None, 3])])
def test_the_value_that_was_put_longest_ago_is_evicted(put: str, kept: list[int | None]) -> None:
    cache = BoundedCache[str, int](2)
    for number, key in enumerate(put):
        cache.put(key, number)
    assert [cache.get(key) for key in "abc"] == kept


def test_a_look_is_no_use_and_a_use_keeps_a_value_longer() -> None:
    cache = BoundedCache[str, int](2)
    for key in ("a", "b"):
        cache.put(key, 1)
    assert (cache.get("a"), cache.use("a"), cache.get("b"), cache.use("x")) == (1, 1, 1, None)
    cache.put("c", 1)
    assert [cache.get(key) for key in ("a", "b", "c")] == [1, None, 1]


def test_a_weighed_cache_evicts_until_its_values_weigh_no_more_than_the_limit() -> None:
    cache = BoundedCache[str, bytes](10, weigh=len)
    for key in ("a", "b", "c"):
        cache.put(key, b"123")
    cache.put("b", b"12345")
    cache.put("d", b"12345")
    assert [cache.get(key) for key in ("a", "b", "c", "d")] == [None, b"12345", None, b"12345"]


def test_what_is_taken_out_weighs_nothing_any_more() -> None:
    cache = BoundedCache[str, bytes](10, weigh=len)
    for key in ("a", "b"):
        cache.put(key, b"12345")
    assert (cache.pop("a"), cache.pop("a")) == (b"12345", None)
    cache.put("c", b"12345")
    cache.drop(lambda key, value: key == "b" and value == b"12345")
    cache.put("d", b"12345")
    assert [cache.get(key) for key in ("a", "b", "c", "d")] == [None, None, b"12345", b"12345"]


def test_many_threads_may_put_and_drop_at_once() -> None:
    cache = BoundedCache[int, bytes](50, weigh=len)
    faults: list[Exception] = []

    def work(start: int) -> None:
        try:
            for number in range(3000):
                cache.put((start * 7 + number) % 101, b"1234")
                cache.use(number % 101)
                if number % 100 == 0:
                    cache.drop(lambda key, _: key % 2 == 0)
                cache.pop(number % 97)
        except Exception as fault:
            faults.append(fault)

    threads = [Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    for key in range(12):
        cache.put(key, b"1234")
    assert [key for key in range(101) if cache.get(key)] == list(range(12))
