"""What a process is told that makes its own certificates: its Secret, and the registration objects that it fills in."""

from io import BytesIO

from returns.result import Failure

from hedgerow.admission.provisioning import REGISTRATIONS, Lifetimes, ProvisioningConfig, server_names
from hedgerow.machinery.configuration.process import SelfProvision
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, key_of
from hedgerow.machinery.reading import UnreadableError
from hedgerow_adapters.files.loading import load_manifests
from hedgerow_entrypoints.errors import CommandError


def provisioning_config(section: SelfProvision) -> ProvisioningConfig:
    """The configuration of the controller; raises CommandError where the file with the registrations is of no use."""
    registrations = _registrations(section.registrations)
    try:
        names = server_names(registrations)
    except UnreadableError as error:
        raise CommandError(f"{section.registrations}: {error.problem}") from error
    secret = ObjectKey(section.secret_namespace, section.secret_name)
    lifetimes = Lifetimes(section.certificate_lifetime, section.authority_lifetime)
    # Where nothing is registered nobody asks, under whatever name.
    return ProvisioningConfig(secret, names or (section.secret_name,), registrations, lifetimes)


def _registrations(path: str) -> tuple[Manifest, ...]:
    loaded = load_manifests([path], stdin=BytesIO())
    if isinstance(loaded, Failure):
        raise CommandError.of(loaded.failure())
    found = loaded.unwrap()
    known = {resource.object_kind for resource in REGISTRATIONS.values()}
    for each in found:
        if Kind.of(each.manifest) not in known:
            kind, key = each.manifest["kind"], key_of(each.manifest)
            raise CommandError(f"{each.source}: {kind} {key} registers no webhooks, or in another version than v1")
    return tuple(each.manifest for each in found)
