"""Writes the dashboard for Grafana, ``examples/monitoring/dashboard.json``: ``python -m tools.write_dashboard``.

Owns what the dashboard shows. A test compares the file with what this module writes, and looks each metric up in a
service that has just started.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

ROOT: Final = Path(__file__).parent.parent
DASHBOARD: Final = ROOT / "examples" / "monitoring" / "dashboard.json"

_COLUMNS: Final = 3
_WIDTH: Final = 24 // _COLUMNS
_HEIGHT: Final = 7
_MOVES: Final = '{method="POST",route="/v1/games/<game>/moves"}'


class Panel(NamedTuple):
    """A diagram over time: what it shows, in which unit of Grafana, and its lines as expression and legend."""

    title: str
    unit: str
    lines: tuple[tuple[str, str], ...]


def _quantiles(metric: str, labels: str = "", by: str = "") -> tuple[tuple[str, str], ...]:
    group = f"le, {by}" if by else "le"
    shown = f" {{{{{by}}}}}" if by else ""
    return tuple(
        [
            (f"histogram_quantile({part}, sum by ({group}) (rate({metric}_bucket{labels}[5m])))", f"{name}{shown}")
            for part, name in ((0.5, "median"), (0.99, "99 %"))
        ]
    )


PANELS: Final = (
    Panel("Processes that answer", "short", (("sum(up)", "answer"), ("sum(domino_ready)", "ready"))),
    Panel("Moves", "reqps", (("sum by (variant) (rate(domino_moves_total[5m]))", "{{variant}}"),)),
    Panel("Requests", "reqps", (("sum by (status) (rate(domino_http_requests_total[5m]))", "{{status}}"),)),
    Panel("Problems", "reqps", (("sum by (code) (rate(domino_problems_total[5m])) > 0", "{{code}}"),)),
    Panel("Refused by limits", "reqps", (("sum by (limit) (rate(domino_rate_limited_total[5m]))", "{{limit}}"),)),
    Panel("Seconds of a move", "s", _quantiles("domino_http_request_duration_seconds", _MOVES)),
    Panel(
        "Seconds of a write in Redis", "s", _quantiles("domino_redis_command_duration_seconds", '{operation="commit"}')
    ),
    Panel(
        "Writes that failed",
        "reqps",
        (("sum by (reason) (rate(domino_store_write_errors_total[5m])) > 0", "{{reason}}"),),
    ),
    Panel("What waits", "short", (("max by (kind) (domino_backlog)", "{{kind}}"),)),
    Panel("How long it waits", "s", (("max by (kind) (domino_backlog_age_seconds)", "{{kind}}"),)),
    Panel("Seconds late", "s", _quantiles("domino_reminder_lag_seconds", by="kind")),
    Panel(
        "Computer players",
        "reqps",
        (
            ("sum by (level) (rate(domino_bot_moves_total[5m]))", "{{level}}"),
            ("sum(rate(domino_bot_fallbacks_total[5m]))", "fallbacks"),
        ),
    ),
    Panel("Seconds of a decision", "s", _quantiles("domino_bot_decision_seconds", by="level")),
    Panel(
        "Deadlines",
        "reqps",
        (
            ("sum by (then) (rate(domino_time_outs_total[5m]))", "{{then}}"),
            ("sum(rate(domino_held_deadlines_total[5m]))", "put off"),
        ),
    ),
    Panel(
        "Messages to endpoints",
        "reqps",
        (("sum by (outcome) (rate(domino_webhook_deliveries_total[5m]))", "{{outcome}}"),),
    ),
    Panel("Seconds until a message", "s", _quantiles("domino_webhook_lag_seconds")),
    Panel(
        "Memory of Redis",
        "bytes",
        (("max(domino_store_memory_bytes)", "used"), ("max(domino_store_memory_limit_bytes)", "limit")),
    ),
    Panel("Open streams", "short", (("sum(domino_open_streams)", "open"), ("sum(domino_open_streams_limit)", "limit"))),
    Panel(
        "Clocks and outages",
        "s",
        (
            ("max(domino_clock_offset_seconds)", "Redis ahead"),
            ("max(domino_outage_allowance_seconds)", "deadlines put off for"),
        ),
    ),
    Panel("Versions", "short", (("count by (version) (domino_build_info)", "{{version}}"),)),
)


def dashboard() -> bytes:
    """Return the dashboard as Grafana imports it, which asks for the source of its data then."""
    panels = [_panel(number, panel) for number, panel in enumerate(PANELS)]
    whole = {
        "__inputs": [{"name": "SOURCE", "label": "Prometheus", "type": "datasource", "pluginId": "prometheus"}],
        "title": "Domino",
        "uid": "domino-service",
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "panels": panels,
    }
    return orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    source = {"type": "prometheus", "uid": "${SOURCE}"}
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": panel.title,
        "datasource": source,
        "gridPos": {
            "x": number % _COLUMNS * _WIDTH,
            "y": number // _COLUMNS * _HEIGHT,
            "w": _WIDTH,
            "h": _HEIGHT,
        },
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + at), "datasource": source, "expr": expression, "legendFormat": legend}
            for at, (expression, legend) in enumerate(panel.lines)
        ],
    }


def main() -> int:
    """Write the file; returns the exit status."""
    DASHBOARD.write_bytes(dashboard())
    print(f"{DASHBOARD.relative_to(ROOT)} is written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
