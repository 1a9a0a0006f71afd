"""Takes an installation away from the seed: its ManagedResource, then its Namespace; then the installation may go.

Driven by the finalizer, not by how the installation is deployed by now.

Source: controller-registration §8.10.
"""

from typing import Final

from hedgerow.api.kubernetes import NAMESPACES, namespace_key
from hedgerow.api.managed_resources import DELETION_FAILED, DELETION_PENDING, MANAGED_RESOURCES
from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS, SEEDS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.objects import Manifest, ObjectKey, is_terminating, key_of, uid_of
from hedgerow.machinery.plan import ApiError, Delete, Plan
from hedgerow.machinery.questions import NotAnswered, ObjectQuestion
from hedgerow.registration.conclusion import Claim, Conclusion, problem, set_finalizers, unread
from hedgerow.registration.delivery import extension_namespace, managed_resource_key
from hedgerow.registration.installations import FINALIZER, Installation
from hedgerow.resource_manager.builder import deploying

WAIT: Final = 30.0
"""Seconds: nothing tells when objects in the seed are gone."""
_REASON: Final = "uninstalled"
_CONFLICT: Final = 409
_DONE: Final = Claim(ConditionStatus.FALSE, "DeletionSuccessful", "Deletion of old resources succeeded.")


async def uninstall(installation: Installation) -> Plan:
    """Delete what is in the seed, tell what is left there, and let the installation go once nothing is."""
    if FINALIZER not in installation.finalizers:
        return Plan()
    unfinished = await _unfinished(installation)
    plan = await (unfinished or Conclusion(installed=_DONE)).write(installation.manifest)
    return plan if unfinished or plan.failures else await _release(key_of(installation.manifest))


async def _unfinished(installation: Installation) -> Conclusion | None:
    """Why the installation cannot go yet; none: nothing of it is in the seed any more."""
    key = key_of(installation.manifest)
    seed = await ObjectQuestion(SEEDS, ObjectKey("", installation.seed), Cluster.SOURCE)
    if isinstance(seed, NotAnswered):
        return unread(key, SEEDS, seed)
    managed_resource = managed_resource_key(installation.name)
    subject = f'ManagedResource "{managed_resource.name}"'
    if error := await deploying.remove(managed_resource, _REASON, with_prefix=False):
        return _failed(key, f"{subject} and its secrets", error)
    left: Manifest | NotAnswered | ApiError | None = await deploying.look(MANAGED_RESOURCES, managed_resource)
    if left is None:
        namespace = namespace_key(extension_namespace(installation.name))
        subject = f'Namespace "{namespace.name}"'
        left = await _delete_namespace(namespace)
    if left is None:
        return None
    if isinstance(left, NotAnswered | ApiError):
        return _failed(key, subject, left.message)
    pending = Claim(ConditionStatus.FALSE, DELETION_PENDING, f"Deletion of {subject} is still pending.")
    return Conclusion(installed=pending, requeue_after=WAIT)


def _failed(key: ObjectKey, subject: str, error: str) -> Conclusion:
    claim = Claim(ConditionStatus.FALSE, DELETION_FAILED, f"Deletion of {subject} failed: {error}")
    return problem(key, claim.message, installed=claim)


async def _delete_namespace(key: ObjectKey) -> Manifest | NotAnswered | ApiError | None:
    """The Namespace that is going, or why it does not; none: it is gone."""
    namespace = await deploying.look(NAMESPACES, key)
    if namespace is None or isinstance(namespace, NotAnswered) or is_terminating(namespace):
        return namespace
    error = (await Delete(NAMESPACES, key, _REASON, uid_of(namespace))).error
    return namespace if error is None or error.code == _CONFLICT else error


async def _release(key: ObjectKey) -> Plan:
    """Take the finalizer off the installation as it is by now."""
    answer = await ObjectQuestion(CONTROLLER_INSTALLATIONS, key, Cluster.SOURCE)
    if isinstance(answer, NotAnswered):
        return Plan() if answer.is_not_found else problem(key, answer.message).plan
    installation = Installation.of(answer.objects[0])
    result = await set_finalizers(installation, [name for name in installation.finalizers if name != FINALIZER])
    return Plan() if result.error is None or result.error.is_not_found else problem(key, result.error.message).plan
