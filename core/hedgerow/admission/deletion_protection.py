"""Whether a CustomResourceDefinition or an extension object may be deleted: only if an annotation confirms it.

Source: webhooks-and-tokens §8, helper for embedders included.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from hedgerow.admission.extension_validation import KINDS
from hedgerow.admission.request import DELETE, AdmissionRequest
from hedgerow.admission.webhook import Allowed, Deciding, Decision, Denied, Webhook, forbidden, internal_error
from hedgerow.api.gardener import DELETION_CONFIRMATION, DELETION_PROTECTED, DELETION_TIMESTAMP
from hedgerow.api.kubernetes import CUSTOM_RESOURCE_DEFINITIONS
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.objects import Manifest, Resource, uid_of
from hedgerow.machinery.questions import Found, ListQuestion
from hedgerow.machinery.reading import UnreadableError, text_at
from hedgerow.machinery.scalars import format_nanoseconds, parse_bool

NAME: Final = "crd-deletion-protection"
NOT_CONFIRMED: Final = f'must have a "{DELETION_CONFIRMATION}" annotation to delete'
PROTECTED_DEFINITIONS: Final = (DELETION_PROTECTED, "true")
DEFINITIONS: Final = (CUSTOM_RESOURCE_DEFINITIONS, CUSTOM_RESOURCE_DEFINITIONS._replace(version="v1beta1"))
CUSTOM_RESOURCES: Final = tuple(kind.resource for name, kind in KINDS.items() if name != "Bastion")
"""Bastions are short-lived and have to stay deletable."""
_PROTECTED_RESOURCES: Final = {
    (each.group, each.version, each.plural): each for each in (*DEFINITIONS, *CUSTOM_RESOURCES)
}


def review(request: AdmissionRequest) -> Decision | Deciding:
    """Allow what deletes nothing protected, and confirmed deletions.

    The label of a single CustomResourceDefinition is not checked, because the registration selects by it; callers
    without a registration ask `is_protected_crd`. The deletion of a collection depends on all objects of the scope,
    whatever its own selector, so the review reads them.
    """
    if request.operation != DELETE:
        return Allowed(message="operation is not DELETE")
    resource = _PROTECTED_RESOURCES.get(request.resource)
    if resource is None:
        return Allowed(message="resource is not deletion-protected")
    if not request.name:
        return _of_collection(resource, request.namespace)
    # Some servers send the object to delete as the new one.
    return _confirmed((request.object if request.old_object is None else request.old_object,))


async def _of_collection(resource: Resource, namespace: str) -> Decision:
    """The decision from all objects of a Namespace, or all labelled CRDs.

    They are in the cluster of the process: only its API server calls this webhook.
    """
    selector = "=".join(PROTECTED_DEFINITIONS) if resource in DEFINITIONS else ""
    answer = await ListQuestion(resource, Cluster.SOURCE, namespace, label_selector=selector, metadata_only=True)
    if isinstance(answer, Found):
        return _confirmed(answer.objects)
    return Allowed(message="object was not found") if answer.is_not_found else internal_error(answer.message)


def _confirmed(manifests: Iterable[Any]) -> Allowed | Denied:
    """The denial of the first deletion that is not confirmed or cannot be read; allowed if there is none."""
    for manifest in manifests:
        if manifest is None:
            return internal_error("no object found in admission request")
        if not isinstance(manifest, Mapping):
            return internal_error("the object to delete is no JSON object")
        try:
            confirmation = text_at(manifest, "metadata", "annotations", DELETION_CONFIRMATION)
        except UnreadableError as error:
            return internal_error(str(error))
        if not parse_bool(confirmation or "").value_or(False):  # noqa: FBT003 -- the default
            return forbidden(NOT_CONFIRMED)
    return Allowed()


def is_protected_crd(labels: Mapping[str, str]) -> bool:
    """True if the labels of a CustomResourceDefinition protect it from deletion."""
    return labels.get(DELETION_PROTECTED) == "true"


def confirm_deletion(manifest: Manifest, now: datetime) -> dict[str, Any]:
    """The merge patch that confirms the deletion of an object, and of no later one with the same name.

    `now`, with a time zone, is noted beside it. The object's UID, if it has one, makes the patch fail for any other.
    """
    timestamp = format_nanoseconds(now)
    identity = {} if uid_of(manifest) is None else {"uid": uid_of(manifest)}
    return {"metadata": {**identity, "annotations": {DELETION_CONFIRMATION: "true", DELETION_TIMESTAMP: timestamp}}}


def webhook() -> Webhook:
    """The webhook. It uses no caches, which could be out of date."""
    protected = (CUSTOM_RESOURCE_DEFINITIONS, *CUSTOM_RESOURCES)
    return Webhook(
        NAME,
        "/webhooks/validate-crd-deletion",
        lambda request, _snapshot: review(request),
        permissions=tuple(Permission.of(each, "list", cluster=Cluster.SOURCE) for each in protected),
    )
