"""A connection follows the files that describe it, as far as they are usable."""

import base64
import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from hedgerow_adapters.kubernetes.connection_files import load_connection
from hedgerow_adapters.kubernetes.credentials import Connection, Description, Renewal, SeenFiles, UnusableError

SERVER = "https://127.0.0.1:6443"
AUTHORITY = """\
-----BEGIN CERTIFICATE-----
MIIBcDCCARegAwIBAgIUe2QuxCALen8b8ndf9D18VLbCLuEwCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCY2EwIBcNMjYxMTIxMTQ0MjUzWhgPMjEyNjEwMjgxNDQyNTNa
MA0xCzAJBgNVBAMMAmNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE6LRRrsTn
Tp69ruLzYzBdgkRTprScOdluZ7XjOdArhGHXqUaSq3mAdijSEoXSqyKqKSzGB8FJ
7axLQf3psUb+LKNTMFEwHQYDVR0OBBYEFOPOR+7MWfOIr4d5PUgy6LzjEhkRMB8G
A1UdIwQYMBaAFOPOR+7MWfOIr4d5PUgy6LzjEhkRMA8GA1UdEwEB/wQFMAMBAf8w
CgYIKoZIzj0EAwIDRwAwRAIgQ8lhCLUg4OqK5ergTvQq7Gp0PNjL2HuSvty9sUZu
l+cCIBCzEU2gWwGM+yvsqhnFIBlHPrDyo1YEMJvcpFv4HVIO
-----END CERTIFICATE-----
"""
ANOTHER_AUTHORITY = AUTHORITY + AUTHORITY


def every_look_counts() -> Callable[[], float]:
    """A clock by which a second passes between two requests."""
    return itertools.count().__next__


def embedded(authority: str) -> dict[str, str]:
    return {"certificate-authority-data": base64.b64encode(authority.encode()).decode()}


@dataclass(frozen=True)
class Kubeconfig:
    """A kubeconfig file, and what was told about it."""

    path: Path
    told: list[str] = field(default_factory=list)

    def write(self, token: str | dict[str, str], *, current: str = "main", **cluster: Any) -> None:
        document = {
            "clusters": [{"name": "garden", "cluster": {"server": SERVER, **cluster}}],
            "users": [
                {"name": "operator", "user": {"token": token} if isinstance(token, str) else token},
                {"name": "guest", "user": {"token": "guest"}},
            ],
            "contexts": [
                {"name": "main", "context": {"cluster": "garden", "user": "operator"}},
                {"name": "other", "context": {"cluster": "garden", "user": "guest"}},
            ],
            "current-context": current,
        }
        self.replace(yaml.safe_dump(document))

    def replace(self, content: str) -> None:
        """As the kubelet does: another file under the old name."""
        new = self.path.with_name("new")
        new.write_text(content)
        new.rename(self.path)

    async def loaded(self, clock: Callable[[], float] | None = None) -> Connection:
        clock = clock or every_look_counts()
        return (await load_connection(self.path, on_unusable=self.told.append, clock=clock)).unwrap()


async def connection_of_a_pod(folder: Path) -> Connection:
    environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "6443"}
    loaded = await load_connection(environment=environment, service_account=folder, clock=every_look_counts())
    return loaded.unwrap()


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Kubeconfig:
    kubeconfig = Kubeconfig(tmp_path / "kubeconfig")
    kubeconfig.write("one")
    return kubeconfig


async def test_a_token_in_a_changed_kubeconfig_holds_for_the_next_request(kubeconfig: Kubeconfig) -> None:
    connection = await kubeconfig.loaded()
    before = connection.credentials()
    kubeconfig.write("two")
    after = connection.credentials()

    assert (before.authorization, after.authorization) == ("Bearer one", "Bearer two")
    assert before.tls is after.tls
    assert kubeconfig.told == []


async def test_what_is_unusable_leaves_the_last_in_use_and_is_told_once(kubeconfig: Kubeconfig) -> None:
    connection = await kubeconfig.loaded()
    before = connection.credentials()

    kubeconfig.replace("{half")
    seen = [connection.credentials(), connection.credentials(), connection.renewed()]

    assert seen == [before, before, before]
    assert kubeconfig.told == [f"kubeconfig {kubeconfig.path}: not YAML: line 1, column 6"]


async def test_a_problem_that_comes_back_after_a_good_time_is_told_again(kubeconfig: Kubeconfig) -> None:
    connection = await kubeconfig.loaded()
    seen = []
    for token in ("two", "three"):
        kubeconfig.path.unlink()
        seen.append(connection.credentials().authorization)
        kubeconfig.write(token)
        seen.append(connection.credentials().authorization)

    assert seen == ["Bearer one", "Bearer two", "Bearer two", "Bearer three"]
    assert kubeconfig.told == [f"kubeconfig {kubeconfig.path}: cannot be read: No such file or directory"] * 2


@pytest.mark.parametrize(
    ("cluster", "place"),
    [
        ({"server": "https://127.0.0.1:7443"}, "https://127.0.0.1:7443"),
        ({"tls-server-name": "api.seed"}, f"{SERVER} as api.seed"),
        ({"insecure-skip-tls-verify": True}, f"{SERVER}, unverified"),
        (embedded(AUTHORITY), f"{SERVER} with a given authority"),
    ],
    ids=["another address", "another name", "no proof", "another kind of proof"],
)
async def test_another_server_or_another_way_to_prove_that_needs_a_restart(
    kubeconfig: Kubeconfig, cluster: dict[str, Any], place: str
) -> None:
    connection = await kubeconfig.loaded()
    before = connection.credentials()
    kubeconfig.write("two", **cluster)

    assert connection.credentials() == before
    assert kubeconfig.told == [
        f"kubeconfig {kubeconfig.path}: it was for {SERVER} and is for {place} now, which needs a restart"
    ]


@pytest.mark.parametrize(
    ("cut", "change"),
    [
        ("token: one", "it had credentials and has none now"),
        ("certificate-authority-data", f"it was for {SERVER} with a given authority and is for {SERVER} now"),
    ],
    ids=["no token", "no authority"],
)
async def test_a_kubeconfig_that_is_half_written_and_well_formed_is_not_used(
    kubeconfig: Kubeconfig, cut: str, change: str
) -> None:
    kubeconfig.write("one", **embedded(AUTHORITY))
    connection = await kubeconfig.loaded()
    before = connection.credentials()
    lines = kubeconfig.path.read_text().splitlines()
    kubeconfig.replace("\n".join(line for line in lines if cut not in line))
    half = [connection.credentials(), connection.credentials(), connection.renewed()]
    kubeconfig.write("two", **embedded(AUTHORITY))

    assert half == [before] * 3
    assert kubeconfig.told == [f"kubeconfig {kubeconfig.path}: {change}, which needs a restart"]
    assert connection.credentials().authorization == "Bearer two"


async def test_a_client_certificate_without_a_token_is_not_half_a_kubeconfig(kubeconfig: Kubeconfig) -> None:
    connection = await kubeconfig.loaded()
    kubeconfig.write({"client-certificate-data": "eA==", "client-key-data": "eA=="})
    connection.credentials()

    assert kubeconfig.told == [
        f"kubeconfig {kubeconfig.path}: the client certificate and the client key are no matching pair in PEM"
    ]


async def test_who_was_anonymous_from_the_start_may_stay_so(kubeconfig: Kubeconfig) -> None:
    kubeconfig.write({})
    connection = await kubeconfig.loaded()
    kubeconfig.write({}, current="other")
    connection.credentials()

    assert kubeconfig.told == []


async def test_requests_within_a_second_show_the_same_and_then_all_that_has_changed(kubeconfig: Kubeconfig) -> None:
    now = 5.0
    kubeconfig.write("one", **embedded(AUTHORITY))
    connection = await kubeconfig.loaded(lambda: now)
    before = connection.credentials()
    kubeconfig.write("two", **embedded(ANOTHER_AUTHORITY))

    now = 5.99
    assert connection.credentials() is before
    now = 6.0
    after = connection.credentials()
    assert after.authorization == "Bearer two"
    assert after.tls is not before.tls

    kubeconfig.write("three", **embedded(ANOTHER_AUTHORITY))
    now = 6.99
    assert connection.credentials() is after


async def test_a_refusal_does_not_wait_for_the_second_to_end(kubeconfig: Kubeconfig) -> None:
    connection = await kubeconfig.loaded(lambda: 5.0)
    kubeconfig.write("two")

    assert connection.renewed().authorization == "Bearer two"
    assert connection.credentials().authorization == "Bearer two"


async def test_the_context_of_the_start_stays_when_another_becomes_the_current_one(kubeconfig: Kubeconfig) -> None:
    connection = await kubeconfig.loaded()
    kubeconfig.write("two", current="other")

    assert connection.credentials().authorization == "Bearer two"


async def test_after_a_refusal_everything_is_read_again_even_if_it_looks_unchanged(kubeconfig: Kubeconfig) -> None:
    connection = await kubeconfig.loaded()
    before = kubeconfig.path.stat()
    kubeconfig.path.write_text(kubeconfig.path.read_text().replace("token: one", "token: two"))
    os.utime(kubeconfig.path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert connection.credentials().authorization == "Bearer one"
    assert connection.renewed().authorization == "Bearer two"


async def test_after_a_refusal_unchanged_files_show_the_same_as_before(kubeconfig: Kubeconfig) -> None:
    connection = await kubeconfig.loaded()

    assert connection.renewed() == connection.credentials()


async def test_what_is_shown_stands_in_no_text(kubeconfig: Kubeconfig) -> None:
    kubeconfig.write("s3cr3t")
    connection = await kubeconfig.loaded()

    assert "s3cr3t" not in f"{connection.credentials()!r} {connection!r}"


async def test_a_file_that_was_missing_is_a_change_when_it_comes(kubeconfig: Kubeconfig) -> None:
    kubeconfig.write("one", **embedded(AUTHORITY))
    connection = await kubeconfig.loaded()
    authority = kubeconfig.path.with_name("ca.crt")
    kubeconfig.write("two", **{"certificate-authority": "ca.crt"})
    connection.credentials()
    authority.write_text("")
    connection.credentials()

    assert kubeconfig.told == [
        f"kubeconfig {kubeconfig.path}: cannot read certificate authority {authority}: No such file or directory",
        f"kubeconfig {kubeconfig.path}: the certificate authority is no certificate in PEM",
    ]


async def test_a_token_file_that_came_late_brings_what_has_changed_beside_it(kubeconfig: Kubeconfig) -> None:
    connection = await kubeconfig.loaded()
    kubeconfig.write({"tokenFile": "token"})
    missing = connection.credentials().authorization
    kubeconfig.path.with_name("token").write_text("two")

    assert (missing, connection.credentials().authorization) == ("Bearer one", "Bearer two")


async def test_a_token_file_that_is_away_for_a_moment_brings_no_old_embedded_token_back(kubeconfig: Kubeconfig) -> None:
    token = kubeconfig.path.with_name("token")
    token.write_text("new")
    kubeconfig.write({"token": "old", "tokenFile": "token"})
    connection = await kubeconfig.loaded()
    token.unlink()

    assert connection.credentials().authorization == "Bearer new"
    assert kubeconfig.told == [
        f'kubeconfig {kubeconfig.path}: no token can be read from tokenFile {token} of user "operator"'
    ]


async def test_a_pods_token_that_was_replaced_is_shown_with_the_same_tls_settings(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("one")
    (tmp_path / "ca.crt").write_text(AUTHORITY)
    connection = await connection_of_a_pod(tmp_path)
    before = connection.credentials()
    (tmp_path / "token").write_text("second")
    after = connection.credentials()

    assert (before.authorization, after.authorization) == ("Bearer one", "Bearer second")
    assert after.tls is before.tls


@pytest.mark.parametrize("take_away", [Path.unlink, partial(Path.write_text, data="")], ids=["missing", "empty"])
async def test_a_pod_whose_token_was_away_for_a_moment_still_sees_its_authority_change(
    tmp_path: Path, take_away: Callable[[Path], Any]
) -> None:
    token, authority = tmp_path / "token", tmp_path / "ca.crt"
    token.write_text("one")
    authority.write_text(AUTHORITY)
    connection = await connection_of_a_pod(tmp_path)
    before = connection.credentials()
    take_away(token)
    away = connection.renewed()
    token.write_text("two")
    back = connection.credentials()
    authority.write_text(ANOTHER_AUTHORITY)

    assert (away, back.authorization, back.tls) == (before, "Bearer two", before.tls)
    assert connection.credentials().tls is not before.tls


async def test_an_authority_that_changes_while_the_token_is_away_counts_when_that_is_back(tmp_path: Path) -> None:
    token, authority = tmp_path / "token", tmp_path / "ca.crt"
    token.write_text("one")
    authority.write_text(AUTHORITY)
    connection = await connection_of_a_pod(tmp_path)
    before = connection.credentials()
    token.rename(tmp_path / "away")
    authority.write_text(ANOTHER_AUTHORITY)
    away = connection.credentials()
    (tmp_path / "away").rename(token)

    assert away == before
    assert connection.credentials().tls is not before.tls


def test_what_could_not_be_read_is_tried_again_although_its_file_looks_the_same(tmp_path: Path) -> None:
    path, told = tmp_path / "file", list[str]()
    readings: Iterator[Description | UnusableError] = iter(
        [
            Description("file", SERVER, header="one"),
            UnusableError("Too many open files"),
            UnusableError("Too many open files"),
            Description("file", SERVER, header="two"),
        ]
    )

    def read(files: SeenFiles) -> Description:
        files.read(path)
        reading = next(readings)
        if isinstance(reading, UnusableError):
            raise reading
        return reading

    path.write_text("first")
    renewal = Renewal(read, told.append, every_look_counts())
    path.write_text("another")

    assert [renewal.credentials().authorization for _ in range(4)] == ["one", "one", "two", "two"]
    assert told == ["Too many open files"]
