"""How fast the process adds the files of a node to OperatingSystemConfigs, asked directly over HTTPS.

The API server beside it stores what the webhook reads: Clusters, Extensions, and Secrets with certificates.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.admission import SECONDS, Server, tail
from benchmarks.bare_client import send_all
from benchmarks.figures import Figure
from benchmarks.launch import Command
from benchmarks.load_generator import UID
from benchmarks.rsyslog_process import Extension, cluster, creation, extension, namespace_of, seed
from benchmarks.rsyslog_relp import DOCUMENT, PLAIN, operating_system_config
from hedgerow.admission import request
from hedgerow.admission.review import V1, answer
from hedgerow.admission.webhook import apply_rules
from hedgerow.api.gardener import EXTENSIONS, OPERATING_SYSTEM_CONFIGS
from hedgerow.api.kubernetes import SECRETS
from hedgerow.rsyslog_relp import decode
from hedgerow.rsyslog_relp.operating_system_config import PATH, shoot_identity, with_node_files
from hedgerow_adapters.protocol import json_codec
from hedgerow_adapters.registrations.dispatch import review_document
from tests.control_plane import ControlPlane
from tests.e2e.admission_server.clients import issue

RATES: Final = {1: 2000, 16: 3000}
"""Goals: reviews per second by connections."""
SHOOTS: Final = 100
WITHOUT, WITH = 0, 1
"""The Shoots that are asked about: without certificates and with them."""
CERTIFICATES: Final = "ref-rsyslog-tls"
CONFIGS: Final[Mapping[int, Mapping[str, Any]]] = {WITHOUT: PLAIN, WITH: DOCUMENT}


def measure(command: Command, seconds: int = SECONDS) -> Iterator[Figure]:
    """Reviews per second and latencies by connections."""
    with TemporaryDirectory(prefix="hedgerow-benchmark-") as name, seed(SHOOTS) as plane:
        folder = Path(name)
        certificate = issue(folder / "pair")
        _fill(plane, certificate)
        with Extension.serving(command, "rsyslog-admission", plane, certificate) as process:
            process.wait_for(process.is_ready, "is not ready")
            url = f"https://127.0.0.1:{process.webhook_port}{PATH}?timeout=10s"
            for shoot in CONFIGS:
                documents = folder / str(shoot)
                documents.mkdir()
                _write_documents(documents, shoot)
                yield from _loaded(process, Server(url, process.pid, documents), shoot, seconds)


def _loaded(process: Extension, server: Server, shoot: int, seconds: int) -> Iterator[Figure]:
    server.load("-seconds", "2", "-connections", "16")
    secured = ", with certificates read live" if shoot == WITH else ""
    processor, reviews = process.processor_seconds(), 0
    for connections, goal in RATES.items():
        loaded = server.load("-seconds", str(seconds), "-connections", str(connections))
        reviews += loaded.requests
        what = f"OperatingSystemConfigs{secured}, {connections} connection{'s' if connections > 1 else ''}"
        if secured:
            yield Figure(what, loaded.per_second, "reviews/s")
        else:
            yield Figure.at_least(what, loaded.per_second, "reviews/s", goal)
            yield tail(what, connections, loaded)
    spent = (process.processor_seconds() - processor) / reviews * 1000
    yield Figure(f"OperatingSystemConfigs{secured}: processor time for each", spent, "ms")


def _fill(plane: ControlPlane, certificate: Path) -> None:
    """Every Shoot has the extension, and certificates."""
    extensions = (extension(number, CONFIGS[number % len(CONFIGS)]) for number in range(SHOOTS))
    send_all(plane, (creation(EXTENSIONS, each) for each in extensions))
    files = (("ca", "tls.crt"), ("crt", "tls.crt"), ("key", "tls.key"))
    data = {key: b64encode((certificate / name).read_bytes()).decode("ascii") for key, name in files}
    secrets = (
        {"metadata": {"namespace": namespace_of(number), "name": CERTIFICATES}, "data": data}
        for number in range(SHOOTS)
    )
    send_all(plane, (creation(SECRETS, each) for each in secrets))


def _write_documents(folder: Path, number: int) -> None:
    """What is asked, as an API server would, and what is to be answered."""
    namespace, osc = namespace_of(number), operating_system_config()
    metadata = {"namespace": namespace, "name": "nodes"}
    typed = {"apiVersion": OPERATING_SYSTEM_CONFIGS.api_version, "kind": OPERATING_SYSTEM_CONFIGS.kind}
    asked = request.creation(OPERATING_SYSTEM_CONFIGS, {**typed, "metadata": metadata, **osc})
    question = review_document(asked)
    question["request"]["uid"] = UID
    config = decode(CONFIGS[number], is_strict=False).unwrap()
    identity = shoot_identity(namespace, cluster(number)[1]["spec"]["shoot"])
    secret = CERTIFICATES if config.active_tls else None
    rule = ("rsyslog-relp", lambda before: with_node_files(before, config, identity, secret))
    decision = apply_rules(asked.object, [rule])
    (folder / "review.json").write_bytes(json_codec.encode(question))
    (folder / "answer.json").write_bytes(json_codec.encode(answer(V1, UID, decision, json_codec.encode)))
