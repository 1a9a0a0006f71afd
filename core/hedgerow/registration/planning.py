"""Which ControllerInstallations a seed needs, why, and what is to be done to get there.

What one bad object asks for is not known, so that nothing is deleted beside it; everything else goes on.

Source: controller-registration §4.2, §4.3; decisions, "Registration".
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

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
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, is_terminating, key_of, labels_of, uid_of
from hedgerow.machinery.plan import Action, Delete, Event
from hedgerow.machinery.reading import UnreadableError, object_at, text_at
from hedgerow.machinery.selectors import parse_label_selector
from hedgerow.registration.content import Content, creation, update
from hedgerow.registration.garden import INSTALLATIONS_BY_SEED
from hedgerow.registration.hashes import seed_spec_hash
from hedgerow.registration.installations import Installation
from hedgerow.registration.registrations import Registration, type_id
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
    backup_buckets: Sequence[Manifest] = ()
    """Of the seed, like the entries and shoots."""
    backup_entries: Sequence[Manifest] = ()
    shoots: Sequence[Manifest] = ()
    domain_secrets: Sequence[Manifest] = ()
    """Labelled as such, in the seed's namespace of the garden."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """Why a registration is wanted in a seed."""

    demands: Mapping[str, Sequence[str]]
    """The kinds and types of it that are needed there, and who needs each."""
    policy: Policy | None
    """If it alone is enough."""
    is_in_use: bool
    """True if objects of it exist in the seed."""

    def __bool__(self) -> bool:
        return bool(self.demands or self.policy or self.is_in_use)

    @property
    def reason(self) -> str:
        """The first of them, for actions."""
        if self.demands:
            return "type-is-wanted"
        return "extension-objects-exist" if self.policy is None else f"policy-{self.policy}"

    def sentences(self) -> Iterator[str]:
        """Each of them, for people."""
        wanted_by = defaultdict[str, list[str]](list)
        for id_, wanting in sorted(self.demands.items()):
            wanted_by[_some(wanting)].append(id_)
        for who, ids in wanted_by.items():
            yield f"{', '.join(ids)} {'is' if len(ids) == 1 else 'are'} wanted by {who}"
        if self.policy is not None:
            yield f"its policy is {self.policy}"
        if self.is_in_use:
            yield "extension objects of it exist in the seed"


@dataclass(frozen=True, slots=True)
class InstallationPlan:
    """What is to be done about the installations of one seed."""

    actions: tuple[Action, ...] = ()
    failures: tuple[Failure, ...] = ()
    events: tuple[Event, ...] = ()
    demands: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Each kind and type that the seed needs, and who needs it."""
    wanted: Mapping[str, Grounds] = field(default_factory=dict)
    """Each registration that is to be installed, and why."""


def plan_installations(inputs: SeedInputs, config: PlanningConfig) -> InstallationPlan:
    """What is to be created, changed and deleted for a seed, in order of the registrations; deletions come last."""
    try:
        return _Planning(inputs, config).plan()
    except UnreadableError as error:
        return InstallationPlan(failures=(Failure(SEEDS, key_of(inputs.seed), error.problem),))


class _Planning:
    """The planning for one seed, and what is found wrong on the way."""

    def __init__(self, inputs: SeedInputs, config: PlanningConfig) -> None:
        self.inputs = inputs
        self.config = config
        self.key = key_of(inputs.seed)
        self.failures: list[Failure] = []
        self.events: list[Event] = []
        self.deployments = {key_of(each).name: each for each in inputs.deployments}
        self.seed_hash = seed_spec_hash(inputs.seed)
        self.manifests = {key_of(each).name: each for each in inputs.registrations}
        self.registrations = {
            each.name: each for each in self._each(Registration.of, CONTROLLER_REGISTRATIONS, inputs.registrations)
        }
        self.installations: defaultdict[str, list[Installation]] = defaultdict(list)
        own = [each for each in inputs.installations if self.key in INSTALLATIONS_BY_SEED.values(each)]
        for each in self._each(Installation.of, CONTROLLER_INSTALLATIONS, own):
            self.installations[each.registration].append(each)

    def plan(self) -> InstallationPlan:
        """Everything, unless it is not even known what to install."""
        if self.config.require_garden_secrets and not self.inputs.domain_secrets:
            self._fail(f'garden secrets for seed "{self.key.name}" have not been synchronized yet')
            return self._end()
        if strangers := self._strangers():
            self.failures += strangers
            return self._end()
        demands = self._demands()
        needed = {name: grounds for name, grounds in self._grounds(demands).items() if grounds}
        wanted = {name: grounds for name, grounds in needed.items() if self._is_selected(self.registrations[name])}
        actions = [action for name, grounds in wanted.items() for action in self._installed(name, grounds.reason)]
        if not self.failures:
            actions += self._deletions(wanted, needed)
        return self._end(actions, demands, wanted)

    def _end(
        self,
        actions: Sequence[Action] = (),
        demands: Mapping[str, Sequence[str]] = {},
        wanted: Mapping[str, Grounds] = {},
    ) -> InstallationPlan:
        return InstallationPlan(tuple(actions), tuple(self.failures), tuple(self.events), demands, wanted)

    def _each(self, read: Callable[[Manifest], T], resource: Resource, manifests: Iterable[Manifest]) -> Iterator[T]:
        for manifest in sorted(manifests, key=key_of):
            try:
                yield read(manifest)
            except UnreadableError as error:
                self.failures.append(Failure(resource, key_of(manifest), error.problem))

    def _fail(self, text: str, resource: Resource = SEEDS, name: str = "") -> None:
        self.failures.append(retryable_failure(resource, ObjectKey("", name or self.key.name), text))

    def _warn(self, reason: str, note: str) -> None:
        uid = uid_of(self.inputs.seed)
        self.events.append(Event(SEEDS, self.key, uid, "Warning", reason, note, Cluster.SOURCE))

    def _strangers(self) -> list[Failure]:
        """Installations of registrations that do not exist: then not all of the garden may be known."""
        return [
            Failure(
                CONTROLLER_INSTALLATIONS,
                ObjectKey("", installation.name),
                Problem("spec.registrationRef.name", f'ControllerRegistration "{name}" does not exist'),
            )
            for name in sorted(self.installations.keys() - self.manifests)
            for installation in self.installations[name]
        ]

    def _demands(self) -> dict[str, list[str]]:
        """What the seed needs, and who needs it."""
        inputs, demands = self.inputs, defaultdict[str, list[str]](list)
        domains, incomplete = Domains.of(inputs.domain_secrets)
        if incomplete:
            self._warn("DomainSecretIncomplete", f"provider or domain is not annotated at Secret {_some(incomplete)}")
        buckets = dict(self._each(_name_and_provider, BACKUP_BUCKETS, inputs.backup_buckets))
        for name, provider in buckets.items():
            demands[type_id(BACKUP_BUCKET, provider)].append(f"BackupBucket {name}")
        astray = []
        for name, bucket in self._each(_name_and_bucket, BACKUP_ENTRIES, inputs.backup_entries):
            if bucket in buckets:
                demands[type_id(BACKUP_ENTRY, buckets[bucket])].append(f"BackupEntry {name}")
            else:
                astray.append(name)
        if astray:
            self._warn("BackupBucketMissing", f"the seed has no BackupBucket of BackupEntry {_some(astray)}")
        ids_of = ids_of_shoots(inputs.seed, self.registrations.values(), domains)
        for key, ids in self._each(lambda shoot: (key_of(shoot), ids_of(shoot)), SHOOTS, inputs.shoots):
            wanting = f"shoot {key}"
            for id_ in ids:
                demands[id_].append(wanting)
        if self.config.seed_provider_extensions:
            for id_ in ids_of_seed(inputs.seed):
                demands[id_].append(THE_SEED)
        return dict(demands)

    def _grounds(self, demands: Mapping[str, Sequence[str]]) -> dict[str, Grounds]:
        """Why each registration is wanted, if it is."""
        offering = defaultdict[str, list[Registration]](list)
        for registration in self.registrations.values():
            for id_ in registration.ids:
                offering[id_].append(registration)
        self._check_offers(demands, offering)
        return {
            name: Grounds(
                {id_: demands[id_] for id_ in registration.ids if id_ in demands},
                self._sufficient_policy(registration),
                any(each.status_of(REQUIRED) == ConditionStatus.TRUE for each in self.installations.get(name, ())),
            )
            for name, registration in self.registrations.items()
        }

    def _check_offers(
        self, demands: Mapping[str, Sequence[str]], offering: Mapping[str, Sequence[Registration]]
    ) -> None:
        """Every type that is needed has to be offered, and by one primary controller; the Seed itself can wait."""
        missing, secondary, several = [], [], []
        for id_ in sorted(demands):
            primary = [
                each for each in offering.get(id_, ()) if any(one.id == id_ and one.primary for one in each.served)
            ]
            if id_ not in offering:
                missing.append(id_)
            elif not primary:
                secondary.append(id_)
            elif len(primary) > 1:
                several.append(id_)
        for_seed = [id_ for id_ in missing if [*demands[id_]] == [THE_SEED]]
        for id_ in missing:
            if id_ not in for_seed:
                self._fail(
                    f'need to install an extension controller for "{id_}" but no appropriate ControllerRegistration '
                    f"found: it is wanted by {_some(demands[id_])}"
                )
        for reason, problem, ids in (
            ("ExtensionNotRegistered", "the Seed needs, but no ControllerRegistration offers", for_seed),
            ("NoPrimaryController", "no ControllerRegistration controls primarily", secondary),
            ("SeveralPrimaryControllers", "several ControllerRegistrations control primarily", several),
        ):
            if ids:
                self._warn(reason, f"{problem} {', '.join(ids)}")

    def _sufficient_policy(self, registration: Registration) -> Policy | None:
        if registration.is_terminating:
            return None
        if registration.policy == Policy.ALWAYS and not is_terminating(self.inputs.seed):
            return Policy.ALWAYS
        if registration.policy == Policy.ALWAYS_EXCEPT_NO_SHOOTS and self.inputs.shoots:
            return Policy.ALWAYS_EXCEPT_NO_SHOOTS
        return None

    def _is_selected(self, registration: Registration) -> bool:
        selector = object_at(registration.spec, "deployment").get("seedSelector")
        if selector is None:
            return True
        parsed = parse_label_selector(selector, "spec.deployment.seedSelector")
        if isinstance(parsed, result.Failure):
            key = ObjectKey("", registration.name)
            self.failures += (Failure(CONTROLLER_REGISTRATIONS, key, problem) for problem in parsed.failure())
            return False
        return parsed.unwrap().matches(labels_of(self.inputs.seed))

    def _installed(self, name: str, reason: str) -> Iterator[Action]:
        """What makes the installation of a wanted registration what it is to be; one in deletion is left to people.

        What is wrong with a registration that nobody has validated keeps it from being installed.
        """
        registration = self.registrations[name]
        if registration.is_terminating:
            return
        if problems := problems_of(CONTROLLER_REGISTRATIONS.kind, self.manifests[name]):
            key = ObjectKey("", name)
            self.failures += (Failure(CONTROLLER_REGISTRATIONS, key, problem) for problem in problems)
            return
        deployment = None
        if registration.deployment_refs:
            referred = registration.deployment_refs[0]
            deployment = self.deployments.get(referred)
            if deployment is None:
                problem = f'the referenced ControllerDeployment "{referred}" does not exist'
                self._fail(f"cannot deploy ControllerInstallation because {problem}", CONTROLLER_REGISTRATIONS, name)
                return
        content = Content.of(self.inputs.seed, self.seed_hash, registration, deployment)
        existing = self.installations.get(name, [])
        current = [each for each in existing if not each.is_terminating]
        if len(current) > 1:
            self._warn("SeveralInstallations", f"{name} is installed as {_some([each.name for each in current])}")
        if current:
            oldest = min(
                current, key=lambda each: (text_at(each.manifest, "metadata", "creationTimestamp") or "", each.name)
            )
            yield from update(content, oldest)
        elif existing:
            problem = "because the deletion of the old ControllerInstallation is still pending"
            self._fail(
                f'cannot deploy new ControllerInstallation for "{name}" {problem}', CONTROLLER_REGISTRATIONS, name
            )
        else:
            taken = {key_of(each).name for each in self.inputs.installations}
            yield creation(content, reason, taken)

    def _deletions(self, wanted: Collection[str], needed: Collection[str]) -> Iterator[Action]:
        for name in sorted({*self.installations} - {*wanted}):
            is_going = self.registrations[name].is_terminating
            reason = "seed-not-selected" if name in needed else "registration-deleted" if is_going else "not-wanted"
            for installation in self.installations[name]:
                if not installation.is_terminating:
                    key, uid = ObjectKey("", installation.name), uid_of(installation.manifest)
                    version = installation.resource_version or None
                    yield Delete(CONTROLLER_INSTALLATIONS, key, reason, uid, version, cluster=Cluster.SOURCE)


def _name_and_provider(bucket: Manifest) -> tuple[str, str]:
    return key_of(bucket).name, text_at(bucket, "spec", "provider", "type") or ""


def _name_and_bucket(entry: Manifest) -> tuple[str, str]:
    return str(key_of(entry)), text_at(entry, "spec", "bucketName") or ""


def _some(names: Sequence[str]) -> str:
    """The first of some names, and how many others there are."""
    first, more = min(names), len(names) - 1
    return f"{first} and {more} more" if more else first
