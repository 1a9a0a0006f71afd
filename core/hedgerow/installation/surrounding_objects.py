"""The objects around the pods that values switch on: limits of disruption, monitors, a NetworkPolicy, an autoscaler.

Source: managed-resources §4.3; Kubernetes documentation, "Network Policies"; the API of Prometheus' operator.
"""

from collections.abc import Iterator
from typing import Any, Final

from hedgerow.api.kubernetes import CONFIG_MAPS, DEPLOYMENTS, NETWORK_POLICIES, POD_DISRUPTION_BUDGETS
from hedgerow.installation.monitoring import dashboard_file, rule_file
from hedgerow.installation.surroundings import Monitor
from hedgerow.installation.workload import Installed, placed
from hedgerow.machinery.objects import Manifest, Resource

SERVICE_MONITORS: Final = Resource("monitoring.coreos.com", "v1", "servicemonitors", "ServiceMonitor")
POD_MONITORS: Final = Resource("monitoring.coreos.com", "v1", "podmonitors", "PodMonitor")
PROMETHEUS_RULES: Final = Resource("monitoring.coreos.com", "v1", "prometheusrules", "PrometheusRule")
VERTICAL_POD_AUTOSCALERS: Final = Resource(
    "autoscaling.k8s.io", "v1", "verticalpodautoscalers", "VerticalPodAutoscaler"
)
DNS_PORTS: Final = (53, 8053)
"""Of Services and of Gardener's pods, which NetworkPolicies are about."""


def surrounding_objects(installation: Installed) -> Iterator[Manifest]:
    """Those that are enabled."""
    values = installation.values
    monitoring = values.monitoring
    if values.pod_disruption_budget.enabled:
        yield _pod_disruption_budget(installation)
    if values.network_policy.enabled:
        yield _network_policy(installation)
    if values.vertical_pod_autoscaler.enabled:
        yield _vertical_pod_autoscaler(installation)
    if monitoring.service_monitor.enabled:
        yield _monitor(installation, SERVICE_MONITORS, "endpoints", monitoring.service_monitor)
    if monitoring.pod_monitor.enabled:
        yield _monitor(installation, POD_MONITORS, "podMetricsEndpoints", monitoring.pod_monitor)
    if monitoring.prometheus_rule.enabled:
        rules = rule_file(type(installation), installation.name, installation.namespace)
        yield placed(installation, PROMETHEUS_RULES, labels=monitoring.prometheus_rule.labels, spec=rules)
    if monitoring.dashboard.enabled:
        yield _dashboard(installation)


def _pod_disruption_budget(installation: Installed) -> Manifest:
    """Limits how many pods a drain of nodes takes down at once."""
    spec = {
        "maxUnavailable": installation.values.pod_disruption_budget.max_unavailable,
        "selector": {"matchLabels": installation.selector},
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }
    return placed(installation, POD_DISRUPTION_BUDGETS, spec=spec)


def _network_policy(installation: Installed) -> Manifest:
    """Lets in readers of metrics, kubelets and API servers, and lets out to DNS and API servers."""
    values, server = installation.values.network_policy, installation.server
    open_to_all = [server.health_probes.port, *([server.webhooks.port] if installation.serving else [])]
    # The pod of `helm test` reads metrics as well.
    readers = [*values.metrics_from, {"podSelector": {"matchLabels": {"app": f"{installation.name}-test"}}}]
    metrics: dict[str, Any] = {"from": readers} if values.metrics_from else {}
    dns = [*_ports("UDP", *DNS_PORTS), *_ports("TCP", *DNS_PORTS)]
    spec = {
        "podSelector": {"matchLabels": installation.selector},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [
            {**metrics, "ports": _ports("TCP", server.metrics.port)},
            {"ports": _ports("TCP", *open_to_all)},
            *values.extra_ingress,
        ],
        "egress": [{"ports": dns}, {"ports": _ports("TCP", *values.api_server_ports)}, *values.extra_egress],
    }
    return placed(installation, NETWORK_POLICIES, spec=spec)


def _ports(protocol: str, *ports: int) -> list[Manifest]:
    return [{"protocol": protocol, "port": port} for port in ports]


def _vertical_pod_autoscaler(installation: Installed) -> Manifest:
    values = installation.values.vertical_pod_autoscaler
    policy: dict[str, Any] = {"containerName": installation.process, "controlledValues": "RequestsOnly"}
    for name, quantities in (("minAllowed", values.min_allowed), ("maxAllowed", values.max_allowed)):
        if quantities:
            policy[name] = dict(quantities)
    deployment = {"apiVersion": DEPLOYMENTS.api_version, "kind": DEPLOYMENTS.kind, "name": installation.name}
    spec = {
        "targetRef": deployment,
        "updatePolicy": {"updateMode": values.update_mode},
        "resourcePolicy": {"containerPolicies": [policy]},
    }
    return placed(installation, VERTICAL_POD_AUTOSCALERS, spec=spec)


def _dashboard(installation: Installed) -> Manifest:
    values = installation.values.monitoring.dashboard
    data = {f"hedgerow-{installation.component}.json": dashboard_file(type(installation))}
    made = placed(installation, CONFIG_MAPS, values.annotations, values.labels, data=data)
    return {**made, "metadata": {**made["metadata"], "name": f"{installation.name}-dashboard"}}


def _monitor(installation: Installed, resource: Resource, endpoints: str, monitor: Monitor) -> Manifest:
    """Finds what has the label of the process, and reads metrics at the port of that name.

    The alerts know the process by the name of its objects, which is the value of that label.
    """
    wishes = {
        "interval": monitor.interval,
        "scrapeTimeout": monitor.scrape_timeout,
        "relabelings": [*monitor.relabelings],
        "metricRelabelings": [*monitor.metric_relabelings],
    }
    endpoint = {"port": "metrics", **{name: wish for name, wish in wishes.items() if wish}}
    spec = {"jobLabel": "app", "selector": {"matchLabels": installation.selector}, endpoints: [endpoint]}
    return placed(installation, resource, labels=monitor.labels, spec=spec)
