"""Whatever is installed: while no replica answers, an API server takes all that brings the process back.

The rules of API servers tell which webhooks are asked, not those that an installation is checked with.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Success

from hedgerow.admission.request import AdmissionRequest, creation, deletion, update
from hedgerow.api.kubernetes import (
    CERTIFICATE_SIGNING_REQUESTS,
    CONFIG_MAPS,
    CORE_EVENTS,
    CSI_NODES,
    DAEMON_SETS,
    ENDPOINT_SLICES,
    EVENTS,
    LEASES,
    METADATA_NAME,
    NODES,
    PODS,
    REPLICA_SETS,
    SECRETS,
    SERVICE_ACCOUNTS,
)
from hedgerow.installation.manifests import RENDERED, manifests
from hedgerow.installation.workload import Installed
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.registrations.dispatch import Attributes, call_of
from hedgerow_adapters.registrations.registered import Registrations, parse_registrations
from hedgerow_entrypoints.cli.install import installation
from hedgerow_entrypoints.cli.stated_values import combined
from hedgerow_entrypoints.components import SEED_EXTENSIONS, component
from tests.golden.installation.chart import CHARTS

DOMAIN: Final = "resources.gardener.cloud"
EVERYTHING: Final = {"managedResources": {"clusterAdmin": True}}
HOMES: Final = ("garden", "default", "kube-system", "shoot--foo--bar", "monitoring")
OF_NAMESPACES: Final = st.fixed_dictionaries(
    {},
    optional={
        f"high-availability-config.{DOMAIN}/consider": st.just("true"),
        "gardener.cloud/purpose": st.sampled_from(["kube-system", "kubernetes-dashboard", "garden"]),
        "shoot-rsyslog-relp-configuration": st.just("true"),
        "extensions.gardener.cloud/shoot-rsyslog-relp": st.just("true"),
    },
)
OF_OTHERS: Final = st.dictionaries(
    st.sampled_from(["app", "k8s-app", f"{DOMAIN}/managed-by", f"{DOMAIN}/purpose", "gardener.cloud/role"]),
    st.sampled_from(["gardener-resource-manager", "kube-dns", "gardener", "token-requestor", "true"]),
)


def installed(data: st.DataObject) -> Installed:
    """Some component with some of its webhooks, under some name in some namespace, for its own cluster or another."""
    chart = CHARTS[data.draw(st.sampled_from(sorted(CHARTS)))]
    fields = chart.declared.values_type.model_fields
    stated: Mapping[str, Any] = {"config": {}}
    for switch in chart.webhooks:
        if data.draw(st.booleans()):
            stated = combined(stated, {"config": switch.section})
    if chart.component.name == SEED_EXTENSIONS:
        stated = combined(stated, {"config": {"seedConfig": {"metadata": {"name": "any"}}}})
    if "name_prefix" in fields:
        stated = combined(stated, {"namePrefix": data.draw(st.sampled_from(["", "a-", "virtual-garden-"]))})
    if "target" in fields and data.draw(st.booleans()):
        separate = {"config": {"targetClientConnection": {}}, "target": {"kubeconfigSecret": "kubeconfig"}}
        stated = combined(stated, separate)
    if "managed_resources" in fields:
        stated = combined(stated, {"webhooks": {"inGardener": data.draw(st.booleans())}, **EVERYTHING})
    stated = combined(stated, {"podLabels": data.draw(OF_OTHERS)})
    defaults = chart.declared.values_type().model_dump(mode="json", by_alias=True)
    values = chart.declared.values_type.model_validate(combined(defaults, stated))
    return installation(component(chart.component.name), values, data.draw(st.sampled_from(HOMES)))


def named(resource: Resource, namespace: str, labels: Mapping[str, str] | None = None) -> Manifest:
    metadata = {"name": "any", "namespace": namespace, "labels": dict(labels or {})}
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}


def of_any_cluster(others: Mapping[str, str]) -> Iterator[tuple[Resource, Manifest]]:
    """Objects without which no node runs anything, and nobody leads."""
    for resource in (NODES, CSI_NODES):
        yield resource, named(resource, "", others)
    yield CERTIFICATE_SIGNING_REQUESTS, named(CERTIFICATE_SIGNING_REQUESTS, "")
    for namespace in ("kube-node-lease", "kube-system", "default"):
        yield LEASES, named(LEASES, namespace, others)


def of_own_cluster(home: str, others: Mapping[str, str], deployment: Manifest) -> Iterator[tuple[Resource, Manifest]]:
    """Objects that others make, so that the pods of the process run."""
    template = {**deployment["spec"]["template"]["metadata"]["labels"], "pod-template-hash": "5d4f"}
    for resource in (REPLICA_SETS, PODS):
        yield resource, named(resource, home, template)
    name = deployment["metadata"]["name"]
    yield ENDPOINT_SLICES, named(ENDPOINT_SLICES, home, {"kubernetes.io/service-name": name, "app": name})
    for resource in (LEASES, SECRETS, CONFIG_MAPS, EVENTS, CORE_EVENTS):
        yield resource, named(resource, home)
    for resource in (PODS, REPLICA_SETS, DAEMON_SETS, SERVICE_ACCOUNTS, CONFIG_MAPS):
        yield resource, named(resource, "kube-system", others)


def requests_about(resource: Resource, manifest: Manifest) -> Iterator[AdmissionRequest]:
    yield from (creation(resource, manifest), update(resource, manifest, manifest), deletion(resource, manifest))
    below = {PODS: "binding", SERVICE_ACCOUNTS: "token", RENDERED["Deployment"]: "scale", REPLICA_SETS: "scale"}
    if resource in below:
        without_labels = {"metadata": {**manifest["metadata"], "labels": {}}}
        yield replace(creation(resource, without_labels), subresource=below[resource])
    yield replace(update(resource, manifest, manifest), subresource="status")


@given(data=st.data())
def test_nothing_that_the_process_needs_waits_for_an_answer(data: st.DataObject) -> None:
    wanted = installed(data)
    rendered = manifests(replace(wanted, values=wanted.values.model_copy(update={"part": "all"})), "text")
    assert isinstance(rendered, Success), rendered
    made = rendered.unwrap()
    registered = parse_registrations(wanted.registrations)
    own = [each for each in made if each["kind"] in RENDERED]
    if wanted.target is not None:
        own = [each for each in own if each["metadata"].get("namespace") != wanted.namespace]
    others = data.draw(OF_OTHERS)
    needed = [(RENDERED[each["kind"]], each) for each in own] + [*of_any_cluster(others)]
    for deployment in (each for each in own if each["kind"] == "Deployment"):
        needed += of_own_cluster(wanted.namespace, others, deployment)
    of_namespace = data.draw(OF_NAMESPACES)
    for resource, manifest in needed:
        for request in requests_about(resource, manifest):
            namespace = {**of_namespace, METADATA_NAME: request.namespace}
            assert asked(registered, request, namespace) == []


def asked(registered: Registrations, request: AdmissionRequest, namespace: Mapping[str, str]) -> list[str]:
    """The names of the webhooks without whose answer an API server refuses a request."""
    attributes = Attributes(request, namespace)
    return [each.name for each in registered.entries if not each.ignores_failures and call_of(each, attributes)]


@pytest.mark.parametrize("home", HOMES)
def test_two_resource_managers_do_not_wait_for_each_other(home: str) -> None:
    chart = CHARTS["resource-manager"]
    every: Mapping[str, Any] = {}
    for switch in chart.webhooks:
        every = combined(every, switch.section)
    one = chart.installed(every, namePrefix="one-")
    other = replace(chart.installed(every, namePrefix="other-", **EVERYTHING), namespace=home)
    made = manifests(other, "text").unwrap()
    deployment = next(each for each in made if each["kind"] == "Deployment")

    registered = parse_registrations(one.registrations)
    pods = named(PODS, home, deployment["spec"]["template"]["metadata"]["labels"])
    considered = {METADATA_NAME: home, f"high-availability-config.{DOMAIN}/consider": "true"}
    for resource, manifest in ((PODS, pods), (RENDERED["Deployment"], deployment)):
        assert asked(registered, creation(resource, manifest), considered) == []
    assert asked(registered, creation(PODS, named(PODS, "shop")), {METADATA_NAME: "shop"}) != []
