"""Which namespaces any policy belongs to."""

from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.selectors import LabelSelector
from hedgerow.operator.namespace_network_policies import NamespaceView, policies_for_labels, relevant_namespaces
from tests.unit.core.operator.namespace_network_policies.objects import NAMES

ROLES = st.sampled_from(["shoot", "extension", "istio-system", "istio-ingress", "other"])
LABELS = st.fixed_dictionaries(
    {},
    optional={
        "gardener.cloud/role": ROLES,
        "handler.exposureclass.gardener.cloud/name": st.sampled_from(["", "internet"]),
        "custom": st.sampled_from(["namespace", "other"]),
        "kubernetes.io/metadata.name": st.sampled_from(["garden", "foo"]),
    },
)
ADDITIONAL = st.sampled_from([(), (LabelSelector((("custom", "namespace"),)),), (LabelSelector(),)])
NAMESPACES = st.lists(st.builds(NamespaceView, st.sampled_from("abcdef"), LABELS), unique_by=lambda each: each.name)


def belongs(name: str, labels: dict[str, str], additional: tuple[LabelSelector, ...]) -> bool:
    """The table of the specification, row by row."""
    role = labels.get("gardener.cloud/role")
    columns = {
        "g": labels.get("kubernetes.io/metadata.name") == "garden",
        "sys": role == "istio-system",
        "ing": role == "istio-ingress",
        "exp": "handler.exposureclass.gardener.cloud/name" in labels,
        "sh": role == "shoot",
        "ext": role == "extension",
        "add": any(selector.matches(labels) for selector in additional),
    }
    everywhere = ("g", "sys", "ing", "exp", "sh", "ext", "add")
    rows = dict.fromkeys(NAMES, ("g", "sh", "ext", "add")) | {
        "deny-all": everywhere,
        "allow-to-runtime-apiserver": ("g", "sys", "sh", "ext", "add"),
        "allow-to-dns": everywhere,
        "allow-to-shoot-networks": ("sh",),
    }
    return any(columns[column] for column in rows[name])


@given(LABELS, ADDITIONAL)
def test_a_policy_belongs_where_the_table_says(labels: dict[str, str], additional: tuple[LabelSelector, ...]) -> None:
    assert policies_for_labels(labels, additional) == tuple(name for name in NAMES if belongs(name, labels, additional))


@given(NAMESPACES, ADDITIONAL)
def test_relevant_are_the_namespaces_to_which_any_policy_belongs(
    namespaces: list[NamespaceView], additional: tuple[LabelSelector, ...]
) -> None:
    expected = {each.name for each in namespaces if any(belongs(name, {**each.labels}, additional) for name in NAMES)}

    assert relevant_namespaces(reversed(namespaces), additional) == tuple(sorted(expected))
