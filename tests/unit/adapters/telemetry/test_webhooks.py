"""What is counted and written of the admission server."""

import io
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hedgerow.admission import Allowed, Denied, Mutated, Mutation, creation
from hedgerow.admission.webhook import internal_error, unanswered
from hedgerow.api.kubernetes import PODS
from hedgerow.machinery.questions import NotAnswered
from hedgerow_adapters.telemetry.handshakes import HandshakeFailure
from hedgerow_adapters.telemetry.logs import configure_logs, get_logger
from hedgerow_adapters.telemetry.metrics import RuntimeMetrics
from hedgerow_adapters.telemetry.troubles import LONGEST_TEXT
from hedgerow_adapters.telemetry.webhooks import AdmissionTelemetry, WebhookMetrics

PATH = "/webhooks/stamp"
EXPIRY = datetime(2026, 3, 1, tzinfo=UTC)
NOT_AFTER = "hedgerow_webhook_certificate_not_after_timestamp_seconds"
UNUSABLE = "hedgerow_webhook_certificate_unusable"
HANDSHAKES = "hedgerow_webhook_handshake_failures_total"
SECRET = "s3cr3t"  # noqa: S105 -- must not be found in lines
POD = creation(PODS, {"metadata": {"name": "cart", "namespace": "shop"}, "spec": SECRET})


class Heard:
    """A server's ears, with a clock that tests set, and what they wrote."""

    def __init__(self) -> None:
        self.now = 100.0
        self._stream = io.StringIO()
        configure_logs("info", "json", self._stream)
        self.metrics = RuntimeMetrics()
        webhook_metrics = WebhookMetrics(self.metrics.registry, [PATH])
        self.telemetry = AdmissionTelemetry(webhook_metrics, get_logger("webhook"), lambda: self.now)

    def count(self, name: str, **labels: str) -> float | None:
        found = self.metrics.registry.get_sample_value(name, labels)
        return None if found is None else float(found)

    def lines(self) -> list[dict[str, Any]]:
        assert SECRET not in self._stream.getvalue()
        return [json.loads(line) for line in self._stream.getvalue().splitlines()]


def test_requests_are_counted_by_path_and_status_from_zero_on() -> None:
    heard = Heard()
    assert heard.count("controller_runtime_webhook_requests_total", webhook=PATH, code="200") == 0
    assert heard.count("controller_runtime_webhook_requests_in_flight", webhook=PATH) == 0

    heard.telemetry.began(PATH)
    assert heard.count("controller_runtime_webhook_requests_in_flight", webhook=PATH) == 1
    heard.telemetry.answered(PATH, 200, 0.004)
    heard.telemetry.began(PATH)
    heard.telemetry.answered(PATH, 413, 2.0)

    assert heard.count("controller_runtime_webhook_requests_in_flight", webhook=PATH) == 0
    assert heard.count("controller_runtime_webhook_requests_total", webhook=PATH, code="200") == 1
    assert heard.count("controller_runtime_webhook_requests_total", webhook=PATH, code="413") == 1
    assert heard.count("controller_runtime_webhook_latency_seconds_bucket", webhook=PATH, le="0.005") == 1
    assert heard.count("controller_runtime_webhook_latency_seconds_count", webhook=PATH) == 2


def test_registered_webhooks_are_counted_by_kind_once_they_are_known() -> None:
    heard = Heard()
    heard.telemetry.webhooks_registered("MutatingWebhookConfiguration", 3)
    heard.telemetry.webhooks_registered("MutatingWebhookConfiguration", 2)

    assert heard.count("hedgerow_webhooks_registered", kind="MutatingWebhookConfiguration") == 2


def test_readings_of_the_certificate_are_counted_and_their_problems_said() -> None:
    heard = Heard()
    assert heard.count(NOT_AFTER) == 0

    heard.telemetry.certificate_read(EXPIRY, timedelta(days=7))
    heard.telemetry.certificate_unreadable("tls.key is missing")

    assert heard.count(NOT_AFTER) == EXPIRY.timestamp()

    assert heard.count("certwatcher_read_certificate_total") == 2
    assert heard.count("certwatcher_read_certificate_errors_total") == 1
    assert [(line["level"], line.get("error")) for line in heard.lines()] == [
        ("info", None),
        ("error", "tls.key is missing"),
    ]


def test_a_certificate_counts_as_unusable_until_one_can_be_used() -> None:
    heard = Heard()
    assert heard.count(UNUSABLE) == 0

    heard.telemetry.certificate_unreadable("tls.key is missing")
    assert heard.count(UNUSABLE) == 1

    heard.telemetry.certificate_read(EXPIRY, timedelta(days=7))
    assert heard.count(UNUSABLE) == 0


@pytest.mark.parametrize(
    ("left", "message"),
    [
        (timedelta(days=7, seconds=-1), "Serving certificate expires soon"),
        (timedelta(seconds=1), "Serving certificate expires soon"),
        (timedelta(0), "Serving certificate has expired"),
        (timedelta(days=-3), "Serving certificate has expired"),
    ],
)
def test_a_certificate_that_has_expired_or_soon_will_is_an_error(left: timedelta, message: str) -> None:
    heard = Heard()
    heard.telemetry.certificate_read(EXPIRY, left)

    assert [(line["level"], line["msg"], line["not_after"]) for line in heard.lines()] == [
        ("error", message, "2026-03-01T00:00:00+00:00")
    ]
    assert heard.count(NOT_AFTER) == EXPIRY.timestamp()


def test_handshakes_that_fail_are_counted_by_reason_from_zero_on() -> None:
    heard = Heard()
    for reason in HandshakeFailure:
        assert heard.count(HANDSHAKES, reason=reason) == 0
    for problem in ("TLSV1_ALERT_UNKNOWN_CA", "SSLV3_ALERT_BAD_CERTIFICATE", "HTTP_REQUEST", "TimeoutError"):
        heard.telemetry.handshake_failed(problem)

    assert {reason.value: heard.count(HANDSHAKES, reason=reason) for reason in HandshakeFailure} == {
        "untrusted-certificate": 2,
        "client-certificate": 0,
        "protocol": 1,
        "timeout": 1,
        "other": 0,
    }


def test_a_denial_names_the_object_and_what_is_invalid_in_it_but_not_what_stands_there() -> None:
    heard = Heard()
    causes = [{"field": "spec.region", "message": SECRET}, {"field": "spec.type", "message": SECRET}]
    denied = Denied(422, f"Invalid value: {SECRET}", "Invalid", {"causes": [*causes, *causes]})
    heard.telemetry.denied(PATH, POD, denied)

    (line,) = heard.lines()
    assert (line["msg"], line["key"], line["reason"], line["webhook"]) == ("Denied", "shop/cart", "Invalid", PATH)
    assert line["fields"] == "spec.region, spec.type"


def test_a_denial_by_a_rule_says_why() -> None:
    heard = Heard()
    heard.telemetry.denied(PATH, POD, Denied(403, "must be confirmed", "Forbidden"))

    assert [(line["level"], line["msg"], line["error"]) for line in heard.lines()] == [
        ("info", "Denied", "must be confirmed")
    ]


def test_decisions_are_counted_by_what_became_of_the_object() -> None:
    heard = Heard()
    pod = {"kind": "Pod"}
    heard.telemetry.allowed(PATH, POD, Allowed())
    heard.telemetry.allowed(PATH, POD, Mutated((Mutation("tolerations", pod, {**pod, "spec": SECRET}),)))
    heard.telemetry.denied(PATH, POD, Denied(403, "must be confirmed", "Forbidden"))
    heard.telemetry.denied(PATH, POD, internal_error("its caches are not complete"))

    for decision in ("unchanged", "changed", "denied", "undecided"):
        assert heard.count("hedgerow_webhook_decisions_total", webhook=PATH, decision=decision) == 1


def test_what_hits_all_alike_is_said_once_in_a_while() -> None:
    heard = Heard()
    for _ in range(50):
        heard.telemetry.denied(PATH, POD, internal_error("its caches are not complete"))
        heard.telemetry.handshake_failed("TLSV1_ALERT_UNKNOWN_CA")
        heard.telemetry.crowded(refused=False)
        heard.telemetry.malformed("BadHttpMessage")

    assert [(line["level"], line["msg"]) for line in heard.lines()] == [
        ("error", "Could not decide"),
        ("warning", "TLS handshake failed"),
        ("warning", "Too many connections"),
    ]
    assert heard.count("hedgerow_webhook_connections_closed_total", reason="handshake") == 50


def test_a_live_read_that_the_api_server_refuses_is_told_with_its_reason() -> None:
    heard = Heard()
    heard.telemetry.denied(PATH, POD, unanswered(NotAnswered(403, "Forbidden", "cannot get serviceaccounts")))
    heard.telemetry.denied(PATH, POD, unanswered(NotAnswered(404, "NotFound", "no such thing")))

    assert [(line["level"], line["msg"], line.get("error")) for line in heard.lines()] == [
        ("error", "Could not decide", "cannot get serviceaccounts"),
        ("info", "Denied", "no such thing"),
    ]


def test_lines_are_no_longer_than_it_takes_however_much_is_sent() -> None:
    heard = Heard()
    long = "x" * 100_000
    request = replace(POD, uid=long, name=long, namespace=long, operation=long)
    heard.telemetry.denied(PATH, request, internal_error(long))
    heard.telemetry.denied(PATH, request, Denied(403, long, long))
    heard.telemetry.unreadable(PATH, long)
    heard.telemetry.handshake_failed(long)

    lines = heard.lines()
    assert len(lines) == 4
    assert all(len(value) <= LONGEST_TEXT + 1 for line in lines for value in line.values() if isinstance(value, str))


def test_a_defect_is_counted_and_shown_with_its_traceback() -> None:
    heard = Heard()
    with pytest.raises(KeyError) as defect:
        raise KeyError("spec")
    heard.telemetry.raised(PATH, POD, defect.value)

    (line,) = heard.lines()
    assert heard.count("controller_runtime_webhook_panics_total") == 1
    assert line["stacktrace"].endswith("KeyError: 'spec'")
    assert line["uid"] == POD.uid
