"""`hedgerow demo`: a sample landscape in memory, step by step.

Tells what happens and what the controller does about it. What the landscape is and what happens to it stands in
`landscape`.
"""

import shlex
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click
from tabulate import tabulate

from hedgerow.api.kubernetes import NAMESPACES, NETWORK_POLICIES, SERVICES
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.resource_manager.network_policies import desired_network_policies
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.simulation import Settlement, settle
from hedgerow_entrypoints.cli.controllers import ask_files, chosen_controllers, controller_settings
from hedgerow_entrypoints.cli.landscape import TELLING_SERVICES, Scene, examples_folder, scenes
from hedgerow_entrypoints.cli.rendering import changed_lines, styled_verb, without_server_fields
from hedgerow_entrypoints.cli.worlds import clusters_of, objects_in_files
from hedgerow_entrypoints.errors import CommandError

CONTROLLER: Final = "networkpolicy"
MARGIN: Final = "   "
WIDTH: Final = 80


@click.command(name="demo")
def command() -> None:
    """Show, step by step, what the networkpolicy controller does in a sample landscape.

    The landscape is a small Gardener seed cluster. It runs in memory: no cluster is contacted, no file is written, and
    every run prints the same. The files that it is made of are there to be copied; the last lines say where they are.
    """
    examples = examples_folder()
    settings = controller_settings(str(examples / "resource-manager.yaml"))
    ((controller, _),) = chosen_controllers([CONTROLLER], settings, ask_files(()))
    (cluster,) = clusters_of(objects_in_files([str(examples / "landscape")]), [[controller]])
    (newcomer,) = objects_in_files([str(examples / "vpn-seed-server.yaml")])
    click.echo("A small Gardener seed cluster, in memory: nothing outside this process is read or changed.")
    _tell("0. The landscape settles", _settling(cluster, controller))
    for number, scene in enumerate(scenes(newcomer.manifest), start=1):
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
    reasons = {
        key: Counter(step.action.reason for step in settlement.steps if step.key == key) for key in TELLING_SERVICES
    }
    rows = []
    for key, counts in reasons.items():
        rules = ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
        rows.append((key, counts.total(), rules or f"none: {_none_because(key, cluster, controller)}"))
    yield _table(("SERVICE", "POLICIES", "RULES"), rows)
    yield from _problems(settlement)


def _none_because(key: ObjectKey, cluster: InMemoryCluster, controller: Controller[Any]) -> str:
    """The rule by which a Service gets no policy at all."""
    service = cluster.get(SERVICES, key) or {}
    desired = desired_network_policies(service, cluster.objects(NAMESPACES), (), controller.config)
    return desired.unwrap().none_because


def _played(scene: Scene, cluster: InMemoryCluster, controller: Controller[Any]) -> Iterator[str]:
    """What happens, what it changes by itself, what the controller does, and what comes of it."""
    yield _paragraph(scene.story)
    policies = _policies(cluster)
    if change := _happened(scene, cluster):
        yield change
    settlement = settle(cluster, [controller])
    if settlement.steps:
        rows = ((styled_verb(step.action), *step.action.key, step.action.reason) for step in settlement.steps)
        yield _table(("ACTION", "NAMESPACE", "NAME", "REASON"), rows)
    yield from _problems(settlement)
    yield _paragraph(f"{scene.outcome} {_untouched(policies, _policies(cluster))}")


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


def _untouched(before: dict[ObjectKey, Manifest], after: dict[ObjectKey, Manifest]) -> str:
    same = sum(after.get(key) == policy for key, policy in before.items())
    return f"{'All' if same == len(before) == len(after) else 'The other'} {same} policies are as they were."


def _table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    return textwrap.indent(tabulate(list(rows), headers, tablefmt="plain"), MARGIN)


def _paragraph(text: str) -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=MARGIN, subsequent_indent=MARGIN, break_long_words=False, break_on_hyphens=False
    )


def _invitations(examples: str) -> Iterator[str]:
    for purpose, commands in (
        (
            "Plan the same landscape from its files:",
            (f"hedgerow plan networkpolicy -f {examples}/landscape -o table",),
        ),
        (
            "See what one more Service changes, as in the first step, without a cluster:",
            (
                f"hedgerow simulate networkpolicy -f {examples}/landscape --all > settled.yaml",
                f"hedgerow plan networkpolicy -f settled.yaml -f {examples}/vpn-seed-server.yaml",
            ),
        ),
        (
            "Ask what would change in a cluster of yours, which is only read:",
            ("hedgerow plan networkpolicy --kubeconfig FILE",),
        ),
    ):
        yield "\n".join((_paragraph(purpose), *(f"{MARGIN}  {command}" for command in commands)))
