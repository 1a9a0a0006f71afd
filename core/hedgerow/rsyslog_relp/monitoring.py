"""The ConfigMap by which a Shoot's Prometheus and Plutono learn of the extension: scrape job, alerts, dashboard.

The consumer concatenates the texts with those of others, so that each begins at column 0 and ends with a line end.

Source: rsyslog-relp §5; decision D-7.
"""

from textwrap import indent
from typing import Any, Final

from hedgerow.api.kubernetes import CONFIG_MAPS
from hedgerow.machinery.documents.yaml_writing import sorted_yaml
from hedgerow.machinery.objects import Manifest
from hedgerow.rsyslog_relp.dashboard import dashboard_json
from hedgerow.rsyslog_relp.naming import MONITORING_CONFIG_MAP, TYPE
from hedgerow.rsyslog_relp.pstats import PREFIX
from hedgerow.rsyslog_relp.rendering import ACTION_NAME

LABELS: Final = {"component": TYPE, "extensions.gardener.cloud/configuration": "monitoring"}
API_SERVER: Final = "kube-apiserver:443"

_ACCESS: Final = {
    "authorization": {
        "credentials_file": "/var/run/secrets/gardener.cloud/shoot/token/token",
        "type": "Bearer",
    },
    "tls_config": {"ca_file": "/etc/prometheus/seed/ca.crt"},
}
_POD: Final = "__meta_kubernetes_pod_name"
_SCRAPE_JOB: Final[dict[str, Any]] = {
    "job_name": "rsyslog-metrics",
    "honor_labels": False,
    "follow_redirects": False,
    "scrape_timeout": "30s",
    "scheme": "https",
    **_ACCESS,
    "kubernetes_sd_configs": [
        {
            "role": "endpoints",
            "api_server": f"https://{API_SERVER}",
            "namespaces": {"names": ["kube-system"]},
            **_ACCESS,
        }
    ],
    "relabel_configs": [
        {"target_label": "type", "replacement": "shoot"},
        {
            "source_labels": ["__meta_kubernetes_service_name", "__meta_kubernetes_endpoint_port_name"],
            "action": "keep",
            "regex": "node-exporter;metrics",
        },
        {"action": "labelmap", "regex": "__meta_kubernetes_service_label_(.+)"},
        {"source_labels": [_POD], "target_label": "pod"},
        {"source_labels": ["__meta_kubernetes_pod_node_name"], "target_label": "node"},
        {"target_label": "__address__", "replacement": API_SERVER},
        {
            "source_labels": [_POD, "__meta_kubernetes_pod_container_port_number"],
            "regex": "(.+);(.+)",
            "target_label": "__metrics_path__",
            "replacement": "/api/v1/namespaces/kube-system/pods/${1}:${2}/proxy/metrics",
        },
    ],
    "metric_relabel_configs": [{"source_labels": ["__name__"], "action": "keep", "regex": "rsyslog_.+"}],
}

_ACTION: Final = f'{{origin="core.action",name="{ACTION_NAME}"}}[5m]'
_FAILED: Final = f"rate({PREFIX}failed{_ACTION})"
_PROCESSED: Final = f"rate({PREFIX}processed{_ACTION})"


def _alert(name: str, expression: str, type_: str, summary: str, description: str) -> dict[str, Any]:
    return {
        "alert": name,
        "expr": expression,
        "for": "15m",
        "labels": {"service": "rsyslog-relp", "severity": "warning", "type": type_, "visibility": "operator"},
        "annotations": {"summary": summary, "description": description},
    }


_ALERTS: Final = (
    _alert(
        "RsyslogTooManyRelpActionFailures",
        f"sum({_FAILED}) / sum({_PROCESSED}) > bool 0.02 == 1",
        "shoot",
        "Rsyslog fails to forward many messages",
        "More than 2 % of the messages that rsyslog forwards over RELP fail.",
    ),
    _alert(
        "RsyslogRelpActionProcessingRateIsZero",
        f"{_PROCESSED} == 0",
        "seed",
        "Rsyslog forwards nothing",
        "Rsyslog has forwarded no message over RELP for a while, so it is probably broken.",
    ),
)


def scrape_configuration() -> str:
    """The scrape job, as a list of one."""
    return f"- {indent(sorted_yaml(_SCRAPE_JOB), '  ')[2:]}"


def alerting_rules() -> str:
    """A file of rules by its name."""
    groups = [{"name": "rsyslog-relp.rules", "rules": [*_ALERTS]}]
    return sorted_yaml({"rsyslog-relp.rules.yaml": sorted_yaml({"groups": groups})})


def dashboard() -> str:
    """The dashboard by its name. Its JSON holds no quotation mark that would end the YAML text."""
    return f"rsyslog-relp-dashboard.json: '{dashboard_json()}'\n"


def monitoring_config_map(namespace: str) -> Manifest:
    """The ConfigMap for the Shoot of a namespace."""
    return {
        "apiVersion": CONFIG_MAPS.api_version,
        "kind": CONFIG_MAPS.kind,
        "metadata": {"name": MONITORING_CONFIG_MAP, "namespace": namespace, "labels": LABELS},
        "data": {
            "scrape_config": scrape_configuration(),
            "alerting_rules": alerting_rules(),
            "dashboard_operators": dashboard(),
        },
    }
