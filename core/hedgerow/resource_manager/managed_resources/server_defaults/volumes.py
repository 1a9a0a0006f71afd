"""How an API server stores volumes, their claims, and what provides them.

Source: Kubernetes API, Volume, PersistentVolume, PersistentVolumeClaim and group storage.k8s.io, version 1.36.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.resource_manager.managed_resources.server_defaults.rules import Stored

FILE_MODE: Final = 0o644
"""Who may read the files that are made of what the cluster knows."""

RESOURCES: Final = Stored(quantities=frozenset({"requests", "limits"}))
"""What somebody asks for and may use."""

_PLAIN: Final = frozenset({"readOnly", "fsType", "partition"})


def _device(omitted: frozenset[str] = frozenset(), **defaults: Any) -> Stored:
    return Stored(defaults, omitted=_PLAIN | omitted | frozenset(defaults))


DEVICES: Final[Mapping[str, Stored]] = {
    "awsElasticBlockStore": _device(),
    "azureDisk": Stored({"cachingMode": "ReadWrite", "fsType": "ext4", "kind": "Shared", "readOnly": False}),
    "azureFile": _device(),
    "cephfs": _device(frozenset({"path", "secretFile", "user"})),
    "cinder": _device(),
    "fc": _device(),
    "flexVolume": _device(),
    "flocker": _device(frozenset({"datasetName", "datasetUUID"})),
    "gcePersistentDisk": _device(),
    "glusterfs": _device(),
    "hostPath": Stored({"type": ""}),
    "iscsi": _device(frozenset({"chapAuthDiscovery", "chapAuthSession"}), iscsiInterface="default"),
    "nfs": _device(),
    "portworxVolume": _device(),
    "quobyte": _device(frozenset({"group", "tenant", "user"})),
    "rbd": _device(pool="rbd", user="admin", keyring="/etc/ceph/keyring"),
    "scaleIO": _device(storageMode="ThinProvisioned", fsType="xfs"),
    "storageos": _device(),
    "vsphereVolume": _device(frozenset({"storagePolicyID", "storagePolicyName"})),
}
"""Where the data of a volume is, in the words that pods and PersistentVolumes share."""

CLAIM: Final = Stored({"volumeMode": "Filesystem"}, members={"resources": RESOURCES}, omitted=frozenset({"volumeName"}))
"""The specification of a PersistentVolumeClaim."""

PERSISTENT_VOLUME: Final = Stored(
    members={
        "spec": Stored(
            {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"},
            omitted=frozenset({"persistentVolumeReclaimPolicy", "storageClassName"}),
            assigned=frozenset({"claimRef"}),
            quantities=frozenset({"capacity"}),
            members={**DEVICES, "csi": _device()},
        )
    }
)

PERSISTENT_VOLUME_CLAIM: Final = Stored(
    members={
        "spec": Stored(
            CLAIM.defaults,
            omitted=CLAIM.omitted,
            assigned=frozenset({"storageClassName", "volumeName"}),
            members=CLAIM.members,
        )
    }
)

STORAGE_CLASS: Final = Stored({"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"})

CSI_DRIVER: Final = Stored(
    members={
        "spec": Stored(
            {
                "attachRequired": True,
                "fsGroupPolicy": "ReadWriteOnceWithFSType",
                "podInfoOnMount": False,
                "requiresRepublish": False,
                "seLinuxMount": False,
                "storageCapacity": False,
                "volumeLifecycleModes": ["Persistent"],
            },
            omitted=frozenset({"volumeLifecycleModes"}),
        )
    }
)

CSI_STORAGE_CAPACITY: Final = Stored(quantities=frozenset({"capacity", "maximumVolumeSize"}))
