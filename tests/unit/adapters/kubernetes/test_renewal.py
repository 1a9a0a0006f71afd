"""A connection follows the files that describe it, as far as they are usable."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from hedgerow_adapters.kubernetes.credentials import Connection, load_connection

SERVER = "https://127.0.0.1:6443"


@dataclass(frozen=True)
class Kubeconfig:
    """A kubeconfig file, and what was told about it."""

    path: Path
    told: list[str] = field(default_factory=list)

    def write(self, token: str, *, current: str = "main", **cluster: Any) -> None:
        document = {
            "clusters": [{"name": "garden", "cluster": {"server": SERVER, **cluster}}],
            "users": [
                {"name": "operator", "user": {"token": token}},
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

    async def loaded(self) -> Connection:
        return (await load_connection(self.path, on_unusable=self.told.append)).unwrap()


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Kubeconfig:
    kubeconfig = Kubeconfig(tmp_path / "kubeconfig")
    kubeconfig.write("one")
    return kubeconfig


async def test_a_token_in_a_changed_kubeconfig_holds_for_the_next_request(kubeconfig: Kubeconfig) -> None:
    connection = await kubeconfig.loaded()
    before = connection.shown()
    kubeconfig.write("two")
    after = connection.shown()

    assert (before.authorization, after.authorization) == ("Bearer one", "Bearer two")
    assert before.tls is after.tls
    assert kubeconfig.told == []


async def test_what_is_unusable_leaves_the_last_in_use_and_is_told_once(kubeconfig: Kubeconfig) -> None:
    connection = await kubeconfig.loaded()
    before = connection.shown()

    kubeconfig.replace("{half")
    seen = [connection.shown(), connection.shown(), connection.renewed()]

    assert seen == [before, before, before]
    assert kubeconfig.told == [f"kubeconfig {kubeconfig.path}: not YAML: line 1, column 6"]


async def test_a_problem_that_comes_back_after_a_good_time_is_told_again(kubeconfig: Kubeconfig) -> None:
    connection = await kubeconfig.loaded()
    seen = []
    for token in ("two", "three"):
        kubeconfig.path.unlink()
        seen.append(connection.shown().authorization)
        kubeconfig.write(token)
        seen.append(connection.shown().authorization)

    assert seen == ["Bearer one", "Bearer two", "Bearer two", "Bearer three"]
    assert kubeconfig.told == [f"kubeconfig {kubeconfig.path}: cannot be read: No such file or directory"] * 2


@pytest.mark.parametrize(
    ("cluster", "place"),
    [
        ({"server": "https://127.0.0.1:7443"}, "https://127.0.0.1:7443"),
        ({"tls-server-name": "api.seed"}, f"{SERVER} as api.seed"),
        ({"insecure-skip-tls-verify": True}, f"{SERVER}, unverified"),
    ],
    ids=["another address", "another name", "no proof"],
)
async def test_another_server_or_less_proof_of_it_needs_a_restart(
    kubeconfig: Kubeconfig, cluster: dict[str, Any], place: str
) -> None:
    connection = await kubeconfig.loaded()
    before = connection.shown()
    kubeconfig.write("two", **cluster)

    assert connection.shown() == before
    assert kubeconfig.told == [
        f"kubeconfig {kubeconfig.path}: it was for {SERVER} and is for {place} now, which needs a restart"
    ]


async def test_the_context_of_the_start_stays_when_another_becomes_the_current_one(kubeconfig: Kubeconfig) -> None:
    connection = await kubeconfig.loaded()
    kubeconfig.write("two", current="other")

    assert connection.shown().authorization == "Bearer two"


async def test_after_a_refusal_everything_is_read_again_even_if_it_looks_unchanged(kubeconfig: Kubeconfig) -> None:
    connection = await kubeconfig.loaded()
    before = kubeconfig.path.stat()
    kubeconfig.path.write_text(kubeconfig.path.read_text().replace("token: one", "token: two"))
    os.utime(kubeconfig.path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert connection.shown().authorization == "Bearer one"
    assert connection.renewed().authorization == "Bearer two"


async def test_after_a_refusal_unchanged_files_show_the_same_as_before(kubeconfig: Kubeconfig) -> None:
    connection = await kubeconfig.loaded()

    assert connection.renewed() == connection.shown()


async def test_what_is_shown_stands_in_no_text(kubeconfig: Kubeconfig) -> None:
    kubeconfig.write("s3cr3t")
    connection = await kubeconfig.loaded()

    assert "s3cr3t" not in f"{connection.shown()!r} {connection!r}"


async def test_a_file_that_was_missing_is_a_change_when_it_comes(kubeconfig: Kubeconfig) -> None:
    connection = await kubeconfig.loaded()
    authority = kubeconfig.path.with_name("ca.crt")
    kubeconfig.write("two", **{"certificate-authority": "ca.crt"})
    connection.shown()
    authority.write_text("")
    connection.shown()

    assert kubeconfig.told == [
        f"kubeconfig {kubeconfig.path}: cannot read certificate authority {authority}: No such file or directory",
        f"kubeconfig {kubeconfig.path}: the certificate authority is no certificate in PEM",
    ]
