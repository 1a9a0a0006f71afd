"""The rules of all components as promtool takes them, and situations that no process is brought into here."""

import json
from pathlib import Path

import pytest
import yaml

from tests.e2e.alerts.monitored import CHARTS, Prometheus
from tests.e2e.rsyslog.programs import Programs

COMPONENTS = sorted(file.parts[-3] for file in CHARTS.glob("*/files/alerts.yaml"))
JOBS = {
    "resource-manager": "gardener-resource-manager",
    "seed-extensions": "hedgerow-seed-extensions",
    "rsyslog-relp": "gardener-extension-shoot-rsyslog-relp",
}
CONDITION = "hedgerow_managed_resource_condition"
OF_INSTALLATIONS = "hedgerow_controller_installation_condition"
REQUESTS = "controller_runtime_webhook_requests_total"
HANDSHAKES = "hedgerow_webhook_handshake_failures_total"
OPERATION = "hedgerow_extension_operation"
CART = 'exported_namespace="shop",name="cart"'


def of_target(component: str, metric: str, labels: str, values: str) -> dict[str, str]:
    own = f'job="{JOBS[component]}",namespace="garden",instance="10.0.0.1:8080"'
    return {"series": f"{metric}{{{own},{labels}}}", "values": values}


def healthy(component: str) -> dict[str, str]:
    return of_target(component, "up", "", "1+0x200")


@pytest.mark.parametrize("component", COMPONENTS)
def test_the_rules_are_rules(programs: Programs, tmp_path: Path, component: str) -> None:
    prometheus = Prometheus(programs, tmp_path, component)

    ended = prometheus.promtool("check", "rules", prometheus.rules)

    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("component", "metric", "labels", "values", "alert", "quiet", "fires"),
    [
        ("resource-manager", CONDITION, f'{CART},type="ResourcesHealthy",status="False"', "1+0x90",
         "HedgerowDeliveryUnhealthy", 14, 16),
        ("resource-manager", CONDITION, f'{CART},type="ResourcesProgressing",status="True"', "1+0x90",
         "HedgerowRolloutStands", 59, 61),
        ("resource-manager", "controller_runtime_reconcile_panics_total", 'controller="node"', "0 0 0 1+0x90",
         "HedgerowDefect", 2, 4),
        ("resource-manager", "workqueue_longest_running_processor_seconds", 'controller="node"', "0 60 120 175 " * 20,
         "HedgerowStuck", 9, 15),
        ("resource-manager", "hedgerow_slowed_keys", 'controller="node"', "1 1 1 0 " * 20,
         "HedgerowWriteConflict", 14, 16),
        ("resource-manager", "hedgerow_rejected_keys", 'controller="node"', "1+0x90",
         "HedgerowInputRejected", 14, 16),
        ("resource-manager", "hedgerow_webhook_certificate_unusable", "", "0 0 0 1+0x90",
         "HedgerowCertificateUnusable", 2, 90),
        ("resource-manager", "process_start_time_seconds", "", "100 100 220 220 340 340 460+0x90",
         "HedgerowRestarts", 4, 7),
        ("resource-manager", "controller_runtime_webhook_panics_total", "", "0 0 0 1+0x90",
         "HedgerowDefect", 2, 4),
        ("resource-manager", "hedgerow_webhooks_registered", 'kind="MutatingWebhookConfiguration"', "0 0 1 1 0+0x90",
         "HedgerowNothingRegistered", 5, 7),
        ("resource-manager", REQUESTS, 'webhook="/webhooks/ha",code="500"', "0+1x90",
         "HedgerowWebhookFails", 9, 12),
        ("resource-manager", REQUESTS, 'webhook="/webhooks/ha",code="429"', "0+1x90",
         "HedgerowWebhookFails", 9, 12),
        ("resource-manager", REQUESTS, 'webhook="/webhooks/ha",code="413"', "0 0 0 1+0x90",
         "HedgerowReviewTooLarge", 2, 4),
        ("seed-extensions", OF_INSTALLATIONS, 'name="dns-x7f",type="Installed",status="False"', "1+0x90",
         "HedgerowInstallationFails", 14, 16),
        ("rsyslog-relp", OPERATION, f'{CART},operation="Reconcile",state="Error"', "1+0x90",
         "HedgerowExtensionFails", 14, 16),
        ("rsyslog-relp", OPERATION, f'{CART},operation="Delete",state="Processing"', "1+0x90",
         "HedgerowExtensionFails", 14, 16),
    ],
)  # fmt: skip
def test_alerts_fire_once_it_has_lasted(
    *,
    programs: Programs,
    tmp_path: Path,
    component: str,
    metric: str,
    labels: str,
    values: str,
    alert: str,
    quiet: int,
    fires: int,
) -> None:
    prometheus = Prometheus(programs, tmp_path, component)
    series = [healthy(component), of_target(component, metric, labels, values)]

    prometheus.require_firing_of(series, after=quiet, expected={})
    prometheus.require_firing_of(series, after=fires, expected={alert: 1})


@pytest.mark.parametrize(
    ("component", "metric", "states"),
    [
        ("resource-manager", CONDITION,
         [f'{CART},type="ResourcesApplied",status="True"', f'{CART},type="ResourcesHealthy",status="True"',
          f'{CART},type="ResourcesProgressing",status="False"']),
        ("seed-extensions", OF_INSTALLATIONS,
         [f'name="dns-x7f",type="{kind}",status="True"' for kind in ("Valid", "Installed", "Healthy")]
         + ['name="dns-x7f",type="Progressing",status="False"']),
        ("rsyslog-relp", OPERATION, [f'{CART},operation="Delete",state="Succeeded"']),
    ],
)  # fmt: skip
def test_no_alert_fires_about_an_object_that_is_well(
    programs: Programs, tmp_path: Path, component: str, metric: str, states: list[str]
) -> None:
    series = [healthy(component), *(of_target(component, metric, each, "1+0x200") for each in states)]

    Prometheus(programs, tmp_path, component).require_firing_of(series, after=180, expected={})


def test_a_delivery_that_fails_on_and_off_is_one_that_fails(programs: Programs, tmp_path: Path) -> None:
    """Each turn begins with the status `Progressing`, so that the value changes all the time."""
    statuses = {"Progressing": "1 _ 1 _ " * 6, "False": "_ 1 _ 1 " * 6}
    series = [
        of_target("resource-manager", CONDITION, f'{CART},type="ResourcesApplied",status="{status}"', values)
        for status, values in statuses.items()
    ]

    Prometheus(programs, tmp_path).require_firing_of(
        [healthy("resource-manager"), *series], after=20, expected={"HedgerowDeliveryFails": 1}
    )


def test_an_operation_that_is_tried_again_and_again_is_one_that_fails(programs: Programs, tmp_path: Path) -> None:
    """Each attempt begins with the state `Processing`."""
    states = {"Processing": "1 _ 1 _ " * 6, "Error": "_ 1 _ 1 " * 6}
    series = [
        of_target("rsyslog-relp", OPERATION, f'{CART},operation="Delete",state="{state}"', values)
        for state, values in states.items()
    ]

    Prometheus(programs, tmp_path, "rsyslog-relp").require_firing_of(
        [healthy("rsyslog-relp"), *series], after=20, expected={"HedgerowExtensionFails": 1}
    )


@pytest.mark.parametrize("down", [3, 5])
def test_a_process_that_ends_again_and_again_wakes_somebody_and_lets_nobody_sleep(
    programs: Programs, tmp_path: Path, down: int
) -> None:
    """A kubelet waits up to five minutes before it starts the process again."""
    often = 60 // (down + 1)
    series = [
        of_target("resource-manager", "up", "", f"1 {'0 ' * down}" * often),
        of_target(
            "resource-manager", "leader_election_master_status", 'name="lease"', f"0 stale{' _' * down} " * often
        ),
    ]
    expected = {"HedgerowTargetMissing": 1, "HedgerowReplicaDown": 1, "HedgerowNobodyLeads": 1}

    for minute in range(30, 31 + down):
        Prometheus(programs, tmp_path).require_firing_of(series, after=minute, expected=expected)


def test_a_process_that_is_started_anew_wakes_nobody(programs: Programs, tmp_path: Path) -> None:
    series = [
        of_target("resource-manager", "up", "", "1+0x20 0 0 0 1+0x60"),
        of_target("resource-manager", "leader_election_master_status", 'name="lease"', "1+0x20 stale _ _ 0 1+0x60"),
    ]

    for minute in range(20, 45, 5):
        Prometheus(programs, tmp_path).require_firing_of(series, after=minute, expected={})


@pytest.mark.parametrize("code", ["400", "404", "405", "415"])
def test_requests_of_strangers_wake_nobody(programs: Programs, tmp_path: Path, code: str) -> None:
    asked = of_target("resource-manager", REQUESTS, f'webhook="/webhooks/ha",code="{code}"', "0+1x90")

    Prometheus(programs, tmp_path).require_firing_of([healthy("resource-manager"), asked], after=60, expected={})


@pytest.mark.parametrize(
    ("reviews", "alert"), [("5+0x60", "HedgerowHandshakesFail"), ("5+9x60", "HedgerowSomeHandshakesFail")]
)
def test_failing_handshakes_wake_somebody_unless_reviews_arrive(
    programs: Programs, tmp_path: Path, reviews: str, alert: str
) -> None:
    series = [
        healthy("resource-manager"),
        of_target("resource-manager", REQUESTS, 'webhook="/webhooks/ha",code="200"', reviews),
        of_target("resource-manager", HANDSHAKES, 'reason="untrusted-certificate"', "0+1x60"),
    ]

    Prometheus(programs, tmp_path).require_firing_of(series, after=40, expected={alert: 1})


@pytest.mark.parametrize(
    ("labels", "where"),
    [
        ({"namespace": "garden", "exported_namespace": "shop"}, "gardener-resource-manager in namespace garden"),
        ({"namespace": "shop"}, "gardener-resource-manager in namespace shop"),
    ],
    ids=["in Kubernetes", "at a fixed address"],
)
def test_an_alert_names_the_object_and_leads_to_the_runbook(
    programs: Programs, tmp_path: Path, labels: dict[str, str], where: str
) -> None:
    prometheus = Prometheus(programs, tmp_path)
    found = {"job": "gardener-resource-manager", **labels, "name": "cart", "type": "ResourcesApplied"}
    shown = ",".join(f"{name}={json.dumps(value)}" for name, value in found.items())
    expected = {
        "exp_labels": {**found, "severity": "critical"},
        "exp_annotations": {
            "summary": "The objects of a ManagedResource have not been applied, or deleted, for 15 minutes.",
            "description": f"shop/cart: ResourcesApplied, as {where} reports.",
            "runbook": "docs/operations.md#hedgerowdeliveryfails",
        },
    }
    test = {
        "interval": "1m",
        "input_series": [{"series": f'{CONDITION}{{{shown},status="False"}}', "values": "1+0x30"}],
        "alert_rule_test": [{"eval_time": "20m", "alertname": "HedgerowDeliveryFails", "exp_alerts": [expected]}],
    }
    file = tmp_path / "test.yaml"
    file.write_text(json.dumps({"rule_files": [str(prometheus.rules)], "tests": [test]}))

    ended = prometheus.promtool("test", "rules", file)

    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_every_alert_is_tried() -> None:
    tried = "".join(file.read_text(encoding="utf-8") for file in Path(__file__).parent.glob("test_*.py"))
    names = [
        rule["alert"]
        for component in COMPONENTS
        for rule in yaml.safe_load((CHARTS / component / "files" / "alerts.yaml").read_text())["groups"][0]["rules"]
    ]

    assert [name for name in names if f'"{name}"' not in tried] == []
