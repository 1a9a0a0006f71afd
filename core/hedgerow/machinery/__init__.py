"""What all controllers are made of. These names are what tool builders import, and follow semantic versioning.

A `Controller` declares what it watches, and how it reconciles a key: its function looks into a `Snapshot` and returns a
`Plan` of actions. A decision that has to ask, or to see the result of a write, awaits a `Step`; an `Execution` runs it.
`plans` decides about every key of a snapshot, and `snapshot_of` makes one of manifests. Nothing here touches the world.
"""

from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import (
    Change,
    Context,
    Controller,
    Watch,
    creation_deletion_or,
    no_key,
    own_key,
    plans,
)
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.manifests import snapshot_of
from hedgerow.machinery.objects import (
    Kind,
    Manifest,
    ObjectKey,
    Resource,
    is_terminating,
    key_of,
    labels_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.plan import (
    ApiError,
    Create,
    Delete,
    Event,
    InOrder,
    JsonPatch,
    MergePatch,
    Plan,
    Update,
    WriteResult,
)
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.machinery.steps import AtOnce, Execution, Now, Step

__all__ = [
    "ApiError",
    "AtOnce",
    "Change",
    "Cluster",
    "Context",
    "Controller",
    "Create",
    "Delete",
    "Event",
    "Execution",
    "Failure",
    "Found",
    "InOrder",
    "Index",
    "JsonPatch",
    "Kind",
    "LabelSelector",
    "ListQuestion",
    "Manifest",
    "MergePatch",
    "NotAnswered",
    "Now",
    "ObjectKey",
    "ObjectQuestion",
    "Permission",
    "Plan",
    "Problem",
    "Resource",
    "Snapshot",
    "Step",
    "Update",
    "Watch",
    "WriteResult",
    "creation_deletion_or",
    "is_terminating",
    "key_of",
    "labels_of",
    "no_key",
    "own_key",
    "plans",
    "resource_version_of",
    "snapshot_of",
    "uid_of",
]
