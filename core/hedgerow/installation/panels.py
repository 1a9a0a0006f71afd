"""Which panels the dashboards of components have.

Replicas report the same objects and the same configuration: what they have in common counts once (`max`).
"""

from typing import Final

from hedgerow.installation.dashboard import CHOSEN, RATE, Panel, Row

_BY: Final = "namespace"


def _rate(metric: str, *labels: str, matchers: str = CHOSEN) -> tuple[str, str]:
    """Events a second, and their legend, by labels."""
    legend = " ".join(f"{{{{{label}}}}}" for label in labels)
    return f"sum by ({', '.join((_BY, *labels))}) (rate({metric}{{{matchers}}}[{RATE}]))", legend


def _most(metric: str, *labels: str) -> tuple[str, str]:
    """The largest value of all replicas, and its legend, by labels."""
    legend = " ".join(f"{{{{{label}}}}}" for label in labels)
    return f"max by ({', '.join((_BY, *labels))}) ({metric}{{{CHOSEN}}})", legend


def _slowest(metric: str, *labels: str) -> tuple[str, str]:
    """The time within which 99 of 100 are done, and its legend, by labels."""
    legend = " ".join(f"{{{{{label}}}}}" for label in labels)
    rate = f"sum by ({', '.join((_BY, *labels, 'le'))}) (rate({metric}_bucket{{{CHOSEN}}}[{RATE}]))"
    return f"histogram_quantile(0.99, {rate})", legend


_ALERTS: Final = f'ALERTS{{{CHOSEN},alertname=~"Hedgerow.+",alertstate="firing"}}'
_OVERVIEW: Final = Row(
    "Overview",
    (
        Panel("Replicas that answer", ((f"sum by (job, {_BY}) (up{{{CHOSEN}}})", "{{job}} {{namespace}}"),)),
        Panel(
            "Leader",
            ((f"leader_election_master_status{{{CHOSEN}}} == 1", "{{name}}: {{instance}}"),),
            description="Who holds the Lease. None: nobody leads, or leader election is off.",
        ),
        Panel(
            "Alerts that fire",
            ((f"count by (alertname, severity, {_BY}) ({_ALERTS})", ""),),
            kind="table",
            description="docs/operations.md has a row for each in its runbook.",
        ),
        Panel("Requests to API servers", (_rate("rest_client_requests_total", "host", "code"),), "reqps"),
        Panel("Memory", ((f"process_resident_memory_bytes{{{CHOSEN}}}", "{{instance}}"),), "bytes"),
        Panel("CPU", ((f"rate(process_cpu_seconds_total{{{CHOSEN}}}[{RATE}])", "{{instance}}"),)),
    ),
)
_CONTROLLERS: Final = Row(
    "Controllers",
    (
        Panel("Reconciliations", (_rate("controller_runtime_reconcile_total", "controller", "result"),), "ops"),
        Panel(
            "Time of reconciliations, 99 %", (_slowest("controller_runtime_reconcile_time_seconds", "controller"),), "s"
        ),
        Panel("Writes", (_rate("hedgerow_plan_actions_total", "controller", "action"),), "ops"),
        Panel("Keys that fail", (_most("hedgerow_failing_keys", "controller"),)),
        Panel("Longest failure", (_most("hedgerow_failing_seconds", "controller"),), "s"),
        Panel(
            "Write conflicts and held deletions",
            (
                (_most("hedgerow_slowed_keys", "controller")[0], "slowed keys of {{controller}}"),
                (_rate("hedgerow_write_conflicts_total", "controller")[0], "conflicts of {{controller}}"),
                (_rate("hedgerow_deletion_guard_stops_total", "controller")[0], "held by {{controller}}"),
            ),
        ),
    ),
)
_QUEUES: Final = Row(
    "Queues",
    (
        Panel("Keys that wait", (_most("workqueue_depth", "name"),)),
        Panel("Age of the oldest key", (_most("hedgerow_queue_age_seconds", "controller"),), "s"),
        Panel("Time in the queue, 99 %", (_slowest("workqueue_queue_duration_seconds", "name"),), "s"),
        Panel("Age of the oldest turn", (_most("workqueue_longest_running_processor_seconds", "name"),), "s"),
        Panel("Workers at work", (_most("controller_runtime_active_workers", "controller"),)),
        Panel("Retries", (_rate("workqueue_retries_total", "name"),), "ops"),
    ),
)
_CACHES: Final = Row(
    "Caches",
    (
        Panel("Silence of API servers", (_most("hedgerow_cache_sync_age_seconds", "controller", "resource"),), "s"),
        Panel("Lists and watches that end", (_rate("hedgerow_watch_restarts_total", "resource", "cause"),), "ops"),
        Panel("Wait for own writes, 99 %", (_slowest("hedgerow_cache_wait_seconds", "controller"),), "s"),
        Panel(
            "Definitions that are missing",
            ((f"{_most('hedgerow_waiting_for_definition', 'controller', 'resource')[0]} > 0", ""),),
            kind="table",
        ),
    ),
)
_WEBHOOKS: Final = Row(
    "Webhooks",
    (
        Panel("Requests", (_rate("controller_runtime_webhook_requests_total", "webhook", "code"),), "reqps"),
        Panel("Decisions", (_rate("hedgerow_webhook_decisions_total", "webhook", "decision"),), "ops"),
        Panel("Time of reviews, 99 %", (_slowest("controller_runtime_webhook_latency_seconds", "webhook"),), "s"),
        Panel("Requests under way", (_most("controller_runtime_webhook_requests_in_flight", "webhook"),)),
        Panel("Connections closed", (_rate("hedgerow_webhook_connections_closed_total", "reason"),), "ops"),
        Panel("Defects", (_rate("controller_runtime_webhook_panics_total"),), "ops"),
    ),
)
_NOT_AFTER: Final = f"hedgerow_webhook_certificate_not_after_timestamp_seconds{{{CHOSEN}}}"
_CERTIFICATES: Final = Row(
    "Certificates",
    (
        Panel("Time until the serving certificate expires", ((f"({_NOT_AFTER} > 0) - time()", "{{instance}}"),), "s"),
        Panel("TLS handshakes that fail", (_rate("hedgerow_webhook_handshake_failures_total", "reason"),), "ops"),
        Panel(
            "Certificates read",
            (
                (_rate("certwatcher_read_certificate_total")[0], "read"),
                (_rate("certwatcher_read_certificate_errors_total")[0], "not usable"),
            ),
            "ops",
        ),
    ),
)
OF_PROCESSES: Final = (_OVERVIEW, _CONTROLLERS, _QUEUES, _CACHES)
"""Of every component."""
OF_WEBHOOKS: Final = (_WEBHOOKS, _CERTIFICATES)
"""Of components with webhooks."""


def row_of_objects(title: str, metric: str, aspect: str, value: str, unwell: str) -> Row:
    """The states of single objects: how many are in which, and which of them match `unwell`."""
    place = f"job, {_BY}, exported_namespace, name"
    once = f"max by ({place}, {aspect}, {value}) ({metric}{{{CHOSEN}}})"
    return Row(
        title,
        (
            Panel(
                "Objects by state", ((f"count by ({aspect}, {value}) ({once})", f"{{{{{aspect}}}}} {{{{{value}}}}}"),)
            ),
            Panel(
                "Objects that are not well",
                ((f"max by ({place}, {aspect}, {value}) ({metric}{{{CHOSEN},{unwell}}})", ""),),
                kind="table",
            ),
        ),
    )
