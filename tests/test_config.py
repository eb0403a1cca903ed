"""Settings are read from the environment, and invalid ones are reported by name."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from typing import Final, get_origin, get_type_hints

import pytest

from service.config import SETTINGS, InvalidSettings, Settings


def test_an_empty_environment_gives_the_defaults() -> None:
    settings = Settings.from_environ({})
    assert settings == Settings()
    assert (settings.host, settings.port, settings.workers) == ("127.0.0.1", 8000, 2)
    assert (settings.redis_url, settings.data_dir) == (None, Path("data"))
    assert settings.max_memory_mb == 512
    assert (settings.game_ttl_days, settings.log_level) == (30, "info")
    assert (settings.worker_connections, settings.graceful_timeout) == (5000, 30)


def test_the_text_of_every_default_is_read_as_the_default_value() -> None:
    assert Settings.from_environ({it.name: it.default for it in SETTINGS}) == Settings()


def test_every_reader_returns_the_declared_type() -> None:
    hints = get_type_hints(Settings)
    for setting in SETTINGS:
        hint = hints[setting.name.lower()]
        declared = tuple if get_origin(hint) is tuple else hint
        assert isinstance(setting.kind.read(setting.default), declared), setting.name


def test_settings_are_immutable() -> None:
    with pytest.raises(AttributeError):
        Settings().port = 1  # type: ignore[misc]


VALID: Final[dict[str, dict[str, object]]] = {
    "HOST": {name: name for name in ("0.0.0.0", "::1", "localhost", "games.example.org")},
    "PORT": {"0": 0, "65535": 65535},
    "METRICS_HOST": {"::1": "::1"},
    "METRICS_PORT": {"9090": 9090},
    "WORKERS": {"16": 16},
    "REDIS_URL": {
        "": None,
        **{
            url: url
            for url in (
                *("redis://localhost", "redis://me:secret@db.example:6380/3", "rediss://[::1]:6379/0"),
                *("unix:///run/redis.sock?db=2", "unix://me:secret@/run/redis.sock"),
                "redis+sentinel://me:secret@a:26379,[::1]:26380/games/2?sentinel_password=s3cret",
                *("rediss+sentinel://a/games?ssl_ca_certs=/ca.pem", "redis+cluster://me:secret@a:7000,b"),
                "rediss+cluster://a",
            )
        },
    },
    "DURABILITY": {"Replicated": "replicated", "replicated:2": "replicated:2"},
    "DATA_DIR": {"/var/lib/domino": Path("/var/lib/domino")},
    "SECRET_KEY": {
        "": (),
        "a" * 32: ("a" * 32,),
        **{
            f"{'several words ' * 3}x{comma}{'b' * 32}": (f"{'several words ' * 3}x", "b" * 32)
            for comma in (",", ", ", " , ")
        },
    },
    "WEBHOOK_NETWORKS": {
        "": (),
        "10.0.0.0/8 , ::1": (ip_network("10.0.0.0/8"), ip_network("::1")),
        "192.0.2.7,2001:db8::/32": (ip_network("192.0.2.7/32"), ip_network("2001:db8::/32")),
        "::ffff:198.51.100.0/120": (ip_network("198.51.100.0/24"),),
        "::ffff:198.51.100.7": (ip_network("198.51.100.7/32"),),
    },
    "WEBHOOK_PROXY": {
        "": None,
        **{url: url for url in ("http://egress:4750", "http://10.0.0.7:3128", "http://[fd00::7]:3128")},
    },
    "PUBLIC_URL": {
        "": (),
        "https://domino.example/": ("https://domino.example",),
        "http://192.0.2.7:8000 , http://[2001:db8::7]:8000/d": ("http://192.0.2.7:8000", "http://[2001:db8::7]:8000/d"),
    },
    "MAX_MEMORY_MB": {"0": 0},
    "GAME_TTL_DAYS": {"1": 1},
    "LOG_LEVEL": {"WARNING": "warning"},
    "LOG_FORMAT": {"JSON": "json"},
    "MAX_STREAMS": {"0": 0, "4999": 4999},
    "WORKER_CONNECTIONS": {"4001": 4001},
    "GRACEFUL_TIMEOUT": {"3600": 3600},
}
INVALID: Final[dict[str, tuple[str, ...]]] = {
    "HOST": ("", " ", "a b", "300.1.1.1", "1.2.3", "http://x", "a..b", "[::1]", ":::", "x:80"),
    "PORT": ("", "-1", "65536", "80.0", "8e3", "+80", " 80", "80\n", "0x50", "８０", "8_0", "080"),
    "METRICS_PORT": ("8000", "65536", ""),
    "WORKERS": ("0", "257", "two", "9" * 5000),
    "REDIS_URL": (
        *("localhost:6379", "http://x", "redis://", "redis://h:x", "redis://h:99999", "redis://h:0", "redis://a b"),
        *("redis://h/a", "redis://a,b", "redis://a?protocol=3", "redis+other://a"),
        *("unix://", "unix://run/redis.sock"),
        *("redis+sentinel://a", "redis+sentinel:///games", "redis+sentinel://a,/games"),
        *("redis+sentinel://a/games/one", "redis+sentinel://a/games?socket_timeout=9"),
        *("redis+cluster://", "redis+cluster://a:0", "redis+cluster://a:x,b", "redis+cluster://a/1"),
        "redis+cluster://a?sentinel_password=x",
    ),
    "DURABILITY": ("both", "replicated:0", "replicated:", "local:1"),
    "DATA_DIR": ("",),
    "SECRET_KEY": ("a" * 31, "a" * 32 + ",", "a" * 32 + "," + "b" * 31, "a" * 32 + "\n"),
    "WEBHOOK_NETWORKS": ("10.0.0.1/8", "internal", "10.0.0.0/33", "::1;::2", "::1,", "::1#", "::1\n::2"),
    "PUBLIC_URL": (
        *("domino.example", "ftp://domino.example", "javascript:alert(1)", "http://domino.example,"),
        *("http://domino.example:0", "http://domino.example:65536", "http://me@domino.example"),
        *("http://domino.example/?a", "http://domino.example/#a"),
    ),
    "WEBHOOK_PROXY": (
        *("egress:4750", "http://egress", "https://egress:4750", "http://egress:4750/", "http://egress:65536"),
        *("http://me:secret@egress:4750", "http://[::1", "http://[10.0.0.7]:3128", "http://300.1.1.1:3128"),
    ),
    "MAX_MEMORY_MB": ("1000001",),
    "GAME_TTL_DAYS": ("0", "3651", "1.5"),
    "LOG_LEVEL": ("", "loud", "10"),
    "LOG_FORMAT": ("", "xml", "tty"),
    "MAX_STREAMS": ("5000",),
    "WORKER_CONNECTIONS": ("0",),
    "GRACEFUL_TIMEOUT": ("0",),
}


@pytest.mark.parametrize("name", VALID)
def test_every_valid_value_is_accepted(name: str) -> None:
    assert {text: getattr(Settings.from_environ({name: text}), name.lower()) for text in VALID[name]} == VALID[name]


@pytest.mark.parametrize("name", INVALID)
def test_every_invalid_value_is_rejected_by_name(name: str) -> None:
    assert [text for text in INVALID[name] if rejected({name: text}) != [name]] == []


def rejected(environ: dict[str, str]) -> list[str]:
    """Return the names of the invalid settings."""
    try:
        Settings.from_environ(environ)
    except InvalidSettings as refused:
        return [error.name for error in refused.errors]
    return []


def test_networks_of_webhooks_are_refused_beside_a_proxy_that_decides() -> None:
    with pytest.raises(InvalidSettings, match="WEBHOOK_NETWORKS is '::1' .expected none with a WEBHOOK_PROXY."):
        Settings.from_environ({"WEBHOOK_NETWORKS": "::1", "WEBHOOK_PROXY": "http://egress:4750"})


def test_settings_that_do_not_go_together_are_named_with_the_others() -> None:
    together = {
        "METRICS_PORT": "8000",
        "WEBHOOK_NETWORKS": "::1",
        "WEBHOOK_PROXY": "http://egress:4750",
        "WORKER_CONNECTIONS": "4000",
        "WORKERS": "0",
    }
    assert rejected(together) == ["WORKERS", "METRICS_PORT", "WEBHOOK_NETWORKS", "MAX_STREAMS"]


def test_all_invalid_settings_are_named_in_one_line() -> None:
    with pytest.raises(InvalidSettings) as caught:
        Settings.from_environ({"PORT": "eighty\nthousand", "WORKERS": "0", "LOG_LEVEL": "loud", "HOST": "::1"})
    assert str(caught.value) == (
        r"invalid settings: PORT is 'eighty\nthousand' (expected an integer from 0 to 65535); "
        "WORKERS is '0' (expected an integer from 1 to 256); "
        "LOG_LEVEL is 'loud' (expected one of debug, info, warning, error, critical)"
    )


@pytest.mark.parametrize(
    "url",
    [
        *("redis://me:secret@host:port", "redis+sentinel://me:secret@host"),
        *("redis+sentinel://host/name/x?sentinel_password=secret", "redis+cluster://me:secret@host:port,b"),
    ],
)
def test_the_password_of_an_invalid_redis_url_is_not_shown(url: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        Settings.from_environ({"REDIS_URL": url})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["redis://me:secret@host", "redis+sentinel://h/name?sentinel_password=secret"])
def test_the_password_of_a_valid_redis_url_is_not_shown(url: str) -> None:
    assert "secret" not in repr(Settings.from_environ({"REDIS_URL": url}))


def test_a_secret_key_is_not_shown() -> None:
    keys = f"{'first' * 7},{'second' * 7}"
    assert "first" not in repr(Settings.from_environ({"SECRET_KEY": keys}))
    with pytest.raises(InvalidSettings) as caught:
        Settings.from_environ({"SECRET_KEY": f"{keys},short"})
    assert "first" not in str(caught.value)
    assert "short" not in str(caught.value)


def test_other_environment_variables_are_ignored() -> None:
    assert Settings.from_environ({"PATH": "/bin", "port": "x"}) == Settings()


@pytest.mark.parametrize(("name", "text"), [("SECRET_KEY", "s" * 40), ("REDIS_URL", "redis://store:6379/0")])
def test_a_secret_may_be_in_a_file(name: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{text}\n")
    given = Settings.from_environ({f"{name}_FILE": str(file), name: ""})
    assert given == Settings.from_environ({name: text})
    assert given != Settings.from_environ({})


def test_a_secret_in_a_file_is_refused_as_one_in_the_environment_and_never_shown(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("short")
    with pytest.raises(InvalidSettings, match=r"SECRET_KEY \(expected 32") as refused:
        Settings.from_environ({"SECRET_KEY_FILE": str(file)})
    assert "short" not in str(refused.value)


@pytest.mark.parametrize("content", [None, b"\xff"])
def test_a_file_of_a_secret_that_cannot_be_read_is_named(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidSettings, match="SECRET_KEY_FILE is .*expected a file with text that can be read"):
        Settings.from_environ({"SECRET_KEY_FILE": str(file)})


def test_a_secret_is_in_the_environment_or_in_a_file_and_no_other_setting_is_in_one(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("s" * 40)
    with pytest.raises(InvalidSettings, match="expected none with SECRET_KEY"):
        Settings.from_environ({"SECRET_KEY_FILE": str(file), "SECRET_KEY": "t" * 40})
    assert Settings.from_environ({"WORKERS_FILE": str(file)}) == Settings.from_environ({})
