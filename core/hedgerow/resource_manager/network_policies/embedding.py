"""What component authors write on their Services and pods, made rather than typed.

Source: network-and-nodes §2.8, helpers for embedding tools.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from returns.result import Success

from hedgerow.api.network_policies import ALLOWED_PORTS_PREFIX, ALLOWED_PORTS_SUFFIX, NAMESPACE_SELECTORS
from hedgerow.machinery.selectors import LabelSelector, parse_label_selector
from hedgerow.resource_manager.network_policies.ports import PolicyPort


def allowed_ports_annotation(alias: str, ports: Iterable[PolicyPort]) -> tuple[str, str]:
    """Key and value of the annotation that opens ports to pods with the alias' label.

    Example:
        `allowed_ports_annotation("all-scrape-targets", [PolicyPort("TCP", 8080)])`
    """
    value = json.dumps([port.manifest() for port in ports], separators=(",", ":"))
    return f"{ALLOWED_PORTS_PREFIX}{alias}{ALLOWED_PORTS_SUFFIX}", value


def namespace_selectors_annotation(selectors: Iterable[LabelSelector | Mapping[str, Any]]) -> tuple[str, str]:
    """Key and value of the annotation that lets pods of further namespaces connect.

    Args:
        selectors: label selectors, OR-ed, as values or as parsed manifests.

    Raises:
        ValueError: one of them is no label selector.
    """
    manifests = []
    for selector in selectors:
        match parse_label_selector(selector):
            case Success(parsed):
                manifests.append(parsed.manifest())
            case problems:
                raise ValueError(f"not a label selector: {'; '.join(map(str, problems.failure()))}")
    return NAMESPACE_SELECTORS, json.dumps(manifests, separators=(",", ":"))
