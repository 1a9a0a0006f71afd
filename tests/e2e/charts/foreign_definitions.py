"""Definitions of kinds that charts use and others define, out of the Go modules of those who do, pinned by checksum."""

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import yaml

from tests.e2e.servers.build import go_command

_OPERATOR: Final = "example/prometheus-operator-crd/monitoring.coreos.com"
MODULES: Final = {
    ("github.com/prometheus-operator/prometheus-operator@v0.79.2", "h1:H/HCiMS4dXQyiFHw28PFlWMh15YUraL3MFe8u7k7dGA="): (
        f"{_OPERATOR}_servicemonitors.yaml",
        f"{_OPERATOR}_podmonitors.yaml",
        f"{_OPERATOR}_prometheusrules.yaml",
    ),
    ("k8s.io/autoscaler/vertical-pod-autoscaler@v1.2.1", "h1:t5t0Rsn4b7iQfiVlGdWSEnEx8pjrSM96Sn4Dvo1QH/Q="): (
        "deploy/vpa-v1-crd-gen.yaml",
    ),
    ("github.com/cert-manager/cert-manager@v1.14.7", "h1:C2L59sMGMdSpd8SPx5qfPAL7ejZaNxJBRd24S7Ws5Ek="): (
        "deploy/crds/crd-certificates.yaml",
        "deploy/crds/crd-issuers.yaml",
    ),
}
"""The files with definitions, by module and checksum."""


def foreign_definitions() -> list[str]:
    """The texts of all definitions, without labels: those of cert-manager are for a chart to fill in."""
    texts = (
        (_folder(module, checksum) / file).read_text(encoding="utf-8")
        for (module, checksum), files in MODULES.items()
        for file in files
    )
    definitions = (each for text in texts for each in yaml.safe_load_all(text) if each)
    return [
        json.dumps({**each, "metadata": {name: of for name, of in each["metadata"].items() if name != "labels"}})
        for each in definitions
    ]


def _folder(module: str, checksum: str) -> Path:
    """Where the files of a module are, downloaded if this is the first time."""
    environment = {**os.environ, "GOWORK": "off", "GOTOOLCHAIN": "local"}
    with TemporaryDirectory() as nowhere:
        done = subprocess.run(
            [go_command(), "mod", "download", "-json", module],
            cwd=nowhere,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    downloaded = json.loads(done.stdout)
    assert downloaded["Sum"] == checksum
    return Path(downloaded["Dir"])
