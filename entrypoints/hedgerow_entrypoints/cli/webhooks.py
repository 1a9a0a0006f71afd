"""`hedgerow webhooks`: what makes API servers call the webhooks: registration objects, and certificates for trials."""

import contextlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import click
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from returns.result import Failure

from hedgerow.admission import certificates
from hedgerow.admission.blocking import OF_ANY_CLUSTER, OF_OWN_CLUSTER, blocking_webhooks, pods_of
from hedgerow.admission.catalog import webhooks
from hedgerow.admission.config import AdmissionConfig
from hedgerow.admission.registration import (
    Mode,
    WebhookServer,
    build_webhook_configurations,
    registered_webhooks,
    service_name,
)
from hedgerow.machinery.names import dns_label_problem
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.clock import utc_now
from hedgerow_adapters.registrations.registered import parse_registrations, url_client
from hedgerow_entrypoints.cli.controllers import offline_settings
from hedgerow_entrypoints.cli.options import OBJECT_FORMATS, config_file, home_namespace, object_format
from hedgerow_entrypoints.errors import CommandError, note

_PUBLIC_EXPONENT: Final = 65537
_TOLERATED_CLOCK_SKEW: Final = timedelta(minutes=5)
EXAMPLES: Final = """\b
Examples:
  hedgerow webhooks certificate --out certificates
  hedgerow webhooks render --config resource-manager.yaml --mode standalone --ca-bundle certificates/ca.crt
  hedgerow webhooks certificate --out certificates --service hedgerow-controller-manager
  hedgerow webhooks certificate --out certificates --host 127.0.0.1
  hedgerow webhooks render --config trial.yaml --mode standalone --url https://127.0.0.1:9449"""


def _service_prefix(_context: click.Context, _option: click.Parameter, prefix: str) -> str:
    if problem := dns_label_problem(service_name(prefix)):
        raise click.BadParameter(f"{service_name(prefix)!r} cannot be the name of a Service: {problem}")
    return prefix


def _service(_context: click.Context, _option: click.Parameter, service: str) -> str:
    if service and (problem := dns_label_problem(service)):
        raise click.BadParameter(f"{service!r} cannot be the name of a Service: {problem}")
    return service


def _base_url(_context: click.Context, _option: click.Parameter, url: str) -> str:
    base = url.removesuffix("/")
    client = url_client(base)
    if base and (client is None or client.path):
        raise click.BadParameter(f"{url!r} must be https://HOST or https://HOST:PORT, without a path")
    return base


def _hosts(_context: click.Context, _option: click.Parameter, hosts: Sequence[str]) -> Sequence[str]:
    for host in hosts:
        if problem := certificates.host_problem(host):
            raise click.BadParameter(f"{host!r} {problem}")
    return hosts


NAME_PREFIX: Final = click.option(
    "--name-prefix",
    default="",
    metavar="PREFIX",
    callback=_service_prefix,
    help="What stands before gardener-resource-manager in names; none by default.",
)
NAMESPACE: Final = home_namespace("--namespace", purpose="Where the process runs.")
OF_MODE: Final = (
    "For the cluster of the resource manager (runtime: a garden's or seed; standalone: no Gardener), or another; "
    "required for the resource manager, and for nothing else."
)
OF_CA_BUNDLE: Final = "Certificates that may have signed the server's; by default those that API servers trust anyway."
OF_URL: Final = "Where the server is reached, such as https://127.0.0.1:9449; by default at its Service."
OF_SERVICE: Final = "Name of the Service of another component, such as hedgerow-controller-manager."
OF_HOSTS: Final = "Where else than at its Service the server is reached; repeatable."


@click.group(name="webhooks", epilog=EXAMPLES)
def command() -> None:
    """Print registration objects of webhooks, and make certificates for trials."""


@command.command(short_help="Print the registration objects.")
@config_file("Component configuration.", required=True)
@click.option("--mode", type=click.Choice([mode.value for mode in Mode]), help=OF_MODE)
@NAME_PREFIX
@NAMESPACE
@click.option("--ca-bundle", "ca_bundle_file", metavar="FILE", help=OF_CA_BUNDLE)
@click.option("--url", default="", metavar="URL", callback=_base_url, help=OF_URL)
@object_format()
def render(
    config_file: str, mode: str | None, name_prefix: str, namespace: str, *, ca_bundle_file: str | None, **options: str
) -> None:
    """Print the registration objects of all webhooks that a configuration enables.

    Nothing that is not enabled is registered: an API server would call it in vain, and refuse what it asks about.
    """
    stated = offline_settings(config_file)
    component, cluster = stated.component, f"the {mode} cluster"
    ca_bundle = _certificates_in(ca_bundle_file) if ca_bundle_file else b""
    server = WebhookServer("", namespace, ca_bundle, options["url"])
    if component.registrations is None:
        if mode is None:
            raise click.UsageError("Missing option '--mode'.")
        objects = _of_resource_manager(
            config_file, stated.decoded.configuration.admission, Mode(mode), name_prefix, server
        )
    elif mode is None and not name_prefix:
        objects, cluster = component.registrations(stated.decoded.configuration, server), "any cluster"
    else:
        raise click.UsageError(f"--mode and --name-prefix are for the resource manager, not for {component.name}.")
    own_pods = pods_of(namespace, {"app": service_name(name_prefix)} if mode else {})
    needed = OF_ANY_CLUSTER if mode == Mode.TARGET else (*OF_OWN_CLUSTER, own_pods)
    if blocking := blocking_webhooks(parse_registrations(objects).entries, needed):
        raise CommandError.of(blocking)
    if not objects:
        note(f"warning: {config_file}: enables no webhook that would be registered in {cluster}")
    click.echo(OBJECT_FORMATS[options["output"]](objects), nl=False)


def _of_resource_manager(
    config_file: str, admission: AdmissionConfig, mode: Mode, name_prefix: str, server: WebhookServer
) -> Sequence[Manifest]:
    """The objects for one cluster, with a note of what is enabled in vain."""
    namespace = server.namespace
    paths = {each.path for each in registered_webhooks(mode, service_name(name_prefix), namespace, admission)}
    for name in dict.fromkeys(webhook.name for webhook in webhooks(admission) if webhook.path not in paths):
        note(f"note: {config_file}: {name} is enabled, but not registered in the {mode} cluster")
    return build_webhook_configurations(mode, name_prefix, namespace, server.ca_bundle, admission, url=server.url)


def _certificates_in(file: str) -> bytes:
    try:
        found = certificates.only_certificates(Path(file).read_bytes())
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from error
    if isinstance(found, Failure):
        raise CommandError(f"{file}: {found.failure()}")
    return found.unwrap()


@command.command(short_help="Make an authority and a serving pair for trials.")
@click.option("--out", "folder", required=True, metavar="DIR", help="Where the files are put; made if it is missing.")
@NAME_PREFIX
@click.option("--service", default="", metavar="NAME", callback=_service, help=OF_SERVICE)
@NAMESPACE
@click.option("--host", "hosts", multiple=True, metavar="NAME|IP", callback=_hosts, help=OF_HOSTS)
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    default=365,
    show_default=True,
    help="How long the certificates are valid.",
)
@click.option("--force", is_flag=True, help="Overwrite files that exist.")
def certificate(
    folder: str, name_prefix: str, service: str, namespace: str, *, hosts: Sequence[str], days: int, force: bool
) -> None:
    """Make ca.crt, and tls.crt and tls.key that it has signed, for a webhook server that is tried out.

    The key of the authority is forgotten, so it can sign nothing else.
    """
    if name_prefix and service:
        raise click.UsageError("--name-prefix is for the resource manager, --service for other components.")
    service = service or service_name(name_prefix)
    target = Path(folder)
    if target.is_file():
        raise CommandError(f"{folder}: is a file, not a folder")
    existing = [name for name in ("ca.crt", "tls.crt", "tls.key") if (target / name).exists()]
    if existing and not force:
        raise CommandError(f"{folder}: {', '.join(existing)} would be overwritten; --force does that")
    now, validity, key = utc_now(), timedelta(days=days), generate_key()
    authority = certificates.certificate_authority(generate_key(), new_issue(now, validity))
    issue = new_issue(now, validity)
    serving = certificates.serving_certificate(service, namespace, key.public_key(), authority, issue, hosts=hosts)
    pair = {"tls.key": certificates.key_pem(key), "tls.crt": certificates.certificate_pem(serving)}
    try:
        _write(target, {"ca.crt": certificates.certificate_pem(authority.certificate), **pair})
    except OSError as error:
        # A file is called otherwise while it is written, by a name that would tell nobody anything.
        raise CommandError(f"{error.filename2 or folder}: {error.strerror}") from error
    note(f"wrote {target / 'ca.crt'}, {target / 'tls.crt'} and {target / 'tls.key'}")
    note(f"valid for {days} days, for {', '.join((*certificates.dns_names(service, namespace), *hosts))}")


def generate_key() -> rsa.RSAPrivateKey:
    """A new RSA key."""
    return rsa.generate_private_key(_PUBLIC_EXPONENT, certificates.KEY_BITS)


def new_issue(now: datetime, validity: timedelta) -> certificates.Issue:
    """A new serial number, valid from a moment before `now`, so that clocks that are behind accept it too."""
    return certificates.Issue(x509.random_serial_number(), now - _TOLERATED_CLOCK_SKEW, now + validity)


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put files into a folder, each at once and readable by its owner alone."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, content in files.items():
        # Temporary files have mode 0600 from the start; a server that watches the folder never sees a part.
        descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
        with contextlib.ExitStack() as undo:
            undo.callback(Path(temporary).unlink, missing_ok=True)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            Path(temporary).replace(folder / name)
