"""The sample landscape: where its files are, and what happens to it in the demonstration.

The files are those under `examples/`, which users copy and change; nothing here prints or decides.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hedgerow.api.kubernetes import NAMESPACES, NETWORK_POLICIES, SERVICES, namespace_key
from hedgerow.api.network_policies import ACCESS_TARGET_API_SERVER, NAMESPACE_SELECTORS
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request

_PACKAGE: Final = Path(__file__).parents[1]

VPN_SEED_SERVER: Final = ObjectKey("shoot--prod--web", "vpn-seed-server")
TELLING_SERVICES: Final = (
    ObjectKey("garden", "central-logging"),
    ObjectKey("garden", "nginx-ingress-controller"),
    ObjectKey("istio-ingress", "istio-ingressgateway"),
    ObjectKey("kube-system", "kube-dns"),
    ObjectKey("shoot--prod--web", "etcd-main-client"),
    ObjectKey("shoot--prod--web", "kube-apiserver"),
    ObjectKey("shoot--prod--web", "plutono"),
)
"""Services of the landscape that show one rule each."""


def examples_folder() -> Path:
    """Where the examples are: inside the installed package, or at the top of a checkout."""
    installed = _PACKAGE / "examples"
    return installed if installed.is_dir() else _PACKAGE.parents[1] / "examples"


@dataclass(frozen=True, slots=True)
class Scene:
    """Something that somebody does to the landscape, as people say it and as the API server is asked for it."""

    headline: str
    story: str
    resource: Resource
    key: ObjectKey
    request: Request
    outcome: str
    """What the controller makes of it."""


def scenes(vpn_seed_server: Manifest) -> Iterator[Scene]:
    """What happens to the settled landscape, in order; each builds on what came before."""
    yield Scene(
        "A Service appears",
        "A team deploys the seed's end of a VPN. Pods of its own namespace may connect, and so may those of all "
        "namespaces with the role istio-ingress, as its annotation says.",
        SERVICES,
        VPN_SEED_SERVER,
        requests.create(SERVICES, vpn_seed_server, VPN_SEED_SERVER.namespace),
        "For each namespace one policy lets the traffic in and one lets it out, for labelled pods alone.",
    )
    yield _patch(
        "A namespace gets a label that a selector matches",
        "An extension starts to call the API servers of shoots, so its namespace is labelled. No Service changes.",
        (NAMESPACES, namespace_key("extension-acl")),
        {"metadata": {"labels": dict([ACCESS_TARGET_API_SERVER])}},
        "Every kube-apiserver Service selects namespaces with this label: each opens itself to one namespace more.",
    )
    yield _patch(
        "Somebody edits a policy by hand",
        "In a hurry, somebody opens the etcd of a production cluster to every pod of its namespace.",
        (NETWORK_POLICIES, ObjectKey("shoot--prod--web", "ingress-to-etcd-main-client-tcp-2379")),
        {"spec": {"ingress": [{"from": [{"podSelector": {}}], "ports": [{"protocol": "TCP", "port": 2379}]}]}},
        "The policy is put back, because a port of a Service still asks for it as it was.",
    )
    yield _patch(
        "An annotation is broken",
        "In the Service of the first step, somebody loses a brace.",
        (SERVICES, VPN_SEED_SERVER),
        {
            "metadata": {
                "annotations": {NAMESPACE_SELECTORS: '[{"matchLabels": {"gardener.cloud/role": "istio-ingress"}]\n'}
            }
        },
        "Which policies are meant cannot be known now, so none is touched, and the VPN goes on working.",
    )
    yield Scene(
        "The Service goes",
        "The team deletes its Service, broken annotation and all.",
        SERVICES,
        VPN_SEED_SERVER,
        requests.delete(SERVICES, VPN_SEED_SERVER),
        "Its policies go with it, in the other namespace as well; they carry its name as labels.",
    )


def _patch(
    headline: str, story: str, target: tuple[Resource, ObjectKey], patch: Mapping[str, Any], outcome: str
) -> Scene:
    return Scene(headline, story, *target, requests.merge_patch(*target, patch), outcome)
