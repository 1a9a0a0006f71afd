"""A table of values of charts, each with its effect: what an installation has then that it had not before."""
# ruff: noqa: FBT003 -- the values of switches

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel

POD: Final = "spec.template.spec"
CONTAINER: Final = f"{POD}.containers.0"
APP: Final = "gardener-resource-manager"
OF_RELEASE: Final = '{job="a-gardener-resource-manager",namespace="release-namespace"}'
AUTHORITY: Final = """\
-----BEGIN CERTIFICATE-----
MIIBKzCB0qADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWF1dGhvcml0
eTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAGA1UEAwwJ
YXV0aG9yaXR5MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqO4FiPi15msQzlBb
PW86KoFyFj0XC/t9gXdCcKzs7Y2Tz+sW21ERmnGsI2m3HMgLvJWh66zYpAt3vZaP
Ux0d0aMTMBEwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiArXPL5
O50YWCcuL+d1u31OaWEfDuf3QC3WMXMpmAAAsAIhAIjgzQtExjH1IC3jn11404l6
Ik6Kmxya3y2J5XjmOVTG
-----END CERTIFICATE-----
"""
DIGEST: Final = f"sha256:{'a' * 64}"
RULE: Final = {"apiGroups": [""], "resources": ["pods"], "verbs": ["*"]}
SPREAD: Final = {"maxSkew": 2, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"}
PEER: Final = {"podSelector": {"matchLabels": {"app": "prometheus"}}}
SERVING: Final = {"webhooks": {"seccompProfile": {"enabled": True}}}
OF_CERT_MANAGER: Final = {**SERVING, "server": {"webhooks": {"tls": {"provision": "cert-manager"}}}}
SEPARATE: Final[Mapping[str, Any]] = {"targetClientConnection": {}}
KUBECONFIG: Final = {"target.kubeconfigSecret": "k"}
NAMESPACES: Final = {"sourceClientConnection": {"namespaces": ["shop"]}}
LITTLE: Final = {"managedResources.rules": [RULE]}


@dataclass(frozen=True)
class Row:
    """A value, and where its effect is."""

    value: str
    stated: Any
    kind: str
    path: str
    effect: Any
    """None: there is nothing at the place, or no object of the kind at all."""
    beside: Mapping[str, Any] = field(default_factory=dict)
    """Other values, without which it has no effect."""
    config: Mapping[str, Any] = field(default_factory=dict)


def of_pod(value: str, stated: Any, path: str, effect: Any = None, **more: Any) -> Row:
    return Row(value, stated, "Deployment", path, stated if effect is None else effect, **more)


def of_policy(value: str, stated: Any, path: str, effect: Any) -> Row:
    return Row(f"networkPolicy.{value}", stated, "NetworkPolicy", path, effect, {"networkPolicy.enabled": True})


def of_autoscaler(value: str, stated: Any, path: str) -> Row:
    enabled = {"verticalPodAutoscaler.enabled": True}
    return Row(f"verticalPodAutoscaler.{value}", stated, "VerticalPodAutoscaler", path, stated, enabled)


def of_monitor(monitor: str, kind: str, endpoints: str) -> Iterator[Row]:
    enabled = {f"monitoring.{monitor}.enabled": True}
    yield Row(f"monitoring.{monitor}.enabled", True, kind, f"spec.{endpoints}.0.port", "metrics")
    yield Row(f"monitoring.{monitor}.labels", {"team": "a"}, kind, "metadata.labels.team", "a", enabled)
    rules = [{"sourceLabels": ["a"], "targetLabel": "b"}]
    for name, stated in {
        "interval": "30s",
        "scrapeTimeout": "9s",
        "relabelings": rules,
        "metricRelabelings": rules,
    }.items():
        yield Row(f"monitoring.{monitor}.{name}", stated, kind, f"spec.{endpoints}.0.{name}", stated, enabled)


def of_probe(probe: str) -> Iterator[Row]:
    for name in ("initialDelaySeconds", "periodSeconds", "timeoutSeconds", "failureThreshold"):
        yield of_pod(f"probes.{probe}.{name}", 77, f"{CONTAINER}.{probe}Probe.{name}")


ROWS: Final = (
    of_pod("replicas", 5, "spec.replicas"),
    of_pod("image.registry", "mirror.example.org", f"{CONTAINER}.image", "mirror.example.org/hedgerow:0.1.0"),
    of_pod("image.repository", "a/b", f"{CONTAINER}.image", "a/b:0.1.0"),
    of_pod("image.tag", "v2", f"{CONTAINER}.image", "hedgerow:v2"),
    of_pod("image.digest", DIGEST, f"{CONTAINER}.image", f"hedgerow@{DIGEST}", beside={"image.tag": "v2"}),
    of_pod("image.pullPolicy", "Always", f"{CONTAINER}.imagePullPolicy"),
    of_pod("imagePullSecrets", [{"name": "puller"}], f"{POD}.imagePullSecrets"),
    of_pod("resources.requests", {"cpu": "1"}, f"{CONTAINER}.resources.requests.cpu", "1"),
    of_pod("resources.limits", {"cpu": 2}, f"{CONTAINER}.resources.limits.cpu", 2),
    of_pod("podLabels", {"a": "b"}, "spec.template.metadata.labels.a", "b"),
    of_pod("podAnnotations", {"a": "b"}, "spec.template.metadata.annotations.a", "b"),
    of_pod("podSecurityContext", {"runAsUser": 7}, f"{POD}.securityContext.runAsUser", 7),
    of_pod("securityContext", {"runAsUser": 8}, f"{CONTAINER}.securityContext.runAsUser", 8),
    of_pod("extraArgs", ["--pprof"], f"{CONTAINER}.args.3", "--pprof"),
    of_pod("env", [{"name": "A", "value": "b"}], f"{CONTAINER}.env"),
    of_pod("env", [{"name": "A"}], f"{CONTAINER}.env.1.name", "A", config=SEPARATE, beside=KUBECONFIG),
    of_pod("extraVolumes", [{"name": "more", "emptyDir": {}}], f"{POD}.volumes.2", {"name": "more", "emptyDir": {}}),
    of_pod("extraVolumeMounts", [{"name": "more", "mountPath": "/m"}], f"{CONTAINER}.volumeMounts.2.mountPath", "/m"),
    *of_probe("liveness"),
    *of_probe("readiness"),
    of_pod("lifecycle", {"preStop": {"sleep": {"seconds": 5}}}, f"{CONTAINER}.lifecycle"),
    of_pod("terminationGracePeriodSeconds", 90, f"{POD}.terminationGracePeriodSeconds"),
    of_pod("revisionHistoryLimit", 7, "spec.revisionHistoryLimit"),
    of_pod("strategy", {"type": "Recreate"}, "spec.strategy"),
    of_pod("priorityClassName", "system-cluster-critical", f"{POD}.priorityClassName"),
    of_pod("nodeSelector", {"pool": "a"}, f"{POD}.nodeSelector"),
    of_pod("tolerations", [{"operator": "Exists"}], f"{POD}.tolerations"),
    of_pod("affinity", {"nodeAffinity": {}}, f"{POD}.affinity"),
    of_pod(
        "topologySpreadConstraints",
        [SPREAD],
        f"{POD}.topologySpreadConstraints",
        [{**SPREAD, "labelSelector": {"matchLabels": {"app": APP}}}],
    ),
    of_pod(
        "topologySpreadConstraints",
        [{"labelSelector": {"matchLabels": {"a": "b"}}}],
        f"{POD}.topologySpreadConstraints.0.labelSelector.matchLabels",
        {"a": "b"},
    ),
    of_pod("hostNetwork", True, f"{POD}.hostNetwork"),
    of_pod("hostNetwork", True, f"{POD}.dnsPolicy", "ClusterFirstWithHostNet"),
    of_pod("dnsPolicy", "Default", f"{POD}.dnsPolicy", beside={"hostNetwork": True}),
    Row("podDisruptionBudget.enabled", False, "PodDisruptionBudget", "", None),
    Row("podDisruptionBudget.maxUnavailable", 2, "PodDisruptionBudget", "spec.maxUnavailable", 2),
    *of_monitor("serviceMonitor", "ServiceMonitor", "endpoints"),
    *of_monitor("podMonitor", "PodMonitor", "podMetricsEndpoints"),
    Row(
        "monitoring.prometheusRule.enabled",
        True,
        "PrometheusRule",
        "spec.groups.0.rules.0.expr",
        f"absent(up{OF_RELEASE}) or max by (cluster, job, namespace) (avg_over_time(up{OF_RELEASE}[10m])) < 0.5",
        {"namePrefix": "a-"},
    ),
    Row(
        "monitoring.prometheusRule.labels",
        {"team": "a"},
        "PrometheusRule",
        "metadata.labels.team",
        "a",
        {"monitoring.prometheusRule.enabled": True},
    ),
    Row("monitoring.dashboard.enabled", True, "ConfigMap", "metadata.name", f"{APP}-dashboard"),
    Row(
        "monitoring.dashboard.labels",
        {"grafana_dashboard": "all"},
        "ConfigMap",
        "metadata.labels.grafana_dashboard",
        "all",
        {"monitoring.dashboard.enabled": True},
    ),
    Row(
        "monitoring.dashboard.annotations",
        {"grafana_folder": "a"},
        "ConfigMap",
        "metadata.annotations.grafana_folder",
        "a",
        {"monitoring.dashboard.enabled": True},
    ),
    Row("networkPolicy.enabled", True, "NetworkPolicy", "spec.podSelector.matchLabels.app", APP),
    of_policy("apiServerPorts", [8443], "spec.egress.1.ports", [{"protocol": "TCP", "port": 8443}]),
    of_policy(
        "metricsFrom",
        [PEER],
        "spec.ingress.0.from",
        [PEER, {"podSelector": {"matchLabels": {"app": "gardener-resource-manager-test"}}}],
    ),
    of_policy("extraIngress", [{"from": [PEER]}], "spec.ingress.2", {"from": [PEER]}),
    of_policy("extraEgress", [{"to": [PEER]}], "spec.egress.2", {"to": [PEER]}),
    Row("verticalPodAutoscaler.enabled", True, "VerticalPodAutoscaler", "spec.targetRef.name", APP),
    of_autoscaler("updateMode", "Off", "spec.updatePolicy.updateMode"),
    of_autoscaler("minAllowed", {"cpu": "10m"}, "spec.resourcePolicy.containerPolicies.0.minAllowed"),
    of_autoscaler("maxAllowed", {"cpu": 4}, "spec.resourcePolicy.containerPolicies.0.maxAllowed"),
    Row("commonLabels", {"team": "a"}, "Service", "metadata.labels.team", "a"),
    Row("commonLabels", {"team": "a"}, "ClusterRole", "metadata.labels.team", "a"),
    Row("commonLabels", {"team": "a"}, "CustomResourceDefinition", "metadata.labels.team", "a"),
    of_pod("commonLabels", {"team": "a"}, "spec.template.metadata.labels.team", "a"),
    Row("commonAnnotations", {"a": "b"}, "ConfigMap", "metadata.annotations.a", "b"),
    Row("commonAnnotations", {"a": "b"}, "MutatingWebhookConfiguration", "metadata.annotations.a", "b", config=SERVING),
    Row("serviceAccount.annotations", {"a": "b"}, "ServiceAccount", "metadata.annotations.a", "b"),
    of_pod(
        "serviceAccount.tokenExpirationSeconds",
        700,
        f"{POD}.volumes.1.projected.sources.0.serviceAccountToken.expirationSeconds",
    ),
    Row("service.annotations", {"a": "b"}, "Service", "metadata.annotations.a", "b"),
    Row("crds.enabled", False, "CustomResourceDefinition", "", None),
    Row("crds.keep", False, "CustomResourceDefinition", "metadata.annotations", None),
    Row("managedResources.clusterAdmin", True, "ClusterRole", "rules.1.nonResourceURLs", ["*"]),
    Row("managedResources.rules", [RULE], "ClusterRole", "rules", [RULE]),
    Row("managedResources.clusterWide", False, "RoleBinding", "roleRef.kind", "ClusterRole", LITTLE, NAMESPACES),
    of_pod("namePrefix", "a-", "metadata.name", f"a-{APP}"),
    of_pod("record.enabled", True, f"{CONTAINER}.args.3", f"--record=/var/lib/{APP}/decisions.jsonl"),
    of_pod("record.sizeLimit", "2Gi", f"{POD}.volumes.2.emptyDir.sizeLimit", beside={"record.enabled": True}),
    of_pod("webhooks.certificateSecret", "tls", f"{POD}.volumes.2.secret.secretName", config=SERVING),
    Row(
        "webhooks.caBundle",
        AUTHORITY,
        "MutatingWebhookConfiguration",
        "webhooks.0.clientConfig.caBundle",
        b64encode(AUTHORITY.encode()).decode(),
        config=SERVING,
    ),
    Row(
        "webhooks.issuer.name",
        "other",
        "Certificate",
        "spec.issuerRef.name",
        "other",
        config=OF_CERT_MANAGER,
    ),
    Row(
        "webhooks.issuer.kind",
        "ClusterIssuer",
        "Certificate",
        "spec.issuerRef.kind",
        "ClusterIssuer",
        config=OF_CERT_MANAGER,
        beside={"webhooks.issuer.name": "other"},
    ),
    Row(
        "webhooks.overrides",
        {"*": {"timeoutSeconds": 3, "failurePolicy": "Ignore"}},
        "MutatingWebhookConfiguration",
        "webhooks.0.timeoutSeconds",
        3,
        config=SERVING,
    ),
    Row(
        "webhooks.inGardener",
        True,
        "MutatingWebhookConfiguration",
        "webhooks.0.namespaceSelector.matchExpressions.1.values",
        ["kube-system"],
        config=SERVING,
    ),
    of_pod("target.kubeconfigSecret", "k", f"{POD}.volumes.2.projected.sources.0.secret.name", config=SEPARATE),
    of_pod(
        "target.tokenSecret",
        "t",
        f"{POD}.volumes.2.projected.sources.1.secret.name",
        beside=KUBECONFIG,
        config=SEPARATE,
    ),
    *(
        Row(
            f"target.subject.{name}",
            stated,
            "ClusterRoleBinding",
            f"subjects.0.{name}",
            stated,
            {"target.kubeconfigSecret": "k", "part": "target"},
            SEPARATE,
        )
        for name, stated in {"kind": "User", "name": "grm", "namespace": "elsewhere"}.items()
    ),
    of_pod(
        "target.podLabels",
        {"a": "b"},
        "spec.template.metadata.labels.a",
        "b",
        beside=KUBECONFIG,
        config=SEPARATE,
    ),
)


def stated(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by their paths as a values file has them."""
    result: dict[str, Any] = {}
    for path, value in values.items():
        *above, last = path.split(".")
        into = result
        for name in above:
            into = into.setdefault(name, {})
        into[last] = value
    return result


def leaves(values: BaseModel, above: str = "") -> Iterator[str]:
    for name, described in type(values).model_fields.items():
        value, path = getattr(values, name), f"{above}{described.alias or name}"
        yield from leaves(value, f"{path}.") if isinstance(value, BaseModel) else (path,)
