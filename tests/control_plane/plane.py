"""The control plane: etcd, the API server and, when asked for, the controller manager."""

import atexit
import contextlib
import http.client
import os
import shutil
import tempfile
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from tests.comparisons import is_comparison
from tests.control_plane import audit, credentials
from tests.control_plane.api_client import Answer, ApiClient, Stream
from tests.control_plane.etcd import Etcd
from tests.control_plane.kubectl import run_kubectl
from tests.control_plane.layout import Layout, api_server_flags, controller_manager_flags
from tests.control_plane.processes import PATIENCE, Server, ServerError, free_ports, resident_bytes, wait_until
from tests.control_plane.servers import server_binaries

STOP_GRACE = 5.0
ADMINISTRATORS = "system:masters"
CONTROLLER_MANAGER = "controller-manager"
STORED_AS_JSON = "--storage-media-type=application/json"
LONG_AGO = "2020-01-01T00:00:00Z"
STANDARD_USERS: Mapping[str, Sequence[str]] = {
    "admin": [ADMINISTRATORS],
    "hedgerow": [],
    CONTROLLER_MANAGER: [ADMINISTRATORS],
}
STANDARD_CONTROLLERS = ("namespace-controller", "garbage-collector-controller")
WORKLOAD_CONTROLLERS = (
    *STANDARD_CONTROLLERS,
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "job-controller",
    "persistentvolumeclaim-protection-controller",
    "replicaset-controller",
    "statefulset-controller",
)
"""With these, and a `PodKeeper` in place of scheduler and kubelet, workloads come up and go."""


@dataclass
class _Running:
    """What there is between start and stop."""

    binaries: Path
    layout: Layout
    etcd: Etcd
    api_server: Server
    controller_manager: Server | None = None
    client: ApiClient | None = None

    def servers(self) -> list[Server]:
        """Every server, those that need the others first."""
        first = [] if self.controller_manager is None else [self.controller_manager]
        return [*first, self.api_server, self.etcd.server]


class ControlPlane:
    """A Kubernetes control plane for one test session, with everything it writes in one temporary folder.

    RBAC decides what users may do: `admin` may do everything, `hedgerow` nothing until a test binds roles
    to it. Further users come from `users` (name to groups) or `add_user`. `api_server_flags` are added to
    the API server's own, such as `--watch-cache=false`, or replace those of the same name.

    The API server has no service account admission, as nothing here makes service accounts; every other
    admission plugin is as in a real cluster. It never compacts etcd by itself: history is lost exactly
    when a test says so. All servers die with the process that started them, however that ends.
    """

    def __init__(
        self, *, users: Mapping[str, Sequence[str]] | None = None, api_server_flags: Sequence[str] = ()
    ) -> None:
        self._users = credentials.users_from({**STANDARD_USERS, **(users or {})})
        self._extra_flags = tuple(api_server_flags)
        self._running: _Running | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    # The servers.

    def start(self) -> None:
        """Starts etcd and the API server and returns when the API server is ready, in some seconds.

        Raises:
            ServersUnavailableError: if there are no binaries and they cannot be built.
            ServerError: if a server does not become ready; the message ends with the tail of its log.
        """
        if self._running is not None:
            raise ServerError("this control plane has been started already")
        running = self._running = self._lay_out(server_binaries())
        atexit.register(self._stop_in, os.getpid())
        try:
            running.etcd.start()
            running.api_server.start()
            running.etcd.wait_until_healthy()
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends every server and removes the folder; does nothing if nothing was started."""
        running, self._running = self._running, None
        if running is None:
            return
        atexit.unregister(self._stop_in)
        if running.client is not None:
            running.client.close()
        for server in running.servers():
            server.stop(grace=0)
        shutil.rmtree(running.layout.folder, ignore_errors=True)

    def stop_api_server(self, *, grace: float = STOP_GRACE) -> None:
        """Stops the API server alone: clients find nobody on its port. Without grace it is killed."""
        self._now.api_server.stop(grace=grace)

    def start_api_server(self, *extra_flags: str) -> None:
        """Starts the API server on the port it had, with its data, certificate and users, and waits for it.

        The flags given here are for this run of it, after those given to the constructor.
        """
        running = self._now
        if running.api_server.running:
            raise ServerError("the API server is running already")
        running.api_server = self._new_api_server(running.binaries, running.layout, running.etcd.url, extra_flags)
        running.api_server.start()
        self._wait_until_ready()

    def restart_api_server(self, *extra_flags: str, grace: float = STOP_GRACE) -> None:
        """Stops and starts the API server; open connections and watches break."""
        self.stop_api_server(grace=grace)
        self.start_api_server(*extra_flags)

    def start_controller_manager(self, controllers: Collection[str] = STANDARD_CONTROLLERS, *extra_flags: str) -> None:
        """Starts controllers of Kubernetes itself: without them, deleted namespaces and orphans stay.

        The namespace controller takes up a deleted namespace only five seconds after its deletion. Flags are added to
        those that it always has.
        """
        running = self._now
        if running.controller_manager is not None:
            raise ServerError("the controller manager has been started already")
        (port,) = free_ports(1)
        kubeconfig = self.kubeconfig(CONTROLLER_MANAGER)
        flags = controller_manager_flags(running.layout, kubeconfig=kubeconfig, port=port, controllers=controllers)
        server = _server("kube-controller-manager", running.binaries, running.layout, flags, extra_flags)
        running.controller_manager = server
        server.start()
        with contextlib.closing(ApiClient(port, self.ca_pem)) as client:
            self._wait_until_ok(server, client, "/healthz")

    def stop_controller_manager(self) -> None:
        """Ends it, if it was started."""
        running = self._now
        if running.controller_manager is not None:
            running.controller_manager.stop(grace=0)
            running.controller_manager = None

    def compact_etcd(self) -> int:
        """Makes etcd forget all history, and returns the first revision that it still has.

        That alone does not bring a 410 for sure, as the API server answers from its watch cache, which
        remembers recent history by itself: see `expire_resource_versions`. With an API server that has no
        such cache (`restart_api_server("--watch-cache=false")`) it does, and breaks no connection.
        """
        return self._now.etcd.compact()

    def expire_resource_versions(self) -> int:
        """Makes every resource version and continue token handed out so far expire, for certain.

        etcd's history is compacted while the API server is down, so that its new watch cache begins after
        the compaction. Then a watch from an old resource version gets an ERROR event with code 410 and
        reason Expired, and a list with an old continue token gets status 410 with reason Expired.
        """
        self.stop_api_server(grace=0)
        revision = self.compact_etcd()
        self.start_api_server()
        return revision

    @contextlib.contextmanager
    def restored_afterwards(self) -> Iterator[None]:
        """Backs etcd up before the block and restores it, revisions included, after it. Each stops the servers."""
        with tempfile.TemporaryDirectory() as folder:
            backup = Path(folder, "etcd")
            with self._etcd_down() as etcd:
                etcd.back_up(backup)
            yield
            with self._etcd_down() as etcd:
                etcd.restore(backup)

    @contextlib.contextmanager
    def _etcd_down(self) -> Iterator[Etcd]:
        self.stop_api_server(grace=0)
        etcd = self._now.etcd
        etcd.server.stop(grace=STOP_GRACE)
        yield etcd
        etcd.start()
        etcd.wait_until_healthy()
        self.start_api_server()

    def make_old(self, resource: str, namespace: str, name: str) -> None:
        """Has an object of the core group been created long ago, which only etcd can be told.

        The API server has to have been started with `STORED_AS_JSON`.
        """

        def date_back(manifest: dict[str, Any]) -> None:
            manifest["metadata"]["creationTimestamp"] = LONG_AGO

        self._now.etcd.change(f"/registry/{resource}/{namespace}/{name}", date_back)

    def store_all(self, resource: str, objects: Iterable[Mapping[str, Any]]) -> None:
        """Stores namespaced objects in etcd, as they are, which takes much less time than to create many of them.

        Args:
            resource: the part of their keys in etcd that tells which resource it is, such as `secrets`.
            objects: valid and complete, but for uid and time of creation.
        """
        self._now.etcd.store(_stored(resource, each) for each in objects)

    # Access.

    @property
    def url(self) -> str:
        """Where the API server listens."""
        return self._now.layout.url

    @property
    def ca_pem(self) -> str:
        """The certificate of the authority that signed the API server's."""
        return credentials.authority_of(self._now.layout.certificate)

    @property
    def ca_file(self) -> Path:
        """A file with that certificate."""
        return credentials.write_private(self._now.layout.ca_file, self.ca_pem)

    def add_user(self, name: str, *groups: str) -> None:
        """Makes a further user known. The API server reads tokens when it starts, so a running one restarts."""
        self._users |= credentials.users_from({name: groups})
        if self._running is not None:
            self._write_tokens(self._running.layout)
            self.restart_api_server()

    def token(self, user: str = "admin") -> str:
        """The user's bearer token."""
        return self._users[user].token

    def kubeconfig(self, user: str = "admin") -> Path:
        """A kubeconfig file with one context, named after the user, that holds the token itself."""
        content = credentials.kubeconfig(self._users[user], url=self.url, ca_pem=self.ca_pem)
        return credentials.write_private(self._now.layout.kubeconfig(user), content)

    def kubectl(self, *arguments: str, input: str | None = None, user: str = "admin") -> str:  # noqa: A002
        """What kubectl prints; the input is its standard input, for `-f -`.

        Raises:
            KubectlError: if it fails, with what it said.
        """
        running = self._now
        return run_kubectl(
            running.binaries / "kubectl",
            *arguments,
            kubeconfig=self.kubeconfig(user),
            cache=running.layout.kubectl_cache,
            standard_input=input,
        )

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        user: str = "admin",
        token: str = "",
        content_type: str | None = None,
    ) -> tuple[int, dict[str, Any]]:
        """One request: the status code and the JSON object answered, or {"text": ...} where it is no object.

        The body is sent as JSON, as a merge patch if the method is PATCH and no content type is given. A token speaks
        for somebody who is no user of this control plane, such as a service account.
        """
        return self._client.request(method, path, body, token=token or self.token(user), content_type=content_type)

    def exchange(
        self, method: str, path: str, content: str | bytes | BinaryIO | None, headers: Mapping[str, str]
    ) -> Answer:
        """The answer to a request that is sent as it is."""
        return self._client.exchange(method, path, content, headers)

    def watch(self, path: str, *, resource_version: str, seconds: int = 1, user: str = "admin") -> list[dict[str, Any]]:
        """The events of a watch that the server ends after that many seconds, or at once if it refuses it."""
        return self._client.watch(path, token=self.token(user), resource_version=resource_version, seconds=seconds)

    def stream(
        self, path: str, *, resource_version: str, patience: float | None = None, user: str = "admin"
    ) -> AbstractContextManager[Stream]:
        """The events of a watch while they happen, for as long as they are read."""
        token = self.token(user)
        return self._client.stream(path, token=token, resource_version=resource_version, patience=patience)

    def create_all(self, objects: Iterable[tuple[str, Any]], *, user: str = "admin") -> None:
        """Creates many objects, each in its collection; one that is refused is an error."""
        self._client.create_all(objects, token=self.token(user))

    # Observation.

    def audit_position(self) -> int:
        """A place in the audit log, to be given to `audit_events` to leave out what came before it."""
        log = self._now.layout.audit_log
        return log.stat().st_size if log.exists() else 0

    def audit_events(
        self, user: str | None = None, verbs: Collection[str] | None = None, *, since: int = 0
    ) -> list[dict[str, Any]]:
        """The requests made so far, with verb, user, objectRef (resource, namespace, name) and responseStatus.

        One event stands for one request; that of a watch appears when the watch starts. A long answer can
        reach its client a moment before its event is written, so poll (`wait_until`) for what must come.
        """
        return audit.read_events(self._now.layout.audit_log, since=since, user=user, verbs=verbs)

    def lists(self, user: str, *, since: int = 0) -> list[dict[str, Any]]:
        """The lists that a user asked for, comparisons of versions left out."""
        events = self.audit_events(user, {"list"}, since=since)
        return [event for event in events if not is_comparison(audit.query_of(event))]

    def resident_bytes(self) -> dict[str, int]:
        """The memory that each running server holds now, by its name."""
        servers = [server for server in self._now.servers() if server.running]
        return {server.name: resident_bytes(server.pid) for server in servers if server.pid is not None}

    # Inside.

    @property
    def _now(self) -> _Running:
        if self._running is None:
            raise ServerError("this control plane is not started")
        return self._running

    @property
    def _client(self) -> ApiClient:
        """Made once, as loading the authority's certificate takes longer than a request."""
        running = self._now
        if running.client is None:
            running.client = ApiClient(running.layout.port, self.ca_pem)
        return running.client

    def _lay_out(self, binaries: Path) -> _Running:
        """Writes what the servers read, and decides their ports."""
        port, *etcd_ports = free_ports(3)
        layout = Layout(Path(tempfile.mkdtemp(prefix="hedgerow-control-plane-")), port)
        self._write_tokens(layout)
        layout.audit_policy.write_text(audit.POLICY, encoding="utf-8")
        credentials.write_private(layout.signing_key, credentials.new_signing_key())
        etcd = Etcd(binaries / "etcd", layout, etcd_ports)
        return _Running(binaries, layout, etcd, self._new_api_server(binaries, layout, etcd.url))

    def _write_tokens(self, layout: Layout) -> None:
        credentials.write_private(layout.tokens, credentials.token_file(self._users.values()))

    def _new_api_server(self, binaries: Path, layout: Layout, etcd_url: str, extra: Sequence[str] = ()) -> Server:
        flags = api_server_flags(layout, etcd_url=etcd_url)
        return _server("kube-apiserver", binaries, layout, flags, (*self._extra_flags, *extra))

    def _wait_until_ready(self) -> None:
        """Returns when /readyz is ok. The certificate is waited for first: it verifies the connection."""
        running = self._now
        # The key is written after the certificate, so the certificate is complete when there is a key.
        wait_until(
            lambda: self._alive(running.api_server) and running.layout.certificate_key.exists(),
            timeout=PATIENCE,
            otherwise=lambda: running.api_server.error("made no certificate"),
        )
        self._wait_until_ok(running.api_server, self._client, "/readyz")

    def _wait_until_ok(self, server: Server, client: ApiClient, path: str) -> None:
        """Returns when the server says that it is well; fails at once when it ends."""
        last = ["nothing"]

        def ok() -> bool:
            self._alive(server)
            try:
                status, answer = client.request("GET", path, token=self.token())
            except (OSError, http.client.HTTPException) as error:
                last[0] = repr(error)
                return False
            last[0] = f"{status} {answer}"
            return status == http.client.OK

        wait_until(ok, timeout=PATIENCE, otherwise=lambda: server.error(f"is not ready ({path}: {last[0]})"))

    def _alive(self, server: Server) -> bool:
        """True, or an error that names the server that has ended: etcd's end explains any other's."""
        self._now.etcd.server.require_running()
        server.require_running()
        return True

    def _stop_in(self, process: int) -> None:
        """Stops at the end of the process that started it, and not at that of a fork of it."""
        if process == os.getpid():
            self.stop()


def _server(name: str, binaries: Path, layout: Layout, flags: Mapping[str, str], extra: Sequence[str] = ()) -> Server:
    replaced = {each.removeprefix("--").partition("=")[0] for each in extra}
    kept = (f"--{flag}={value}" for flag, value in flags.items() if flag not in replaced)
    command = [str(binaries / name), *kept, *extra]
    return Server(name, command, layout.log(name))


def _stored(resource: str, manifest: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The key and value of an object in etcd."""
    metadata = {**manifest["metadata"], "uid": str(uuid.uuid4()), "creationTimestamp": LONG_AGO}
    return f"/registry/{resource}/{metadata['namespace']}/{metadata['name']}", {**manifest, "metadata": metadata}
