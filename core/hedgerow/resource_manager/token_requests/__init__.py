"""Tokens of ServiceAccounts of the target cluster, kept fresh in Secrets that ask for them by label and annotations.

`renewal` says when a token is renewed; `read_kubeconfig` reads and changes the token of a kubeconfig's current user;
`token_requestor` does the whole. What stands here follows semantic versioning.
"""

from hedgerow.resource_manager.token_requests.controller import TokenRequestorConfig, token_requestor
from hedgerow.resource_manager.token_requests.kubeconfig import Kubeconfig, read_kubeconfig
from hedgerow.resource_manager.token_requests.service_account import Schedule, renewal

__all__ = ["Kubeconfig", "Schedule", "TokenRequestorConfig", "read_kubeconfig", "renewal", "token_requestor"]
