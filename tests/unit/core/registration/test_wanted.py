"""Which kinds and types a seed needs extension controllers for (§4.4)."""

from collections.abc import Sequence
from typing import Any

import pytest

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import UnreadableError
from hedgerow.registration.registrations import Registration
from hedgerow.registration.wanted import Domains, ListedExtension, ids_of_seed, ids_of_shoots
from tests.unit.core.registration.garden import GOING, domain_secret, resource, shoot, versioned
from tests.unit.core.registration.objects import registration, seed

SEED = seed(spec={"provider": {"type": "p"}, "backup": {"provider": "b"}})
E1 = registration("e1", resource("Extension", "e1"))
G2 = registration("g2", resource("Extension", "g2", globallyEnabled=True))
DOMAINS = Domains("d1", {"example.com": "d2"})
WORKER = {"machine": {"image": {"name": "o"}}, "cri": {"containerRuntimes": [{"type": "c"}]}}
SPEC: dict[str, Any] = {
    "provider": {"type": "s", "workers": [WORKER]},
    "networking": {"type": "n"},
    "extensions": [{"type": "e1"}],
    "dns": {"domain": "x.example.com", "providers": [{"type": "d3"}]},
}
BACKUP = {"BackupBucket/b", "BackupEntry/b"}
IDS = {  # A26
    *BACKUP,
    "ControlPlane/p",
    "ControlPlane/s",
    "Infrastructure/s",
    "Worker/s",
    "Network/n",
    "Extension/e1",
    "OperatingSystemConfig/o",
    "ContainerRuntime/c",
    "DNSRecord/d1",
    "DNSRecord/d2",
    "Extension/g2",
}


def ids(
    of: Manifest, on: Manifest = SEED, registrations: Sequence[Manifest] = (E1, G2), domains: Domains = DOMAINS
) -> set[str]:
    return ids_of_shoots(on, map(Registration.of, registrations), domains)(of)


def test_a_shoot_needs_what_it_is_made_of() -> None:  # A26
    assert ids(shoot(**SPEC)) == IDS


def test_without_a_backup_in_the_seed_nothing_backs_its_shoots_up() -> None:  # A27
    assert ids(shoot(**SPEC), seed(spec={"provider": {"type": "p"}})) == IDS - BACKUP


@pytest.mark.parametrize("opt_out", [{"disabled": True}, {"enabled": False}, {"disabled": True, "enabled": True}])
def test_a_shoot_may_opt_out_of_what_all_have(opt_out: Manifest) -> None:  # A28
    extensions = [*SPEC["extensions"], {"type": "g2", **opt_out}]

    assert ids(shoot(**{**SPEC, "extensions": extensions})) == IDS - {"Extension/g2"}


@pytest.mark.parametrize("entry", [{}, {"disabled": False}, {"enabled": True}])
def test_whoever_does_not_opt_out_is_in(entry: Manifest) -> None:
    assert not ListedExtension.of(entry).is_disabled


def test_without_workers_nothing_of_them_is_needed() -> None:  # A29
    of = shoot(**{**SPEC, "provider": {"type": "s"}})

    assert ids(of) == {*BACKUP, "ControlPlane/p", "Extension/e1", "DNSRecord/d1", "DNSRecord/d2"}


def test_a_container_runtime_without_a_type_needs_nothing() -> None:
    found = ids(shoot(provider={"workers": [{"cri": {"containerRuntimes": [{}, {"type": "c"}]}}]}))

    assert [each for each in found if each.startswith("ContainerRuntime")] == ["ContainerRuntime/c"]


def test_only_what_supports_workerless_shoots_is_enabled_for_all_of_them() -> None:  # A30
    enabled = [
        registration(f"g{number}", resource("Extension", f"g{number}", globallyEnabled=True, **supported))
        for number, supported in enumerate([{"workerlessSupported": False}, {"workerlessSupported": True}, {}], 1)
    ]

    assert ids(shoot(), registrations=enabled, domains=Domains()) == {*BACKUP, "ControlPlane/p", "Extension/g2"}


def test_a_primary_provider_of_dns_is_needed_beside_that_of_the_default_domain() -> None:  # A33
    dns = {"domain": "a.b.example.com", "providers": [{"type": "cf", "primary": True}]}

    found = ids(shoot(dns=dns), domains=Domains(default={"example.com": "route53"}))

    assert {"DNSRecord/route53", "DNSRecord/cf"} <= found


@pytest.mark.parametrize("provider", [{"type": "unmanaged", "primary": True}, {"primary": True}, {"type": "x"}])
def test_no_extension_serves_unmanaged_domains(provider: Manifest) -> None:  # A34
    found = ids(shoot(dns={"domain": "x.org", "providers": [provider]}), domains=Domains("unmanaged"))

    assert not any(each.startswith("DNSRecord") for each in found)


def test_the_longest_default_domain_counts() -> None:
    domains = Domains(default={"com": "c", "b.example.com": "b", "example.com": "e"})

    assert domains.provider_of("a.b.example.com") == "b"
    assert domains.provider_of("b.example.com") == "e"
    assert domains.provider_of("example.org") is None


def test_domains_are_named_by_secrets() -> None:
    secrets = [
        domain_secret("b", "internal-domain", "i.org", "last"),
        domain_secret("a", "internal-domain", "i.org", "first"),
        domain_secret("c", "default-domain", "d.org", "d"),
        domain_secret("d", "default-domain", "d.org"),
        domain_secret("e", "other", "d.org", "e"),
    ]

    assert Domains.of(secrets) == (Domains("last", {"d.org": "d"}), ("seed-s/d",))


def test_a_seed_needs_the_extensions_of_its_providers() -> None:  # A25
    providers = {"provider": {"type": "p"}, "dns": {"provider": {"type": "q"}}}
    of_provider = {"ControlPlane/p", "Infrastructure/p", "Worker/p"}

    assert ids_of_seed(seed(spec=providers)) == {*of_provider, "DNSRecord/q"}
    assert ids_of_seed(seed(spec={"provider": {"type": "p"}, "dns": {}})) == of_provider
    assert ids_of_seed(versioned(seed(spec=providers), **GOING)) == set()


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"extensions": "all"}, "spec.extensions"),
        ({"extensions": [{"type": 1}]}, "spec.extensions[0].type"),
        ({"provider": {"workers": [{}, {"machine": {"image": "o"}}]}}, "spec.provider.workers[1].machine.image"),
    ],
)
def test_what_cannot_be_read_is_named(spec: Manifest, path: str) -> None:
    with pytest.raises(UnreadableError) as error:
        ids(shoot(**spec))

    assert error.value.problem.path == path
