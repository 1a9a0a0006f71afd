"""The objects by which Gardener installs an extension."""

import pytest

from hedgerow.extensions.controller_registration import DeploymentVersion, controller_registration
from hedgerow.registration.validation import problems_of


@pytest.mark.parametrize(
    ("version", "content"),
    [
        (DeploymentVersion.V1, {"helm": {"rawChart": "Y2hhcnQ=", "values": {"a": 1}}}),
        (DeploymentVersion.V1BETA1, {"type": "helm", "providerConfig": {"chart": "Y2hhcnQ=", "values": {"a": 1}}}),
    ],
)
def test_a_deployment_holds_chart_and_values(version: DeploymentVersion, content: object) -> None:
    deployment, _ = controller_registration("shoot-x", b"chart", {"a": 1}, version)

    head = {"apiVersion": f"core.gardener.cloud/{version}", "kind": "ControllerDeployment"}
    assert deployment == {**head, "metadata": {"name": "shoot-x"}, **content}  # type: ignore[dict-item]


def test_a_registration_refers_to_its_deployment_and_leaves_the_lifecycle_to_defaults() -> None:
    deployment, registration = controller_registration("shoot-x", b"", {}, DeploymentVersion.V1BETA1)

    assert registration["spec"]["deployment"] == {"deploymentRefs": [{"name": deployment["metadata"]["name"]}]}
    (resource,) = registration["spec"]["resources"]
    assert (resource["kind"], resource["type"], resource["globallyEnabled"]) == ("Extension", "shoot-x", False)
    assert "lifecycle" not in resource
    assert [problem for each in (deployment, registration) for problem in problems_of(each["kind"], each)] == []
