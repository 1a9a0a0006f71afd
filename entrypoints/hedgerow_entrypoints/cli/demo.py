"""`hedgerow demo`: the landscape under `examples/` in memory, step by step, and what the controller does about it."""

import shlex
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
from tabulate import tabulate

from hedgerow.api.kubernetes import NAMESPACES, NETWORK_POLICIES, SERVICES, namespace_key
from hedgerow.api.network_policies import ACCESS_TARGET_API_SERVER, NAMESPACE_SELECTORS
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.resource_manager.network_policies import desired_network_policies
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request
from hedgerow_adapters.simulation.planning import Settlement, settle
from hedgerow_entrypoints.cli.controllers import ask_files, chosen_controllers, offline_settings
from hedgerow_entrypoints.cli.rendering import changed_lines, styled_verb, without_server_fields
from hedgerow_entrypoints.cli.worlds import clusters_of, objects_in_files
from hedgerow_entrypoints.errors import CommandError

CONTROLLER: Final = "networkpolicy"
MARGIN: Final = "   "
WIDTH: Final = 80
VPN_SEED_SERVER: Final = ObjectKey("shoot--prod--web", "vpn-seed-server")
_SERVICES: Final = {
    "garden": ("central-logging", "nginx-ingress-controller"),
    "istio-ingress": ("istio-ingressgateway",),
    "kube-system": ("kube-dns",),
    "shoot--prod--web": ("etcd-main-client", "kube-apiserver", "plutono"),
}
TELLING_SERVICES: Final = [ObjectKey(namespace, name) for namespace, names in _SERVICES.items() for name in names]
"""Services of the landscape that show one rule each."""
_PACKAGE: Final = Path(__file__).parents[1]


def examples_folder() -> Path:
    """Where the examples are: inside the installed package, or at the top of a checkout."""
    installed = _PACKAGE / "examples"
    return installed if installed.is_dir() else _PACKAGE.parents[1] / "examples"


class Scene(NamedTuple):
    """Something that a person does to the landscape, as people say it and as the API server is asked for it."""

    headline: str
    story: str
    outcome: str
    resource: Resource
    key: ObjectKey
    request: Request


def _scenes(vpn_seed_server: Manifest) -> Iterator[Scene]:
    yield Scene(
        "A Service appears",
        "A team deploys the seed's end of a VPN. Pods of its own namespace may connect, and so may those of all "
        "namespaces with the role istio-ingress, as its annotation says.",
        "For each namespace one policy lets the traffic in and one lets it out, for labelled pods alone.",
        SERVICES,
        VPN_SEED_SERVER,
        requests.create(SERVICES, vpn_seed_server, VPN_SEED_SERVER.namespace),
    )
    yield Scene(
        "A namespace gets a label that a selector matches",
        "An extension starts to call the API servers of shoots, so its namespace is labelled. No Service changes.",
        "Every kube-apiserver Service selects namespaces with this label: each opens itself to one namespace more.",
        *_patch(NAMESPACES, namespace_key("extension-acl"), {"metadata": {"labels": dict([ACCESS_TARGET_API_SERVER])}}),
    )
    ingress = {"from": [{"podSelector": {}}], "ports": [{"protocol": "TCP", "port": 2379}]}
    policy = ObjectKey("shoot--prod--web", "ingress-to-etcd-main-client-tcp-2379")
    yield Scene(
        "Somebody edits a policy by hand",
        "In a hurry, somebody opens the etcd of a production cluster to every pod of its namespace.",
        "The policy is put back, because a port of a Service still asks for it as it was.",
        *_patch(NETWORK_POLICIES, policy, {"spec": {"ingress": [ingress]}}),
    )
    broken = {NAMESPACE_SELECTORS: '[{"matchLabels": {"gardener.cloud/role": "istio-ingress"}]\n'}
    yield Scene(
        "An annotation is broken",
        "In the Service of the first step, somebody loses a brace.",
        "Which policies are meant cannot be known now, so none is touched, and the VPN goes on working.",
        *_patch(SERVICES, VPN_SEED_SERVER, {"metadata": {"annotations": broken}}),
    )
    yield Scene(
        "The Service goes",
        "The team deletes its Service, broken annotation and all.",
        "Its policies go with it, in the other namespace as well; they carry its name as labels.",
        SERVICES,
        VPN_SEED_SERVER,
        requests.delete(SERVICES, VPN_SEED_SERVER),
    )


def _patch(resource: Resource, key: ObjectKey, patch: Mapping[str, Any]) -> tuple[Resource, ObjectKey, Request]:
    return resource, key, requests.merge_patch(resource, key, patch)


@click.command(name="demo")
def command() -> None:
    """Show, step by step, what the networkpolicy controller does in a sample landscape.

    The landscape is a small Gardener seed cluster. It runs in memory: no cluster is contacted, no file is written, and
    every run prints the same. The files that it is made of are there to be copied; the last lines say where they are.
    """
    examples = examples_folder()
    settings = offline_settings(str(examples / "resource-manager.yaml"))
    ((controller, _),) = chosen_controllers([CONTROLLER], settings, ask_files(()))
    (cluster,) = clusters_of(objects_in_files([str(examples / "landscape")]), [[controller]])
    (newcomer,) = objects_in_files([str(examples / "vpn-seed-server.yaml")])
    click.echo("A small Gardener seed cluster, in memory: nothing outside this process is read or changed.")
    _tell("0. The landscape settles", _settling(cluster, controller))
    for number, scene in enumerate(_scenes(newcomer.manifest), start=1):
        _tell(f"{number}. {scene.headline}", _played(scene, cluster, controller))
    here = Path.cwd()
    as_typed = shlex.quote(str(examples.relative_to(here) if examples.is_relative_to(here) else examples))
    _tell("Try next", _invitations(as_typed))


def _tell(headline: str, paragraphs: Iterable[str]) -> None:
    click.echo("\n" + click.style(headline, bold=True))
    click.echo("\n\n".join(paragraphs))


def _settling(cluster: InMemoryCluster, controller: Controller[Any]) -> Iterator[str]:
    settlement = settle(cluster, [controller])
    yield _paragraph(
        f"The controller meets {len(cluster.objects(SERVICES))} Services in {len(cluster.objects(NAMESPACES))} "
        f"namespaces and creates {len(settlement.steps)} NetworkPolicies. Some of the Services, and the rules "
        "that ask for their policies:"
    )
    rows = []
    for key in TELLING_SERVICES:
        counts = Counter(step.action.reason for step in settlement.steps if step.key == key)
        rules = ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
        if not rules:
            service, namespaces = cluster.get(SERVICES, key) or {}, cluster.objects(NAMESPACES)
            desired = desired_network_policies(service, namespaces, (), controller.config)
            rules = f"none: {desired.unwrap().none_because}"
        rows.append((key, counts.total(), rules))
    yield _table(("SERVICE", "POLICIES", "RULES"), rows)
    yield from _problems(settlement)


def _played(scene: Scene, cluster: InMemoryCluster, controller: Controller[Any]) -> Iterator[str]:
    yield _paragraph(scene.story)
    before = _policies(cluster)
    if change := _happened(scene, cluster):
        yield change
    settlement = settle(cluster, [controller])
    if settlement.steps:
        rows = ((styled_verb(step.action), *step.action.key, step.action.reason) for step in settlement.steps)
        yield _table(("ACTION", "NAMESPACE", "NAME", "REASON"), rows)
    yield from _problems(settlement)
    after = _policies(cluster)
    same = sum(after.get(key) == policy for key, policy in before.items())
    others = "All" if same == len(before) == len(after) else "The other"
    yield _paragraph(f"{scene.outcome} {others} {same} policies are as they were.")


def _happened(scene: Scene, cluster: InMemoryCluster) -> str:
    """The change that a scene makes, carried out, as a diff of the object; empty where the object goes."""
    before = cluster.get(scene.resource, scene.key)
    response = cluster.handle(scene.request)
    if not response.is_success:
        raise CommandError(f"the sample landscape does not allow it: {response.body['message']}")
    # A new object is shown as its author wrote it, without what the server adds.
    after = cluster.get(scene.resource, scene.key) if before else scene.request.body
    return textwrap.indent("".join(changed_lines(before, after)).rstrip("\n"), MARGIN) if after else ""


def _problems(settlement: Settlement) -> Iterator[str]:
    for problem in settlement.problems():
        yield click.style(_paragraph(f"error: {problem}"), fg="red")


def _policies(cluster: InMemoryCluster) -> dict[ObjectKey, Manifest]:
    return {key_of(policy): without_server_fields(policy) for policy in cluster.objects(NETWORK_POLICIES)}


def _table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    return textwrap.indent(tabulate(list(rows), headers, tablefmt="plain"), MARGIN)


def _paragraph(text: str) -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=MARGIN, subsequent_indent=MARGIN, break_long_words=False, break_on_hyphens=False
    )


def _invitations(examples: str) -> Iterator[str]:
    for purpose, *commands in (
        ("Plan the same landscape from its files:", f"hedgerow plan networkpolicy -f {examples}/landscape -o table"),
        (
            "See what one more Service changes, as in the first step, without a cluster:",
            f"hedgerow simulate networkpolicy -f {examples}/landscape --all > settled.yaml",
            f"hedgerow plan networkpolicy -f settled.yaml -f {examples}/vpn-seed-server.yaml",
        ),
        (
            "Ask what would change in a cluster of yours, which is only read:",
            "hedgerow plan networkpolicy --kubeconfig FILE",
        ),
    ):
        yield "\n".join((_paragraph(purpose), *(f"{MARGIN}  {command}" for command in commands)))
