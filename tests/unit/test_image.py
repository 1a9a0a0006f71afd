"""The image is pinned, holds what the pins of all tools agree on, and runs as nobody."""

import re
from pathlib import Path

from hedgerow.version import __version__

ROOT = Path(__file__).parents[2]
INSTRUCTIONS = [
    line.split(maxsplit=1)
    for line in (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
    if line and not line.startswith("#")
]


def arguments(instruction: str) -> list[str]:
    return [rest for name, rest in INSTRUCTIONS if name == instruction]


def bases() -> dict[str, str]:
    """What stages begin with, by the name of the stage: the last one has none."""
    defaults = dict(argument.split("=", 1) for argument in arguments("ARG") if "_IMAGE=" in argument)
    stages = [argument.partition(" AS ") for argument in arguments("FROM")]
    return {stage: defaults[image.removeprefix("${").removesuffix("}")] for image, _, stage in stages}


def pins(name: str) -> dict[str, str]:
    text = (ROOT / "requirements" / name).read_text("utf-8")
    return dict(re.findall(r"^([a-z0-9._-]+)==(\S+)", text, re.MULTILINE))


def test_the_base_is_one_version_of_the_official_slim_image() -> None:
    assert bases()["build"] == bases()[""]
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", bases()[""])


def test_whoever_builds_may_name_the_bases_by_digest() -> None:
    """No digest stands here that nobody has looked at."""
    assert all(argument.startswith("${") for argument in arguments("FROM"))


def test_helm_is_the_one_that_is_tested_built_by_a_go_that_is_new_enough() -> None:
    (folder,) = (argument.split()[0] for argument in arguments("COPY") if argument.startswith("tests/"))
    module = (ROOT / folder / "go.mod").read_text("utf-8")
    found = re.fullmatch(r"golang:(\d+)\.(\d+)\.(\d+)-bookworm", bases()["helm"])
    oldest = re.search(r"^go (\d+)\.(\d+)\.(\d+)$", module, re.MULTILINE)

    assert found
    assert oldest
    assert [int(number) for number in found.groups()] >= [int(number) for number in oldest.groups()]
    assert [rest for rest in arguments("RUN") if "-mod=readonly" in rest and "helm.sh/helm/v3/cmd/helm" in rest]


def test_the_last_stage_runs_the_command_as_nobody() -> None:
    last = INSTRUCTIONS[max(index for index, (name, _) in enumerate(INSTRUCTIONS) if name == "FROM") :]

    assert ["USER", "65532:65532"] in last
    assert last[-1] == ["ENTRYPOINT", '["hedgerow"]']
    assert not [rest for name, rest in last if name == "RUN"]


def test_the_image_says_what_it_is() -> None:
    (labels,) = arguments("LABEL")
    (version,) = (argument for argument in arguments("ARG") if argument.startswith("VERSION="))

    named = {"title", "description", "licenses", "version", "revision"}
    assert set(re.findall(r"org\.opencontainers\.image\.(\w+)=", labels)) == named
    assert version.split()[0] == f"VERSION={__version__}"


def test_no_layer_holds_byte_code_with_a_time() -> None:
    (compiling,) = (run for run in arguments("RUN") if "compileall" in run)
    settings = next(argument for argument in arguments("ENV") if "PIP_" in argument)

    assert "--invalidation-mode unchecked-hash" in compiling
    assert "PIP_NO_COMPILE=1" in settings.split()


def test_whatever_is_installed_from_an_index_is_checked_by_its_hash() -> None:
    installs = [part for run in arguments("RUN") for part in run.split("&&") if " install " in part]

    assert installs
    assert all("--require-hashes" in each or "--no-index" in each for each in installs)


def test_everything_that_is_copied_is_let_through_and_nothing_else() -> None:
    copied = {
        source.split("/")[0]
        for argument in arguments("COPY")
        if not argument.startswith("--from")
        for source in argument.split()[:-1]
    }
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()

    assert {line[1:] for line in ignored if line.startswith("!")} == copied
    assert "*" in ignored


def test_the_image_has_the_versions_that_are_tested_and_the_fast_libraries() -> None:
    image, tested = pins("image.txt"), pins("dev.txt")

    assert image.items() <= tested.items()
    assert {"aiohttp", "click", "orjson", "uvloop", "cryptography"} <= image.keys()
    assert "pytest" not in image
