"""`hedgerow review`: what webhooks would decide about objects, before any is asked."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final

import click

from hedgerow.admission.request import CREATE, DELETE, UPDATE
from hedgerow.admission.resources import NAMESPACES
from hedgerow.machinery.objects import key_of
from hedgerow_adapters.files import LoadedObject, LoadProblem, Source
from hedgerow_adapters.files.loaded import STANDARD_INPUT
from hedgerow_adapters.files.scopes import DEFAULT_NAMESPACE
from hedgerow_adapters.protocol.transport import Transport
from hedgerow_entrypoints.controllers import offline_configuration
from hedgerow_entrypoints.errors import CommandError, note
from hedgerow_entrypoints.review.course import Panel
from hedgerow_entrypoints.review.facts import Facts
from hedgerow_entrypoints.review.panels import MODES, NAMES, SERVICE_HOST, asked_for, named_panel, whole_panel
from hedgerow_entrypoints.review.requests import Candidate, candidates, deleted_members, is_review, sent_objects
from hedgerow_entrypoints.review.session import Session, reviewed_by
from hedgerow_entrypoints.review.showing import FORMATS
from hedgerow_entrypoints.worlds import assumed_namespaces, connected

CHANGED: Final = 2
DENIED: Final = 3
HELP: Final = """\
Show what webhooks would decide about the objects in files, and which rule changes what.

\b
WEBHOOK is one or more of:
  crd-deletion-protection          denies deletions that nobody has confirmed
  endpoint-slice-hints             keeps traffic in its zone
  extension-validation             denies extension resources that are not valid
  high-availability-config         sets replicas, zones, spreading, tolerations
  kubernetes-service-host          tells pods where the API server is
  pod-scheduler-name               names the scheduler of pods that name none
  pod-topology-spread-constraints  spreads each generation of pods by itself
  projected-token-mount            mounts tokens that expire
  seccomp-profile                  gives pods the runtime's default profile
  system-components-config         lets system components run on their nodes
  token-invalidator                makes labelled tokens void

It is asked about every object that it is for, even where labels would keep an API server from asking; that is said.

The files hold objects, or AdmissionReviews as an API server sends them. Other objects beside them, such as Namespaces,
autoscalers, ServiceAccounts and Nodes, are what the webhooks look up.

Exit code 0: allowed as they are; 2: changed; 3: denied, whatever else is changed; 1: an error.
"""
EXAMPLES: Final = """\b
Examples:
  hedgerow review high-availability-config -f examples/admission
  hedgerow review --all -f deployment.yaml --namespace-object namespace.yaml -o table
  hedgerow review extension-validation -f new.yaml --old old.yaml
  hedgerow review crd-deletion-protection -f infrastructure.yaml --operation DELETE
  hedgerow review projected-token-mount -f pod.yaml --context seed
  hedgerow review --all -f recorded-reviews/ --config resource-manager.yaml"""


@click.command(name="review", help=HELP, epilog=EXAMPLES)
@click.argument("webhooks", nargs=-1, type=click.Choice(NAMES), metavar="[WEBHOOK]...")
@click.option("--all", "everything", is_flag=True, help="Ask every webhook that an API server would, in its order.")
@click.option(
    "-f",
    "--filename",
    "paths",
    multiple=True,
    required=True,
    metavar="PATH",
    help="File, folder, or - for standard input; repeatable.",
)
@click.option(
    "--operation",
    type=click.Choice((CREATE, UPDATE, DELETE)),
    help="What happens to the objects; without --old, an update changes nothing yet.  [default: CREATE, or UPDATE "
    "with --old]",
)
@click.option("--old", "old_paths", multiple=True, metavar="PATH", help="The objects as they were; repeatable.")
@click.option(
    "--namespace-object",
    metavar="FILE",
    help="A Namespace, also for the objects that name none; others may stand among the files.",
)
@click.option("--kubeconfig", metavar="FILE", help="Look up there what the files do not hold; it is only read.")
@click.option("--context", metavar="NAME", help="Context of the kubeconfig; alone: of $KUBECONFIG or ~/.kube/config.")
@click.option("--config", "config_file", metavar="FILE", help="Component configuration: what the webhooks go by.")
@click.option("--host", metavar="NAME", help="The API server's name, for kubernetes-service-host.")
@click.option(
    "--mode",
    type=click.Choice(MODES),
    help="How webhooks are registered: in the cluster that they run in, or in another one.  [default: runtime]",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(list(FORMATS)),
    default="diff",
    show_default=True,
    help="How to show the decisions.",
)
def command(
    webhooks: tuple[str, ...],
    paths: tuple[str, ...],
    old_paths: tuple[str, ...],
    *,
    everything: bool,
    operation: str | None,
    namespace_object: str | None,
    kubeconfig: str | None,
    context: str | None,
    config_file: str | None,
    host: str | None,
    mode: str | None,
    output: str,
) -> None:
    """Review what the arguments say, as `HELP` explains."""
    _check_usage(webhooks, (*paths, *old_paths, namespace_object or ""), everything=everything, host=host)
    if old_paths and operation not in {None, UPDATE}:
        raise click.UsageError(f"--old is for updates, and --operation says {operation}")
    configuration = offline_configuration(config_file)
    configured = configuration.admission if configuration else None
    panel = whole_panel(configured, host, mode) if everything else named_panel(webhooks, configured, host, mode)
    namespaces = _namespace(namespace_object)
    home = key_of(namespaces[0].manifest).name if namespaces else DEFAULT_NAMESPACE
    objects = sent_objects(paths, home)
    requested = candidates(objects, operation, sent_objects(old_paths, home) if old_paths else ())
    if operation:
        _check_operation(objects, requested)
    concerned = [each for each in requested if panel.concerns(each.request)]
    if not concerned:
        note("; ".join(("nothing to review", *(asked_for(panel) or ["the configuration enables no webhook"]))))
        return
    if everything and configured is None and not host and any(each.request.kind.kind == "Pod" for each in concerned):
        note(f"note: without --host, {SERVICE_HOST} is left out")
    held = [*deleted_members(concerned), *(each for each in objects if not is_review(each.manifest)), *namespaces]
    session = asyncio.run(_session(panel, concerned, held, _cluster(kubeconfig, context), everything=everything))
    click.echo(FORMATS[output](session.reviews), nl=False)
    for remark in session.remarks:
        note(f"note: {remark}")
    note(session.summary)
    if session.verdicts["denied"]:
        sys.exit(DENIED)
    if session.verdicts["changed"]:
        sys.exit(CHANGED)


def _check_usage(webhooks: Sequence[str], paths: Sequence[str], *, everything: bool, host: str | None) -> None:
    if everything is bool(webhooks):
        raise click.UsageError("name the webhooks to ask, or ask --all of them")
    if host is not None and not everything and SERVICE_HOST not in webhooks:
        raise click.UsageError(f"--host is for {SERVICE_HOST}, which is not asked")
    if paths.count(STANDARD_INPUT) > 1:
        raise click.UsageError("standard input can be read only once")


def _check_operation(objects: Sequence[LoadedObject], requested: Sequence[Candidate]) -> None:
    recorded = sum(is_review(each.manifest) for each in objects)
    if recorded and recorded == len(requested):
        raise click.UsageError(
            "--operation is for objects, and there are only AdmissionReviews, which say themselves what they ask"
        )
    if recorded:
        note("note: --operation does not count for AdmissionReviews, which say themselves what they ask")


def _namespace(path: str | None) -> Sequence[LoadedObject]:
    """The one Namespace in a file; none without a file.

    Raises:
        CommandError: there is none in it, or something else.
    """
    if path is None:
        return ()
    found = sent_objects([path])
    problems = [
        LoadProblem(each.source, f"must be a Namespace, is a {each.manifest['kind']}")
        for each in found
        if not _is_namespace(each)
    ]
    if not problems and len(found) != 1:
        what = f"must hold one Namespace, holds {len(found)}; several may stand among the files (-f)"
        problems = [LoadProblem(Source(path), what)]
    if problems:
        raise CommandError.of(problems)
    return found


def _is_namespace(each: LoadedObject) -> bool:
    return (each.manifest["apiVersion"], each.manifest["kind"]) == (NAMESPACES.api_version, NAMESPACES.kind)


def _cluster(kubeconfig: str | None, context: str | None) -> AbstractAsyncContextManager[Transport | None]:
    if kubeconfig is None and context is None:
        return nullcontext()
    return connected(kubeconfig, context)


async def _session(
    panel: Panel,
    requests: Sequence[Candidate],
    held: Sequence[LoadedObject],
    cluster: AbstractAsyncContextManager[Transport | None],
    *,
    everything: bool,
) -> Session:
    inhabited = sorted({each.request.namespace for each in requests} - {""})
    async with cluster as transport:
        if transport is None:
            # A Namespace that stands in no file exists as well: without it the objects could not.
            residents = [
                LoadedObject({"metadata": {"namespace": each.request.namespace}}, each.source) for each in requests
            ]
            held = [*held, *assumed_namespaces([*filter(_is_namespace, held), *residents])]
        return await reviewed_by(panel, requests, Facts(held, transport, inhabited), everything=everything)
