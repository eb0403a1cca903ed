"""Of ten thousand hostile URLs, none leads to a connection to an address that is not public."""

from __future__ import annotations

import random
import ssl
from collections import Counter
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest

from service.outgoing.addresses import MAX_URL_CHARACTERS, RefusedUrl, check_url
from service.outgoing.sender import Sender, SendFailed
from tests.outgoing.endpoints import HOST, PUBLIC, Network
from tests.outgoing.test_addresses import PRIVATE_ADDRESSES

pytestmark = pytest.mark.gate

URLS = 10_000
PUBLIC_TEXTS = (PUBLIC, "8.8.8.8", "2606:4700:4700::1111")
NAMES = {
    **{f"private{number}.example.com": (text,) for number, text in enumerate(PRIVATE_ADDRESSES)},
    **{f"mixed{number}.example.com": (PUBLIC, text) for number, text in enumerate(PRIVATE_ADDRESSES)},
    **{f"last{number}.example.com": (*PUBLIC_TEXTS, text) for number, text in enumerate(PRIVATE_ADDRESSES)},
    **dict.fromkeys(("localhost", "redis", "metadata.google.internal", "localhost.localdomain"), ("127.0.0.1",)),
    "scope.example.com": ("fe80::1%1",),
    "nowhere.example.com": (),
    HOST: (PUBLIC,),
}
FULL_WIDTH = str.maketrans("0123456789.", "０１２３４５６７８９．")


def ipv4_forms(luck: random.Random, address: IPv4Address) -> str:
    """An IPv4 address in one of the forms that some reader of URLs takes for it."""
    number, parts = int(address), address.packed
    forms = [
        str(address),
        str(number),
        hex(number),
        hex(number).upper().replace("0X", "0x"),
        oct(number).replace("0o", "0"),
        ".".join(map(hex, parts)),
        ".".join(oct(part).replace("0o", "0") for part in parts),
        ".".join(f"{part:03}" for part in parts),
        f"{parts[0]}.{number & 0xFFFFFF}",
        f"{parts[0]}.{parts[1]}.{number & 0xFFFF}",
        f"0x{parts[0]:x}.{number & 0xFFFFFF}",
        str(address) + ".",
        str(address).translate(FULL_WIDTH),
        str(address).replace(".", "。"),
        str(address).replace(".", "%2e"),
        f"[::ffff:{address}]",
        f"[::{address}]",
        f"[64:ff9b::{address}]",
        f"[2002:{number >> 16:x}:{number & 0xFFFF:x}::]",
        f"[2001:0:{number >> 16:x}:{number & 0xFFFF:x}::1]",
        f"[{address}]",
        str(number + 2**32),
    ]
    return luck.choice(forms)


def ipv6_forms(luck: random.Random, address: IPv6Address) -> str:
    forms = [str(address), address.exploded, str(address).upper(), f"{address}%1", f"{address}%25eth0", f"{address}%00"]
    return f"[{luck.choice(forms)}]"


def host(luck: random.Random) -> str:
    if luck.random() < 0.4:
        return luck.choice([name for name in NAMES if name != HOST])
    address = ip_address(luck.choice(PRIVATE_ADDRESSES))
    return ipv4_forms(luck, address) if isinstance(address, IPv4Address) else ipv6_forms(luck, address)


def url(luck: random.Random) -> str:
    """A URL that leads to a private address, if anything; now and then in a form that confuses readers of URLs."""
    private = host(luck)
    authority = luck.choice(
        [
            *[private] * 24,
            f"{private}:443",
            f"{private}:{luck.choice([0, 22, 80, 6379, 8000, 65535, 65536, 99999])}",
            f"user:pass@{private}",
            f"{HOST}@{private}",
            f"{HOST}:443@{private}",
            f"{HOST}#@{private}",
            f"{HOST}\\@{private}",
            f"{HOST}%00.{private}",
            f"{HOST} {private}",
            f"{HOST}\t{private}",
            f"{HOST}\r\nHost: {private}",
            f"{private}#.{HOST}",
            f"{private}\\.{HOST}",
            f"{private}?.{HOST}",
            f"{private}%23.{HOST}",
            private.swapcase(),
        ]
    )
    scheme = luck.choice([*["https://"] * 24, "http://", "HTTPS://", "https:", "https:/", "https:///", "//", "ftp://"])
    path = luck.choice(
        ["", *["/", "/hook?x=1"] * 8, "/@x", "/#x", "/\r\nX: 1", "/%0d%0aX:1", "?x", "/\\x", "/" + "a" * 500]
    )
    return scheme + authority + path


def test_ten_thousand_hostile_urls_make_no_connection() -> None:
    luck, network, reasons = random.Random(15), Network(names=NAMES), Counter[str]()
    by = Sender("domino-server/1", tls=ssl.create_default_context(), lookup=network.lookup, connect=network.connect)
    for _ in range(URLS):
        hostile = url(luck)
        with pytest.raises(SendFailed) as caught:
            by.post(hostile, {}, b"{}", app="A", timeout=20)
        assert caught.value.reason == "refused_address", hostile
        try:
            assert len(check_url(hostile).path) < MAX_URL_CHARACTERS
            reasons["after the look-up"] += 1
        except RefusedUrl as error:
            reasons[error.reason] += 1
    assert network.connected == []
    assert all(reasons[each] >= 50 for each in ("malformed", "not_https", "credentials", "port", "not_public"))
    assert reasons["after the look-up"] == len(network.looked_up) > URLS / 10


def test_the_network_of_that_test_would_have_been_connected_to() -> None:
    network = Network(names=NAMES)
    by = Sender("domino-server/1", lookup=network.lookup, connect=network.connect)
    with pytest.raises(SendFailed, match="connection"):
        by.post(f"https://{HOST}/", {}, b"{}", app="A", timeout=20)
    assert network.connected == [(PUBLIC, 443)]


def test_random_characters_around_an_address_make_no_connection() -> None:
    luck, network = random.Random(16), Network(names=NAMES)
    by = Sender("domino-server/1", lookup=network.lookup, connect=network.connect)
    pieces = ("https://", "127.0.0.1", "localhost", "[::1]", ":443", ":", "@", "/", "\\", "?", "#", "%", ".", " ", "\t")
    for _ in range(URLS):
        text = "https://" + "".join(luck.choice(pieces) for _ in range(luck.randint(1, 6)))
        with pytest.raises(SendFailed, match="refused_address"):
            by.post(text, {}, b"{}", app="A", timeout=20)
    assert network.connected == []
