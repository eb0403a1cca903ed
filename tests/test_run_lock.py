"""``make run`` installs all that the service imports, though the tools of the tests are not installed."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import packages_distributions

from packaging.utils import canonicalize_name

from tests.support.installing import locked
from tests.support.serving import ROOT
from tests.support.waiting import PATIENCE

OPTIONAL = {"cryptography", "opentelemetry-api", "typing-extensions"}
"""What redis-py and others import if it is there; the tools of the tests bring it."""
IMPORTS = """
import sys
before = set(sys.modules)
import service.bootstrap.web, service.server.gunicorn_worker, service.workers.processes
print(*{name.partition(".")[0] for name in set(sys.modules) - before})
"""


def test_the_service_imports_only_what_its_lock_lists() -> None:
    command = [sys.executable, "-c", IMPORTS]
    imported = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=True)
    distributions = packages_distributions()
    used = {canonicalize_name(name) for module in imported.stdout.split() for name in distributions.get(module, ())}
    assert used - {canonicalize_name(requirement.name) for requirement in locked()} - OPTIONAL == {"domino-service"}
    assert "gevent" in used
