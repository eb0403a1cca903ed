"""Events as one block: what goes in comes out, and nothing else is compressed."""

from __future__ import annotations

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.games.ports import Damaged
from service.games.store.compression import compress, decompress
from service.games.store.redis_store import block_of, events_of, frame, last_write
from tests.laws.matches import steady

pytestmark = pytest.mark.gate

TEXTS = st.lists(st.binary(max_size=40).filter(lambda text: min(text, default=32) >= 32), min_size=2, max_size=30)
TIMES = st.lists(st.integers(0, 10**15 - 1), min_size=30, max_size=30).map(sorted)

USUAL = [
    b"[0,0]",
    b"[2,0,1,[[1,2],[3]],[]]",
    b"[3,65000,0,27,-1,0]",
    '[1,65000,2,"Zoë\\n"]'.encode(),
    b"[10,9000000,2]",
]


@steady
@given(TEXTS, TIMES)
def test_what_was_compressed_comes_back_as_it_was(texts: list[bytes], times: list[int]) -> None:
    events = [
        b"[%d,%d%b]" % (len(text), time, b"," + text if text else b"") for text, time in zip(texts, times, strict=False)
    ]
    block = compress(events)
    assert block is not None
    assert decompress(block) == events


@pytest.mark.parametrize(
    "text",
    [
        b"0,9,10,99,100,199,200,249,250,255,256,300,1000",
        b"-1,-0,00,01,007,1.5,5.7,1e5,0x12,a1,1a,1_000,--5",
        b'"0-4, 2-2 = 4","12 apples","a 5 b"',
        b'"%b"' % b64encode(bytes(range(32))),
        b'"%b","%b",5' % (b64encode(b"\0" * 32), b64encode(b"\xff" * 32)),
        b'"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=","AAAA="',
        b'"\\"%b"' % b64encode(bytes(32)),
        '"Zoë 7","７",null,true'.encode(),
        b'"100%","%d %s %%","%(x)b"',
        b"",
    ],
    ids=range(10),
)
def test_numbers_and_random_bytes_come_back_wherever_they_stand(text: bytes) -> None:
    events = [b"[0,0]", b"[3,5,%b]" % text, b"[3,6,7,8]", b"[3,70000,%b]" % text, b"[4,70000,[[%b],%b]]" % (text, text)]
    block = compress(events)
    assert block is not None
    assert decompress(block) == events


@steady
@given(st.lists(st.one_of(st.binary(max_size=20), st.sampled_from(USUAL)), max_size=6))
def test_what_would_not_come_back_as_it_was_is_not_compressed(events: list[bytes]) -> None:
    block = compress(events)
    assert block is None or decompress(block) == events


@pytest.mark.parametrize(
    "unusual",
    [b"", b"e1", b"[3]", b"[3,05]", b"[3,-5]", b"[3,5x]", b"[3,5,\n]", b"[3,5,\0]", b"[3,5,\1]", b"[3,5] ", b"[3,5"],
    ids=repr,
)
def test_an_unusual_event_is_not_compressed(unusual: bytes) -> None:
    assert compress(USUAL) is not None
    for place in range(len(USUAL) + 1):
        assert compress([*USUAL[:place], unusual, *USUAL[place:]]) is None


def test_a_time_that_goes_back_is_not_compressed() -> None:
    assert compress([b"[3,6]", b"[3,6]"]) is not None
    assert compress([b"[3,6]", b"[3,5]"]) is None


def test_one_event_is_not_compressed() -> None:
    assert compress([]) is None
    assert compress([b"[0,0]"]) is None


def test_a_block_is_a_fifth_of_many_events() -> None:
    events = [b"[3,%d,%d,%d,%d,0]" % (7919 * place, place % 4, 13 * place % 28, -1 - place % 2) for place in range(300)]
    block = compress(events)
    assert block is not None
    assert len(block) * 5 < sum([len(event) + len(b"12345678 ") for event in events])


def test_a_block_of_a_block_and_more_holds_them_all() -> None:
    entries = [*frame(b"writeone", USUAL[:2]), *frame(b"writetwo", USUAL[2:])]
    first = block_of(entries[:3])
    assert first is not None
    whole = block_of([first, *entries[3:]])
    assert whole == block_of(entries)
    assert whole is not None
    assert events_of([whole, *frame(b"another8", [b"[3,9000001]"])]) == [*USUAL, b"[3,9000001]"]
    assert block_of([whole]) is None


def test_an_entry_of_which_one_bit_was_changed_is_damaged() -> None:
    entries = frame(b"writeone", USUAL[:2])
    block = block_of(entries)
    assert block is not None
    for entry in (*entries, block):
        for place in range(8 * len(entry)):
            damaged = bytearray(entry)
            damaged[place // 8] ^= 1 << place % 8
            with pytest.raises(Damaged):
                events_of([bytes(damaged)])


def test_the_last_write_begins_with_the_last_id() -> None:
    first, last = frame(b"writeone", USUAL[:2]), frame(b"writetwo", USUAL[2:])
    assert last_write([*first, *last]) == 2
    assert last_write([b"*block", *last]) == 1
    for entries in ([], first, [b"*block"]):
        assert last_write(entries) == 0
