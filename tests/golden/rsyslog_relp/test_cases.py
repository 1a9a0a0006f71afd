"""Every golden case of rsyslog's configuration; README.md says how to add one."""

from pathlib import Path

import pytest

from hedgerow.rsyslog_relp import ShootIdentity, config_problems, decode_text, rsyslog_configuration

CASES = sorted(path.parent for path in Path(__file__).parent.glob("*/config.yaml"))
SHOOT = ShootIdentity("core", "example", "c2c7747b-1111-4222-8333-b77d99cc8a6c")


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_a_configuration_is_rendered_as_expected(case: Path, request: pytest.FixtureRequest) -> None:
    config = decode_text((case / "config.yaml").read_text(), is_strict=True).unwrap()
    actual, expected = rsyslog_configuration(config, SHOOT), case / "60-audit.conf"
    if request.config.getoption("--update-golden"):
        expected.write_text(actual)

    assert not config_problems(config, is_strict=False)
    assert actual == expected.read_text()
