"""Whatever a valid configuration says, a real rsyslogd takes what is rendered of it."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.rsyslog_relp import RsyslogRelpConfig
from tests.e2e.rsyslog.authority import Authority
from tests.e2e.rsyslog.daemons import Node, checked
from tests.e2e.rsyslog.programs import Programs
from tests.unit.core.rsyslog_relp.configs import valid_configs

AWKWARD = st.sampled_from(
    ["$HOME", 'say-"hello"', "back\\slash", "naïve", "日志", "'single'", "#", "%msg%", "{", "a$b\\c"]
)


@st.composite
def awkward_configs(draw: st.DrawFn) -> RsyslogRelpConfig:
    """A configuration in which names are what scripts, properties and quotes are made of."""
    config = draw(valid_configs)
    rules = tuple(
        replace(rule, program_names=(*rule.program_names, *draw(st.lists(AWKWARD, max_size=2))))
        for rule in config.logging_rules
    )
    if config.tls is None:
        return replace(config, logging_rules=rules)
    peers = (*config.tls.permitted_peers, *draw(st.lists(AWKWARD, max_size=2)))
    return replace(config, logging_rules=rules, tls=replace(config.tls, permitted_peers=peers))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(config=awkward_configs())
def test_a_valid_configuration_is_one_for_rsyslogd(
    programs: Programs, authority: Authority, config: RsyslogRelpConfig
) -> None:
    with TemporaryDirectory(prefix="relp") as folder:
        node = Node(programs, Path(folder))
        authority.issue("node", Path(node.paths.tls_installed_dir))

        ended = checked(programs, node.render(config))

    assert ended.returncode == 0, ended.stderr


def test_the_configuration_fits_into_that_of_the_distribution(programs: Programs, node: Node, folder: Path) -> None:
    node.render(RsyslogRelpConfig("localhost", 2514))
    include = folder / "rsyslog.d"
    include.mkdir()
    (folder / "60-audit.conf").rename(include / "60-audit.conf")
    theirs = (programs.folder / "etc" / "rsyslog.conf").read_text().replace("/etc/rsyslog.d", str(include))
    (folder / "rsyslog.conf").write_text(theirs)

    ended = checked(programs, folder / "rsyslog.conf")

    assert "60-audit.conf" not in ended.stderr
    assert "loaded more than once" not in ended.stderr


def test_an_rsyslogd_that_loads_no_input_for_sockets_says_so(programs: Programs, node: Node, folder: Path) -> None:
    node.render(RsyslogRelpConfig("localhost", 2514))

    ended = checked(programs, folder / "60-audit.conf")

    assert ended.returncode == 1
    assert "input module name 'imuxsock' is unknown" in ended.stderr
