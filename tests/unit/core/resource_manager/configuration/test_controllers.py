"""What all controllers share, and sections that are spelled twice."""

from collections.abc import Callable

import pytest

from hedgerow.machinery.configuration.reading import ConfigurationErrors
from hedgerow.resource_manager.configuration import Decoded


def test_cluster_and_class_are_as_written(decoded: Callable[[str], Decoded]) -> None:
    configuration = decoded("controllers: {clusterID: seed-1, resourceClass: seed}").configuration

    assert (configuration.controllers.cluster_id, configuration.controllers.resource_class) == ("seed-1", "seed")


@pytest.mark.parametrize(
    ("fragment", "text"),
    [
        pytest.param(
            "controllers: {resourceClass: ''}",
            "controllers.resourceClass: Required value: must provide a resource class",
            id="CFG-19",
        ),
        pytest.param(
            "controllers: {managedResource: {}, managedResources: {}}",
            "controllers.managedResources: Forbidden: must not be set together with managedResource",
            id="managed resources",
        ),
        pytest.param(
            "controllers: {tokenInvalidator: {}, tokenValidator: {}}",
            "controllers.tokenValidator: Forbidden: must not be set together with tokenInvalidator",
            id="token invalidator",
        ),
        pytest.param(
            "webhooks: {tokenInvalidator: {}, tokenValidator: {}}",
            "webhooks.tokenValidator: Forbidden: must not be set together with tokenInvalidator",
            id="webhook of the token invalidator",
        ),
    ],
)
def test_an_empty_class_and_both_spellings_at_once_are_refused(
    fragment: str, text: str, refusal: Callable[[str], ConfigurationErrors]
) -> None:
    assert str(refusal(fragment)) == text
