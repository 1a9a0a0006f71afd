"""Configuration files as the tests write them: YAML, laid over the least that a process in a cluster needs."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from hedgerow.machinery.configuration.reading import ConfigurationErrors
from hedgerow.resource_manager.configuration import API_VERSION, KIND, Decoded, decode

LEAST = {"apiVersion": API_VERSION, "kind": KIND, "leaderElection": {"resourceNamespace": "garden"}}


@pytest.fixture
def document() -> Callable[[str], dict[str, Any]]:
    """The document of a fragment, which replaces whole sections of the least document."""
    return lambda fragment: {**LEAST, **yaml.safe_load(fragment)}


@pytest.fixture
def decoded(document: Callable[[str], dict[str, Any]]) -> Callable[[str], Decoded]:
    """What a valid fragment says."""
    return lambda fragment: decode(document(fragment)).unwrap()


@pytest.fixture
def refusal(document: Callable[[str], dict[str, Any]]) -> Callable[[str], ConfigurationErrors]:
    """Why a fragment is refused."""
    return lambda fragment: decode(document(fragment)).failure()
