"""What decisions read of Clusters and Extensions: the same for all, so that controller and webhook share the caches."""

from typing import Final

from hedgerow.api.gardener import FORCE_DELETION
from hedgerow.extensions import operations
from hedgerow.machinery.objects import Manifest, annotations_of, key_of
from hedgerow.machinery.reading import object_at
from hedgerow.rsyslog_relp.naming import TYPE

transform_extension: Final = operations.transform_extension(TYPE)


def transform_cluster(cluster: Manifest) -> Manifest:
    """What decisions read of a Cluster.

    Its name, and of its Shoot identity, deletion, resources, hibernation and the last operation.
    """
    shoot = object_at(cluster, "spec", "shoot")
    metadata, spec, status = (object_at(shoot, name) for name in ("metadata", "spec", "status"))
    reduced = {
        "metadata": {
            **{name: metadata.get(name) for name in ("name", "uid", "deletionTimestamp")},
            "annotations": {FORCE_DELETION: annotations_of(shoot).get(FORCE_DELETION, "")},
        },
        "spec": {name: spec.get(name) for name in ("resources", "hibernation")},
        "status": {name: status.get(name) for name in ("hibernated", "lastOperation")},
    }
    return {"metadata": {"name": key_of(cluster).name}, "spec": {"shoot": reduced} if shoot else {}}
