import pytest

from hedgerow_adapters.files.scopes import CLUSTER_SCOPED_KINDS, NAMESPACED_KINDS, in_its_namespace


@pytest.mark.parametrize(
    ("api_version", "kind", "namespace", "expected"),
    [
        pytest.param("v1", "Service", None, "default", id="namespaced"),
        pytest.param("v1", "Service", "", "default", id="namespace left empty"),
        pytest.param("v1", "Service", "shop", "shop", id="namespace given"),
        pytest.param("networking.k8s.io/v1", "NetworkPolicy", None, "default", id="namespaced, of a named group"),
        pytest.param("apps/v1", "Deployment", None, "default", id="namespaced, of a short group"),
        pytest.param("v1", "Node", None, None, id="cluster-scoped"),
        pytest.param("rbac.authorization.k8s.io/v1", "ClusterRole", "shop", None, id="cluster-scoped with a namespace"),
        pytest.param("example.org/v1", "Widget", None, None, id="unknown"),
        pytest.param("example.org/v1", "Widget", "shop", "shop", id="unknown with a namespace"),
        pytest.param("serving.knative.dev/v1", "Service", None, None, id="another group's Service"),
        pytest.param("longhorn.io/v1beta2", "Node", "shop", "shop", id="another group's Node"),
        pytest.param("core.gardener.cloud/v1beta1", "Shoot", None, "default", id="named by the caller as namespaced"),
    ],
)
def test_the_scope_of_a_kind_decides_the_namespace(
    api_version: str, kind: str, namespace: str | None, expected: str | None
) -> None:
    metadata = {"name": "a"} if namespace is None else {"name": "a", "namespace": namespace}
    manifest = {"apiVersion": api_version, "kind": kind, "metadata": metadata}
    before = {**manifest, "metadata": {**metadata}}

    placed = in_its_namespace(manifest, NAMESPACED_KINDS | {"Shoot.core.gardener.cloud"}, "default")

    assert placed["metadata"].get("namespace") == expected
    assert manifest == before


def test_no_kind_has_two_scopes() -> None:
    assert not CLUSTER_SCOPED_KINDS & NAMESPACED_KINDS
