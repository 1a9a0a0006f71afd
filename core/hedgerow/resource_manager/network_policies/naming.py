"""How policies and pod labels are named.

Names are part of the contract with everyone who labels pods; a change here breaks their traffic.
Source: network-and-nodes §2.5, §8 and decision D-9 for shortening.
"""

import json
from hashlib import sha256
from typing import Final

from hedgerow.api.network_policies import DOMAIN
from hedgerow.machinery.names import dns_subdomain_problem, label_key_problem
from hedgerow.resource_manager.network_policies.ports import PolicyPort

LONGEST_LABEL_NAME: Final = 63
LONGEST_POLICY_NAME: Final = 253
_DIGEST_LENGTH: Final = 5


def shortened(name: str, longest: int) -> str:
    """The name itself, or, where it is too long, its beginning, a dash and 5 hex digits of its SHA-256."""
    if len(name) <= longest:
        return name
    digest = sha256(name.encode()).hexdigest()[:_DIGEST_LENGTH]
    return f"{name[: longest - _DIGEST_LENGTH - 1]}-{digest}"


def policy_id(service: str, port: PolicyPort, alias: str = "") -> str:
    """What tells the pairs of policies of one Service apart: its name, the port, and the alias it was listed under."""
    plain = f"{service}-{(port.protocol or 'TCP').lower()}-{port.text}"
    return f"{plain}-via-{alias}" if alias else plain


def pod_label(key: str, infix: str | None = None) -> str:
    """The label key that opens traffic to the pods that carry it.

    Args:
        key: the policy id, or the alias.
        infix: the Service's namespace or its alias, for pods of other namespaces; none for those of its own.
    """
    name = f"to-{key}" if infix is None else f"to-{infix}-{key}"
    return f"{DOMAIN}/{shortened(name, LONGEST_LABEL_NAME)}"


def network_policy_label(service: str, port: int | str, protocol: str = "TCP") -> str:
    """The label key that a pod in the Service's own namespace carries to reach this container port of it."""
    return pod_label(policy_id(service, PolicyPort(protocol, port)))


def pod_label_problem(label: str) -> str | None:
    """Why the API server would refuse this label key; none if it would take it."""
    return label_key_problem(label)


def policy_name_problem(name: str) -> str | None:
    """Why the API server would refuse a policy of this name; none if it would take it."""
    problem = dns_subdomain_problem(name)
    return problem and f"policy name {json.dumps(name)} {problem}"
