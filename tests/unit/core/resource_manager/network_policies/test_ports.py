"""The annotation values that list ports, and which ports an API server takes."""

from collections.abc import Mapping
from typing import Any

import pytest
from returns.result import Failure, Success

from hedgerow.api.network_policies import (
    ACCESS_TARGET_API_SERVER,
    ALL_ISTIO_INGRESSES,
    ALL_SCRAPE_TARGETS,
    ALL_SEED_SCRAPE_TARGETS,
    ALL_SHOOTS,
    ALL_WEBHOOK_TARGETS,
    EXTENSIONS,
    PortManifest,
)
from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement
from hedgerow.resource_manager.network_policies import PolicyPort, allowed_ports_annotation
from hedgerow.resource_manager.network_policies.allowed_ports import from_policy_aliases, parse_namespace_selectors
from hedgerow.resource_manager.network_policies.ports import (
    MOST_PORTS,
    namespace_selectors_annotation,
    number_if_digits,
    parse_ports_annotation,
    port_problem,
)

LONG = "a-port-name-of-18-"


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        pytest.param("[]", (), id="empty list"),
        pytest.param("null", (), id="null"),
        pytest.param('[{"port":80,"protocol":"TCP"}]', (PolicyPort("TCP", 80),), id="number"),
        pytest.param('[{"port":"http","protocol":"UDP"}]', (PolicyPort("UDP", "http"),), id="name"),
        pytest.param('[{"port":"10250"}]', (PolicyPort(None, 10250),), id="number as a string"),
        pytest.param('[{"port":"0080"}]', (PolicyPort(None, 80),), id="leading zeros"),
        pytest.param('[{"protocol":"TCP"}]', (PolicyPort("TCP", None),), id="no port"),
        pytest.param('[{"port":null,"protocol":null,"endPort":null}]', (PolicyPort(None, None),), id="nulls"),
        pytest.param('[{"port":""}]', (PolicyPort(None, ""),), id="an empty name is no absent port"),
        pytest.param('[{"port":80,"endPort":90}]', (PolicyPort(None, 80, 90),), id="range"),
        pytest.param(
            '[{"port":2},{"port":1},{"port":2}]',
            (PolicyPort(None, 2), PolicyPort(None, 1), PolicyPort(None, 2)),
            id="order and repetition are kept",
        ),
        pytest.param(r'[{"port":"\u0068ttp"}]', (PolicyPort(None, "http"),), id="escapes"),
        pytest.param(' [ {"port" : 80} ] ', (PolicyPort(None, 80),), id="blanks"),
    ],
)
def test_an_annotation_value_lists_ports(text: str, ports: tuple[PolicyPort, ...]) -> None:
    assert parse_ports_annotation(text) == Success(ports)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is not valid JSON"),
        ("notjson", "is not valid JSON"),
        ("[", "is not valid JSON"),
        ('[{"port":80}] x', "is not valid JSON"),
        ("[NaN]", "is not valid JSON"),
        ('[{"port":Infinity}]', "is not valid JSON"),
        pytest.param("[" * 100_000, "is not valid JSON", id="nested too deep"),
        pytest.param("1" * 5_000, "is not valid JSON", id="a number of 5000 digits"),
        pytest.param('[{"port":"' + r"\ud800" * 300 + '"}]', "is not valid JSON", id="half a surrogate pair"),
        ('{"port":80}', "must be a JSON list, got an object"),
        ("80", "must be a JSON list, got the number 80"),
        ('"80"', "must be a JSON list, got a string"),
        ("true", "must be a JSON list, got a boolean"),
        ("[80]", "[0] must be a JSON object, got the number 80"),
        ("[null]", "[0] must be a JSON object, got null"),
        ('[{"port":80},["x"]]', "[1] must be a JSON object, got a list"),
        ('[{"port":80.5}]', "[0].port must be a number or a name, got the number 80.5"),
        ('[{"port":80.0}]', "[0].port must be a number or a name, got the number 80.0"),
        ('[{"port":true}]', "[0].port must be a number or a name, got a boolean"),
        ('[{"port":false}]', "[0].port must be a number or a name, got a boolean"),
        ('[{"port":2147483648}]', "[0].port must be a number or a name, got the number 2147483648"),
        ('[{"port":[80]}]', "[0].port must be a number or a name, got a list"),
        ('[{"protocol":6}]', "[0].protocol must be a string, got the number 6"),
        ('[{"port":80},{"Port":443}]', "[1].Port is an unknown field; did you mean port?"),
        ('[{"port":80,"endport":90}]', "[0].endport is an unknown field; did you mean endPort?"),
        ('[{"prt":80}]', "[0].prt is an unknown field; did you mean port?"),
        ('[{"port":80,"x":[1]}]', "[0].x is an unknown field"),
        ('[{"port":80,"endPort":"90"}]', "[0].endPort must be an integer, got a string"),
        ('[{"port":80,"endPort":false}]', "[0].endPort must be an integer, got a boolean"),
    ],
)
def test_a_value_that_is_no_list_of_ports_says_why(text: str, problem: str) -> None:
    assert parse_ports_annotation(text) == Failure(problem)


@pytest.mark.parametrize(
    ("port", "problem"),
    [
        (PolicyPort("TCP", 1), None),
        (PolicyPort("UDP", 65535), None),
        (PolicyPort("SCTP", "metrics"), None),
        (PolicyPort(None, 80), None),
        (PolicyPort("TCP", None), None),
        (PolicyPort("TCP", 80, 80), None),
        (PolicyPort("TCP", 80, 65535), None),
        (PolicyPort("TCP", 0), "port must be between 1 and 65535, got 0"),
        (PolicyPort("TCP", -1), "port must be between 1 and 65535, got -1"),
        (PolicyPort("TCP", 65536), "port must be between 1 and 65535, got 65536"),
        (PolicyPort("HTTP", 80), 'protocol must be one of TCP, UDP, SCTP, got "HTTP"'),
        (PolicyPort("tcp", 80), 'protocol must be one of TCP, UDP, SCTP, got "tcp"'),
        (PolicyPort("TCP", ""), 'port name "" must not be empty'),
        (PolicyPort("TCP", "Web"), 'port name "Web" must consist of a-z, 0-9 and "-", for example "http-metrics"'),
        (PolicyPort("TCP", "a--b"), 'port name "a--b" must not contain "--"'),
        (PolicyPort("TCP", LONG), f'port name "{LONG}" must have at most 15 characters, has 18'),
        (PolicyPort("TCP", "80-81"), 'port name "80-81" must contain at least one letter (a-z)'),
        (PolicyPort("TCP", "http", 90), "endPort needs a numeric port"),
        (PolicyPort("TCP", None, 90), "endPort needs a numeric port"),
        (PolicyPort("TCP", 80, 79), "endPort must be between port 80 and 65535, got 79"),
        (PolicyPort("TCP", 80, 65536), "endPort must be between port 80 and 65535, got 65536"),
    ],
)
def test_a_port_that_no_api_server_takes_says_why(port: PolicyPort, problem: str | None) -> None:
    assert port_problem(port) == problem


@pytest.mark.parametrize(
    ("port", "manifest"),
    [
        (PolicyPort("UDP", "dns"), {"protocol": "UDP", "port": "dns"}),
        (PolicyPort(None, 80), {"protocol": "TCP", "port": 80}),
        (PolicyPort("TCP", None), {"protocol": "TCP"}),
        (PolicyPort("TCP", 80, 90), {"protocol": "TCP", "port": 80, "endPort": 90}),
    ],
)
def test_a_port_is_written_as_an_api_server_stores_it(port: PolicyPort, manifest: PortManifest) -> None:
    assert port.manifest() == manifest
    assert next(iter(port.manifest())) == "protocol"


@pytest.mark.parametrize(
    ("port", "description"),
    [
        (PolicyPort("TCP", 80), "TCP/80"),
        (PolicyPort("UDP", "dns"), "UDP/dns"),
        (PolicyPort(None, 80), "80"),
        (PolicyPort("TCP", None), "TCP/<nil>"),
        (PolicyPort(None, None), "<nil>"),
    ],
)
def test_a_port_is_described_as_it_was_written(port: PolicyPort, description: str) -> None:
    assert port.description == description


@pytest.mark.parametrize(
    ("text", "port"),
    [
        ("8080", 8080),
        ("0080", 80),
        ("http", "http"),
        ("", ""),
        ("-1", "-1"),
        ("1_0", "1_0"),
        ("\u0664\u0664", "\u0664\u0664"),
        ("2147483647", 2147483647),
        ("10000000000", "10000000000"),
    ],
)
def test_only_digits_spell_a_number(text: str, port: int | str) -> None:
    assert number_if_digits(text) == port


def test_an_annotation_lists_so_many_ports_and_no_more() -> None:
    most = ",".join(['{"port":80}'] * MOST_PORTS)

    assert len(parse_ports_annotation(f"[{most}]").unwrap()) == MOST_PORTS
    assert parse_ports_annotation(f'[{most},{{"port":80}}]') == Failure(
        f"lists {MOST_PORTS + 1} ports, at most {MOST_PORTS} are possible"
    )


N = "networking.resources.gardener.cloud"
PORTS = (PolicyPort("TCP", 1234), PolicyPort("UDP", "foo"))
BAR = LabelSelector((("foo", "bar"),))
EXPRESSION = LabelSelector((), (Requirement("foo", Operator.IN, ("bar",)),))


def test_ports_of_an_alias_are_compact_json_with_the_protocol_first() -> None:
    assert allowed_ports_annotation("metrics", PORTS) == (
        f"{N}/from-metrics-allowed-ports",
        '[{"protocol":"TCP","port":1234},{"protocol":"UDP","port":"foo"}]',
    )


def test_ports_of_an_alias_are_read_as_they_were_meant() -> None:
    key, value = allowed_ports_annotation(ALL_SCRAPE_TARGETS, PORTS)

    assert from_policy_aliases({key: value}) == {ALL_SCRAPE_TARGETS: value}
    assert parse_ports_annotation(value) == Success(PORTS)


@pytest.mark.parametrize("selectors", [(BAR, EXPRESSION), (BAR.manifest(), EXPRESSION.manifest())])
def test_namespace_selectors_are_compact_json(selectors: tuple[LabelSelector | Mapping[str, Any], ...]) -> None:
    assert namespace_selectors_annotation(selectors) == (
        f"{N}/namespace-selectors",
        '[{"matchLabels":{"foo":"bar"}},{"matchExpressions":[{"key":"foo","operator":"In","values":["bar"]}]}]',
    )


def test_namespace_selectors_are_read_as_they_were_meant() -> None:
    _, value = namespace_selectors_annotation([BAR, EXPRESSION, LabelSelector()])

    assert parse_namespace_selectors(value) == Success((BAR, EXPRESSION, LabelSelector()))


def test_what_is_no_label_selector_is_refused_with_the_reason() -> None:
    wrong = {"matchLabels": {"a": 1}, "matchExpressions": [{"key": "b", "operator": "Exists", "values": ["x"]}]}

    with pytest.raises(ValueError, match="not a label selector") as raised:
        namespace_selectors_annotation([BAR, wrong])

    assert str(raised.value) == (
        "not a label selector: matchLabels[a]: must be a label value, is an integer; "
        "matchExpressions[0].values: must be empty for operator Exists"
    )


def test_the_names_that_components_agree_on() -> None:
    assert (ALL_SCRAPE_TARGETS, ALL_SEED_SCRAPE_TARGETS, ALL_WEBHOOK_TARGETS) == (
        "all-scrape-targets",
        "all-seed-scrape-targets",
        "all-webhook-targets",
    )
    assert (ALL_SHOOTS, EXTENSIONS, ALL_ISTIO_INGRESSES) == ("all-shoots", "extensions", "all-istio-ingresses")
    assert ACCESS_TARGET_API_SERVER == ("networking.gardener.cloud/access-target-apiserver", "allowed")
