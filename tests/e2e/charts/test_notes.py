"""What Helm tells whoever has installed a release: what to wait for, and which registrations may block."""

from collections.abc import Sequence

import pytest

from hedgerow_entrypoints.components import RESOURCE_MANAGER, RSYSLOG_RELP, SEED_EXTENSIONS
from tests.control_plane import ControlPlane
from tests.e2e.charts.helm import CHART_FOLDERS, helm
from tests.golden.installation.table import AUTHORITY

CHOICE = "managedResources.clusterAdmin=true"
ENABLED = "config.webhooks.seccompProfile.enabled=true"
BY_FILES = "config.server.webhooks.tls.provision=files"
NO_AUTHORITY = "WARNING: webhooks.caBundle is empty."
TOO_EARLY = "WARNING: webhooks are registered already."
NOT_YET = "Webhooks are not registered yet."
IDLE_MOUNT = "WARNING: webhooks.certificateSecret does nothing with provision: self"
IDLE_ISSUER = "WARNING: webhooks.issuer does nothing with provision: self"


@pytest.mark.parametrize(
    ("component", "settings", "said"),
    [
        (SEED_EXTENSIONS, ["config.seedConfig.metadata.name=aws"], []),
        (RESOURCE_MANAGER, [CHOICE, BY_FILES], []),
        (RESOURCE_MANAGER, [CHOICE, ENABLED], []),
        (
            RESOURCE_MANAGER,
            [CHOICE, ENABLED, "webhooks.certificateSecret=x", "webhooks.issuer.name=x"],
            [IDLE_MOUNT, IDLE_ISSUER],
        ),
        (RESOURCE_MANAGER, [CHOICE, ENABLED, BY_FILES], [NO_AUTHORITY, TOO_EARLY]),
        (RESOURCE_MANAGER, [CHOICE, ENABLED, BY_FILES, f"webhooks.caBundle={AUTHORITY}"], [TOO_EARLY]),
        (RESOURCE_MANAGER, [CHOICE, ENABLED, BY_FILES, f"webhooks.caBundle={AUTHORITY}", "part=process"], [NOT_YET]),
        (RSYSLOG_RELP, [BY_FILES, "part=process"], [NO_AUTHORITY, NOT_YET]),
    ],
    ids=["none", "disabled", "self", "idle values", "no authority", "files", "process", "extension"],
)
def test_the_notes_tell_what_may_block(
    control_plane: ControlPlane, component: str, settings: Sequence[str], said: Sequence[str]
) -> None:
    options = ("--namespace", "default", "--dry-run=client", *(f"--set={each}" for each in settings))

    printed = helm("install", "new", str(CHART_FOLDERS / component), *options, kubeconfig=control_plane.kubeconfig())

    notes = printed.partition("NOTES:\n")[2]
    assert "kubectl --namespace default rollout status deployment" in notes
    assert [each for each in (IDLE_MOUNT, IDLE_ISSUER, NO_AUTHORITY, TOO_EARLY, NOT_YET) if each in notes] == said
