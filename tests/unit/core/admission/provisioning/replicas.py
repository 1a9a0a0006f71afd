"""Replicas that provide for one server's certificates, one step at a time, in an order that the tests choose."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from hedgerow.admission.certificates import Issue, certificate_authority
from hedgerow.admission.provisioning import (
    MARK,
    Lifetimes,
    MakeKeys,
    NewKey,
    ProvisioningConfig,
    Replica,
    ReplicaQuestion,
    ReportRegistered,
    ReportTrust,
    Serve,
    server_names,
)
from hedgerow.admission.provisioning.controller import reconcile
from hedgerow.admission.provisioning.material import bundle, is_signed_by
from hedgerow.admission.provisioning.registrations import trusted_by
from hedgerow.machinery.controller import SINGLETON, Context
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import ApiError, Event, MergePatch, Plan, RecordEvents, Update, WriteResult
from hedgerow.machinery.questions import Answer, Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.steps import AtOnce, Execution, Now, Step

START: Final = datetime(2026, 1, 1, tzinfo=UTC)
LIFETIMES: Final = Lifetimes(timedelta(days=90), timedelta(days=365))
SERVICE: Final = {"name": "manager", "namespace": "garden", "path": "/webhooks/a"}
REGISTRATION: Final[Manifest] = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingWebhookConfiguration",
    "metadata": {"name": "manager"},
    "webhooks": [
        {"name": "a.example.org", "clientConfig": {"service": SERVICE}, "failurePolicy": "Fail"},
        {"name": "b.example.org", "clientConfig": {"service": {**SERVICE, "path": "/webhooks/b"}}},
    ],
}
CONFIG: Final = ProvisioningConfig(
    ObjectKey("garden", "certificates"), server_names([REGISTRATION]), (REGISTRATION,), LIFETIMES
)


@cache
def key_of_number(number: int) -> NewKey:
    """A key of its own for each number."""
    return NewKey(ec.generate_private_key(ec.SECP256R1()), number + 1)


def encoded(pem: bytes) -> str:
    return b64encode(pem).decode()


FOREIGN: Final = certificate_authority(
    key_of_number(1000).key, Issue(1, START - timedelta(days=1), START + timedelta(days=3650)), "somebody-else"
).certificate
"""The authority of who provides for certificates before or after."""


def empty_secret() -> Manifest:
    """The Secret as installations print it."""
    metadata = {"name": "certificates", "namespace": "garden", "resourceVersion": "0", "uid": "u"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque"}


@dataclass
class Process:
    """One replica."""

    served: bytes | None = None
    distrust: str | None = None
    clock: timedelta = timedelta(0)
    """How far it is ahead."""
    is_blind: bool = False
    """True if it may not read the registration."""
    registered: dict[str, int] = field(default_factory=dict)
    execution: Execution[Plan] | None = None
    step: Step[Any] | None = None
    plan: Plan | None = None
    """Of its last turn."""


@dataclass
class Landscape:
    """Secret, registration, time and replicas."""

    config: ProvisioningConfig = CONFIG
    processes: list[Process] = field(default_factory=lambda: [Process(), Process(), Process()])
    leader: int = 0
    now: datetime = START
    secret: Manifest | None = field(default_factory=empty_secret)
    registration: Manifest | None = field(
        default_factory=lambda: {
            **{name: value for name, value in REGISTRATION.items() if name != "webhooks"},
            "metadata": {"name": "manager", "resourceVersion": "1", "annotations": MARK},
        }
    )
    events: list[Event] = field(default_factory=list)
    refuses: Callable[[Any], ApiError | None] = lambda _action: None
    """Why the API server does not do what it is asked to."""
    keys: int = 0
    version: int = 1

    # What replicas do.

    def step(self, index: int) -> bool:
        """Let a replica take one step; false if its turn has ended with that."""
        process = self.processes[index]
        if process.execution is None:
            decision: Any = reconcile(SINGLETON, None, Context(self.now + process.clock, self.config))  # type: ignore[arg-type]  # no cache
            process.execution = Execution(decision)
            state = process.execution.begin()
        else:
            assert process.step is not None
            state = process.execution.go_on(self._performed(process, process.step, leads=index == self.leader))
        if isinstance(state, Step):
            process.step = state
            return True
        process.execution, process.step, process.plan = None, None, state
        return False

    def turn(self, index: int) -> Plan:
        """Let a replica end its turn, or take a whole one."""
        while self.step(index):
            pass
        plan = self.processes[index].plan
        assert plan is not None
        return plan

    def settle(self, turns: int = 6) -> None:
        """Let all replicas take some turns."""
        for _ in range(turns):
            for index in range(len(self.processes)):
                self.turn(index)

    def crash(self, index: int) -> None:
        execution = self.processes[index].execution
        if execution is not None:
            execution.close()
        self.processes[index] = Process(clock=self.processes[index].clock, is_blind=self.processes[index].is_blind)

    def _performed(  # noqa: C901, PLR0911 -- a table: one return for each step
        self, process: Process, step: Step[Any], *, leads: bool
    ) -> Any:
        match step:
            case AtOnce(steps):
                return tuple(self._performed(process, each, leads=leads) for each in steps)
            case ObjectQuestion():
                return self._answer(step, process)
            case Now():
                return self.now + process.clock
            case MakeKeys(count):
                self.keys += count
                return tuple(key_of_number(self.keys - number) for number in range(count))
            case Serve(chain, _):
                process.served = chain
                return None
            case ReportTrust(problem):
                process.distrust = problem
                return None
            case ReportRegistered(kind, webhooks):
                process.registered[kind] = webhooks
                return None
            case ReplicaQuestion():
                return Replica(process.served, leads)
            case RecordEvents(events):
                self.events += events
                return None
            case Update() | MergePatch():
                return self._written(step)
            case _:
                raise TypeError(step)

    # What there is.

    def _answer(self, question: ObjectQuestion, process: Process) -> Answer:
        if process.is_blind and question.resource.kind != "Secret":
            return NotAnswered(403, "Forbidden", "no rights")
        found = self.secret if question.resource.kind == "Secret" else self.registration
        if (error := self.refuses(question)) is not None:
            return NotAnswered(error.code, error.reason, error.message)
        return Found((found,)) if found is not None else NotAnswered(404, "NotFound", "there is none")

    def _written(self, action: Update | MergePatch) -> WriteResult:
        if (error := self.refuses(action)) is not None:
            return WriteResult(action, error=error)
        is_secret = action.resource.kind == "Secret"
        current = self.secret if is_secret else self.registration
        if current is None:
            return WriteResult(action, error=ApiError(404, "NotFound", "there is none"))
        known = (
            action.resource_version
            if isinstance(action, MergePatch)
            else action.manifest["metadata"].get("resourceVersion")
        )
        if known != current["metadata"]["resourceVersion"]:
            return WriteResult(action, error=ApiError(409, "Conflict", "it has changed"))
        return WriteResult(
            action, self.store({**current, **action.patch} if isinstance(action, MergePatch) else action.manifest)
        )

    def store(self, manifest: Manifest) -> Manifest:
        """Write an object, as anybody may."""
        self.version += 1
        stored = {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": str(self.version), "uid": "u"}}
        if manifest["kind"] == "Secret":
            self.secret = stored
        else:
            self.registration = stored
        return stored

    def register(self, *authorities: x509.Certificate, marked: bool = True) -> None:
        """Write the registration as Helm does, with authorities of somebody else."""
        pem = encoded(bundle(authorities))
        webhooks = [
            {**each, "clientConfig": {**each["clientConfig"], "caBundle": pem}} for each in REGISTRATION["webhooks"]
        ]
        metadata = {"name": "manager", "annotations": MARK if marked else {}}
        self.store({**REGISTRATION, "metadata": metadata, "webhooks": webhooks})

    def data(self) -> Mapping[str, str]:
        assert self.secret is not None
        data: Mapping[str, str] = self.secret.get("data", {})
        return data

    # What API servers make of it.

    def distrusted(self) -> list[int]:
        """The ready replicas that serve what the registration does not trust, or what is not valid.

        Those whose clock is ahead do not count.
        """
        return [
            index
            for index, each in enumerate(self.processes)
            if each.served
            and each.distrust is None
            and each.clock <= timedelta(0)
            and not self._is_trusted(each.served)
        ]

    def _is_trusted(self, chain: bytes) -> bool:
        certificate = x509.load_pem_x509_certificate(chain)
        webhooks = (self.registration or {}).get("webhooks") or ()
        return certificate.not_valid_before_utc <= self.now < certificate.not_valid_after_utc and all(
            any(is_signed_by(certificate, each) and self.now < each.not_valid_after_utc for each in trusted_by(webhook))
            for webhook in webhooks
        )
