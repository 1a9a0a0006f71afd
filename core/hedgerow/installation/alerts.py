"""Alerts: in which situations of a process a person is told, and in which woken.

An expression finds the metrics of a process by the job under which Prometheus reads them, which is the name of the
installation's Service. The labels that tell several installations in one Prometheus apart stay: cluster, job and
namespace, of an election also the name of its Lease. Prometheus calls the `namespace` of an object
`exported_namespace` where the process has a namespace of its own.

Not decided here: which numbers there are, and what to do about an alert (docs/operations.md).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from hedgerow.machinery.objects import Manifest

Severity: TypeAlias = Literal["critical", "warning"]
OWN: Final = "$own"
"""Stands for the label matchers of an installation."""
_BY: Final = "cluster, job, namespace"
_OBJECT: Final = (
    "{{ with $labels.exported_namespace }}{{ . }}/{{ else }}{{ with $labels.namespace }}{{ . }}/{{ end }}{{ end }}"
    "{{ $labels.name }}"
)
_PROCESS: Final = "{{ $labels.job }}{{ with $labels.namespace }} in namespace {{ . }}{{ end }}"
_FAILING_KEYS: Final = (
    '{{ with printf "max(hedgerow_failing_keys{job=%q,namespace=%q,controller=%q})" '
    "$labels.job $labels.namespace $labels.controller | query }}Failing keys: {{ . | first | value }}.{{ end }}"
)
"""The age of the oldest failure says nothing about new ones."""
RUNBOOK: Final = "docs/operations.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alert: when it fires, whom it concerns and what it says."""

    name: str
    expr: str
    """In PromQL, with `OWN` in every selector."""
    hold: str
    """For how long the expression has to hold."""
    severity: Severity
    """Critical wakes a person, a warning waits for the morning."""
    summary: str
    """What is wrong, in one sentence without labels: the list of alerts shows it as well."""
    description: str
    """Where it is wrong, out of the labels."""

    def rule(self, own: str) -> dict[str, Any]:
        """The alerting rule for an installation with these label matchers."""
        return {
            "alert": self.name,
            "expr": self.expr.replace(OWN, own),
            "for": self.hold,
            "labels": {"severity": self.severity},
            "annotations": {
                "summary": self.summary,
                "description": self.description,
                "runbook": f"{RUNBOOK}#{self.name.lower()}",
            },
        }


def matchers(job: str, namespace: str = "") -> str:
    """The label matchers of an installation; without a namespace those of every one of its name."""
    return f'job="{job}",namespace="{namespace}"' if namespace else f'job="{job}"'


def rule_groups(name: str, alerts: Iterable[Alert], own: str) -> Manifest:
    """A file of rules with one group, which is also the `spec` of a PrometheusRule."""
    return {"groups": [{"name": name, "rules": [alert.rule(own) for alert in alerts]}]}


def object_alert(
    name: str, metric: str, states: Mapping[str, str], *, hold: str, severity: Severity, summary: str
) -> Alert:
    """An alert about each object in one of these states: matchers of an aspect's label and of its values'.

    The replicas of a process report the same objects, which count once. An alert goes on while the value changes.
    """
    aspect = next(iter(states))
    matched = ",".join(f"{label}{matcher}" for label, matcher in states.items())
    return Alert(
        name=name,
        expr=f"max by ({_BY}, exported_namespace, name, {aspect}) ({metric}{{{OWN},{matched}}}) > 0",
        hold=hold,
        severity=severity,
        summary=summary,
        description=f"{_OBJECT}: {{{{ $labels.{aspect} }}}}, as {_PROCESS} reports.",
    )


# A process that ends at once is up for a moment between the pauses of its kubelet, which are up to five minutes long.
# An alert about single scrapes would begin anew with each start, and never fire.
_OF_LATE: Final = "10m"
_OVER_A_PAUSE: Final = "7m"
OF_PROCESSES: Final = (
    Alert(
        name="HedgerowTargetMissing",
        expr=f"absent(up{{{OWN}}}) or max by ({_BY}) (avg_over_time(up{{{OWN}}}[{_OF_LATE}])) < 0.5",
        hold="5m",
        severity="critical",
        summary="No process answers Prometheus, or each ends again soon after its start.",
        description=f"Prometheus reads metrics of {_PROCESS} seldom or never: other alerts about it may not fire.",
    ),
    Alert(
        name="HedgerowReplicaDown",
        expr=f"avg_over_time(up{{{OWN}}}[{_OF_LATE}]) < 0.5",
        hold="15m",
        severity="warning",
        summary="A replica does not answer Prometheus, or seldom.",
        description=f"{{{{ $labels.instance }}}} of {_PROCESS} answers seldom or never.",
    ),
    Alert(
        name="HedgerowRestarts",
        expr=f"max by ({_BY}, instance) (changes(process_start_time_seconds{{{OWN}}}[1h])) >= 3",
        hold="0m",
        severity="warning",
        summary="A replica begins again and again.",
        description=f"{{{{ $labels.instance }}}} of {_PROCESS} has begun {{{{ $value }}}} times within an hour.",
    ),
    Alert(
        name="HedgerowNobodyLeads",
        expr=f"max by ({_BY}, name) (last_over_time(leader_election_master_status{{{OWN}}}[{_OVER_A_PAUSE}])) < 1",
        hold="2m",
        severity="critical",
        summary="No replica of an installation leads, so that its controllers do nothing.",
        description=f"No replica of {_PROCESS} holds the Lease {{{{ $labels.name }}}}.",
    ),
    Alert(
        name="HedgerowUnreachable",
        expr=(
            f'sum by ({_BY}, instance, host) (rate(rest_client_requests_total{{{OWN},code="<error>"}}[5m])) > 0\n'
            f"unless\n"
            f'sum by ({_BY}, instance, host) (rate(rest_client_requests_total{{{OWN},code!="<error>"}}[5m])) > 0'
        ),
        hold="5m",
        severity="critical",
        summary="An API server does not answer.",
        description=f"{{{{ $labels.host }}}} answers no request of {{{{ $labels.instance }}}} of {_PROCESS}.",
    ),
    Alert(
        name="HedgerowUnauthorized",
        expr=f'sum by ({_BY}, instance, host) (rate(rest_client_requests_total{{{OWN},code="401"}}[5m])) > 0',
        hold="5m",
        severity="critical",
        summary="An API server does not accept the credentials of the process.",
        description=f"{{{{ $labels.host }}}} answers {{{{ $labels.instance }}}} of {_PROCESS} with 401.",
    ),
    Alert(
        name="HedgerowDefinitionMissing",
        expr=f"max by ({_BY}, controller, resource) (hedgerow_waiting_for_definition{{{OWN}}}) > 0",
        hold="10m",
        severity="warning",
        summary="A controller has nothing to do, as the API server does not know its resource.",
        description=f"The controller {{{{ $labels.controller }}}} of {_PROCESS} waits for {{{{ $labels.resource }}}}.",
    ),
    Alert(
        name="HedgerowCacheSilent",
        expr=f"hedgerow_cache_sync_age_seconds{{{OWN}}} > 300",
        hold="5m",
        severity="critical",
        summary="A watch is blind: decisions go on with the last known objects.",
        description=(
            f"The controller {{{{ $labels.controller }}}} of {_PROCESS} has heard nothing about "
            "{{ $labels.resource }} for {{ $value | humanizeDuration }}."
        ),
    ),
    Alert(
        name="HedgerowErrors",
        expr=f"max by ({_BY}, controller) (hedgerow_failing_seconds{{{OWN}}}) > 900",
        hold="0m",
        severity="warning",
        summary="The reconciliation of an object has failed for 15 minutes.",
        description=(
            f"An object of the controller {{{{ $labels.controller }}}} of {_PROCESS} has failed for "
            f"{{{{ $value | humanizeDuration }}}}; the log names it. {_FAILING_KEYS}"
        ),
    ),
    Alert(
        name="HedgerowInputRejected",
        expr=f"max by ({_BY}, controller) (hedgerow_rejected_keys{{{OWN}}}) > 0",
        hold="15m",
        severity="warning",
        summary="Objects are invalid and wait for somebody to correct them.",
        description=(
            f"{{{{ $value }}}} objects of the controller {{{{ $labels.controller }}}} of {_PROCESS} are not retried "
            "before they change; the log names them."
        ),
    ),
    Alert(
        name="HedgerowQueueStands",
        expr=f"max by ({_BY}, controller) (hedgerow_queue_age_seconds{{{OWN}}}) > 900",
        hold="0m",
        severity="warning",
        summary="A key has waited in a queue for 15 minutes.",
        description=(
            f"A key of the controller {{{{ $labels.controller }}}} of {_PROCESS} has waited for "
            "{{ $value | humanizeDuration }}."
        ),
    ),
    Alert(
        name="HedgerowStuck",
        # A turn is ended after 180 s, and the next one begins.
        expr=(
            f"max by ({_BY}, controller) "
            f"(max_over_time(workqueue_longest_running_processor_seconds{{{OWN}}}[5m])) > 150"
        ),
        hold="10m",
        severity="critical",
        summary="Turns of a controller do not come to an end by themselves.",
        description=(
            f"Turns of the controller {{{{ $labels.controller }}}} of {_PROCESS} take up to "
            "{{ $value | humanizeDuration }}."
        ),
    ),
    Alert(
        name="HedgerowDefect",
        expr=(
            f"sum by ({_BY}, controller) (increase(controller_runtime_reconcile_panics_total{{{OWN}}}[15m])) > 0\n"
            f"or\n"
            f"sum by ({_BY}) (increase(controller_runtime_webhook_panics_total{{{OWN}}}[15m])) > 0"
        ),
        hold="0m",
        severity="warning",
        summary="A decision ended with a bug in hedgerow.",
        description=f"The log of {_PROCESS} has the stack trace.",
    ),
    Alert(
        name="HedgerowDeletionsHeld",
        expr=f"sum by ({_BY}, controller) (increase(hedgerow_deletion_guard_stops_total{{{OWN}}}[15m])) > 0",
        hold="0m",
        severity="warning",
        summary="Deletions are held back until somebody confirms them.",
        description=f"The controller {{{{ $labels.controller }}}} of {_PROCESS} would delete much of what it owns.",
    ),
    Alert(
        name="HedgerowWriteConflict",
        # Between two waits a key is not slow for a moment.
        expr=f"max by ({_BY}, controller) (max_over_time(hedgerow_slowed_keys{{{OWN}}}[5m])) > 0",
        hold="15m",
        severity="warning",
        summary="Another client keeps reverting what a controller writes.",
        description=f"{{{{ $value }}}} keys of the controller {{{{ $labels.controller }}}} of {_PROCESS} are slow.",
    ),
)
"""Of every component."""

_REQUESTS: Final = "controller_runtime_webhook_requests_total"
# Any client provokes the other codes: another method, a body that is no review.
_FAILURES: Final = f'{_REQUESTS}{{{OWN},code=~"5..|429"}}'
_UNDECIDED: Final = f'hedgerow_webhook_decisions_total{{{OWN},decision="undecided"}}'
_NOT_AFTER: Final = f"hedgerow_webhook_certificate_not_after_timestamp_seconds{{{OWN}}}"
_REASONS: Final = 'reason=~"untrusted-certificate|client-certificate"'
_DISTRUST: Final = (
    f"sum by ({_BY}, reason) (increase(hedgerow_webhook_handshake_failures_total{{{OWN},{_REASONS}}}[10m])) > 0"
)
_ANSWERS: Final = f'sum by ({_BY}) (increase({_REQUESTS}{{{OWN},code="200"}}[10m])) > 0'
OF_WEBHOOKS: Final = (
    Alert(
        name="HedgerowWebhookFails",
        expr=(
            f"sum by ({_BY}, webhook) (rate({_FAILURES}[10m])) > 0\n"
            f"or\n"
            f"sum by ({_BY}, webhook) (rate({_UNDECIDED}[10m])) > 0"
        ),
        hold="10m",
        severity="critical",
        summary="A webhook cannot decide, so that writes are denied.",
        description=f"The webhook {{{{ $labels.webhook }}}} of {_PROCESS} answers with errors, or without a decision.",
    ),
    Alert(
        name="HedgerowNothingRegistered",
        expr=f"max by ({_BY}, kind) (hedgerow_webhooks_registered{{{OWN}}}) < 1",
        hold="2m",
        severity="critical",
        summary="A registration that the process fills in is empty, so that its webhooks are not asked.",
        description=f"The {{{{ $labels.kind }}}} of {_PROCESS} registers nothing, or is missing.",
    ),
    Alert(
        name="HedgerowReviewTooLarge",
        expr=f'sum by ({_BY}, webhook) (increase({_REQUESTS}{{{OWN},code="413"}}[15m])) > 0',
        hold="0m",
        severity="warning",
        summary="A webhook has refused a review because of its size.",
        description=f"The webhook {{{{ $labels.webhook }}}} of {_PROCESS} has answered with 413.",
    ),
    Alert(
        name="HedgerowCertificateUnusable",
        expr=f"max by ({_BY}) (hedgerow_webhook_certificate_unusable{{{OWN}}}) > 0",
        hold="0m",
        severity="warning",
        summary="A new serving certificate cannot be used.",
        description=f"The webhook server of {_PROCESS} goes on with the last one.",
    ),
    Alert(
        name="HedgerowCertificateExpires",
        expr=f"min by ({_BY}) ({_NOT_AFTER} > 0) - time() < 7 * 24 * 60 * 60",
        hold="15m",
        severity="warning",
        summary="The serving certificate of webhooks expires within seven days.",
        description=f"The serving certificate of {_PROCESS} expires in {{{{ $value | humanizeDuration }}}}.",
    ),
    Alert(
        name="HedgerowCertificateExpired",
        expr=f"min by ({_BY}) ({_NOT_AFTER} > 0) - time() <= 0",
        hold="0m",
        severity="critical",
        summary="The serving certificate of webhooks has expired, so that API servers refuse it.",
        description=f"The serving certificate of {_PROCESS} has expired.",
    ),
    Alert(
        name="HedgerowHandshakesFail",
        expr=f"{_DISTRUST}\nunless on ({_BY})\n{_ANSWERS}",
        hold="10m",
        severity="critical",
        summary="API servers and the webhook server do not trust one another, so that no webhook is asked.",
        description=f"TLS handshakes with {_PROCESS} fail, and no review arrives: {{{{ $labels.reason }}}}.",
    ),
    Alert(
        name="HedgerowSomeHandshakesFail",
        expr=f"{_DISTRUST}\nand on ({_BY})\n{_ANSWERS}",
        hold="10m",
        severity="warning",
        summary="A client and the webhook server do not trust one another, while reviews arrive.",
        description=f"Some TLS handshakes with {_PROCESS} fail: {{{{ $labels.reason }}}}.",
    ),
)
"""Of components with webhooks."""
