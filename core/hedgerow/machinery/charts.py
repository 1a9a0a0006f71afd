"""Charts: the step that renders one, and what it replies. Knows no renderer; adapters run one.

Source: controller-registration §8.7; Helm documentation, "helm template".
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.steps import Step


@dataclass(frozen=True, slots=True)
class RenderedFile:
    """One template of a chart that has objects."""

    path: str
    """Below the chart's own name: `test/templates/config.yaml`."""
    objects: tuple[Manifest, ...]
    """In the order in which the renderer prints them."""


@dataclass(frozen=True, slots=True)
class RenderError:
    """Why a chart was not rendered."""

    cause: Literal["chart", "unavailable", "timeout"]
    """`chart`: it cannot be rendered at all; otherwise trying again may help."""
    message: str
    """For people; the same each time, so it names no temporary file."""


RenderedChart: TypeAlias = tuple[RenderedFile, ...] | RenderError


@dataclass(frozen=True, slots=True)
class RenderChart(Step[RenderedChart]):
    """Render a chart as for its first installation."""

    chart: bytes
    """The archive, a `.tgz`; empty: there is none, which is an error of the chart."""
    release: str
    namespace: str
    values: Mapping[str, Any]
    kube_version: str
    """Of the cluster that it is for, as `v1.29.4`."""
    api_versions: tuple[str, ...] = ()
    """Which `.Capabilities` the chart sees beside the renderer's own, as `group/version` or `group/version/Kind`."""

    @property
    def digest(self) -> str:
        """The same for two steps that ask for the same rendering."""
        asked = [self.release, self.namespace, self.values, self.kube_version, self.api_versions]
        return blake2b(json.dumps(asked, sort_keys=True).encode() + self.chart, digest_size=16).hexdigest()
