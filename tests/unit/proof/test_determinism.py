"""The same landscape gives the same bytes, for any hash seed of Python and any order of the manifests."""

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Final

import yaml

from hedgerow.machinery.objects import Manifest
from tests.unit.adapters.runtime.world import NAMESPACES, POLICIES, SERVICES
from tests.unit.proof.landscapes import INGRESSES, neglected

HASH_SEEDS: Final = range(3)
ORDERS: Final = 2
"""Orders of the documents that each process reads."""
COMMANDS: Final = """\
import sys
from hedgerow_entrypoints.cli.command import main

configuration, *folders = sys.argv[1:]
for folder in folders:
    for command in (
        ["simulate", "networkpolicy", "--all"],
        ["plan", "networkpolicy", "-o", "diff"],
    ):
        try:
            main([*command, "-f", folder, "--config", configuration])
        except SystemExit as end:
            print("exit code", end.code)
    print("END OF FOLDER")
    sys.stdout.flush()
"""
CONFIGURATION: Final = """\
apiVersion: resourcemanager.config.gardener.cloud/v1alpha1
kind: ResourceManagerConfiguration
server: {healthProbes: {port: 8081}, metrics: {port: 8080}}
controllers:
  networkPolicy:
    enabled: true
    ingressControllerSelector:
      namespace: web
      podSelector: {matchLabels: {app: nginx}}
"""


def manifests() -> list[Manifest]:
    """A landscape with something to create, to change and to delete."""
    world = neglected(seed=3, deeds=30)
    return [manifest for kind in (NAMESPACES, SERVICES, INGRESSES, POLICIES) for manifest in world.objects(kind)]


def scattered(documents: list[Manifest], folder: Path, numbers: random.Random) -> Path:
    """The documents in another order, in other files."""
    folder.mkdir()
    files: list[list[Manifest]] = [[] for _ in range(7)]
    for document in numbers.sample(documents, len(documents)):
        numbers.choice(files).append(document)
    for number, content in enumerate(files):
        (folder / f"{number}.yaml").write_text(yaml.safe_dump_all(content, sort_keys=False))
    return folder


def printed(folders: list[Path], configuration: Path, hash_seed: int) -> list[str]:
    """What the commands print about each folder, on standard output and standard error."""
    run = subprocess.run(
        [sys.executable, "-c", COMMANDS, str(configuration), *map(str, folders)],
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    *outputs, rest = run.stdout.split("END OF FOLDER\n")
    assert (len(outputs), rest) == (len(folders), "")
    return outputs


def test_hash_seeds_and_orders_of_documents_give_the_same_bytes(tmp_path: Path) -> None:
    configuration = tmp_path / "configuration.yaml"
    configuration.write_text(CONFIGURATION)
    documents = manifests()
    numbers = random.Random(0)  # noqa: S311 -- no secret, but the same numbers every time

    outputs: list[str] = []
    for seed in HASH_SEEDS:
        folders = [scattered(documents, tmp_path / f"{seed}-{order}", numbers) for order in range(ORDERS)]
        outputs += printed(folders, configuration, seed)

    assert all(word in outputs[0] for word in (" to create", " to change", " to delete", "exit code 2"))
    assert "error" not in outputs[0]
    assert [case for case, output in enumerate(outputs) if output != outputs[0]] == []
