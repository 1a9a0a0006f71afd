"""What `hedgerow config check` prints says the same as the file that it was made from."""

from functools import partial
from typing import Any

from hypothesis import assume, given, note
from hypothesis import strategies as st
from returns.pipeline import is_successful

from hedgerow.machinery.configuration.section import Purpose
from hedgerow.resource_manager.configuration import API_VERSION, KIND, decode

durations = st.sampled_from(["10s", "15s", "1h30m", "24h", "1500ms", "100ns", "0s", "-1s"])
periods = st.sampled_from(["15s", "1h30m", "24h"])
workers = st.integers(1, 9)
names = st.sampled_from(["garden", "shop", "web", ""])


def some_of(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Sections that set any of the fields."""
    return st.fixed_dictionaries({}, optional=fields)


connections = st.one_of(
    some_of(
        kubeconfig=st.sampled_from(["", "/kubeconfig"]),
        acceptContentTypes=st.just("application/json"),
        contentType=st.just("application/json"),
        qps=st.one_of(st.integers(-1, 3), st.floats(allow_nan=False, allow_infinity=False)),
        burst=st.integers(0, 3),
        namespaces=st.lists(names, max_size=3),
        cacheResyncPeriod=st.sampled_from(["10s", "1h30m"]),
    ),
    some_of(namespace=names, qps=st.just(100), burst=st.just(130)),
)
endpoints = some_of(bindAddress=st.sampled_from(["", "::"]), port=st.integers(0, 9999))
selectors = some_of(
    matchLabels=st.dictionaries(names, names, max_size=2),
    matchExpressions=st.lists(
        some_of(
            key=names,
            operator=st.sampled_from(["In", "NotIn", "Exists", "Is"]),
            values=st.lists(names, max_size=2),
        ),
        max_size=2,
    ),
)
network_policies = some_of(
    enabled=st.booleans(),
    concurrentSyncs=st.integers(0, 9),
    namespaceSelectors=st.lists(selectors, max_size=2),
    ingressControllerSelector=some_of(namespace=names, podSelector=selectors),
)
tolerations = some_of(
    key=names,
    operator=st.sampled_from(["", "Equal", "Exists", "In"]),
    value=names,
    effect=st.sampled_from(["", "NoExecute"]),
    tolerationSeconds=st.integers(-1, 1),
)
labels = st.dictionaries(names, names, max_size=2)
switch = some_of(enabled=st.booleans())
invalidators = some_of(enabled=st.booleans(), concurrentSyncs=st.integers(-1, 9))
webhooks = some_of(
    crdDeletionProtection=switch,
    endpointSliceHints=switch,
    extensionValidation=switch,
    highAvailabilityConfig=some_of(
        enabled=st.booleans(),
        defaultNotReadyTolerationSeconds=st.integers(0, 1),
        defaultUnreachableTolerationSeconds=st.integers(0, 1),
    ),
    kubernetesServiceHost=some_of(enabled=st.booleans(), host=names),
    podSchedulerName=some_of(enabled=st.booleans(), schedulerName=names),
    podTopologySpreadConstraints=switch,
    projectedTokenMount=some_of(enabled=st.booleans(), expirationSeconds=st.integers(599, 601)),
    seccompProfile=switch,
    systemComponentsConfig=some_of(
        enabled=st.booleans(),
        nodeSelector=labels,
        podNodeSelector=labels,
        podTolerations=st.lists(tolerations, max_size=2),
    ),
    tokenInvalidator=switch,
)
documents = st.builds(
    lambda sections: {"apiVersion": API_VERSION, "kind": KIND, **sections},
    some_of(
        sourceClientConnection=connections,
        targetClientConnection=connections,
        leaderElection=some_of(
            leaderElect=st.booleans(),
            leaseDuration=durations,
            renewDeadline=durations,
            retryPeriod=durations,
            resourceLock=st.sampled_from(["", "leases", "configmaps"]),
            resourceName=names,
            resourceNamespace=st.sampled_from(["garden", ""]),
        ),
        server=some_of(
            webhooks=st.builds(
                lambda endpoint, folder, file, delay: {
                    **endpoint,
                    "tls": {"serverCertDir": folder, "clientCAFile": file},
                    "shutdownDelay": f"{delay}s",
                },
                endpoints,
                names,
                names,
                st.integers(0, 15),
            ),
            healthProbes=endpoints,
            metrics=endpoints,
        ),
        debugging=some_of(enableProfiling=st.booleans(), enableContentionProfiling=st.booleans()),
        logLevel=st.sampled_from(["", "debug", "info", "error"]),
        logFormat=st.sampled_from(["", "json", "text"]),
        controllers=some_of(
            clusterID=names,
            resourceClass=names,
            garbageCollector=some_of(enabled=st.booleans(), syncPeriod=periods),
            health=some_of(concurrentSyncs=workers, syncPeriod=periods),
            managedResources=some_of(
                concurrentSyncs=workers, syncPeriod=periods, alwaysUpdate=st.booleans(), managedByLabelValue=names
            ),
            secret=some_of(concurrentSyncs=workers),
            networkPolicy=network_policies,
            kubeletCSRApprover=some_of(
                enabled=st.booleans(),
                concurrentSyncs=st.integers(0, 9),
                machineNamespace=names,
                serviceNetworks=st.lists(st.sampled_from(["100.64.0.0/13", "fd00:10::/108", "10.0.0.1/8"]), max_size=2),
            ),
            node=some_of(enabled=st.booleans(), concurrentSyncs=st.integers(0, 9), backoff=durations),
            tokenInvalidator=invalidators,
            tokenValidator=invalidators,
            tokenRequestor=some_of(
                enabled=st.booleans(),
                concurrentSyncs=st.integers(0, 9),
                **{"class": names},
                audiences=st.lists(names, max_size=2),
                targetNamespace=names,
                sourceNamespaces=st.lists(names, max_size=2),
            ),
        ),
        webhooks=webhooks,
    ),
)


@given(documents, st.sampled_from([decode, partial(decode, purpose=Purpose.OFFLINE)]))
def test_a_printed_configuration_is_read_as_the_one_that_was_printed(document: dict[str, Any], read: Any) -> None:
    decoded = read(document)
    assume(is_successful(decoded))
    configuration = decoded.unwrap().configuration

    printed = configuration.manifest()

    note(str(printed))
    assert read(printed).unwrap().configuration == configuration
