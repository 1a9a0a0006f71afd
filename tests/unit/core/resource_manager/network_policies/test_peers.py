"""Which namespaces are handled, and whose pods are let in."""

import pytest
from returns.result import Failure, Success

from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement
from hedgerow.resource_manager.network_policies.allowed_ports import (
    MOST_TERMS,
    no_policies_because,
    parse_namespace_selectors,
    peer_namespaces,
)
from hedgerow.resource_manager.network_policies.views import (
    NamespaceView,
    NetworkPolicyConfig,
    ServiceFacts,
    ServiceView,
)
from tests.unit.core.resource_manager.network_policies.objects import namespace, service

TEAM_A, TEAM_B = LabelSelector((("team", "a"),)), LabelSelector((("team", "b"),))
EVERYTHING = LabelSelector()


@pytest.mark.parametrize(
    ("text", "selectors"),
    [
        ("[]", ()),
        ("null", ()),
        ("[{}]", (EVERYTHING,)),
        ('[{"matchLabels":null,"matchExpressions":null}]', (EVERYTHING,)),
        ('[{"matchLabels":{"team":"a"}},{"matchLabels":{"team":"b"}}]', (TEAM_A, TEAM_B)),
        (
            '[{"matchExpressions":[{"key":"team","operator":"NotIn","values":["a","b"]},{"key":"x","operator":"Exists"}]}]',
            (LabelSelector((), (Requirement("team", Operator.NOT_IN, ("a", "b")), Requirement("x", Operator.EXISTS))),),
        ),
    ],
)
def test_an_annotation_value_lists_label_selectors(text: str, selectors: tuple[LabelSelector, ...]) -> None:
    assert parse_namespace_selectors(text) == Success(selectors)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is not valid JSON"),
        ("{", "is not valid JSON"),
        ('{"matchLabels":{"a":"b"}}', "must be a JSON list, got an object"),
        ("[null]", "[0] must be a label selector, is null"),
        ('[{"MatchLabels":{"team":"a"}}]', "[0].MatchLabels is an unknown field; did you mean matchLabels?"),
        ('[{},{"matchLabel":{"team":"a"}}]', "[1].matchLabel is an unknown field; did you mean matchLabels?"),
        ('[{"matchLabels":{"team":"a"},"comment":"hello"}]', "[0].comment is an unknown field"),
        ('["a"]', "[0] must be a label selector, is a string"),
        ('[{},{"matchLabels":{"a":1}}]', "[1].matchLabels[a] must be a label value, is an integer"),
        (
            '[{"matchExpressions":[{"key":"a","operator":"Near","values":["b"]}]}]',
            '[0].matchExpressions[0].operator must be In, NotIn, Exists or DoesNotExist, is "Near"',
        ),
        (
            '[{"matchExpressions":[{"key":"a","operator":"In"},{"key":"a","operator":"Exists","values":["b"]}]}]',
            (
                "[0].matchExpressions[0].values must have at least one value for operator In; "
                "[0].matchExpressions[1].values must be empty for operator Exists"
            ),
        ),
        pytest.param(r'[{"matchLabels":{"a":"\udfff"}}]', "is not valid JSON", id="half a surrogate pair"),
    ],
)
def test_a_value_that_lists_no_label_selectors_says_why(text: str, problem: str) -> None:
    assert parse_namespace_selectors(text) == Failure(problem)


@pytest.mark.parametrize(
    ("labels", "selectors", "handled"),
    [
        ({"team": "b"}, (), True),
        ({"team": "b"}, (TEAM_A,), False),
        ({"team": "b"}, (TEAM_A, TEAM_B), True),
        ({}, (TEAM_A,), False),
        ({}, (EVERYTHING,), True),
    ],
)
def test_a_namespace_is_handled_without_selectors_or_if_one_of_them_matches(
    *, labels: dict[str, str], selectors: tuple[LabelSelector, ...], handled: bool
) -> None:
    home, config = NamespaceView("shop", labels), NetworkPolicyConfig(selectors)
    facts = ServiceFacts(ServiceView.of(service()), {"shop": home}, (), config)

    assert no_policies_because(facts) == ("" if handled else "namespace-not-handled")


@pytest.mark.parametrize(
    ("selectors", "peers"),
    [
        pytest.param((), ("shop",), id="no selectors: its own alone"),
        pytest.param((TEAM_A,), ("shop", "a1", "a2"), id="its own first, then by name"),
        pytest.param((TEAM_A, TEAM_B), ("shop", "a1", "a2", "b1"), id="selectors are alternatives"),
        pytest.param((EVERYTHING,), ("shop", "a1", "a2", "b1"), id="its own once, none that terminates"),
        pytest.param(
            (LabelSelector((("kubernetes.io/metadata.name", "b1"),)),), ("shop", "b1"), id="by name, without that label"
        ),
    ],
)
def test_the_own_namespace_and_the_living_ones_that_are_selected_are_peers(
    selectors: tuple[LabelSelector, ...], peers: tuple[str, ...]
) -> None:
    namespaces = [
        namespace("b1", {"team": "b"}),
        namespace("a2", {"team": "a"}),
        namespace("shop"),
        namespace("a1", {"team": "a"}),
        namespace("a3", {"team": "a"}, terminating=True),
    ]

    assert peer_namespaces("shop", map(NamespaceView.of, namespaces), selectors) == peers


@pytest.mark.parametrize(
    "selector",
    [
        "{}",
        '{"matchLabels":{"a":"b"}}',
        '{"matchExpressions":[{"key":"a","operator":"Exists"}]}',
    ],
)
def test_selectors_whose_comparison_with_all_namespaces_would_take_long_are_refused(selector: str) -> None:
    def listed(count: int) -> str:
        return f"[{','.join([selector] * count)}]"

    problem = f"holds more than {MOST_TERMS} labels, expressions and values"
    assert parse_namespace_selectors(listed(MOST_TERMS)) == Success(
        parse_namespace_selectors(listed(1)).unwrap() * MOST_TERMS
    )
    assert parse_namespace_selectors(listed(MOST_TERMS + 1)) == Failure(problem)


def test_values_of_selectors_count_as_well() -> None:
    values = ",".join(f'"v{number}"' for number in range(MOST_TERMS))

    refused = parse_namespace_selectors(f'[{{"matchExpressions":[{{"key":"a","operator":"In","values":[{values}]}}]}}]')

    assert refused == Failure(f"holds more than {MOST_TERMS} labels, expressions and values")
