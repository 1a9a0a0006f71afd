"""The command as a user calls it, without a process of its own, and the files that its tests share."""

from pathlib import Path
from typing import Final, NamedTuple, Protocol

REPOSITORY: Final = Path(__file__).parents[3]
LANDSCAPE: Final = "examples/landscape"
CONFIGURATION: Final = "examples/resource-manager.yaml"

DOMAIN: Final = "networking.resources.gardener.cloud"
SELECTORS: Final = f"{DOMAIN}/namespace-selectors"

NAMESPACE: Final = """\
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
"""
CART: Final = """\
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {selector: {app: cart}, ports: [{port: 80, targetPort: 8080}]}
---
"""
CART_TABLE: Final = """\
ACTION    KIND           NAMESPACE    NAME                      REASON
create    NetworkPolicy  shop         egress-to-cart-tcp-8080   service-port
create    NetworkPolicy  shop         ingress-to-cart-tcp-8080  service-port
"""
"""The plan for the cart alone."""
BROKEN: Final = f"""\
apiVersion: v1
kind: Service
metadata:
  name: broken
  namespace: shop
  annotations: {{{SELECTORS}: "[{{"}}
spec: {{selector: {{app: broken}}, ports: [{{port: 80}}]}}
---
"""
EDITED_AND_LEFT_OVER: Final = f"""\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: ingress-to-cart-tcp-8080
  namespace: shop
  labels: {{{DOMAIN}/service-name: cart, {DOMAIN}/service-namespace: shop, team: a}}
  annotations:
    gardener.cloud/description: Allows ingress TCP traffic to port 8080 for pods selected by the shop/cart service\
 selector from pods running in namespace shop labeled with map[{DOMAIN}/to-cart-tcp-8080:allowed].
spec: {{podSelector: {{matchLabels: {{app: cart}}}}, policyTypes: [Ingress], ingress: [{{}}]}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: ingress-to-gone-tcp-1
  namespace: shop
  labels: {{{DOMAIN}/service-name: gone, {DOMAIN}/service-namespace: shop}}
spec: {{podSelector: {{}}, policyTypes: [Ingress]}}
---
"""
"""A policy of the cart that somebody edited, and one whose Service is gone."""

RESTRICTED_TO_SHOP: Final = """\
apiVersion: resourcemanager.config.gardener.cloud/v1alpha1
kind: ResourceManagerConfiguration
sourceClientConnection: {namespaces: [elsewhere]}
targetClientConnection: {namespaces: [shop]}
"""
"""A configuration; what the source is restricted to does not count for what lives in the target."""
SHOP_BESIDE_A_TILL: Final = "".join(
    [
        NAMESPACE,
        NAMESPACE.replace("shop", "till"),
        CART.replace("namespace: shop", f"namespace: shop, annotations: {{{SELECTORS}: '[{{}}]'}}"),
        CART.replace("cart", "till").replace("shop", "till"),
        EDITED_AND_LEFT_OVER.split("---\n")[1].replace("service-namespace: shop", "service-namespace: till"),
    ]
)
"""The cart, which lets every namespace in, another Service elsewhere, and a policy in the shop that belongs there."""

ALIAS_BOMB: Final = "a0: &a0 [x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 7)
)


class Ended(NamedTuple):
    """What is left of a command that has run."""

    code: int
    out: str
    err: str


class Hedgerow(Protocol):
    """Runs the command with arguments and standard input, which may be missing altogether."""

    def __call__(self, *arguments: str, stdin: str | None = "") -> Ended: ...
