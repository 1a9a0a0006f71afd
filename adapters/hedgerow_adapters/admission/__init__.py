"""Answers an API server before it stores: admission reviews over HTTPS.

`server` answers HTTP requests within limits, `certificates` follows a folder, `exchange` turns bodies into answers
within a limit of memory, `reviewer` runs the webhooks, which decide.
"""

from hedgerow_adapters.admission.certificates import CertificateError, Certificates, default_folder
from hedgerow_adapters.admission.exchange import Exchange
from hedgerow_adapters.admission.reviewer import AdmissionObserver, Reviewer, View
from hedgerow_adapters.admission.server import AdmissionServer, Limits

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
