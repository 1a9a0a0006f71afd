"""Controller and webhook at work together in the in-memory cluster, as a process runs them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from hedgerow.admission.defaulters import token_invalidator as token_invalidator_webhook
from hedgerow.api.kubernetes import PODS, SECRETS, SERVICE_ACCOUNTS
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.resource_manager.token_invalidation import token_invalidator
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.simulation.planning import settle
from tests.local_webhooks import LocalWebhooks
from tests.unit.adapters.runtime.world import Ears, World, at_work
from tests.unit.core.resource_manager.token_invalidation.accounts import (
    CONSIDERED,
    KEY,
    MARKED,
    SKIP,
    TOKEN,
    mounting_pod,
    service_account,
    token_secret,
)
from tests.virtual_clock import virtual_time

CONFIGURATIONS = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    namespaced=False,
)
REGISTRATION = {
    "apiVersion": CONFIGURATIONS.api_version,
    "kind": CONFIGURATIONS.kind,
    "metadata": {"name": "hedgerow"},
    "webhooks": [
        {
            "name": "token-invalidator.hedgerow.dev",
            "clientConfig": {"url": "https://127.0.0.1/webhooks/invalidate-service-account-token-secret"},
            "rules": [
                {"operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["secrets"]}
            ],
            "objectSelector": {"matchLabels": MARKED},
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
    ],
}
INVALID, NEW = "AAAA", "bmV3"
ROBOT = ObjectKey("shop", "robot")


class Shop(World):
    """A cluster that asks the webhook, with a ServiceAccount and a Secret of it."""

    def __init__(self, *, automount: bool | None) -> None:
        super().__init__()
        self.answer_webhooks(LocalWebhooks(self, [token_invalidator_webhook()]))
        self.create(CONFIGURATIONS, REGISTRATION)
        self.create(SERVICE_ACCOUNTS, service_account(KEY.name, automount=automount))
        secret = token_secret()
        self.create(SECRETS, {**secret, "metadata": {**secret["metadata"], "resourceVersion": ""}})

    @property
    def secret(self) -> Manifest:
        found = self.get(SECRETS, KEY)
        assert found is not None
        return found

    @property
    def labels(self) -> dict[str, str]:
        return dict(self.secret["metadata"].get("labels") or {})

    @property
    def token(self) -> str | None:
        return (self.secret.get("data") or {}).get("token")

    def write(self, token: str | None) -> None:
        self.patch(SECRETS, KEY, {"data": {"token": token}})


@asynccontextmanager
async def working(shop: Shop) -> AsyncIterator[None]:
    """The controller at work; nothing may go wrong."""
    ears = Ears()
    async with at_work(shop, token_invalidator(), observer=ears):
        await asyncio.sleep(0.5)
        yield
    assert not ears.troubles


@virtual_time
async def test_the_token_of_a_service_account_that_mounts_none_is_worth_nothing_whoever_writes_it() -> None:
    shop = Shop(automount=False)
    async with working(shop):
        assert (shop.labels, shop.token) == (CONSIDERED, INVALID)  # I03

        shop.write(NEW)
        assert shop.token == INVALID  # I04
        shop.write(None)
        assert shop.token == INVALID  # I04


@virtual_time
async def test_a_token_is_released_when_the_service_account_changes_its_mind() -> None:  # I05
    for change in ({"automountServiceAccountToken": True}, {"metadata": {"labels": {SKIP: "anything"}}}):
        shop = Shop(automount=False)
        async with working(shop):
            shop.patch(SERVICE_ACCOUNTS, ROBOT, change)
            await asyncio.sleep(0.5)

            assert (shop.labels, shop.token) == (MARKED, None)
            shop.write(NEW)
            assert shop.token == NEW


@virtual_time
async def test_a_token_is_left_as_it_is_while_it_is_mounted_and_invalidated_after_that() -> None:  # I02 I07
    shop = Shop(automount=None)
    shop.create(PODS, mounting_pod())
    async with working(shop):
        shop.patch(SERVICE_ACCOUNTS, ROBOT, {"automountServiceAccountToken": False})
        await asyncio.sleep(20)
        assert (shop.labels, shop.token) == (MARKED, TOKEN["token"])

        shop.handle(requests.delete(PODS, ObjectKey("shop", "p")))
        await asyncio.sleep(20)
        assert (shop.labels, shop.token) == (CONSIDERED, INVALID)


def test_in_a_simulation_the_token_is_invalidated_at_once() -> None:
    shop = Shop(automount=False)

    settled = settle(shop, [token_invalidator()])

    assert not settled.unrest
    assert [step.action.reason for step in settled.steps] == ["automount-disabled"]
    assert (shop.labels, shop.token) == (CONSIDERED, INVALID)
