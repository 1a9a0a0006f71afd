"""`hedgerow review`: what webhooks would decide about objects, before any is asked."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Final

import click

from hedgerow.admission.registration import Mode
from hedgerow.admission.request import CREATE, DELETE, UPDATE
from hedgerow.machinery.objects import Kind, key_of
from hedgerow_adapters.files.scopes import DEFAULT_NAMESPACE
from hedgerow_adapters.files.sources import STANDARD_INPUT, LoadedObject
from hedgerow_adapters.protocol.transport import Transport
from hedgerow_entrypoints.cli.controllers import offline_settings
from hedgerow_entrypoints.cli.options import config_file, filenames, live_cluster, output_format
from hedgerow_entrypoints.cli.review import panels, requests
from hedgerow_entrypoints.cli.review.course import Session, reviewed_by, unregistered
from hedgerow_entrypoints.cli.review.facts import ReviewFacts
from hedgerow_entrypoints.cli.review.panels import MODES, PURPOSES, SERVICE_HOST, Panel
from hedgerow_entrypoints.cli.review.requests import Candidate, is_review
from hedgerow_entrypoints.cli.review.showing import FORMATS
from hedgerow_entrypoints.cli.worlds import connected
from hedgerow_entrypoints.errors import note

CHANGED: Final = "changed"
DENIED: Final = "denied"
EXIT_CODES: Final = {CHANGED: 2, DENIED: 3}
_WIDEST: Final = max(map(len, PURPOSES))
_LISTED: Final = "\n".join(f"  {name:{_WIDEST}}  {purpose}" for name, purpose in PURPOSES.items())
HELP: Final = f"""\
Show what webhooks would decide about the objects in files, and which rule changes what.

\b
WEBHOOK is one or more of:
{_LISTED}

It is asked about every object that it is for, even where labels would keep an API server from asking; that is said.

The files hold objects, or AdmissionReviews as an API server sends them. Other objects beside them, such as Namespaces,
autoscalers, ServiceAccounts, Nodes, Clusters and Secrets, are what the webhooks look up.

Exit code 0: allowed as they are; 2: changed; 3: denied, whatever else is changed; 1: an error. With --fail-on denied,
changes end with 0 as well.
"""
EXAMPLES: Final = """\b
Examples:
  hedgerow review high-availability-config -f examples/admission
  hedgerow review --all -f deployment.yaml --namespace-object namespace.yaml -o table
  hedgerow review extension-validation -f new.yaml --old old.yaml
  hedgerow review crd-deletion-protection -f infrastructure.yaml --operation DELETE
  hedgerow review projected-token-mount -f pod.yaml --context seed
  hedgerow review operating-system-config -f examples/rsyslog-relp/review
  hedgerow review --all -f recorded-reviews/ --config resource-manager.yaml --fail-on denied"""


class _Operation(click.Choice[str]):
    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(value.upper(), param, ctx)


def _only_one(_context: click.Context, _option: click.Parameter, given: Sequence[str]) -> str | None:
    if len(given) > 1:
        raise click.BadParameter("can be given once; more Namespaces may stand among the files (-f)")
    return given[0] if given else None


@click.command(name="review", help=HELP, epilog=EXAMPLES)
@click.argument("webhooks", nargs=-1, type=click.Choice((*PURPOSES,)), metavar="[WEBHOOK]...")
@click.option("--all", "everything", is_flag=True, help="Ask every webhook that an API server would, in its order.")
@filenames(required=True)
@click.option(
    "--operation",
    type=_Operation((CREATE, UPDATE, DELETE)),
    help="What happens to the objects; without --old, an update changes nothing yet.  [default: CREATE, or UPDATE "
    "with --old]",
)
@click.option("--old", "old_paths", multiple=True, metavar="PATH", help="The objects as they were; repeatable.")
@click.option(
    "--namespace-object",
    multiple=True,
    callback=_only_one,
    metavar="FILE",
    help="A Namespace, also for the objects that name none; others may stand among the files.",
)
@live_cluster("Look up there what the files do not hold")
@config_file("Component configuration: what the webhooks go by.")
@click.option("--host", metavar="NAME", help="The API server's name, for kubernetes-service-host.")
@click.option(
    "--mode",
    type=click.Choice(MODES),
    help="How webhooks are registered: in the cluster that they run in, or in another one.  [default: runtime]",
)
@click.option(
    "--fail-on",
    type=click.Choice((CHANGED, DENIED)),
    default=CHANGED,
    show_default=True,
    help="The mildest decision that counts: with denied, changes end with exit code 0.",
)
@output_format(FORMATS, "How to show the decisions.")
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
    fail_on: str,
    output: str,
) -> None:
    """Review what the arguments say, as `HELP` explains."""
    _check_usage(webhooks, (*paths, *old_paths, namespace_object), everything=everything, host=host)
    if old_paths and operation not in {None, UPDATE}:
        raise click.UsageError(f"--old is for updates, and --operation says {operation}")
    configured = offline_settings(config_file) if config_file is not None else None
    chosen = panels.whole_panel if everything else partial(panels.named_panel, webhooks)
    whole = chosen(configured, host, mode)
    namespaces = requests.given_namespace(namespace_object)
    home = key_of(namespaces[0].manifest).name if namespaces else DEFAULT_NAMESPACE
    objects = requests.sent_objects(paths, home)
    requested = _requested(objects, operation, requests.sent_objects(old_paths, home) if old_paths else ())
    is_offline = kubeconfig is None and context is None
    panel = _decidable(whole, objects, requested) if everything and is_offline else whole
    for name in panels.not_enabled(webhooks, configured) if configured else ():
        note(f"note: {config_file}: {name} is not enabled; it is asked all the same")
    for name in whole.left_out() if configured and everything and not mode else ():
        note(f"note: {config_file}: {name} is enabled, but not registered in mode {Mode.RUNTIME}; see --mode")
    concerned = [each for each in requested if panel.concerns(each.request)]
    if everything and whole.registrations.entries:
        for remark in unregistered(requested, whole, configured, Mode(mode or Mode.RUNTIME)):
            note(f"note: {remark}")
    if not concerned:
        click.echo(FORMATS[output](()), nl=False)
        note("; ".join(("nothing to review", *_reasons(panel, requested, everything=everything))))
        return
    requests.warn_of_unused(namespaces, {each.request.namespace for each in concerned})
    if everything and configured is None and not host and any(each.request.kind.kind == "Pod" for each in concerned):
        note(f"note: without --host, {SERVICE_HOST} is left out")
    held = [*requests.deleted_members(concerned), *(each for each in objects if not is_review(each.manifest))]
    held += namespaces
    cluster = nullcontext() if is_offline else connected(kubeconfig, context)
    session = asyncio.run(_session(panel, concerned, held, cluster, everything=everything))
    click.echo(FORMATS[output](session.reviews), nl=False)
    for remark in session.remarks:
        note(f"note: {remark}")
    note(session.summary)
    counting = (DENIED, CHANGED) if fail_on == CHANGED else (DENIED,)
    sys.exit(next((EXIT_CODES[each] for each in counting if session.verdicts[each]), 0))


def _check_usage(webhooks: Sequence[str], paths: Sequence[str | None], *, everything: bool, host: str | None) -> None:
    if everything and webhooks:
        raise click.UsageError(f"--all asks every webhook: leave out {', '.join(webhooks)}, or --all")
    if not everything and not webhooks:
        raise click.UsageError("name the webhooks to ask, or ask --all of them")
    if host is not None and not everything and SERVICE_HOST not in webhooks:
        raise click.UsageError(f"--host is for {SERVICE_HOST}, which is not asked")
    if paths.count(STANDARD_INPUT) > 1:
        raise click.UsageError("standard input can be read only once")


def _requested(objects: Sequence[LoadedObject], operation: str | None, old: Sequence[LoadedObject]) -> list[Candidate]:
    """The requests to review; what is said beside them does not count for those that say everything themselves."""
    recorded = sum(is_review(each.manifest) for each in objects)
    if recorded and old:
        note("warning: --old does not count for AdmissionReviews, which hold the older objects themselves")
    requested = requests.candidates(objects, operation, old)
    if recorded and operation and recorded == len(requested):
        raise click.UsageError(
            "--operation is for objects, and there are only AdmissionReviews, which say themselves what they ask"
        )
    if recorded and operation:
        note("note: --operation does not count for AdmissionReviews, which say themselves what they ask")
    return requested


def _decidable(panel: Panel, objects: Sequence[LoadedObject], requested: Sequence[Candidate]) -> Panel:
    """The webhooks without those that deny everything where files hold nothing that they decide from."""
    held = {Kind.of(each.manifest) for each in objects}
    left_out = {name: each for name, each in panels.DECIDED_FROM.items() if each.object_kind not in held}
    for name, resource in left_out.items():
        if any(panel.of((name,)).concerns(each.request) for each in requested):
            note(f"note: no file holds a {resource.kind}: {name} is left out")
    return panel.of(PURPOSES.keys() - left_out)


def _reasons(panel: Panel, requested: Sequence[Candidate], *, everything: bool) -> list[str]:
    if not panel.registrations.entries:
        of_mode = " that is registered in this mode" if panel.webhooks else ""
        return [f"the configuration enables no webhook{of_mode}"]
    if not everything:
        return [*panel.purposes()]
    return [] if requested else ["the files hold nothing that webhooks are for"]


async def _session(
    panel: Panel,
    candidates: Sequence[Candidate],
    held: Sequence[LoadedObject],
    cluster: AbstractAsyncContextManager[Transport | None],
    *,
    everything: bool,
) -> Session:
    inhabited = sorted({each.request.namespace for each in candidates} - {""})
    async with cluster as transport:
        if transport is None:
            held = [*held, *requests.missing_namespaces(held, candidates)]
        return await reviewed_by(panel, candidates, ReviewFacts(held, transport, inhabited), everything=everything)
