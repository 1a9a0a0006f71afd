"""`hedgerow install --as controller-registration`: the chart goes along, with what the command line says."""

import io
import tarfile
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from hedgerow_adapters.charts.archives import archive_problem
from hedgerow_adapters.charts.packing import packed
from hedgerow_entrypoints.cli.command import hedgerow
from hedgerow_entrypoints.cli.install import charts_folder
from tests.golden.installation.table import AUTHORITY

NO_AUTHORITY = (
    "warning: webhooks.caBundle is empty: API servers refuse what they ask webhooks about, "
    "unless they trust the serving certificate by the roots of their own system\n"
)


def installed(*arguments: str) -> tuple[int, list[Any], str]:
    done = CliRunner().invoke(hedgerow, ["install", "rsyslog-relp", *arguments])
    return done.exit_code, [*yaml.safe_load_all(done.stdout)], done.stderr


def test_it_holds_the_whole_chart() -> None:
    code, (deployment, registration), talk = installed("--as", "controller-registration")
    archive = b64decode(deployment["providerConfig"]["chart"], validate=True)

    assert (code, talk) == (0, NO_AUTHORITY)
    assert archive_problem(archive) is None
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        found = {member.name: members.extractfile(member).read() for member in members}  # type: ignore[union-attr]
    chart = charts_folder() / "rsyslog-relp"
    files = {
        f"rsyslog-relp/{file.relative_to(chart)}": file.read_bytes() for file in chart.rglob("*") if file.is_file()
    }
    assert found == files
    assert registration["spec"]["deployment"]["deploymentRefs"] == [{"name": deployment["metadata"]["name"]}]


def test_it_holds_what_is_stated_and_the_priority_of_extensions() -> None:
    settings = ("replicas=3", "resources.limits.memory=null", f"webhooks.caBundle={AUTHORITY}")

    code, (deployment, _), talk = installed("--as", "controller-registration", *(f"--set={each}" for each in settings))

    assert (code, talk) == (0, "")
    assert deployment["providerConfig"]["values"] == {
        "replicas": 3,
        "resources": {"limits": {"memory": None}},
        "webhooks": {"caBundle": AUTHORITY},
        "priorityClassName": "gardener-system-900",
        "config": {"server": {"webhooks": {"tls": {"provision": "files"}}}},
    }
    _, (other, _), _ = installed("--as", "controller-registration-v1", "--set", "priorityClassName=")
    assert other["helm"]["values"]["priorityClassName"] == ""


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("replica=3", "values: replica: no such value"),
        ("config.logLevel=loud", "config: logLevel: Unsupported value"),
        ("config.server.healthProbes.bindAddress=::1", "must not be a loopback address"),
    ],
)
def test_values_that_no_seed_could_use_are_refused(setting: str, problem: str) -> None:
    code, printed, talk = installed("--as", "controller-registration", "--set", setting)

    assert (code, printed) == (1, [])
    assert problem in talk


def test_only_extensions_are_registered() -> None:
    assert CliRunner().invoke(hedgerow, ["install", "resource-manager", "--as", "manifests"]).exit_code != 0


def test_equal_files_make_equal_archives(tmp_path: Path) -> None:
    archives = []
    for name, order in (("one", ("a.yaml", "b.yaml")), ("two", ("b.yaml", "a.yaml"))):
        chart = tmp_path / name / "chart"
        (chart / "templates").mkdir(parents=True, mode=0o700)
        for file in order:
            (chart / "templates" / file).write_text(file, encoding="utf-8")
            (chart / "templates" / file).chmod(0o600 if name == "one" else 0o755)
        archives.append(packed(chart))

    assert archives[0] == archives[1]
