"""Which ControllerInstallations a seed needs, why, and what is to be done to get there.

What one bad object asks for is not known, so that nothing is deleted beside it; everything else goes on.

Source: controller-registration §4.2, §4.3; decisions, "Registration".
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from returns import result

from hedgerow.api.gardener import SHOOTS
from hedgerow.api.registrations import (
    BACKUP_BUCKETS,
    BACKUP_ENTRIES,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    REQUIRED,
    SEEDS,
    Policy,
)
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.failures import Failure, Problem, retryable_failure
from hedgerow.machinery.objects import (
    Manifest,
    ObjectKey,
    Resource,
    is_terminating,
    key_of,
    labels_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.plan import Action, Create, Delete, Event
from hedgerow.machinery.reading import UnreadableError, object_at, text_at
from hedgerow.machinery.selectors import parse_label_selector
from hedgerow.registration.content import new_installation, seed_spec_hash, update, with_content
from hedgerow.registration.garden import INSTALLATIONS_BY_SEED
from hedgerow.registration.installations import Installation
from hedgerow.registration.registrations import Registration, read_once, type_id
from hedgerow.registration.validation import problems_of
from hedgerow.registration.wanted import BACKUP_BUCKET, BACKUP_ENTRY, THE_SEED, Domains, ids_of_seed, ids_of_shoots

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PlanningConfig:
    """What the component configuration says about the planning."""

    require_garden_secrets: bool = False
    """Whether nothing is decided about a Seed that has no Secrets of domains in its namespace of the garden."""
    seed_provider_extensions: bool = True
    """Whether a Seed itself needs extensions, those of its provider and of its DNS provider."""


@dataclass(frozen=True, slots=True)
class SeedInputs:
    """A Seed, and what there is in the garden that decides about its installations."""

    seed: Manifest
    registrations: Sequence[Manifest] = ()
    deployments: Sequence[Manifest] = ()
    installations: Sequence[Manifest] = ()
    """At least those of the seed."""
    is_taken: Callable[[str], bool] = lambda _name: False
    """Whether an installation that is not among these has a name."""
    backup_buckets: Sequence[Manifest] = ()
    """Of the seed, like the entries and shoots."""
    backup_entries: Sequence[Manifest] = ()
    shoots: Sequence[Manifest] = ()
    domain_secrets: Sequence[Manifest] = ()
    """Labelled as such, in the seed's namespace of the garden."""


class Ground(NamedTuple):
    """Why a registration is wanted in a seed."""

    reason: str
    """For actions."""
    sentence: str
    """For people."""


@dataclass(frozen=True, slots=True)
class InstallationPlan:
    """What is to be done about the installations of one seed."""

    actions: tuple[Action, ...] = ()
    """In order of the registrations; deletions come last."""
    failures: tuple[Failure, ...] = ()
    events: tuple[Event, ...] = ()
    demands: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Each kind and type that the seed needs, and who needs it."""
    wanted: Mapping[str, Sequence[Ground]] = field(default_factory=dict)
    """Each registration that is to be installed, and why."""


def plan_installations(inputs: SeedInputs, config: PlanningConfig) -> InstallationPlan:
    """What is to be created, changed and deleted for a seed."""
    planning = _Planning(inputs, config)
    try:
        planning.decide()
    except UnreadableError as error:
        planning.failures.append(Failure(SEEDS, key_of(inputs.seed), error.problem))
    actions, failures, events = tuple(planning.actions), tuple(planning.failures), tuple(planning.events)
    return InstallationPlan(actions, failures, events, dict(planning.demands), planning.wanted)


class _Planning:
    """The planning for one seed, and what is found wrong on the way."""

    def __init__(self, inputs: SeedInputs, config: PlanningConfig) -> None:
        self.inputs, self.config, self.key = inputs, config, key_of(inputs.seed)
        self.actions: list[Action] = []
        self.failures: list[Failure] = []
        self.events: list[Event] = []
        self.demands = defaultdict[str, list[str]](list)
        self.wanted: dict[str, list[Ground]] = {}
        self.deployments = {key_of(each).name: each for each in inputs.deployments}
        self.registrations = {
            each.name: each for each in self._each(read_once, CONTROLLER_REGISTRATIONS, inputs.registrations)
        }
        self.installations = defaultdict[str, list[Installation]](list)
        own = [each for each in inputs.installations if self.key in INSTALLATIONS_BY_SEED.values(each)]
        for each in self._each(Installation.of, CONTROLLER_INSTALLATIONS, own):
            self.installations[each.registration].append(each)

    def decide(self) -> None:
        """Everything, unless it is not even known what to install."""
        if self.config.require_garden_secrets and not self.inputs.domain_secrets:
            self._fail(f'garden secrets for seed "{self.key.name}" have not been synchronized yet')
        elif not self._has_strangers():
            seed_hash = seed_spec_hash(self.inputs.seed)
            self._demand()
            self._check_offers()
            needed = {each.name: grounds for each in self.registrations.values() if (grounds := [*self._grounds(each)])}
            self.wanted = {name: each for name, each in needed.items() if self._is_selected(self.registrations[name])}
            for name, grounds in self.wanted.items():
                self._install(self.registrations[name], seed_hash, grounds[0].reason)
            if not self.failures:
                self.actions += self._deletions(needed)

    def _each(self, read: Callable[[Manifest], T], resource: Resource, manifests: Iterable[Manifest]) -> Iterator[T]:
        for manifest in sorted(manifests, key=key_of):
            try:
                yield read(manifest)
            except UnreadableError as error:
                self.failures.append(Failure(resource, key_of(manifest), error.problem))

    def _fail(self, text: str, registration: str = "") -> None:
        resource, name = (CONTROLLER_REGISTRATIONS, registration) if registration else (SEEDS, self.key.name)
        self.failures.append(retryable_failure(resource, ObjectKey("", name), text))

    def _warn(self, reason: str, note: str) -> None:
        uid = uid_of(self.inputs.seed)
        self.events.append(Event(SEEDS, self.key, uid, "Warning", reason, note, Cluster.SOURCE))

    def _has_strangers(self) -> bool:
        """True if a registration that is installed does not exist: then not all of the garden may be known."""
        strangers = self.installations.keys() - {key_of(each).name for each in self.inputs.registrations}
        self.failures += (
            Failure(
                CONTROLLER_INSTALLATIONS,
                ObjectKey("", installation.name),
                Problem("spec.registrationRef.name", f'ControllerRegistration "{name}" does not exist'),
            )
            for name in sorted(strangers)
            for installation in self.installations[name]
        )
        return bool(strangers)

    def _demand(self) -> None:
        """What the seed needs, and who needs it."""
        inputs, demands = self.inputs, self.demands
        domains, incomplete = Domains.of(inputs.domain_secrets)
        if incomplete:
            self._warn("DomainSecretIncomplete", f"provider or domain is not annotated at Secret {_some(incomplete)}")
        buckets = dict(self._each(_name_and("spec", "provider", "type"), BACKUP_BUCKETS, inputs.backup_buckets))
        for name, provider in buckets.items():
            demands[type_id(BACKUP_BUCKET, provider)].append(f"BackupBucket {name}")
        astray = []
        for name, bucket in self._each(_name_and("spec", "bucketName"), BACKUP_ENTRIES, inputs.backup_entries):
            if bucket in buckets:
                demands[type_id(BACKUP_ENTRY, buckets[bucket])].append(f"BackupEntry {name}")
            else:
                astray.append(name)
        if astray:
            self._warn("BackupBucketMissing", f"the seed has no BackupBucket of BackupEntry {_some(astray)}")
        ids_of = ids_of_shoots(inputs.seed, self.registrations.values(), domains)
        for key, ids in self._each(lambda shoot: (key_of(shoot), ids_of(shoot)), SHOOTS, inputs.shoots):
            shoot = f"shoot {key}"
            for id_ in ids:
                demands[id_].append(shoot)
        if self.config.seed_provider_extensions:
            for id_ in ids_of_seed(inputs.seed):
                demands[id_].append(THE_SEED)

    def _check_offers(self) -> None:
        """Every type that is needed has to be offered, and by one primary controller; the Seed itself can wait."""
        offered = {id_ for registration in self.registrations.values() for id_ in registration.ids}
        primary = Counter(
            id_
            for registration in self.registrations.values()
            for id_ in {served.id for served in registration.served if served.primary}
        )
        needed = sorted(self.demands)
        missing = [id_ for id_ in needed if id_ not in offered]
        for_seed = [id_ for id_ in missing if self.demands[id_] == [THE_SEED]]
        for id_ in missing:
            if id_ not in for_seed:
                problem = f'need to install an extension controller for "{id_}" but no appropriate'
                wanting = _some(self.demands[id_])
                self._fail(f"{problem} ControllerRegistration found: it is wanted by {wanting}")
        secondary = [id_ for id_ in needed if id_ in offered and not primary[id_]]
        several = [id_ for id_ in needed if primary[id_] > 1]
        for reason, problem, ids in (
            ("ExtensionNotRegistered", "the Seed needs, but no ControllerRegistration offers", for_seed),
            ("NoPrimaryController", "no ControllerRegistration controls primarily", secondary),
            ("SeveralPrimaryControllers", "several ControllerRegistrations control primarily", several),
        ):
            if ids:
                self._warn(reason, f"{problem} {', '.join(ids)}")

    def _grounds(self, registration: Registration) -> Iterator[Ground]:
        wanted_by = defaultdict[str, list[str]](list)
        for id_ in sorted(registration.ids & self.demands.keys()):
            wanted_by[_some(self.demands[id_])].append(id_)
        for wanting, ids in wanted_by.items():
            yield Ground("type-is-wanted", f"{', '.join(ids)} {'is' if len(ids) == 1 else 'are'} wanted by {wanting}")
        policy, inputs = registration.policy, self.inputs
        applies = (policy == Policy.ALWAYS and not is_terminating(inputs.seed)) or (
            policy == Policy.ALWAYS_EXCEPT_NO_SHOOTS and inputs.shoots
        )
        if applies and not is_terminating(registration.manifest):
            yield Ground(f"policy-{policy}", f"its policy is {policy}")
        existing = self.installations.get(registration.name, ())
        if any(each.status_of(REQUIRED) == ConditionStatus.TRUE for each in existing):
            yield Ground("extension-objects-exist", "extension objects of it exist in the seed")

    def _is_selected(self, registration: Registration) -> bool:
        selector = object_at(registration.manifest, "spec", "deployment").get("seedSelector")
        if selector is None:
            return True
        parsed = parse_label_selector(selector, "spec.deployment.seedSelector")
        if isinstance(parsed, result.Failure):
            self._refuse(registration, parsed.failure())
            return False
        return parsed.unwrap().matches(labels_of(self.inputs.seed))

    def _refuse(self, registration: Registration, problems: Iterable[Problem]) -> None:
        key = ObjectKey("", registration.name)
        self.failures += (Failure(CONTROLLER_REGISTRATIONS, key, problem) for problem in problems)

    def _install(self, registration: Registration, seed_hash: str, reason: str) -> None:
        """Make the installation of a wanted registration what it is to be; one in deletion is left to people.

        What is wrong with a registration that nobody has validated keeps it from being installed.
        """
        name, deployment = registration.name, None
        if is_terminating(registration.manifest):
            return
        if problems := problems_of(CONTROLLER_REGISTRATIONS.kind, registration.manifest):
            self._refuse(registration, problems)
            return
        if registration.deployment_refs:
            referred = registration.deployment_refs[0]
            deployment = self.deployments.get(referred)
            if deployment is None:
                problem = f'because the referenced ControllerDeployment "{referred}" does not exist'
                self._fail(f"cannot deploy ControllerInstallation {problem}", name)
                return
        existing = self.installations[name]
        current = [each for each in existing if not each.is_terminating]
        content = (self.inputs.seed, seed_hash, registration, deployment)
        if len(current) > 1:
            self._warn("SeveralInstallations", f"{name} is installed as {_some([each.name for each in current])}")
        if current:
            oldest = min(current, key=_age).manifest
            self.actions += update(oldest, with_content(oldest, *content))
        elif existing:
            problem = f'cannot deploy new ControllerInstallation for "{name}" because'
            self._fail(f"{problem} the deletion of the old ControllerInstallation is still pending", name)
        else:
            new = with_content(new_installation(name, self.key.name, self._is_taken), *content)
            self.actions.append(Create(CONTROLLER_INSTALLATIONS, new, reason, Cluster.SOURCE))

    def _is_taken(self, name: str) -> bool:
        return self.inputs.is_taken(name) or any(key_of(each).name == name for each in self.inputs.installations)

    def _deletions(self, needed: Collection[str]) -> Iterator[Action]:
        for name in sorted(self.installations.keys() - self.wanted):
            is_going = is_terminating(self.registrations[name].manifest)
            reason = "seed-not-selected" if name in needed else "registration-deleted" if is_going else "not-wanted"
            for manifest in (each.manifest for each in self.installations[name] if not each.is_terminating):
                key, uid, version = key_of(manifest), uid_of(manifest), resource_version_of(manifest)
                yield Delete(CONTROLLER_INSTALLATIONS, key, reason, uid, version, cluster=Cluster.SOURCE)


def _name_and(*path: str) -> Callable[[Manifest], tuple[str, str]]:
    return lambda manifest: (str(key_of(manifest)), text_at(manifest, *path) or "")


def _age(installation: Installation) -> tuple[str, str]:
    return text_at(installation.manifest, "metadata", "creationTimestamp") or "", installation.name


def _some(names: Sequence[str]) -> str:
    """The first of some names, and how many others there are."""
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]
