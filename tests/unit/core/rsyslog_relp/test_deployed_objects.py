"""What the extension deploys into the control plane of a Shoot: monitoring, and the cleaner of nodes."""

import json
from base64 import b64decode
from itertools import combinations

import pytest
import yaml

from hedgerow.rsyslog_relp.cleaning import CleanerImages, cleaner_objects
from hedgerow.rsyslog_relp.monitoring import monitoring_config_map
from hedgerow.rsyslog_relp.pstats import METRICS, PREFIX
from hedgerow.rsyslog_relp.rendering import cleaner_script

NAMESPACE = "shoot--bar--foo"
DATA = monitoring_config_map(NAMESPACE)["data"]


def test_texts_begin_at_column_0_and_end_with_a_line_end() -> None:
    for text in DATA.values():
        assert text[0].strip()
        assert text.endswith("\n")
        assert not text.endswith("\n\n")


def test_the_scrape_job_is_an_item_of_a_list() -> None:
    (job,) = yaml.safe_load(DATA["scrape_config"])

    assert (job["job_name"], job["scheme"], len(job["relabel_configs"])) == ("rsyslog-metrics", "https", 7)


def test_alerts_select_the_action_of_the_configuration() -> None:
    rules = yaml.safe_load(DATA["alerting_rules"])["rsyslog-relp.rules.yaml"]
    (group,) = yaml.safe_load(rules)["groups"]

    assert {each["alert"] for each in group["rules"]} == {
        "RsyslogTooManyRelpActionFailures",
        "RsyslogRelpActionProcessingRateIsZero",
    }
    assert all('name="rsyslog-relp"' in each["expr"] and each["for"] == "15m" for each in group["rules"])
    assert "rsyslg" not in rules


def test_panels_have_their_own_ids_and_places_and_show_known_metrics() -> None:
    dashboard = json.loads(yaml.safe_load(DATA["dashboard_operators"])["rsyslog-relp-dashboard.json"])
    panels = dashboard["panels"]

    assert len({each["id"] for each in panels}) == len(panels)
    places = [each["gridPos"] for each in panels]
    assert not [
        (one, other)
        for one, other in combinations(places, 2)
        if one["x"] < other["x"] + other["w"]
        and other["x"] < one["x"] + one["w"]
        and one["y"] < other["y"] + other["h"]
        and other["y"] < one["y"] + one["h"]
    ]
    expressions = [target["expr"] for each in panels for target in each.get("targets", ())]
    metrics = {each.partition(PREFIX)[2].partition("{")[0] for each in expressions}
    assert metrics == METRICS.keys() - set()
    assert not {"'", "Grafana", "loki"} & {word for word in ("'", "Grafana", "loki") if word in json.dumps(dashboard)}


def test_the_cleaner_runs_once_on_every_node() -> None:
    secret, managed_resource = cleaner_objects(NAMESPACE, CleanerImages())
    ((file, data),) = secret["data"].items()
    daemon_set = yaml.safe_load(b64decode(data))
    pod = daemon_set["spec"]["template"]["spec"]

    assert file == "daemonset__kube-system__rsyslog-relp-configuration-cleaner.yaml"
    assert secret["immutable"] is True
    assert managed_resource["spec"]["secretRefs"] == [{"name": secret["metadata"]["name"]}]
    assert managed_resource["metadata"]["labels"] == {"origin": "shoot-rsyslog-relp"}
    assert pod["initContainers"][0]["command"] == ["sh", "-c", cleaner_script()]
    assert pod["containers"][0]["image"] == "registry.k8s.io/pause:3.9"
    assert pod["volumes"] == [{"name": "host-root-volume", "hostPath": {"path": "/"}}]


@pytest.mark.parametrize(
    ("images", "problem"),
    [
        (CleanerImages(), None),
        (CleanerImages(alpine=""), "failed to find the alpine image: no image is configured"),
        (CleanerImages(pause=""), "failed to find the pause image: no image is configured"),
    ],
)
def test_an_image_may_be_missing(images: CleanerImages, problem: str | None) -> None:
    assert images.problem == problem
