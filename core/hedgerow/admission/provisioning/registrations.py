"""What API servers are told of the server: the registration objects with the authorities that they have to trust.

An object is there from the installation on, without webhooks and with a mark; they are filled in once a replica serves.
Without the mark the object belongs to somebody else, who perhaps replaces this process. What it says besides, such as
`matchConditions` that somebody adds to a webhook, stays.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from cryptography import x509
from cryptography.x509.oid import NameOID

from hedgerow.admission.certificates import dns_names
from hedgerow.admission.provisioning.material import bundle, is_signed_by
from hedgerow.admission.provisioning.rotation import has_expired
from hedgerow.machinery.objects import Manifest, annotations_of
from hedgerow.machinery.reading import object_at, objects_at, text_at

WEBHOOKS: Final = "webhooks"
MARK: Final = {"hedgerow.dev/webhooks-provided-by": "self"}
"""The annotation of an object whose webhooks are the process's."""
MOST_SURVIVORS: Final = 3
"""A limit, as each time that the Secret is spoilt leaves another authority in it and in the registrations."""
_CLIENT: Final = "clientConfig"
_HOST: Final = re.compile(r"https://(?:\[([^\]]+)\]|([^/:?#]+))")


def server_names(registrations: Iterable[Manifest]) -> tuple[str, ...]:
    """The DNS names and IP addresses under which registrations reach the server, each once."""
    names: dict[str, None] = {}
    for registration in registrations:
        for webhook in objects_at(registration, WEBHOOKS):
            client, service = object_at(webhook, _CLIENT), object_at(webhook, _CLIENT, "service")
            if service:
                service_name, namespace = text_at(service, "name") or "", text_at(service, "namespace") or ""
                names |= dict.fromkeys(dns_names(service_name, namespace))
            elif host := _HOST.match(text_at(client, "url") or ""):
                names[host[1] or host[2]] = None
    return tuple(names)


def is_empty(registration: Manifest) -> bool:
    """True if an object registers nothing."""
    return not registration.get(WEBHOOKS)


def is_marked(registration: Manifest) -> bool:
    """True if the process may do more with an object than add trust."""
    return annotations_of(registration).items() >= MARK.items()


def trusts(registration: Manifest, authority: x509.Certificate) -> bool:
    """True if every webhook that an object registers trusts an authority."""
    return all(authority in trusted_by(webhook) for webhook in _webhooks(registration))


def accepts(registration: Manifest, certificate: x509.Certificate) -> bool:
    """True if every webhook that an object registers trusts who has signed a serving certificate."""
    return all(
        any(is_signed_by(certificate, authority) for authority in trusted_by(webhook))
        for webhook in _webhooks(registration)
    )


def with_trust(registration: Manifest, authorities: Sequence[x509.Certificate]) -> list[Manifest]:
    """The webhooks of an object, which trust some authorities beside those that they trust already."""
    return [_trusting(webhook, (*authorities, *trusted_by(webhook))) for webhook in _webhooks(registration)]


def corrected(registration: Manifest, wanted: Manifest, authorities: Sequence[x509.Certificate]) -> Sequence[Manifest]:
    """The webhooks of an object as they have to be; what API servers or people add to one stays."""
    live = {text_at(webhook, "name"): webhook for webhook in _webhooks(registration)}
    return [
        _corrected(live.get(text_at(webhook, "name"), {}), webhook, (*authorities, *trusted_by(webhook)))
        for webhook in _webhooks(wanted)
    ]


def _corrected(live: Manifest, wanted: Manifest, authorities: Sequence[x509.Certificate]) -> Manifest:
    said = {**wanted, _CLIENT: {**object_at(wanted, _CLIENT)}}
    said[_CLIENT].pop("caBundle", None)
    webhook = {**live, **{name: each for name, each in said.items() if not _covers(live.get(name), each)}}
    return webhook if set(trusted_by(webhook)) == set(authorities) else _trusting(webhook, authorities)


def survivors(registrations: Iterable[Manifest], name: str, now: datetime) -> Sequence[x509.Certificate]:
    """The newest authorities of a name that registrations trust and that are valid: others may serve by them."""
    trusted = dict.fromkeys(
        authority
        for registration in registrations
        for webhook in _webhooks(registration)
        for authority in trusted_by(webhook)
        if _common_name(authority) == name and not has_expired(authority, now)
    )
    return sorted(trusted, key=lambda each: each.not_valid_before_utc, reverse=True)[:MOST_SURVIVORS]


def _webhooks(registration: Manifest) -> Sequence[Manifest]:
    return [each for each in registration.get(WEBHOOKS) or () if isinstance(each, Mapping)]


def trusted_by(webhook: Manifest) -> list[x509.Certificate]:
    """The authorities of a webhook; none where the field cannot be read, which API servers refuse anyway."""
    try:
        return x509.load_pem_x509_certificates(b64decode(text_at(webhook, _CLIENT, "caBundle") or ""))
    except ValueError:
        return []


def _trusting(webhook: Manifest, authorities: Sequence[x509.Certificate]) -> Manifest:
    client = {**object_at(webhook, _CLIENT), "caBundle": b64encode(bundle(authorities)).decode("ascii")}
    return {**webhook, _CLIENT: client}


def _common_name(certificate: x509.Certificate) -> object:
    found = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return found[0].value if found else None


def _covers(actual: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(actual, Mapping) and all(_covers(actual.get(name), each) for name, each in wanted.items())
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        if not isinstance(actual, Sequence) or isinstance(actual, str) or len(actual) != len(wanted):
            return False
        return all(_covers(*pair) for pair in zip(actual, wanted, strict=True))
    return bool(actual == wanted)
