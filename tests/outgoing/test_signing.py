"""Signatures are those that the public libraries of Standard Webhooks verify, in Python and in JavaScript."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from service.outgoing.sender import SECRET_BYTES, new_secret, secret_text, signed_headers
from tests.support.node_packages import NODE_MODULES
from tests.support.waiting import PATIENCE
from tests.vectors.verifiers import node_or_skip

PROGRAM = Path(__file__).parent / "verify_webhook.mjs"

Verify = Callable[[bytes, Mapping[str, str], bytes], bool]
SECRET, OTHER = bytes(range(32)), bytes(range(32, 64))
BODY = '{"type": "game.turn", "data": {"game_id": "g1", "name": "Zoë", "seat": 0}}'.encode()


def by_python(secret: bytes, headers: Mapping[str, str], body: bytes) -> bool:
    try:
        Webhook(secret_text(secret)).verify(body, dict(headers))
    except WebhookVerificationError:
        return False
    return True


def by_javascript(secret: bytes, headers: Mapping[str, str], body: bytes) -> bool:
    message = {"secret": secret_text(secret), "headers": dict(headers), "body": body.decode()}
    completed = subprocess.run(
        [node_or_skip(), str(PROGRAM), str(NODE_MODULES)],
        input=json.dumps(message),
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    says = completed.stdout.strip()
    assert says == "valid" or "signature" in says.lower() or "timestamp" in says.lower(), says
    return says == "valid"


@pytest.fixture(params=[by_python, by_javascript], ids=["Python", "JavaScript"])
def verify(request: pytest.FixtureRequest) -> Verify:
    check: Verify = request.param
    return check


def headers(*secrets: bytes, seconds: int | None = None, body: bytes = BODY) -> dict[str, str]:
    return signed_headers("msg_1", int(time.time()) if seconds is None else seconds, body, secrets)


def test_a_message_is_verified_with_its_secret_alone(verify: Verify) -> None:
    assert verify(SECRET, headers(SECRET), BODY)
    assert not verify(OTHER, headers(SECRET), BODY)


def test_while_secrets_are_rotated_either_verifies(verify: Verify) -> None:
    both = headers(OTHER, SECRET)
    assert verify(SECRET, both, BODY)
    assert verify(OTHER, both, BODY)
    assert not verify(bytes(32), both, BODY)


def test_a_signature_is_valid_for_its_body_message_and_time_alone(verify: Verify) -> None:
    signed = headers(SECRET)
    assert not verify(SECRET, signed, BODY.replace(b"0", b"1"))
    assert not verify(SECRET, signed, json.dumps(json.loads(BODY), separators=(",", ":"), ensure_ascii=False).encode())
    assert not verify(SECRET, {**signed, "webhook-id": "msg_2"}, BODY)
    assert not verify(SECRET, {**signed, "webhook-timestamp": str(int(signed["webhook-timestamp"]) - 1)}, BODY)


def test_a_message_that_is_replayed_after_five_minutes_fails(verify: Verify) -> None:
    assert not verify(SECRET, headers(SECRET, seconds=int(time.time()) - 301), BODY)


def test_a_secret_is_32_random_bytes_with_the_prefix_of_the_standard() -> None:
    secret = new_secret(os.urandom)
    assert len(secret) == SECRET_BYTES
    assert new_secret(os.urandom) != secret
    assert secret_text(SECRET) == "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


def test_the_published_example_has_the_published_signature() -> None:
    secret = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    signed = signed_headers("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}', [secret])
    assert signed["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
