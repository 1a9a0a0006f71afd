"""`hedgerow install`: what has to be in a cluster for a component to run there."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final, get_args

import click
from returns.result import Failure

from hedgerow.admission.registration import MUTATING, VALIDATING
from hedgerow.extensions.controller_registration import (
    PRIORITY_CLASS,
    DeploymentVersion,
    controller_registration,
)
from hedgerow.installation.certificates import idle_values
from hedgerow.installation.completion import completion, filled
from hedgerow.installation.manifests import definitions, manifests
from hedgerow.installation.values import Rendered, Values, unknown_switches
from hedgerow.installation.workload import Installed
from hedgerow.machinery.configuration.process import Provision
from hedgerow.machinery.configuration.section import Purpose
from hedgerow.machinery.documents.yaml_texts import sorted_yaml
from hedgerow.version import __version__
from hedgerow_adapters.charts.packing import packed
from hedgerow_entrypoints.cli.options import OBJECT_FORMATS, Option, home_namespace, object_format
from hedgerow_entrypoints.cli.stated_values import combined, complete_values, stated_values
from hedgerow_entrypoints.components import INSTALLABLE, component
from hedgerow_entrypoints.components.registry import Component
from hedgerow_entrypoints.errors import CommandError, note

EXAMPLES: Final = """\b
Examples:
  hedgerow install resource-manager -n garden -f values.yaml --include-crds | kubectl apply -f -
  hedgerow install resource-manager -n garden -f values.yaml | kubectl delete -f -
  hedgerow install resource-manager -n shoot--a--b -f values.yaml --part target
  hedgerow install rsyslog-relp --as controller-registration | kubectl apply -f -"""


_FILES: Final = click.option(
    "-f", "--values", "files", multiple=True, metavar="FILE", help="Values of the chart; repeatable."
)
_SETTINGS: Final = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A single value, such as replicas=3; repeatable."
)
_NAMESPACE: Final = home_namespace("-n", "--namespace", purpose="Where it runs.")
_PART: Final = click.option(
    "--part",
    type=click.Choice(get_args(Rendered)),
    help="For the cluster where it runs (source), for a separate target cluster, or both; or a step of that: the "
    "process, its access to a separate target, the registrations of webhooks.  [default: source]",
)
_INCLUDE_CRDS: Final = click.option(
    "--include-crds",
    "includes_definitions",
    is_flag=True,
    help="Print the definitions of its resources, too, as helm template does. Never delete what this prints: with a "
    "definition, all objects of the kind are deleted.",
)
_MANIFESTS: Final = "manifests"
_FORMS: Final = {
    "controller-registration": DeploymentVersion.V1BETA1,
    "controller-registration-v1": DeploymentVersion.V1,
}
_AS: Final = click.option(
    "--as",
    "form",
    type=click.Choice([_MANIFESTS, *_FORMS]),
    default=_MANIFESTS,
    show_default=True,
    help="The manifests for one cluster; or a ControllerRegistration, and a ControllerDeployment with the chart in it, "
    "by which Gardener installs it. There --namespace does not matter.",
)
IN_FILES: Final = {"config": {"server": {"webhooks": {"tls": {"provision": Provision.FILES.value}}}}}
_PACKAGE: Final = Path(__file__).parents[1]


class Components(click.Group):
    """A group with a subcommand for each component that can be installed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """Their names."""
        return [*INSTALLABLE]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- as above
        """The subcommand of a component."""
        return _command(component(cmd_name)) if cmd_name in INSTALLABLE else None


@click.group(name="install", cls=Components, epilog=EXAMPLES)
def command() -> None:
    """Print the manifests of an installation, the same as the Helm chart renders."""


def declared_installation(of: Component[Any]) -> type[Installed]:
    """What a component declares of its installation."""
    assert of.installation is not None  # noqa: S101 -- only components that can be installed have a subcommand
    return of.installation()


def installation(of: Component[Any], values: Values, namespace: str) -> Installed:
    """An installation of a component, with a note of what is odd in its component configuration."""
    declared = declared_installation(of)
    document = filled(values.config, completion(declared, namespace, declared.named(values)))
    if of.document and (unknown := [*unknown_switches(of.document, values.config)]):
        raise CommandError.of(f"config: {problem}" for problem in unknown)
    decoded = of.decoded(document, Purpose.RUN)
    for warning in decoded.failure().warnings if isinstance(decoded, Failure) else decoded.unwrap().warnings:
        note(f"warning: config: {warning}")
    if isinstance(decoded, Failure):
        raise CommandError.of(f"config: {error}" for error in decoded.failure().errors)
    configuration = decoded.unwrap().configuration
    settings = of.settings(configuration)
    return declared(
        values=values,
        namespace=namespace,
        version=__version__,
        document=document,
        configuration=configuration,
        source=settings.source,
        separate_target=settings.target,
        server=settings.server,
        leader_election=settings.leader_election,
        # The id of a cluster is found out when the process starts; nothing that is read or written depends on it.
        controllers=tuple(of.declared(configuration, cluster_id="")),
        webhooks=tuple(of.webhooks(configuration)),
    )


def _command(of: Component[Any]) -> click.Command:
    """The subcommand that installs a component."""
    declared = declared_installation(of)

    def run(files: Sequence[str], settings: Sequence[str], *, namespace: str, output: str, **options: Any) -> None:
        form, includes_definitions = options.pop("form", _MANIFESTS), options.pop("includes_definitions", False)
        stated = stated_values(files, settings, **options)
        if form != _MANIFESTS:
            stated.setdefault("priorityClassName", PRIORITY_CLASS)
            # Gardener would take away what the process fills in, whenever it looks at the objects of an installation.
            stated = combined(IN_FILES, stated)
        wanted = installation(of, complete_values(declared.values_type, stated), namespace)
        made = manifests(wanted, sorted_yaml(wanted.document))
        if isinstance(made, Failure):
            raise CommandError(*made.failure())
        objects = (*(definitions(wanted) if includes_definitions else ()), *made.unwrap())
        for idle in idle_values(wanted):
            note(f"warning: {idle}")
        for caution in _cautions(wanted, {each["kind"] for each in objects}, applied=form == _MANIFESTS):
            note(caution)
        if form != _MANIFESTS:
            chart = packed(charts_folder() / declared.component)
            objects = controller_registration(declared.extension_type, chart, stated, _FORMS[form])
        click.echo(OBJECT_FORMATS[output](objects), nl=False)

    run.__doc__ = f"""Print the manifests of {of.name}: roles, pods, registrations of webhooks.

    Which roles and which webhooks there are follows from the component configuration, the value `config`.

    The namespace itself is not among them.
    """
    options: list[Option] = [_FILES, _SETTINGS, _NAMESPACE, _PART]
    if declared.definitions:
        options.append(_INCLUDE_CRDS)
    if declared.extension_type:
        options.append(_AS)
    decorated: Callable[..., Any] = run
    for option in (object_format(), *reversed(options)):
        decorated = option(decorated)
    return click.command(name=of.name, short_help=f"Print what {of.name} needs.")(decorated)


def _cautions(wanted: Installed, kinds: AbstractSet[str], *, applied: bool) -> Iterator[str]:
    """How printed registrations may block what API servers ask webhooks about; none: the process fills them in.

    Args:
        wanted: the installation.
        kinds: what is printed.
        applied: whether it is applied as it is printed.
    """
    if wanted.provision in {None, Provision.SELF} or kinds.isdisjoint({MUTATING, VALIDATING}):
        return
    if wanted.provision is Provision.FILES and not (wanted.serving and wanted.serving.ca_bundle):
        yield (
            "warning: webhooks.caBundle is empty: API servers refuse what they ask webhooks about, "
            "unless they trust the serving certificate by the roots of their own system"
        )
    if applied and (others := kinds - {MUTATING, VALIDATING}):
        yield (
            "note: API servers refuse what they ask webhooks about until the process is ready: --part registrations "
            f"prints the registrations alone, --part {'process' if 'Deployment' in others else 'access'} the rest"
        )


def charts_folder() -> Path:
    """Where the charts are: inside the installed package, or at the top of a checkout."""
    installed = _PACKAGE / "charts"
    return installed if installed.is_dir() else _PACKAGE.parents[1] / "deploy" / "charts"
