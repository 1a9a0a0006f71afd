"""What monitors an installation: the alerting rules and the dashboard of a component."""

from typing import Any

from hedgerow.installation import panels
from hedgerow.installation.alerts import OF_PROCESSES, OF_WEBHOOKS, Alert, matchers, rule_groups
from hedgerow.installation.dashboard import dashboard, dashboard_text
from hedgerow.installation.installation import Installation
from hedgerow.installation.values import WebhookValues
from hedgerow.machinery.objects import Manifest


def alerts_of(declared: type[Installation[Any, Any]]) -> tuple[Alert, ...]:
    """All alerts of a component."""
    of_webhooks = OF_WEBHOOKS if issubclass(declared.values_type, WebhookValues) else ()
    return (*OF_PROCESSES, *of_webhooks, *declared.own_alerts)


def rule_file(declared: type[Installation[Any, Any]], job: str = "", namespace: str = "") -> Manifest:
    """The rules of a component as Prometheus reads them.

    Args:
        declared: the component.
        job: the name of the installation; empty: the component's usual one.
        namespace: that of the installation; empty: one alert for all namespaces, told apart by their label.
    """
    return rule_groups(declared.component, alerts_of(declared), matchers(job or declared.process, namespace))


def dashboard_file(declared: type[Installation[Any, Any]]) -> str:
    """The dashboard of a component as Grafana reads it."""
    of_webhooks = panels.OF_WEBHOOKS if issubclass(declared.values_type, WebhookValues) else ()
    rows = (*panels.OF_PROCESSES, *of_webhooks, *declared.own_rows)
    return dashboard_text(dashboard(declared.component, declared.process, rows))
