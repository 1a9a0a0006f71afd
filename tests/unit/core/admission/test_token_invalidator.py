"""Whether the token in a Secret is worth anything."""

from typing import Any

import pytest

from hedgerow.admission import update
from hedgerow.admission.defaulters import token_invalidator
from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.tokens import CONSIDER
from tests.unit.core.admission.world import changed_object, decided

CA = {"ca.crt": "Y2E="}


def changed(data: Any, *labels: str) -> Any:
    """The data as they become; none if the Secret stays as it is."""
    metadata = {"name": "s", "labels": dict.fromkeys(labels, "false")}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}
    after = changed_object(decided(token_invalidator(), update(SECRETS, secret, secret)))
    return after and after["data"]


@pytest.mark.parametrize("data", [None], ids=["I12"])
@pytest.mark.parametrize("labels", [[CONSIDER], []])
def test_a_secret_without_data_stays_as_it_is(data: Any, labels: list[str]) -> None:
    assert changed(data, *labels) is None


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(CA, id="I13"),
        pytest.param({**CA, "token": "dmFsaWQ="}, id="valid token"),
        pytest.param({}, id="empty data"),
    ],
)
def test_a_labelled_secret_has_a_token_that_is_worth_nothing(data: Any) -> None:
    assert changed(data, CONSIDER) == {**data, "token": "AAAA"}


def test_an_invalidated_token_stays_so_while_the_label_is_there() -> None:
    assert changed({"token": "AAAA"}, CONSIDER) is None


@pytest.mark.parametrize("data", [{**CA, "token": "AAAA"}], ids=["I14"])
def test_without_the_label_an_invalidated_token_is_taken_away(data: Any) -> None:
    assert changed(data) == CA


@pytest.mark.parametrize("data", [{**CA, "token": "dmFsaWQ="}], ids=["I15"])
def test_without_the_label_a_valid_token_is_kept(data: Any) -> None:
    assert changed(data) is None
