"""Only URLs of public hosts are taken, however an address is written."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from ipaddress import ip_address, ip_network

import pytest

from service.outgoing.addresses import (
    EVERYWHERE,
    MAX_URL_CHARACTERS,
    REASONS,
    Address,
    Find,
    Network,
    RefusedUrl,
    Target,
    check_url,
    is_public,
    resolve,
)
from service.outgoing.lookups import Lookups, system_lookup

LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
PUBLIC_ADDRESSES = ("8.8.8.8", "93.184.215.14", "100.63.255.255", "100.128.0.0", "2606:4700:4700::1111", "2a00:1450::1")
PRIVATE_ADDRESSES = (
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
    *("169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.192", "168.63.129.16", "255.255.255.255"),
    *("224.0.0.1", "239.255.255.255", "240.0.0.1", "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1"),
    *("192.88.99.1", "192.0.0.1", "192.31.196.1", "192.52.193.1", "192.175.48.1"),
    *("::", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::ffff:0:127.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:808:808::"),
    *("2001:0:7f00:1::", "2001:db8::1", "2001:10::1", "2001:20::1", "3fff::1", "2620:4f:8000::1"),
    *("fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "ff0e::1", "100::1", "5f00::1", "4000::1"),
)
HOSTILE = {
    "not_https": (
        *("http://hooks.example.com/", "ftp://hooks.example.com/", "file:///etc/passwd"),
        *("gopher://127.0.0.1:6379/_FLUSHALL", "unix:///run/redis.sock"),
    ),
    "malformed": (
        # Without a scheme, or without two slashes
        *("", "hooks.example.com", "//hooks.example.com/", "javascript:alert(1)", "https:hooks.example.com"),
        *("https:/hooks.example.com", "https:///hooks.example.com"),
        # An address in a form that only a system's resolver reads
        *("https://2130706433/", "https://0x7f000001/", "https://0x7f.0.0.1/", "https://127.1/", "https://127.0.1/"),
        *("https://0177.0.0.1/", "https://017700000001/", "https://127.0.0.01/", "https://127.0.0.0x1/"),
        *("https://127.0.0.1.1/", "https://0/", "https://0x/", "https://256.256.256.256/"),
        *("https://hooks.example.1/", "https://127.0.0.1./", "https://localhost./", "https://hooks.example.com./"),
        *("https://１２７.0.0.1/", "https://127。0。0。1/", "https://①②⑦.0.0.1/", "https://ⓛocalhost/"),
        *("https://bücher.example/", "https://127%2e0%2e0%2e1/", "https://%31%32%37.0.0.1/"),
        # Scope ids, and brackets
        *("https://[fe80::1%eth0]/", "https://[fe80::1%25eth0]/", "https://[2606:4700::1%251]/", "https://[::1/"),
        *("https://::1/", "https://[127.0.0.1]/", "https://[v1.x]/", "https://[::1]x/", "https://[::1].example.com/"),
        # Ports
        *("https://hooks.example.com:0/", "https://hooks.example.com:65536/", "https://hooks.example.com:99999/"),
        *("https://hooks.example.com:0443/", "https://hooks.example.com:+443/", "https://hooks.example.com:-1/"),
        *("https://hooks.example.com:４４３/", "https://hooks.example.com:/", "https://hooks.example.com:443:80/"),
        "https://:443/",
        # What readers of URLs disagree about
        *("https://", "https:///", "https://?", "https://#", "https://\\127.0.0.1/"),
        *("https://hooks.example.com\\.127.0.0.1/", "https:\\\\hooks.example.com/", "https://hooks.example.com/a\\b"),
        *("https://hooks.example.com/#fragment", "https://hooks.example.com#@127.0.0.1/"),
        *(" https://hooks.example.com/", "https://hooks.example.com/ ", "https://hooks.example.com/a b"),
        *("https://hooks.example.com/\r\nHost: 127.0.0.1", "https://hooks.example.com\r\n/"),
        *("https://hooks.example.com/\n", "https://hooks.example.com/\t", "https://hooks\t.example.com/"),
        *("ht\ntps://hooks.example.com/", "https://hooks.example.com/\0", "https://hooks.example.com/\x7f"),
        *("https://hooks.example.com/ü", "https://hooks.example.com/%", "https://hooks.example.com/%0"),
        *("https://hooks.example.com/%zz", "https://hooks.example.com/<script>", 'https://hooks.example.com/"'),
        *("https://hooks.example.com/{x}", "https://hooks..example.com/", "https://.example.com/"),
        *("https://-hooks.example.com/", "https://hooks-.example.com/", "https://hooks.exa*mple.com/"),
        *("https://hooks.example.com,127.0.0.1/", "https://hooks.example.com;127.0.0.1/"),
        *("https://hooks.example.com&127.0.0.1/", f"https://{'a' * 64}.example.com/", f"https://{'a.' * 130}com/"),
    ),
    "not_public": (
        *("https://127.0.0.1/", "https://0.0.0.0/", "https://169.254.169.254/latest/meta-data/"),
        *("https://100.64.0.1/", "https://[::1]/", "https://[0:0:0:0:0:0:0:1]/", "https://[::ffff:127.0.0.1]/"),
        *("https://[::ffff:7f00:1]/", "https://[64:ff9b::7f00:1]/", "https://[64:ff9b::10.0.0.1]/"),
        *("https://[fd00:ec2::254]/", "https://localhost/", "https://LOCALHOST/", "https://redis/"),
    ),
    "credentials": (
        *("https://user:pass@hooks.example.com/", "https://user@hooks.example.com/", "https://@hooks.example.com/"),
        *("https://hooks.example.com@127.0.0.1/", "https://hooks.example.com:443@127.0.0.1/"),
        "https://hooks.example.com\\@127.0.0.1/",
    ),
    "port": (
        *("https://hooks.example.com:80/", "https://hooks.example.com:22/", "https://hooks.example.com:6379/"),
        "https://hooks.example.com:8443/",
    ),
    "too_long": (f"https://hooks.example.com/{'a' * 500}", "x" * 1_000_000),
}


def reason(url: str, networks: Sequence[Network] = ()) -> str:
    with pytest.raises(RefusedUrl) as caught:
        check_url(url, networks)
    assert caught.value.reason in REASONS
    return caught.value.reason


def found(*addresses: str) -> Find:
    """What finds these addresses, whatever the host is."""
    return lambda _: [ip_address(each) for each in addresses]


def refusal(url: str, *addresses: str) -> str:
    """Why the addresses of the host of a URL are refused."""
    with pytest.raises(RefusedUrl) as caught:
        resolve(check_url(url), (), found(*addresses))
    return caught.value.reason


@pytest.mark.parametrize(
    ("expected", "url"), [(each, url) for each, urls in HOSTILE.items() for url in urls], ids=lambda it: repr(it)[:60]
)
def test_a_hostile_url_is_refused(expected: str, url: str) -> None:
    assert reason(url) == expected


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://hooks.example.com", Target("https", "hooks.example.com", 443, "/")),
        ("HTTPS://Hooks.Example.COM:443/A?b=c", Target("https", "hooks.example.com", 443, "/A?b=c")),
        ("https://hooks.example.com?game=%7Bg%7D&x", Target("https", "hooks.example.com", 443, "/?game=%7Bg%7D&x")),
        ("https://xn--bcher-kva.example/~a/;b=1,2", Target("https", "xn--bcher-kva.example", 443, "/~a/;b=1,2")),
        ("https://a_b.example.com/@me", Target("https", "a_b.example.com", 443, "/@me")),
        ("https://hooks.example.com//127.0.0.1/", Target("https", "hooks.example.com", 443, "//127.0.0.1/")),
        ("https://8.8.8.8/", Target("https", "8.8.8.8", 443, "/")),
        ("https://[2606:4700:4700:0::1111]/", Target("https", "2606:4700:4700::1111", 443, "/")),
    ],
)
def test_a_url_of_a_public_host_is_taken(url: str, target: Target) -> None:
    assert check_url(url) == target


def test_the_longest_url_is_taken() -> None:
    url = "https://hooks.example.com/"
    url += "a" * (MAX_URL_CHARACTERS - len(url))
    check_url(url)
    assert reason(url + "a") == "too_long"


@pytest.mark.parametrize("text", PUBLIC_ADDRESSES)
def test_an_address_of_the_internet_is_public(text: str) -> None:
    assert is_public(ip_address(text))


@pytest.mark.parametrize("text", PRIVATE_ADDRESSES)
def test_an_address_of_another_network_is_not_public(text: str) -> None:
    assert not is_public(ip_address(text))
    assert refusal("https://hooks.example.com/", text) == "not_public"


@pytest.mark.parametrize("text", ["fe80::1%eth0", "fe80::1%1", "2606:4700:4700::1111%1"])
def test_an_address_with_a_scope_is_not_public(text: str) -> None:
    assert refusal("https://hooks.example.com/", text) == "not_public"


@pytest.mark.parametrize("private", ["127.0.0.1", "::1", "169.254.169.254"])
def test_one_private_address_among_several_is_enough(private: str) -> None:
    for addresses in ((private, "8.8.8.8"), ("8.8.8.8", private), ("8.8.8.8", "2606:4700::1", private)):
        assert refusal("https://hooks.example.com/", *addresses) == "not_public"


def test_a_name_is_looked_up_once_and_all_its_addresses_are_returned_in_order() -> None:
    asked = []

    def find(host: str) -> list[Address]:
        asked.append(host)
        return [ip_address("2606:4700::1"), ip_address("8.8.8.8")]

    addresses = resolve(check_url("https://hooks.example.com/"), (), find)
    assert [str(each) for each in addresses] == ["2606:4700::1", "8.8.8.8"]
    assert asked == ["hooks.example.com"]


def test_a_name_without_an_address_is_refused_as_one_that_is_not_public() -> None:
    assert refusal("https://hooks.example.com/") == refusal("https://hooks.example.com/", "10.0.0.1") == "not_public"


def test_what_the_resolver_of_the_system_makes_of_localhost_is_not_public() -> None:
    target = check_url("https://localhost/", LOOPBACK)
    find = partial(Lookups(system_lookup).find, "A")
    assert resolve(target, LOOPBACK, find)
    with pytest.raises(RefusedUrl, match="not_public"):
        resolve(target, (), find)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/", "http://localhost/", "https://[::1]:1/", "http://bot:9000"])
def test_in_allowed_networks_every_port_and_http_are_possible(url: str) -> None:
    assert resolve(check_url(url, LOOPBACK), LOOPBACK, found("127.0.0.1", "::1"))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://8.8.8.8/", "not_https"),
        ("https://8.8.8.8:8443/", "port"),
        ("https://10.0.0.1/", "not_public"),
        ("https://[::ffff:127.0.0.1]/", "not_public"),
    ],
)
def test_allowed_networks_allow_nothing_elsewhere(url: str, expected: str) -> None:
    assert reason(url, LOOPBACK) == expected


@pytest.mark.parametrize(
    ("url", "addresses", "expected"),
    [
        ("http://hooks.example.com/", ("8.8.8.8",), "not_https"),
        ("http://hooks.example.com/", ("127.0.0.1", "8.8.8.8"), "not_https"),
        ("https://hooks.example.com:8443/", ("8.8.8.8",), "port"),
        ("https://hooks.example.com/", ("127.0.0.1", "10.0.0.1"), "not_public"),
    ],
)
def test_a_name_with_an_address_elsewhere_is_no_name_in_allowed_networks(
    url: str, addresses: tuple[str, ...], expected: str
) -> None:
    with pytest.raises(RefusedUrl, match=expected):
        resolve(check_url(url, LOOPBACK), LOOPBACK, found(*addresses))


def test_every_address_is_in_everywhere() -> None:
    for text in (*PUBLIC_ADDRESSES, *PRIVATE_ADDRESSES):
        assert any(ip_address(text) in network for network in EVERYWHERE)
