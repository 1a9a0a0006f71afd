"""A token that is revoked while the process works: what log and probes say, and how it goes on with another one."""

import http.client

from tests.e2e.permissions import ACCOUNT, account_kubeconfig
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.sandbox import Sandbox, pair, service


def test_a_revoked_token_is_told_and_another_one_is_used_without_a_restart(sandbox: Sandbox) -> None:
    shop = sandbox.namespace("shop")
    sandbox.create(service(shop, "cart"))
    accounts = f"/api/v1/namespaces/{sandbox.home}/serviceaccounts"
    with ResourceManager(sandbox.folder, sandbox.configuration()) as process:
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        process.wait_ready()

        assert sandbox.control_plane.request("DELETE", f"{accounts}/{ACCOUNT}")[0] == http.client.OK
        refusal = "internal server error: failed talking to the source cluster's kube-apiserver (status code: 401)\n"
        process.wait_for(lambda: process.probe("/healthz/apiserver-healthz") == (500, refusal), "is healthy")
        process.wait_for(lambda: told_after_a_probe(process, "API server refuses"), "says nothing")
        assert process.probe("/readyz")[0] == http.client.OK

        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT}}
        assert sandbox.control_plane.request("POST", accounts, account)[0] == http.client.CREATED
        account_kubeconfig(sandbox.control_plane, sandbox.home, sandbox.folder)
        process.wait_for(lambda: told_after_a_probe(process, "API server accepts"), "does not use the new token")
        sandbox.create(service(shop, "stock"))
        sandbox.wait_for_policies({*pair("shop", "cart-tcp-8080"), *pair("shop", "stock-tcp-8080")})
        process.wait_for(lambda: process.probe("/healthz")[0] == http.client.OK, "does not reach the API server again")

    (line,) = process.log_lines("API server refuses the credentials", level="error")
    assert (line["connection"], line["server"]) == ("source", sandbox.control_plane.url)
    assert line["field"] == "sourceClientConnection.kubeconfig"


def told_after_a_probe(process: ResourceManager, message: str) -> bool:
    """Whether it has told of its credentials, which it tries whenever a probe asks for the API server's health."""
    process.probe("/healthz")
    return bool(process.log_lines(message))
