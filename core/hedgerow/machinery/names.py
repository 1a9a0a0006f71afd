"""Names, labels and port names in Kubernetes: what is wrong with a text.

Each rule of the API server's validation returns the problem as one clause that fits behind a colon, or nothing.

Names are checked on every planned object, and most are new: each rule is one possessive pattern, which does not
backtrack. Label keys, label values and the names of namespaces recur, so the last few thousand answers are cached.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from hedgerow.machinery.remembering import remembered

Check: TypeAlias = Callable[[str], str | None]

_LOWER_CASE_LABEL: Final = "[a-z0-9][-a-z0-9]*+(?<!-)"
_NAME_PART: Final = "[A-Za-z0-9][-_.A-Za-z0-9]*+(?<![-_.])"


class _Syntax(NamedTuple):
    """The syntax of a kind of name, and the rule as users read it."""

    longest: int
    shape: re.Pattern[str]
    rule: str


_DNS_SUBDOMAIN: Final = _Syntax(
    253,
    re.compile(rf"{_LOWER_CASE_LABEL}(?:\.{_LOWER_CASE_LABEL})*+"),
    'must consist of a-z, 0-9, "-" and ".", each part between dots starting and ending with a letter or digit, '
    'for example "example.com"',
)
_DNS_LABEL: Final = _Syntax(
    63,
    re.compile(_LOWER_CASE_LABEL),
    'must consist of a-z, 0-9 and "-", starting and ending with a letter or digit, for example "my-name" or "123-abc"',
)
_LABEL_NAME: Final = _Syntax(
    63,
    re.compile(_NAME_PART),
    'must consist of A-Z, a-z, 0-9, "-", "_" and ".", starting and ending with a letter or digit, '
    'for example "MyName" or "my.name"',
)
_LABEL_VALUE: Final = _Syntax(
    63,
    re.compile(f"(?:{_NAME_PART})?+"),
    'must be empty or consist of A-Z, a-z, 0-9, "-", "_" and ".", starting and ending with a letter or digit, '
    'for example "MyValue" or "my_value"',
)
_PORT_NAME: Final = _Syntax(
    15, re.compile("[-a-z0-9]++"), 'must consist of a-z, 0-9 and "-", for example "http-metrics"'
)


def _problem(text: str, syntax: _Syntax) -> str | None:
    if len(text) <= syntax.longest and syntax.shape.fullmatch(text):
        return None
    if not text:
        return "must not be empty"
    if len(text) > syntax.longest:
        return f"must have at most {syntax.longest} characters, has {len(text)}"
    return syntax.rule


def dns_subdomain_problem(name: str) -> str | None:
    """Why a text is no lower-case RFC 1123 subdomain, the syntax of most object names."""
    return _problem(name, _DNS_SUBDOMAIN)


@remembered
def dns_label_problem(name: str) -> str | None:
    """Why a text is no lower-case RFC 1123 label, the syntax of namespace names."""
    problem = _problem(name, _DNS_LABEL)
    if problem is _DNS_LABEL.rule and dns_subdomain_problem(name) is None:
        return 'must not contain dots, for example "my-name" or "123-abc"'
    return problem


@remembered
def label_key_problem(key: str) -> str | None:
    """Why a text is no label key: a name part, optionally behind a DNS subdomain and a slash."""
    prefix, slash, name = key.rpartition("/")
    if slash:
        if "/" in prefix:
            return 'must contain at most one "/", for example "example.com/MyName"'
        if problem := _problem(prefix, _DNS_SUBDOMAIN):
            return f'prefix before "/" {problem}'
    problem = _problem(name, _LABEL_NAME)
    return f'name after "/" {problem}' if slash and problem else problem


def annotation_key_problem(key: str) -> str | None:
    """Why a text is no annotation key: a label key, after the API server has lower-cased it."""
    return label_key_problem(key.lower())


@remembered
def label_value_problem(value: str) -> str | None:
    """Why a text is no label value; none if it is one. The empty text is one."""
    return _problem(value, _LABEL_VALUE)


def port_name_problem(name: str) -> str | None:
    """Why a text is no port name: an IANA service name in lower case (RFC 6335, section 5.1)."""
    if problem := _problem(name, _PORT_NAME):
        return problem
    if name[0] == "-" or name[-1] == "-":
        return 'must not start or end with "-"'
    if "--" in name:
        return 'must not contain "--"'
    if not name.strip("0123456789-"):
        return "must contain at least one letter (a-z)"
    return None
