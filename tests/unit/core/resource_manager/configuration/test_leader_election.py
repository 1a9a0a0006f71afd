"""Which Lease is competed for."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from hedgerow.machinery.configuration.reading import ConfigurationErrors
from hedgerow.resource_manager.configuration import API_VERSION, KIND, Decoded, decode

Refusal = Callable[[str], ConfigurationErrors]

NO_SUBDOMAIN = (
    'must consist of a-z, 0-9, "-" and ".", each part between dots starting and ending with a letter or digit, '
    'for example "example.com"'
)
NO_LABEL = (
    'must consist of a-z, 0-9 and "-", starting and ending with a letter or digit, for example "my-name" or "123-abc"'
)


def test_the_namespace_of_the_lease_has_no_default() -> None:  # CFG-2
    errors = decode({"apiVersion": API_VERSION, "kind": KIND}).failure()

    assert str(errors) == 'leaderElection.resourceNamespace: Invalid value: "": resourceNamespace is required'


def test_where_nobody_competes_nothing_is_checked(decoded: Callable[[str], Decoded]) -> None:  # CFG-3
    election = decoded("leaderElection: {leaderElect: false, leaseDuration: -1s}").configuration.leader_election

    assert not election.leader_elect


def test_zero_durations_and_empty_names_are_unset(decoded: Callable[[str], Decoded]) -> None:
    written = "{leaseDuration: 0s, renewDeadline: '0', retryPeriod: 0s, resourceLock: '', resourceName: ''}"

    election = decoded(f"leaderElection: {written[:-1]}, resourceNamespace: garden}}").configuration.leader_election

    assert (election.lease_duration, election.renew_deadline, election.retry_period) == (
        timedelta(seconds=15),
        timedelta(seconds=10),
        timedelta(seconds=2),
    )
    assert (election.resource_lock, election.resource_name) == ("leases", "gardener-resource-manager")


def test_a_lease_may_have_dots_in_its_name(decoded: Callable[[str], Decoded]) -> None:
    election = decoded("leaderElection: {resourceName: a.b, resourceNamespace: garden}").configuration.leader_election

    assert election.resource_name == "a.b"


def test_a_lease_must_have_names_that_the_api_server_takes(refusal: Refusal) -> None:
    errors = refusal("leaderElection: {resourceName: a b, resourceNamespace: ../x}")

    assert str(errors) == (
        f'[leaderElection.resourceName: Invalid value: "a b": {NO_SUBDOMAIN}, '
        f'leaderElection.resourceNamespace: Invalid value: "../x": {NO_LABEL}]'
    )


@pytest.mark.parametrize(
    ("section", "text"),
    [
        pytest.param(
            "leaseDuration: 5s, renewDeadline: 10s",
            "leaderElection.leaseDuration: Invalid value: 5s: "
            "LeaseDuration must be greater than RenewDeadline, which is 10s",
            id="CFG-4",
        ),
        pytest.param(
            "renewDeadline: 2s",
            "leaderElection.renewDeadline: Invalid value: 2s: "
            "RenewDeadline must be greater than 1.2 times RetryPeriod, which is 2s",
            id="no time for a second attempt",
        ),
        pytest.param(
            "leaseDuration: 10s",
            "leaderElection.leaseDuration: Invalid value: 10s: "
            "LeaseDuration must be greater than RenewDeadline, which is 10s",
            id="as short as the default deadline",
        ),
        pytest.param(
            "leaseDuration: -1s, renewDeadline: -2s, retryPeriod: -500ms",
            "[leaderElection.leaseDuration: Invalid value: -1s: must be greater than zero, "
            "leaderElection.renewDeadline: Invalid value: -2s: must be greater than zero, "
            "leaderElection.retryPeriod: Invalid value: -500ms: must be greater than zero]",
            id="negative",
        ),
        pytest.param(
            "resourceLock: endpoints",
            'leaderElection.resourceLock: Unsupported value: "endpoints": supported values: "leases"',
            id="another lock would let two lead",
        ),
    ],
)
def test_a_lease_that_cannot_work_is_refused(section: str, text: str, refusal: Refusal) -> None:
    assert str(refusal(f"leaderElection: {{resourceNamespace: garden, {section}}}")) == text
