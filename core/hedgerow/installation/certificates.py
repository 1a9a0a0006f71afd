"""How an installation provides for the serving certificate of webhooks.

    self          marked registrations without webhooks, a file with which the process fills them in once it serves, and
                  a Secret without data: what is not stated there neither Helm nor kubectl takes away
    cert-manager  registrations into which cert-manager injects the authority, a Certificate, perhaps an Issuer
    files         registrations that are complete

Sources: webhooks-and-tokens §4.1; cert-manager documentation, "Certificate resource", "CA Injector".
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hedgerow.admission.certificates import dns_names
from hedgerow.admission.provisioning.registrations import MARK
from hedgerow.api.kubernetes import CERTIFICATES, ISSUERS, SECRETS
from hedgerow.installation.completion import mounted_registrations
from hedgerow.installation.installation import Installation
from hedgerow.installation.values import Webhooks
from hedgerow.machinery.configuration.process import Provision
from hedgerow.machinery.objects import Manifest, Resource

_INJECTED: Final = "cert-manager.io/inject-ca-from"


def certificate_problems(installation: Installation[Any, Any]) -> Iterator[str]:
    """Why a process cannot use what the installation gives it to make its certificates."""
    if installation.provision is not Provision.SELF:
        return
    own, path = installation.server.webhooks.tls.self_provision, "config.server.webhooks.tls.self"
    if own.registrations != mounted_registrations(installation.process):
        yield f"{path}.registrations must be left out, as the installation mounts the file"
    if own.secret_namespace != installation.namespace:
        yield f"{path}.secretNamespace must be left out, as the Secret is beside the process"


def idle_values(installation: Installation[Any, Any]) -> Iterator[str]:
    """Which values about certificates do nothing, as somebody else provides for them."""
    serving, provision = installation.serving, installation.provision
    if serving is None:
        return
    if provision is Provision.SELF and serving.certificate_secret != type(serving)().certificate_secret:
        yield "webhooks.certificateSecret does nothing with provision: self, as the process keeps a Secret of its own"
    if provision is not Provision.CERT_MANAGER and serving.issuer.name:
        yield f"webhooks.issuer does nothing with provision: {provision}, only with cert-manager"


def registrations(installation: Installation[Any, Any]) -> tuple[Manifest, ...]:
    """The objects that register the webhooks, as they are applied."""
    match installation.provision:
        case Provision.SELF:
            return tuple(
                {
                    **{name: value for name, value in each.items() if name != "webhooks"},
                    "metadata": {**each["metadata"], "annotations": MARK},
                }
                for each in installation.registrations
            )
        case Provision.CERT_MANAGER if installation.serving and not installation.serving.ca_bundle:
            injected = {_INJECTED: f"{installation.namespace}/{installation.name}"}
            return tuple(
                {**each, "metadata": {**each["metadata"], "annotations": injected}}
                for each in installation.registrations
            )
    return installation.registrations


def registrations_file(installation: Installation[Any, Any]) -> Mapping[str, Any] | None:
    """What a process reads that registers its webhooks itself; none: it does not."""
    if installation.provision is not Provision.SELF:
        return None
    return {"apiVersion": "v1", "kind": "List", "items": list(installation.provided_registrations)}


def certificate_objects(installation: Installation[Any, Any]) -> Iterator[Manifest]:
    """What the process fills with certificates, or what cert-manager makes them of."""
    serving = installation.serving
    if own := installation.own_certificates:
        metadata = {"name": own.name, "namespace": own.namespace}
        yield {"apiVersion": SECRETS.api_version, "kind": SECRETS.kind, "metadata": metadata, "type": "Opaque"}
    if serving is None or installation.provision is not Provision.CERT_MANAGER:
        return
    if not serving.issuer.name:
        yield _object(installation, ISSUERS, {"selfSigned": {}})
    yield _object(installation, CERTIFICATES, _certificate(installation, serving))


def _certificate(installation: Installation[Any, Any], serving: Webhooks) -> dict[str, Any]:
    issuer = serving.issuer
    return {
        "secretName": serving.certificate_secret,
        "dnsNames": list(dns_names(installation.name, installation.namespace)),
        "issuerRef": {
            "group": ISSUERS.group,
            "kind": issuer.kind if issuer.name else ISSUERS.kind,
            "name": issuer.name or installation.name,
        },
        "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"},
        "usages": ["digital signature", "server auth"],
    }


def _object(installation: Installation[Any, Any], resource: Resource, spec: Mapping[str, Any]) -> Manifest:
    metadata = {"name": installation.name, "namespace": installation.namespace}
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, "spec": spec}
