"""The sections that every component has: what they default to, refuse and warn of."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from hedgerow.machinery.configuration.process import (
    BURST,
    QPS,
    TLS,
    ClientConnection,
    Endpoint,
    LeaderElection,
    SelfProvision,
    Server,
    WebhookEndpoint,
)
from hedgerow.machinery.configuration.section import Purpose


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def election(**fields: Any) -> list[str]:
    section = replace(LeaderElection(resource_name="hedgerow", resource_namespace="garden"), **fields)
    return [str(each) for each in section.problems("leaderElection", Purpose.RUN)]


def test_a_throttle_has_both_halves_or_there_is_none() -> None:
    unset, rate, burst = ClientConnection(), ClientConnection(qps=5), ClientConnection(burst=7)

    assert unset.defaulted() == unset
    assert (rate.defaulted().qps, rate.defaulted().burst) == (5, BURST)
    assert (burst.defaulted().qps, burst.defaulted().burst) == (QPS, 7)


def test_the_empty_namespace_stands_for_all_and_each_other_counts_once() -> None:
    assert ClientConnection(stated_namespaces=("b", "a", "b")).namespaces == ("b", "a")
    assert ClientConnection(stated_namespaces=("b", "")).namespaces == ()


def test_an_election_that_works_has_no_error() -> None:
    assert election() == []


@pytest.mark.parametrize(
    ("lease_duration", "renew_deadline", "retry_period", "error"),
    [
        (5, 5, 1, "leaseDuration: Invalid value: 5s: LeaseDuration must be greater than RenewDeadline, which is 5s"),
        (
            15,
            6,
            5,
            "renewDeadline: Invalid value: 6s: RenewDeadline must be greater than 1.2 times RetryPeriod, which is 5s",
        ),
        (15, 10, 0, "retryPeriod: Invalid value: 0s: must be greater than zero"),
        (15, 10, -1, "retryPeriod: Invalid value: -1s: must be greater than zero"),
    ],
)
def test_durations_of_an_election_that_cannot_work_are_told(
    lease_duration: float, renew_deadline: float, retry_period: float, error: str
) -> None:
    durations = {
        "lease_duration": seconds(lease_duration),
        "renew_deadline": seconds(renew_deadline),
        "retry_period": seconds(retry_period),
    }

    assert election(**durations) == [f"leaderElection.{error}"]


@pytest.mark.parametrize(
    ("lease_duration", "renew_deadline", "retry_period"), [(10.5, 10, 2), (15, 6.1, 5)], ids=["lease", "deadline"]
)
def test_durations_that_just_work_are_valid(lease_duration: float, renew_deadline: float, retry_period: float) -> None:
    durations = {
        "lease_duration": seconds(lease_duration),
        "renew_deadline": seconds(renew_deadline),
        "retry_period": seconds(retry_period),
    }

    assert election(**durations) == []


def test_a_lease_has_a_kind_a_name_and_a_namespace() -> None:
    kind, name, namespace = election(resource_lock="endpoints", resource_name="A", resource_namespace="")

    assert kind == 'leaderElection.resourceLock: Unsupported value: "endpoints": supported values: "leases"'
    assert name.startswith('leaderElection.resourceName: Invalid value: "A": must consist of a-z, 0-9, "-" and "."')
    assert namespace == 'leaderElection.resourceNamespace: Invalid value: "": resourceNamespace is required'


@pytest.mark.parametrize(
    ("section", "purpose"), [(LeaderElection(leader_elect=False), Purpose.RUN), (LeaderElection(), Purpose.OFFLINE)]
)
def test_where_no_replica_competes_nothing_is_checked(section: LeaderElection, purpose: Purpose) -> None:
    assert [*replace(section, lease_duration=seconds(0)).problems("", purpose)] == []


@pytest.mark.parametrize("port", [1, 65_535])
def test_a_port_that_exists_is_nothing_to_tell(port: int) -> None:
    assert [*Server(metrics=Endpoint(port=port)).problems("server", Purpose.RUN)] == []


@pytest.mark.parametrize("port", [0, 65_536])
def test_a_port_that_does_not_exist_is_an_error(port: int) -> None:
    server = Server(webhooks=WebhookEndpoint(port=port), health_probes=Endpoint(port=port), metrics=Endpoint(port=port))

    assert {str(each) for each in server.problems("server", Purpose.RUN)} >= {
        f"server.{name}.port: Invalid value: {port}: must be between 1 and 65535"
        for name in ("webhooks", "healthProbes", "metrics")
    }


ELSEWHERE = "healthProbes listens on this port at another address"
SERVED = "webhooks are served on this port"


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        (Server(metrics=Endpoint(port=8081)), []),
        (Server(metrics=Endpoint(port=8081, bind_address="::1")), [("server.metrics.port", 8081, ELSEWHERE)]),
        (
            Server(
                health_probes=Endpoint(port=8081, bind_address="10.0.0.1"),
                metrics=Endpoint(port=8081, bind_address="10.0.0.2"),
            ),
            [],
        ),
        (Server(metrics=Endpoint(port=9449)), [("server.metrics.port", 9449, SERVED)]),
        (Server(health_probes=Endpoint(port=9449)), [("server.healthProbes.port", 9449, SERVED)]),
        (
            Server(
                webhooks=WebhookEndpoint(port=9449, bind_address="10.0.0.1"),
                health_probes=Endpoint(port=9449, bind_address="127.0.0.1"),
            ),
            [],
        ),
    ],
    ids=["shared", "one address of all", "two addresses", "metrics", "probes", "webhooks at another address"],
)
def test_two_servers_on_one_port_are_an_error(server: Server, expected: list[tuple[str, int, str]]) -> None:
    assert [str(each) for each in server.problems("server", Purpose.RUN)] == [
        f"{path}: Invalid value: {port}: {detail}" for path, port, detail in expected
    ]


def tls(purpose: Purpose = Purpose.RUN, **fields: Any) -> list[str]:
    return [str(each) for each in TLS(**fields).problems("tls", purpose)]


def test_a_process_that_makes_its_certificates_is_told_where_and_for_whom() -> None:
    assert tls(provision="self") == [
        f"tls.self.{name}: Required value: must be set with provision: self"
        for name in ("secretName", "secretNamespace", "registrations")
    ]
    own = SelfProvision(secret_name="certificates", secret_namespace="garden", registrations="webhooks.yaml")  # noqa: S106 -- names
    assert tls(provision="self", self_provision=own) == []


@pytest.mark.parametrize("provision", ["files", "cert-manager"])
def test_other_certificates_need_no_secret(provision: str) -> None:
    assert tls(provision=provision) == []
    assert tls(Purpose.OFFLINE, provision="self") == []


def test_nobody_else_provides_for_certificates() -> None:
    assert tls(provision="nobody") == [
        'tls.provision: Unsupported value: "nobody": supported values: "self", "cert-manager", "files"'
    ]
