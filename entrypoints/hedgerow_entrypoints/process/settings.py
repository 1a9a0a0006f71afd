"""What a process has to be told, whatever component it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from hedgerow.machinery.configuration.process import ClientConnection, LeaderElection, Server
from hedgerow.machinery.controller import Config, Controller
from hedgerow.machinery.failures import Problem
from hedgerow.machinery.restriction import restricted
from hedgerow_adapters.charts import HelmCommand


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSettings:
    """What a process needs of the configuration of its component."""

    source: ClientConnection
    """The way to the cluster with its Lease and its orders."""
    target: ClientConnection | None = None
    """The way to the cluster that it looks after; none: the source."""
    source_field: str = "sourceClientConnection.kubeconfig"
    """Where the kubeconfig of the source is named: a field of the configuration, or an environment variable."""
    target_field: str = "targetClientConnection.kubeconfig"
    server: Server
    leader_election: LeaderElection
    log_level: str = "info"
    log_format: str = "json"
    cluster_id: str = ""
    """The id of the source cluster, or how to find it (`hedgerow.api.references`)."""
    helm: HelmCommand | None = None
    """How charts are rendered; none: no controller has any."""
    problem_of_one_cluster: Problem | None = None
    """Why the process must not run where source and target are one cluster; none: it may."""

    @property
    def looked_after(self) -> ClientConnection:
        """The connection to the target cluster, which may be the source."""
        return self.target or self.source

    def with_kubeconfigs(self, environment: Mapping[str, str]) -> Self:
        """The settings with the kubeconfigs that `KUBECONFIG` and `TARGET_KUBECONFIG` name.

        Source: managed-resources §4.1.
        """
        source, target = environment.get("KUBECONFIG"), environment.get("TARGET_KUBECONFIG")
        settings = self
        if source:
            stated = replace(self.source, kubeconfig=source)
            settings = replace(settings, source=stated, source_field="KUBECONFIG")
        if target and settings.target is not None:
            stated = replace(settings.target, kubeconfig=target)
            settings = replace(settings, target=stated, target_field="TARGET_KUBECONFIG")
        return settings

    def restricted(self, controller: Controller[Config]) -> Controller[Config]:
        """A controller as it runs: it decides nothing about namespaces that the process does not see."""
        return restricted(controller, source=self.source.namespaces, target=self.looked_after.namespaces)
