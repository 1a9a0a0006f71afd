"""The values of what may be around the pods: limits of disruption, monitors, a NetworkPolicy, an autoscaler.

All but the PodDisruptionBudget are off by default, as not every cluster knows their kinds.
"""

from typing import Annotated, Final, Literal

from pydantic import Field

from hedgerow.api.shape import Items
from hedgerow.installation.parts import Part, Quantities, Texts
from hedgerow.installation.pod_values import Count, Manifests

Port = Annotated[int, Field(ge=1, le=65535)]
API_SERVER_PORTS: Final = (443, 6443)


class PodDisruptionBudget(Part):
    """How many pods may be missing because of what people plan."""

    enabled: bool = True
    """Whether that is limited."""
    max_unavailable: Count = 1
    """At a time."""


class Monitor(Part):
    """How Prometheus finds the metrics, by an object of its operator."""

    enabled: bool = False
    """Whether there is one; the cluster must know its kind."""
    labels: Texts = Field(default_factory=dict)
    """Further labels, by which a Prometheus selects it."""
    interval: str = ""
    """How often metrics are read, such as 30s; empty: as often as Prometheus does."""
    scrape_timeout: str = ""
    """How long that may take; empty: as long as Prometheus allows."""
    relabelings: Manifests = ()
    """Rules about the labels of the target, as in an endpoint of the operator."""
    metric_relabelings: Manifests = ()
    """Rules about the labels of each metric, as in an endpoint of the operator."""


class PrometheusRule(Part):
    """The alerts, in an object of Prometheus' operator."""

    enabled: bool = False
    """Whether there is one; the cluster must know its kind."""
    labels: Texts = Field(default_factory=dict)
    """Further labels, by which a Prometheus selects it."""


class Dashboard(Part):
    """The dashboard, in a ConfigMap that the sidecar of Grafana looks for."""

    enabled: bool = False
    """Whether there is one."""
    labels: Texts = Field(default_factory=lambda: {"grafana_dashboard": "1"})
    """Further labels, by which the sidecar finds it."""
    annotations: Texts = Field(default_factory=dict)
    """Further annotations, such as the one that names a folder to the sidecar."""


class Monitoring(Part):
    """How metrics get into Prometheus, and what it alerts about."""

    service_monitor: Monitor = Monitor()
    """Metrics are found by the Service."""
    pod_monitor: Monitor = Monitor()
    """Metrics are found by the pods; enable one of the two monitors."""
    prometheus_rule: PrometheusRule = PrometheusRule()
    """The alerts."""
    dashboard: Dashboard = Dashboard()
    """The dashboard, in a ConfigMap that the sidecar of Grafana looks for."""


class NetworkPolicy(Part):
    """A policy that lets pods talk to nobody but those whom the process needs."""

    enabled: bool = False
    """Whether there is one. In a cluster of Gardener the labels of the pods ask for policies already."""
    api_server_ports: Items[Port] = API_SERVER_PORTS
    """Where API servers listen, those behind kubeconfigs as well."""
    metrics_from: Manifests = ()
    """Who may read metrics, as peers in a NetworkPolicy; empty: everybody."""
    extra_ingress: Manifests = ()
    """Further rules, as in a NetworkPolicy."""
    extra_egress: Manifests = ()
    """Further rules, as in a NetworkPolicy."""


class VerticalPodAutoscaler(Part):
    """An autoscaler that sets the requests of the pods."""

    enabled: bool = False
    """Whether there is one; the cluster must know its kind."""
    update_mode: Literal["Auto", "Initial", "Off", "Recreate"] = "Auto"
    """Whether it changes running pods, new ones, or recommends only."""
    min_allowed: Quantities = Field(default_factory=dict)
    """What it sets at least."""
    max_allowed: Quantities = Field(default_factory=dict)
    """What it sets at most."""


class Surroundings(Part):
    """What is around the pods."""

    pod_disruption_budget: PodDisruptionBudget = PodDisruptionBudget()
    """How many pods may be missing because of what people plan."""
    monitoring: Monitoring = Monitoring()
    """How metrics get into Prometheus, and what it alerts about."""
    network_policy: NetworkPolicy = NetworkPolicy()
    """A policy that lets pods talk to nobody but those whom the process needs."""
    vertical_pod_autoscaler: VerticalPodAutoscaler = VerticalPodAutoscaler()
    """An autoscaler that sets the requests of the pods."""
