"""The files that the extension puts on nodes: rsyslog's configuration, the scripts, the unit, audit rules.

Every value in a template is quoted for the language in which it stands. Scripts hold paths of the node and nothing that
a user wrote.

Source: rsyslog-relp §8 to §11; decisions D-12, D-15.
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from hedgerow.rsyslog_relp.config import RsyslogRelpConfig
from hedgerow.rsyslog_relp.naming import DEFAULT_PATHS, HostPaths
from hedgerow.rsyslog_relp.pstats import MARKER, METRICS, PREFIX

ACTION_NAME: Final = "rsyslog-relp"
"""Of the action that sends, and so the label `name` of its metrics, which alerts select."""
HOST: Final = "/host"
"""Where the cleaner sees the root of its node."""
_IN_PARAMETERS: Final = {ord(character): f"\\{character}" for character in '"\\'}
_IN_EXPRESSIONS: Final = {
    **{code: f"\\x{code:02x}" for code in (*range(0x20), 0x7F)},
    **_IN_PARAMETERS,
    ord("$"): "\\$",
}


@dataclass(frozen=True, slots=True)
class ShootIdentity:
    """What each forwarded message says of the Shoot that it comes from."""

    project: str
    name: str
    uid: str


def expression_string(text: str) -> str:
    """A text as a string in an expression of RainerScript, where `$` begins a property."""
    return f'"{text.translate(_IN_EXPRESSIONS)}"'


def parameter_string(value: object) -> str:
    """A value as a parameter of a RainerScript object, which knows no escapes but those of quotes and backslashes."""
    return f'"{str(value).translate(_IN_PARAMETERS)}"'


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("hedgerow.rsyslog_relp"),
        autoescape=False,  # noqa: S701 -- no HTML: every value has the filter of its language
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        comment_start_string="{#-",  # bash has {# of its own
    )
    environment.filters |= {
        "json": json.dumps,
        "expression": expression_string,
        "parameter": parameter_string,
        "shell": shlex.quote,
    }
    return environment


def rendered(template: str, **values: object) -> str:
    """The text of a template with values, each of which has the filter of its language there."""
    return _environment().get_template(f"{template}.j2").render(values)


def rsyslog_configuration(config: RsyslogRelpConfig, shoot: ShootIdentity, paths: HostPaths = DEFAULT_PATHS) -> str:
    """The text of `60-audit.conf`: which messages of a node are forwarded, and where to."""
    return rendered(
        "60-audit.conf",
        config=config,
        tls=config.active_tls,
        shoot=shoot,
        paths=paths,
        action_name=ACTION_NAME,
    )


def configure_script(paths: HostPaths = DEFAULT_PATHS) -> str:
    """The script that installs staged files on a node; bash."""
    return rendered("configure-rsyslog.sh", paths=paths)


def pstats_script(paths: HostPaths = DEFAULT_PATHS) -> str:
    """The script that turns rsyslogd's statistics into a text file of metrics; bash and POSIX awk."""
    return rendered("process-rsyslog-pstats.sh", paths=paths, metrics=METRICS, prefix=PREFIX, marker=MARKER)


def cleaner_script(paths: HostPaths = DEFAULT_PATHS, host: str = HOST) -> str:
    """The script that undoes everything on a node whose root is at `host`; POSIX shell."""
    return rendered("configuration-cleaner.sh", paths=paths, host=host)


def configurator_unit(paths: HostPaths = DEFAULT_PATHS) -> str:
    """The systemd unit that runs the configure script every 15 seconds; without a final line end."""
    return rendered("rsyslog-configurator.service", paths=paths).rstrip("\n")


@cache
def audit_rules() -> Mapping[str, str]:
    """The text of each file of rules, by its name, in the order in which auditd loads them."""
    names = ("00-base-config", "10-privilege-escalation", "11-privileged-special", "12-system-integrity")
    return {f"{name}.rules": rendered(f"{name}.rules") for name in names}
