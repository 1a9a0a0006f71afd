"""The controller that decides which extensions are installed into a seed.

It decides from its caches first. A decision that deletes reads what may have changed since, and is made again; so does
the first one for a Seed that creates.

Source: controller-registration §4.1, §4.2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from hedgerow.api.definition_deletion import kept, lost_definition, reads_definitions
from hedgerow.api.gardener import ROLE, SHOOTS
from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.registrations import (
    BACKUP_BUCKETS,
    BACKUP_ENTRIES,
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    REQUIRED,
    SEEDS,
)
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.conditions import ConditionStatus, condition_status
from hedgerow.machinery.controller import Change, Context, Controller, Watch, creation_deletion_or, own_key
from hedgerow.machinery.failures import retryable_failure
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of, is_terminating, key_of, labels_of, uid_of
from hedgerow.machinery.plan import Create, Delete, Plan, failed
from hedgerow.machinery.questions import ListQuestion, NotAnswered
from hedgerow.machinery.reading import UnreadableError, keeping
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import AtOnce
from hedgerow.registration.garden import (
    BUCKETS_BY_SEED,
    ENTRIES_BY_SEED,
    INSTALLATIONS_BY_SEED,
    REGISTRATIONS_BY_DEPLOYMENT,
    SHOOTS_BY_SEED,
    garden_watch,
    named_by,
    transform_installation,
)
from hedgerow.registration.planning import PlanningConfig, SeedInputs, plan_installations
from hedgerow.registration.wanted import DEFAULT_DOMAIN, DOMAIN_ANNOTATIONS, INTERNAL_DOMAIN, OWN_NEEDS, own_needs

_NAMESPACE: Final = "seed-"
"""Prefix of the namespace of a Seed in the garden."""
_IDENTITY: Final = ("metadata.name", "metadata.namespace", "metadata.uid")
_kept_of_shoot: Final = keeping(
    *_IDENTITY,
    "spec.seedName",
    "spec.provider.type",
    "spec.provider.workers.machine.image.name",
    "spec.provider.workers.cri.containerRuntimes.type",
    "spec.networking.type",
    *(f"spec.extensions.{name}" for name in ("type", "disabled", "enabled")),
    "spec.dns.domain",
    *(f"spec.dns.providers.{name}" for name in ("type", "primary")),
    "status.seedName",
)
_kept_of_entry: Final = keeping(*_IDENTITY, "spec.seedName", "spec.bucketName")


def transform_shoot(shoot: Manifest) -> Manifest:
    """What a Shoot needs, as far as it says that itself; decisions say what cannot be read."""
    kept = _kept_of_shoot(shoot)
    try:
        return {**kept, OWN_NEEDS: own_needs(kept)}
    except UnreadableError:
        return kept


_READ_LIVE: Final = {
    "installations": (INSTALLATIONS_BY_SEED, transform_installation),
    "shoots": (SHOOTS_BY_SEED, transform_shoot),
    "backup_entries": (ENTRIES_BY_SEED, _kept_of_entry),
}
"""What decisions look up anew: the indexes and transforms of their inputs."""
_DECISIVE: Final = (
    *(CONTROLLER_REGISTRATIONS, CONTROLLER_INSTALLATIONS, SEEDS),
    *(BACKUP_BUCKETS, BACKUP_ENTRIES, SHOOTS),
)
"""The resources without whose objects installations are deleted."""
WAIT: Final = 30.0
"""Seconds until a deletion is decided about again that waits for a definition."""


def seed_controller(config: PlanningConfig, concurrency: int = 5) -> Controller[PlanningConfig]:
    """The controller for a configuration."""
    garden = Cluster.SOURCE
    content_changed = creation_deletion_or(lambda old, new: is_terminating(new) or _content(old) != _content(new))
    domains = f"{ROLE} in ({DEFAULT_DOMAIN},{INTERNAL_DOMAIN})"
    return Controller(
        name="controllerregistration-seed",
        primary=SEEDS,
        primary_cluster=garden,
        watches=(
            garden_watch(SEEDS, own_key, content_changed, is_desired_state=True),
            garden_watch(CONTROLLER_REGISTRATIONS, _all_seeds, _exists),
            garden_watch(CONTROLLER_DEPLOYMENTS, _seeds_of_deployment, _exists),
            garden_watch(
                CONTROLLER_INSTALLATIONS,
                named_by(INSTALLATIONS_BY_SEED),
                creation_deletion_or(lambda old, new: _is_required(old) is not _is_required(new)),
            ),
            *(
                Watch(index.resource, transform, named_by(index), content_changed, cluster=garden)
                for index, transform in (
                    (BUCKETS_BY_SEED, keeping(*_IDENTITY, "spec.seedName", "spec.provider.type")),
                    (ENTRIES_BY_SEED, _kept_of_entry),
                    (SHOOTS_BY_SEED, transform_shoot),
                )
            ),
            Watch(
                SECRETS,
                keeping(*_IDENTITY, labels=(ROLE,), annotations=DOMAIN_ANNOTATIONS),
                _seed_of_secret,
                metadata_only=True,
                label_selector=domains,
                cluster=garden,
            ),
        ),
        indexes=(INSTALLATIONS_BY_SEED, BUCKETS_BY_SEED, ENTRIES_BY_SEED, SHOOTS_BY_SEED, REGISTRATIONS_BY_DEPLOYMENT),
        owned=INSTALLATIONS_BY_SEED,
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        permissions=(
            Permission.of(CONTROLLER_INSTALLATIONS, "create", "patch", "delete", cluster=garden),
            reads_definitions(*_DECISIVE, cluster=garden),
        ),
    )


def _all_seeds(_manifest: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
    return [key_of(seed) for seed in snapshot.list(SEEDS, cluster=Cluster.SOURCE)]


def _seeds_of_deployment(deployment: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
    """All, as any of them may need a registration that refers to the deployment."""
    is_used = snapshot.by_index(REGISTRATIONS_BY_DEPLOYMENT, key_of(deployment))
    return _all_seeds(deployment, snapshot) if is_used else []


def _seed_of_secret(secret: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    prefix, _, name = key_of(secret).namespace.partition(_NAMESPACE)
    return () if prefix else (ObjectKey("", name),)


def _exists(change: Change) -> bool:
    return change.new is not None


def _is_required(installation: Manifest) -> bool:
    return condition_status(installation, REQUIRED) == ConditionStatus.TRUE


def _content(manifest: Manifest) -> Any:
    """What of an object decides; the version and the time of a write do not."""
    metadata = {"labels": labels_of(manifest), "annotations": annotations_of(manifest)}
    return _stated({**metadata, "spec": manifest.get("spec"), "status": manifest.get("status")})


def _stated(value: Any) -> Any:
    """A value without members that are empty, which mean the same as absent ones."""
    if isinstance(value, (dict, Mapping)):
        members = {name: _stated(member) for name, member in value.items()}
        return {name: member for name, member in members.items() if member not in (None, {}, [])}
    return [_stated(item) for item in value] if isinstance(value, list) else value


def _question(name: str, key: ObjectKey) -> ListQuestion:
    """The live read of an input, of which only that is held in memory which the decision about a Seed reads."""
    index, transform = _READ_LIVE[name]

    def keep(manifest: Manifest) -> Manifest | None:
        # The names of those of other seeds are taken.
        is_read = index is INSTALLATIONS_BY_SEED or key in index.values(manifest)
        return transform(manifest) if is_read else None

    return ListQuestion(index.resource, Cluster.SOURCE, keep=keep)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a process has read live of the installations of a Seed."""

    uids: frozenset[str | None]
    """Those that were there; empty once the caches have shown all of them."""


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[PlanningConfig]) -> Plan:
    """Bring the installations of one Seed to what it needs.

    Two decisions soon after one another must not create two installations: both give the one that they create the same
    name, so that the API server refuses the second. Another program's names differ, and caches may not show yet what
    it has created before this process leads: until they have shown all that a live read found, whoever creates reads
    live. A Shoot that the caches do not show yet must not lose its extensions: whoever deletes has read live all that
    may need them.
    """
    live: dict[str, Any] = {}
    while (seed := snapshot.get(SEEDS, key, Cluster.SOURCE)) is not None:
        inputs = seed_inputs(seed, snapshot)
        seen = _seen(key, inputs, live.get("installations"), context.state)
        planned = plan_installations(replace(inputs, **live), context.config)
        plan = Plan(planned.actions, planned.events, planned.failures, state=seen)
        names: tuple[str, ...] = ()
        if plan.deletions:
            names = tuple(_READ_LIVE)
        elif any(isinstance(action, Create) for action in plan.actions) and (seen is None or seen.uids):
            names = ("installations",)
        questions = {name: _question(name, key) for name in names if name not in live}
        if not questions:
            return await _without_lost_definitions(seed, plan, live) if plan.deletions else plan
        answers = await AtOnce(tuple(questions.values()))
        for (name, question), answer in zip(questions.items(), answers, strict=True):
            if isinstance(answer, NotAnswered):
                return failed(retryable_failure(question.resource, ObjectKey("", ""), answer.message))
            live[name] = list(filter(None, map(question.keep, answer.objects)))
    return Plan()


def _seen(key: ObjectKey, inputs: SeedInputs, live: Sequence[Manifest] | None, before: Seen | None) -> Seen | None:
    """What has been read live by now; none: nothing yet."""
    if before is not None and before.uids <= {uid_of(each) for each in inputs.installations}:
        return Seen(frozenset())
    if live is None:
        return before
    return Seen(frozenset(uid_of(each) for each in live if key in INSTALLATIONS_BY_SEED.values(each)))


async def _without_lost_definitions(seed: Manifest, plan: Plan, live: Mapping[str, Sequence[Manifest]]) -> Plan:
    """The plan; without its deletions while a definition is lost of what may need an installation."""
    deleted = {action.key for action in plan.actions if isinstance(action, Delete)}
    unwanted = [each for each in live["installations"] if key_of(each) in deleted]
    lost = await lost_definition(_DECISIVE, Cluster.SOURCE, unwanted=unwanted)
    if lost is None:
        return plan
    others = tuple(action for action in plan.actions if not isinstance(action, Delete))
    if isinstance(lost, NotAnswered):
        text = f"could not read whether definitions are being deleted, so nothing is uninstalled: {lost.message}"
        failure = retryable_failure(SEEDS, key_of(seed), text)
        return replace(plan, actions=others, failures=(*plan.failures, failure))
    event = kept(SEEDS, seed, "nothing is uninstalled", Cluster.SOURCE, lost=lost)
    return replace(plan, actions=others, events=(*plan.events, event), requeue_after=WAIT)


def seed_inputs(seed: Manifest, snapshot: Snapshot) -> SeedInputs:
    """What the caches show of a Seed and its garden."""
    key, garden = key_of(seed), Cluster.SOURCE
    return SeedInputs(
        seed=seed,
        registrations=snapshot.list(CONTROLLER_REGISTRATIONS, cluster=garden),
        deployments=snapshot.list(CONTROLLER_DEPLOYMENTS, cluster=garden),
        installations=snapshot.by_index(INSTALLATIONS_BY_SEED, key),
        is_taken=lambda name: snapshot.get(CONTROLLER_INSTALLATIONS, ObjectKey("", name), garden) is not None,
        backup_buckets=snapshot.by_index(BUCKETS_BY_SEED, key),
        backup_entries=snapshot.by_index(ENTRIES_BY_SEED, key),
        shoots=snapshot.by_index(SHOOTS_BY_SEED, key),
        domain_secrets=snapshot.list(SECRETS, namespace=f"{_NAMESPACE}{key.name}", cluster=garden),
    )
