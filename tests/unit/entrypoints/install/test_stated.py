"""Values of a command line: files, then settings, over defaults, as Helm combines them."""

import re
from pathlib import Path

import pytest

from hedgerow.resource_manager.installation import Values
from hedgerow_entrypoints.cli.stated_values import complete_values, stated_values
from hedgerow_entrypoints.errors import CommandError


def file(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def completed(files: list[str], settings: list[str], **options: str | None) -> Values:
    return complete_values(Values, stated_values(files, settings, **options))


def test_nothing_stated_leaves_the_defaults() -> None:
    assert completed([], []).replicas == 2


def test_later_files_and_settings_count_more_and_leave_the_rest(tmp_path: Path) -> None:
    first = file(tmp_path, "first.yaml", "{replicas: 3, resources: {limits: {memory: 1Gi}}, podLabels: {a: b}}")
    second = file(tmp_path, "second.yaml", "replicas: 4")

    values = completed([first, second], ["resources.limits.cpu=1m", r"podLabels.example\.org/x=y"])

    assert values.replicas == 4
    assert values.resources.limits == {"memory": "1Gi", "cpu": "1m"}
    assert values.pod_labels["a"] == "b"
    assert values.pod_labels["example.org/x"] == "y"


def test_null_takes_a_default_away() -> None:
    assert completed([], ["resources.limits.memory=null"]).resources.limits == {}


@pytest.mark.parametrize(
    ("setting", "value"), [("true", True), ("12", 12), ("007", "007"), ("1.5", "1.5"), ("a=b", "a=b"), ("", "")]
)
def test_a_setting_is_what_it_reads_like(setting: str, value: object) -> None:
    assert completed([], [f"config.x={setting}"]).config["x"] == value


def test_an_option_of_the_command_line_counts_most() -> None:
    assert completed([], ["part=target"], part="all").part == "all"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("replica: 3", "values: replica: no such value; did you mean replicas?"),
        ("image: {tagg: x}", "values: image.tagg: no such value; did you mean tag?"),
        ("quux: 3", "values: quux: no such value"),
        ("replicas: many", "values: replicas: expected an integer, got a string"),
        ("[]", "values.yaml: expected an object, got a list"),
        ("a: [", "values.yaml"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, problem: str) -> None:
    path = file(tmp_path, "values.yaml", text)

    with pytest.raises(CommandError) as refused:
        completed([path], [])

    assert problem in " ".join(refused.value.sentences)


@pytest.mark.parametrize("setting", ["replicas", "=1", "image..tag=1", ".image=1", "image.=1"])
def test_a_setting_without_a_name_or_a_value_is_refused(setting: str) -> None:
    with pytest.raises(CommandError, match=f"^--set {re.escape(setting)}: must be NAME=VALUE"):
        completed([], [setting])


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"absent\.yaml: No such file or directory"):
        completed([str(tmp_path / "absent.yaml")], [])
