"""Whose Services the network policy controller handles, and how fast: the section `controllers.networkPolicy`.

Source: network-and-nodes §2.3, managed-resources §3.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import Field
from returns.result import Failure, Result

from hedgerow.api.shape import Int64
from hedgerow.machinery.fields import FieldError, FieldErrorType, invalid, required
from hedgerow.machinery.names import dns_label_problem
from hedgerow.machinery.selectors import FieldProblem, LabelSelector, parse_label_selector
from hedgerow.resource_manager.configuration.pace import CONCURRENT_SYNCS
from hedgerow.resource_manager.configuration.shape import Purpose, Section
from hedgerow.resource_manager.network_policies.config import IngressController, NetworkPolicyConfig


@dataclass(frozen=True, slots=True)
class NetworkPolicySettings:
    """Whether and how the controller runs."""

    enabled: bool
    concurrent_syncs: int | None
    """How many Services are looked at at once; none only where the controller is not enabled."""
    rules: NetworkPolicyConfig
    """What its decisions go by; empty where the section is not enabled and what it says cannot be read."""


class RequirementSection(Section):
    """One match expression as written."""

    key: str = ""
    """Key of the label."""
    operator: str = ""
    """How the label is compared. One of `In`, `NotIn`, `Exists`, `DoesNotExist`."""
    values: list[str] = Field(default_factory=list)
    """With `In` and `NotIn`: what it is compared with."""


class SelectorSection(Section):
    """A label selector as written."""

    match_labels: dict[str, str] = Field(default_factory=dict)
    """Labels with their values; all have to match."""
    match_expressions: list[RequirementSection] = Field(default_factory=list)
    """Requirements on labels; all have to match."""

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[FieldError]:
        """Every key, operator and value that no label selector may have."""
        match self._parsed(path):
            case Failure(problems):
                for problem in problems:
                    yield FieldError(problem.field, FieldErrorType.INVALID, problem.problem)

    def selector(self) -> LabelSelector:
        """The selector; only for a section without problems."""
        return self._parsed("").unwrap()

    def _parsed(self, path: str) -> Result[LabelSelector, tuple[FieldProblem, ...]]:
        return parse_label_selector(self.model_dump(by_alias=True), path)


class IngressControllerSection(Section):
    """Where the pods of the ingress controller run, as written."""

    namespace: str = ""
    """The namespace of its pods. Must be set."""
    pod_selector: SelectorSection | None = None
    """The labels of its pods. Must be set."""

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[FieldError]:
        """A missing half, as the pods are known only by namespace and labels together; an impossible namespace."""
        if not self.namespace:
            yield required(f"{path}.namespace", "must name the namespace of the ingress controller")
        elif problem := dns_label_problem(self.namespace):
            yield invalid(f"{path}.namespace", self.namespace, problem)
        if self.pod_selector is None:
            yield required(f"{path}.podSelector", "must select the pods of the ingress controller")
        yield from super().problems(path, purpose)

    def ingress_controller(self) -> IngressController | None:
        """The ingress controller; only for a section without problems."""
        return IngressController(self.namespace, self.pod_selector.selector()) if self.pod_selector else None


class NetworkPolicySection(Section):
    """The section as written."""

    enabled: bool = False
    """Whether the controller runs."""
    concurrent_syncs: Int64 | None = None
    """How many Services are looked at at once. At least 1."""
    namespace_selectors: list[SelectorSection] = Field(default_factory=list)
    """Services in Namespaces that match any of these are handled; empty: all."""
    ingress_controller_selector: IngressControllerSection | None = None
    """The ingress controller that may reach the backends of Ingresses; left out: none."""

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[FieldError]:
        """No worker at all, unreadable selectors, half an ingress controller; nothing where nobody runs by them."""
        if self.enabled and self.concurrent_syncs is not None and self.concurrent_syncs < 1:
            yield invalid(f"{path}.concurrentSyncs", self.concurrent_syncs, "must be at least 1")
        if self.enabled or purpose is Purpose.OFFLINE:
            yield from super().problems(path, purpose)

    def settings(self) -> NetworkPolicySettings:
        """The section with its defaults, which a section that is not enabled does not get."""
        default = CONCURRENT_SYNCS if self.enabled else None
        return NetworkPolicySettings(
            enabled=self.enabled,
            concurrent_syncs=default if self.concurrent_syncs is None else self.concurrent_syncs,
            rules=NetworkPolicyConfig() if self._is_unreadable() else self._rules(),
        )

    def _is_unreadable(self) -> bool:
        return any(super().problems("", Purpose.OFFLINE))

    def _rules(self) -> NetworkPolicyConfig:
        ingress = self.ingress_controller_selector
        return NetworkPolicyConfig(
            namespace_selectors=tuple(section.selector() for section in self.namespace_selectors),
            ingress_controller=ingress.ingress_controller() if ingress else None,
        )


def manifest(settings: NetworkPolicySettings) -> dict[str, Any]:
    """The section that states the settings in full."""
    section: dict[str, Any] = {"enabled": settings.enabled}
    if settings.concurrent_syncs is not None:
        section["concurrentSyncs"] = settings.concurrent_syncs
    section["namespaceSelectors"] = [selector.manifest() for selector in settings.rules.namespace_selectors]
    if ingress := settings.rules.ingress_controller:
        section["ingressControllerSelector"] = {
            "namespace": ingress.namespace,
            "podSelector": ingress.pod_selector.manifest(),
        }
    return section
