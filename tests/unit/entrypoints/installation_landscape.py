"""Everything that a ControllerInstallation is rendered from."""

import base64
from collections.abc import Mapping
from typing import Any

import yaml

from tests.unit.adapters.charts.archived import chart

UID = "11111111-1111-1111-1111-111111111111"
PASSWORD = "hunter2"  # noqa: S105 -- a sample


def landscape(foo: str = "bar", password: str = PASSWORD, **seeds: str) -> str:
    """All that an installation is rendered from."""
    archived = base64.b64encode(chart({})).decode()
    config = {"chart": archived, "values": {"foo": foo, "password": password}}
    seed = {"spec": {"provider": {"type": "aws", "region": "eu-west-1", "zones": ["a"]}}}

    def core(kind: str, name: str, **fields: Any) -> Mapping[str, Any]:
        return {"apiVersion": "core.gardener.cloud/v1beta1", "kind": kind, "metadata": {"name": name}, **fields}

    return yaml.safe_dump_all(
        [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "garden", "uid": UID}},
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "cluster-identity", "namespace": "kube-system"},
                "data": {"cluster-identity": "the-garden"},
            },
            *(core("Seed", name, **seed, status={"clusterIdentity": name}) for name in ("aws-eu1", *seeds)),
            core("ControllerRegistration", "os", spec={"deployment": {"type": "helm", "providerConfig": config}}),
            core(
                "ControllerInstallation",
                "os-abcde",
                spec={"registrationRef": {"name": "os"}, "seedRef": {"name": "aws-eu1"}},
            ),
        ]
    )
