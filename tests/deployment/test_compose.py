"""No container of Docker Compose has more rights or room than it needs, and no two stores share their files."""

from __future__ import annotations

import re

import pytest

from tests.deployment.processes import OVERLAYS
from tests.deployment.tools import EXAMPLES, compose

pytestmark = pytest.mark.gate
FIXED = re.compile(r"[a-z/]+:[0-9.]+(-alpine)?@sha256:[0-9a-f]{64}")


@pytest.mark.parametrize("name", [None, *OVERLAYS])
def test_containers_are_limited_and_stores_keep_what_they_hold(name: str | None) -> None:
    files = () if name is None else ("-f", "compose.yaml", "-f", EXAMPLES / name)
    config = compose("--env-file", EXAMPLES / "tls.env", *files)
    volumes = []
    for service, each in config["services"].items():
        assert each["cap_drop"] == ["ALL"], service
        assert each.get("cap_add", []) == (["NET_BIND_SERVICE"] if service == "tls" else []), service
        assert (each["read_only"], each["security_opt"]) == (True, ["no-new-privileges:true"]), service
        assert min(int(each["mem_limit"]), float(each["cpus"]), each["pids_limit"]) > 0, service
        assert each["restart"] in ("unless-stopped", "on-failure"), service
        conditions = {it["condition"] for it in each.get("depends_on", {}).values()}
        assert conditions <= {"service_healthy", "service_completed_successfully"}, service
        assert "build" in each or FIXED.fullmatch(each["image"]), service
        published = {port.get("host_ip") for port in each.get("ports", ())}
        assert published == {"service": {"127.0.0.1"}, "mcp": {"127.0.0.1"}, "tls": {None}}.get(service, set()), service
        if each.get("image", "").startswith("valkey/"):
            assert each["user"] == "valkey", service
            volumes += [mount["source"] for mount in each.get("volumes", ())]
            command = " ".join(each["command"]).replace("--", "")
            if "maxmemory " in command:
                assert re.search(r"\bappendonly yes\b", command), service
                assert re.search(r"\bmaxmemory-policy noeviction\b", command), service
                megabytes = int(re.findall(r"\bmaxmemory (\d+)mb", command)[0])
                assert int(each["mem_limit"]) >= 2 * megabytes * 2**20, service
    assert volumes
    assert len(volumes) == len(set(volumes))
