"""What a kubelet asks for: the content of its certificate request.

How it is encoded is the business of whoever decodes it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CertificateRequest:
    """The part of a certificate request that decides about it."""

    common_name: str
    """Of the subject; of several the last one, and empty where there is none."""
    organizations: tuple[str, ...] = ()
    dns_names: frozenset[str] = frozenset()
    ip_addresses: frozenset[str] = frozenset()
    """In any spelling."""
    other_names: frozenset[str] = frozenset()
    """Subject alternative names of other kinds, such as URIs, for whoever reads about them."""
