"""Which requests each validating webhook is called for.

Source: webhooks-and-tokens §1.2, §4.2.
"""

from typing import Final

from hedgerow.admission.config import AdmissionConfig
from hedgerow.admission.extension_validation import KINDS
from hedgerow.admission.registration.entry import EVERYTHING, RegisteredWebhook
from hedgerow.admission.registration.registered import Rule
from hedgerow.admission.request import CREATE, DELETE, UPDATE
from hedgerow.machinery.objects import Resource
from hedgerow.machinery.selectors import LabelSelector

DELETED: Final = (DELETE,)
WRITTEN: Final = (CREATE, UPDATE)
V1ALPHA1: Final = ("v1alpha1",)
VALIDATED: Final = tuple(kind.resource for kind in KINDS.values())
PROTECTED: Final = ("gardener.cloud/deletion-protected", "true")
CRD_DELETION: Final = "/webhooks/validate-crd-deletion"


def _of_group(group: str) -> Rule:
    """The deletion of objects of any kind of a group that has rules of its own."""
    return Rule(DELETED, (group,), V1ALPHA1, tuple(each.plural for each in VALIDATED if each.group == group))


CRD_DELETION_PROTECTION: Final = RegisteredWebhook(
    "crd-deletion-protection",
    CRD_DELETION,
    (Rule(DELETED, ("apiextensions.k8s.io",), ("v1beta1", "v1"), ("customresourcedefinitions",)),),
    EVERYTHING,
    LabelSelector((PROTECTED,)),
)
CR_DELETION_PROTECTION: Final = RegisteredWebhook(
    "cr-deletion-protection",
    CRD_DELETION,
    tuple(_of_group(group) for group in sorted({resource.group for resource in VALIDATED})),
    EVERYTHING,
)


def _extension_validation(resource: Resource) -> RegisteredWebhook:
    group, version, plural, kind, _ = resource
    return RegisteredWebhook(
        f"validation.extensions.{plural}",
        f"/validate-{group.replace('.', '-')}-{version}-{kind.lower()}",
        (Rule(WRITTEN, (group,), (version,), (plural,)),),
        EVERYTHING,
    )


EXTENSION_VALIDATION: Final = tuple(map(_extension_validation, VALIDATED))


def validating_webhooks(config: AdmissionConfig) -> tuple[RegisteredWebhook, ...]:
    """The entries of all webhooks that are enabled."""
    return (
        *((CRD_DELETION_PROTECTION, CR_DELETION_PROTECTION) if config.crd_deletion_protection else ()),
        *(EXTENSION_VALIDATION if config.extension_validation else ()),
    )
