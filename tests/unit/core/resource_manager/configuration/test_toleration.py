"""Which tolerations a configuration may hold."""

from collections.abc import Callable

import pytest

from hedgerow.machinery.configuration.reading import ConfigurationErrors
from hedgerow.resource_manager.configuration import Decoded

AT = "webhooks.systemComponentsConfig.podTolerations[0]"
LABEL_VALUE = (
    'must be empty or consist of A-Z, a-z, 0-9, "-", "_" and ".", starting and ending with a letter or digit, '
    'for example "MyValue" or "my_value"'
)
LABEL_KEY = (
    'must consist of A-Z, a-z, 0-9, "-", "_" and ".", starting and ending with a letter or digit, '
    'for example "MyName" or "my.name"'
)


def webhooks(toleration: str) -> str:
    """The section with a toleration; it is looked at although the webhook is not enabled."""
    return f"webhooks: {{systemComponentsConfig: {{podTolerations: [{toleration}]}}}}"


@pytest.mark.parametrize(
    ("toleration", "text"),
    [
        pytest.param(
            "{key: a b, operator: Exists}", f'{AT}.key: Invalid value: "a b": {LABEL_KEY}', id="what is no label"
        ),
        pytest.param(
            "{}",
            f'{AT}.operator: Invalid value: "": operator must be Exists when `key` is empty, '
            'which means "match all values and all keys"',
            id="no key",
        ),
        pytest.param(
            "{key: a, tolerationSeconds: 0, effect: NoSchedule}",
            f"{AT}.effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set",
            id="seconds for what evicts nobody",
        ),
        pytest.param(
            "{key: a, value: b c}", f'{AT}.operator: Invalid value: "b c": {LABEL_VALUE}', id="what is no value"
        ),
        pytest.param(
            "{key: a, operator: Equal, value: b c}",
            f'{AT}.operator: Invalid value: "b c": {LABEL_VALUE}',
            id="what is no value to be equal to",
        ),
        pytest.param(
            "{key: a, operator: Exists, value: b}",
            f"{AT}.operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'",
            id="a value that nobody looks at",
        ),
        pytest.param(
            "{key: a, operator: In}",
            f'{AT}.operator: Unsupported value: "In": supported values: "Equal", "Exists"',
            id="operator",
        ),
        pytest.param(
            "{key: a, effect: Always}",
            f'{AT}.effect: Unsupported value: "Always": '
            'supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
            id="effect",
        ),
        pytest.param(
            "{effect: Always, tolerationSeconds: 1, operator: In}",
            f'[{AT}.operator: Invalid value: "In": operator must be Exists when `key` is empty, '
            'which means "match all values and all keys", '
            f"{AT}.effect: Invalid value: \"Always\": effect must be 'NoExecute' when `tolerationSeconds` is set, "
            f'{AT}.operator: Unsupported value: "In": supported values: "Equal", "Exists", '
            f'{AT}.effect: Unsupported value: "Always": '
            'supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"]',
            id="everything at once, in order",
        ),
    ],
)
def test_a_toleration_that_the_api_server_would_refuse_is_refused(
    toleration: str, text: str, refusal: Callable[[str], ConfigurationErrors]
) -> None:
    assert str(refusal(webhooks(toleration))) == text


@pytest.mark.parametrize(
    "toleration",
    [
        "{operator: Exists}",
        "{key: a}",
        "{key: example.com/a, operator: Equal, value: b, effect: PreferNoSchedule}",
        "{key: a, effect: NoExecute, tolerationSeconds: -1}",
    ],
)
def test_other_tolerations_pass(toleration: str, decoded: Callable[[str], Decoded]) -> None:
    assert decoded(webhooks(toleration)).warnings == ()


def test_a_field_that_no_toleration_has_is_left_out(decoded: Callable[[str], Decoded]) -> None:
    section = "{enabled: true, podTolerations: [{key: a, values: [b]}]}"
    answer = decoded(f"webhooks: {{systemComponentsConfig: {section}}}")

    assert answer.configuration.admission.system_components_config is not None
    assert answer.configuration.admission.system_components_config.pod_tolerations == ({"key": "a"},)
    assert answer.warnings == (f"{AT}.values: unknown field, ignored; did you mean value?",)
