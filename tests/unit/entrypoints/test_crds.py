import json

import pytest
import yaml

from hedgerow.api.custom_resources import CUSTOM_RESOURCES
from tests.unit.entrypoints.command_line import Hedgerow

FULL = "managedresources.resources.gardener.cloud"


def test_all_definitions_are_printed_for_kubectl(hedgerow: Hedgerow) -> None:
    in_yaml, in_json = hedgerow("crds"), hedgerow("crds", "-o", "json")

    documents = list(yaml.safe_load_all(in_yaml.out))
    assert (in_yaml.code, in_yaml.err) == (0, "")
    assert [each["metadata"]["name"] for each in documents] == [str(custom.resource) for custom in CUSTOM_RESOURCES]
    assert json.loads(in_json.out) == {"apiVersion": "v1", "kind": "List", "items": documents}


@pytest.mark.parametrize("names", [(FULL,), ("managedresources",), ("managedresource",), ("mr",), ("mr", FULL)])
def test_a_definition_is_found_by_every_name_and_printed_once(names: tuple[str, ...], hedgerow: Hedgerow) -> None:
    (document,) = yaml.safe_load_all(hedgerow("crds", *names).out)

    assert document["metadata"]["name"] == FULL


def test_a_name_of_nothing_is_an_error(hedgerow: Hedgerow) -> None:
    assert f"error: No resource is called 'nope'. There are: {FULL}, " in hedgerow("crds", "nope").err
    assert hedgerow("crds", "managedresourcs") == (
        1,
        "",
        (
            "error: No resource is called 'managedresourcs'. Did you mean 'managedresources'?\n"
            "Try 'hedgerow crds --help' for help.\n"
        ),
    )
