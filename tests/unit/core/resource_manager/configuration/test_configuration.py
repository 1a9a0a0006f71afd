"""The configuration as a value, and back to a document."""

from collections.abc import Callable
from typing import Any

from hedgerow.resource_manager.configuration import Decoded, decode

FULL = """
    sourceClientConnection:
      kubeconfig: /etc/source
      acceptContentTypes: application/json
      contentType: application/json
      qps: 12.5
      burst: 20
      namespaces: [garden]
      cacheResyncPeriod: 1h30m
    targetClientConnection: {qps: -1}
    leaderElection: {leaseDuration: 1m, renewDeadline: 40s, retryPeriod: 1500ms, resourceNamespace: garden}
    server: {webhooks: {bindAddress: "::", port: 1, tls: {serverCertDir: /certs}}, metrics: {port: 2}}
    debugging: {enableProfiling: true, enableContentionProfiling: true}
    logLevel: debug
    logFormat: text
    controllers:
      clusterID: seed
      resourceClass: seed
      garbageCollector: {enabled: true, syncPeriod: 12h}
      health: {concurrentSyncs: 6, syncPeriod: 30s}
      managedResources: {concurrentSyncs: 7, syncPeriod: 20s, alwaysUpdate: true, managedByLabelValue: seed}
      secret: {concurrentSyncs: 8}
      networkPolicy:
        enabled: true
        namespaceSelectors:
        - matchLabels: {gardener.cloud/role: shoot}
        - matchExpressions: [{key: env, operator: NotIn, values: [test, dev]}]
        ingressControllerSelector: {namespace: garden, podSelector: {matchLabels: {app: nginx}}}
"""


def test_a_configuration_survives_the_way_through_a_document(decoded: Callable[[str], Decoded]) -> None:
    configuration = decoded(FULL).configuration

    assert decode(configuration.manifest()).unwrap().configuration == configuration


def test_the_document_of_a_configuration_spells_out_what_was_left_to_defaults(
    document: Callable[[str], dict[str, Any]], decoded: Callable[[str], Decoded]
) -> None:
    written = document(FULL)["controllers"]["networkPolicy"]

    assert decoded(FULL).configuration.manifest()["controllers"]["networkPolicy"] == {**written, "concurrentSyncs": 5}


def test_the_document_of_a_configuration_without_a_lease_is_valid(decoded: Callable[[str], Decoded]) -> None:
    alone = decoded("{leaderElection: {leaderElect: false}, controllers: {networkPolicy: {concurrentSyncs: 0}}}")

    assert (
        decode(alone.configuration.manifest()).unwrap().configuration.controllers.network_policy.concurrent_syncs == 0
    )
