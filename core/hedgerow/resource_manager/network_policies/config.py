"""What the operator of a cluster says about the policies of Services.

Source: network-and-nodes §2.3.
"""

from dataclasses import dataclass

from hedgerow.machinery.selectors import LabelSelector


@dataclass(frozen=True, slots=True)
class IngressController:
    """Where the pods of the ingress controller run, so that the backends of Ingresses can be opened to them."""

    namespace: str
    pod_selector: LabelSelector


@dataclass(frozen=True, slots=True)
class NetworkPolicyConfig:
    """Which Services are handled, and who their Ingresses' traffic comes from."""

    namespace_selectors: tuple[LabelSelector, ...] = ()
    """Selectors, OR-ed, of the namespaces whose Services are handled; none at all: every namespace."""
    ingress_controller: IngressController | None = None
    """None: Ingresses are neither read nor acted on."""
