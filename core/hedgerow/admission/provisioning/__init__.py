"""Certificates that webhook servers make themselves: authorities, pairs, and the registrations that trust them.

All replicas of a process agree through one Secret. `material` reads and writes its content, `rotation` decides what is
due, `issuance` makes it, `agreement` stores it, `publication` brings it into use, and `controller` is what every
replica runs.
"""

from hedgerow.admission.provisioning.agreement import ProvisioningConfig
from hedgerow.admission.provisioning.controller import CONTROLLER, provisioning_controller
from hedgerow.admission.provisioning.issuance import Lifetimes
from hedgerow.admission.provisioning.permissions import REGISTRATIONS, provisioning_permissions
from hedgerow.admission.provisioning.registrations import MARK, server_names
from hedgerow.admission.provisioning.steps import (
    MakeKeys,
    NewKey,
    Replica,
    ReplicaQuestion,
    ReportRegistered,
    ReportTrust,
    Serve,
)

__all__ = [
    "CONTROLLER",
    "MARK",
    "REGISTRATIONS",
    "Lifetimes",
    "MakeKeys",
    "NewKey",
    "ProvisioningConfig",
    "Replica",
    "ReplicaQuestion",
    "ReportRegistered",
    "ReportTrust",
    "Serve",
    "provisioning_controller",
    "provisioning_permissions",
    "server_names",
]
