"""What the provisioning of certificates needs of the world: new keys, a server that shows a pair, its own standing."""

from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

from hedgerow.machinery.steps import Step


@dataclass(frozen=True, slots=True, repr=False)
class NewKey:
    """A key that nobody has used, and a serial number for its certificate."""

    key: EllipticCurvePrivateKey
    serial_number: int


@dataclass(frozen=True, slots=True)
class MakeKeys(Step[tuple[NewKey, ...]]):
    """Makes keys of the curve P-256."""

    count: int


@dataclass(frozen=True, slots=True, repr=False)
class Serve(Step[str | None]):
    """Shows a pair to every new connection from now on. Returns why it cannot be used; none: it is."""

    chain: bytes
    """In PEM, like the key."""
    key: bytes


@dataclass(frozen=True, slots=True)
class ReportTrust(Step[None]):
    """Tells probes whether API servers accept what the server shows."""

    problem: str | None
    """Why they do not."""


@dataclass(frozen=True, slots=True)
class Replica:
    """This process among its replicas."""

    served: bytes | None
    """The chain that its server shows, in PEM; none: nothing can be served yet."""
    leads: bool
    """True if nobody else corrects registrations."""


@dataclass(frozen=True, slots=True)
class ReplicaQuestion(Step[Replica]):
    """What does this process serve, and does it lead?"""


@dataclass(frozen=True, slots=True)
class ReportRegistered(Step[None]):
    """Tells operators how many webhooks API servers ask."""

    kind: str
    """Of the registration object."""
    webhooks: int
    """None where some have to be means that API servers admit what nobody was asked about."""
