"""What a certificate request in DER says, where all readers understand it alike.

Source: RFC 2986; RFC 5280 §4.1.2.4 and §4.2.1.6.
"""

import warnings
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID, ObjectIdentifier
from returns.result import Failure, Result, Success

from hedgerow.resource_manager.kubelet_certificates import CertificateRequest

_EXTENSION_REQUEST: Final = ObjectIdentifier("1.2.840.113549.1.9.14")
"""The attribute of PKCS #9 for extensions. In others some readers look for extensions as well, and some do not."""
_STRING_TYPES: Final = frozenset({"UTF8String", "PrintableString", "IA5String"})
"""Those of whose bytes all readers make the same text."""


_UNREADABLE: Final = (x509.InvalidVersion, x509.DuplicateExtension, x509.UnsupportedGeneralNameType)


class _AmbiguousError(ValueError):
    """What another reader may understand differently."""


def content_of(der: bytes) -> Result[CertificateRequest, str]:
    """What a request says, or why it cannot be told, as one clause."""
    try:
        with warnings.catch_warnings():
            # Names of nodes are longer than the 64 characters that a common name should have, and mean the same.
            warnings.simplefilter("ignore")
            return Success(_content(der))
    except _AmbiguousError as error:
        return Failure(str(error))
    except (ValueError, TypeError, *_UNREADABLE) as error:
        problem = " ".join(str(error).split()) or type(error).__name__
        return Failure(f"malformed certificate request: {problem}")


def _content(der: bytes) -> CertificateRequest:
    csr = x509.load_der_x509_csr(der)
    # The decoder knows distinguished rules alone; should it ever know others, no request is read by them.
    if csr.public_bytes(Encoding.DER) != der:
        raise _AmbiguousError("not encoded by the distinguished rules")
    common_names = _texts(csr.subject, NameOID.COMMON_NAME)
    names = _alternative_names(csr)
    return CertificateRequest(
        common_names[-1] if common_names else "",
        _texts(csr.subject, NameOID.ORGANIZATION_NAME),
        frozenset(name.value for name in names if isinstance(name, x509.DNSName)),
        frozenset(_address(name) for name in names if isinstance(name, x509.IPAddress)),
        frozenset(repr(name) for name in names if not isinstance(name, x509.DNSName | x509.IPAddress)),
    )


def _texts(subject: x509.Name, oid: ObjectIdentifier) -> tuple[str, ...]:
    texts = []
    for attribute in subject.get_attributes_for_oid(oid):
        string_type = attribute._type.name  # noqa: SLF001 -- nothing else tells it, and readers differ by it
        if isinstance(attribute.value, bytes) or string_type not in _STRING_TYPES:
            raise _AmbiguousError(f"{attribute.rfc4514_attribute_name} in subject is a {string_type}")
        texts.append(attribute.value)
    return tuple(texts)


def _alternative_names(csr: x509.CertificateSigningRequest) -> Iterable[x509.GeneralName]:
    if [attribute.oid for attribute in csr.attributes] not in ([], [_EXTENSION_REQUEST]):
        raise _AmbiguousError("there are other attributes than a single one for extensions")
    try:
        return tuple(csr.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    except x509.ExtensionNotFound:
        return ()


def _address(name: x509.IPAddress) -> str:
    if not isinstance(name.value, IPv4Address | IPv6Address):
        raise _AmbiguousError("an IP address of the SANs has another length than 4 or 16 bytes")
    return str(name.value)
