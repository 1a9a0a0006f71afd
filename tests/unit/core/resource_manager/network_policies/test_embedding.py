"""What component authors write on their Services."""

from collections.abc import Mapping
from typing import Any

import pytest
from returns.result import Success

from hedgerow.api.network_policies import (
    ACCESS_TARGET_API_SERVER,
    ALL_ISTIO_INGRESSES,
    ALL_SCRAPE_TARGETS,
    ALL_SEED_SCRAPE_TARGETS,
    ALL_SHOOTS,
    ALL_WEBHOOK_TARGETS,
    EXTENSIONS,
)
from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement
from hedgerow.resource_manager.network_policies import (
    PolicyPort,
    allowed_ports_annotation,
    from_policy_aliases,
    namespace_selectors_annotation,
    parse_namespace_selectors,
    parse_ports_annotation,
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
        "not a label selector: matchLabels[a]: must be a label value, is a number; "
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
