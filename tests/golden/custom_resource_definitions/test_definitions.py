"""The golden definitions; README.md says how they come about."""

from pathlib import Path

import pytest

from hedgerow.api.custom_resources import CUSTOM_RESOURCES
from hedgerow.api.definition import CustomResource, build_definition
from hedgerow_adapters.files.writing import render_yaml

FOLDER = Path(__file__).parent


@pytest.mark.parametrize("custom", CUSTOM_RESOURCES, ids=lambda custom: str(custom.resource))
def test_a_definition_stays_as_it_is(custom: CustomResource, request: pytest.FixtureRequest) -> None:
    file = FOLDER / f"{custom.resource}.yaml"
    text = render_yaml([build_definition(custom)])
    if request.config.getoption("--update-golden"):
        file.write_text(text, encoding="utf-8")

    assert text == file.read_text(encoding="utf-8")
