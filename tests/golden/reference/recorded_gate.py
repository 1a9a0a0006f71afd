"""Recorded questions whether extension controllers are ready."""

from collections.abc import Mapping
from typing import Any

from hedgerow.machinery.objects import key_of
from hedgerow.registration.gate import extensions_problem


def check(recording: Mapping[str, Any]) -> None:
    """The same kinds and types have no controller that is ready."""
    registrations = {key_of(each).name: each for each in recording["registrations"]}
    deployments = {key_of(each).name: each for each in recording["deployments"]}
    problem = extensions_problem(
        recording["seed"], recording["ids"], recording["installations"], registrations, deployments
    )
    assert (problem is None) is (recording["error"] is None)
    own = [each for each in recording["installations"] if each["spec"]["seedRef"]["name"] == recording["seed"]]
    if problem and all(each["spec"]["registrationRef"]["name"] in registrations for each in own):
        assert problem.partition("[")[2] == f"{' '.join(sorted(recording['missing']))}]"
