"""Answers the API server's questions before it stores: admission reviews over HTTPS.

`server` listens, `connection` and `connections` keep each and all clients within `limits`, `certificates` follows a
folder, `desk` answers HTTP requests, `exchange` turns bodies into answers, `reviewer` asks the webhooks. What is
decided is decided in the core.
"""

from hedgerow_adapters.admission.certificates import CertificateError, Certificates, default_folder
from hedgerow_adapters.admission.exchange import Exchange
from hedgerow_adapters.admission.limits import Limits
from hedgerow_adapters.admission.observer import AdmissionObserver
from hedgerow_adapters.admission.reviewer import Reviewer, View
from hedgerow_adapters.admission.server import AdmissionServer

__all__ = [
    "AdmissionObserver",
    "AdmissionServer",
    "CertificateError",
    "Certificates",
    "Exchange",
    "Limits",
    "Reviewer",
    "View",
    "default_folder",
]
