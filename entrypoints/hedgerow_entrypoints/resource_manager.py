"""The resource manager's process: which parts it has, how they are wired, and in which order they start and stop.

Start: logs, connections, probes and metrics, caches, leader election, then the controllers' workers. Stop: the workers
finish what they are at, events leave, the lease is given back.
Source: managed-resources §4.
"""

import asyncio
import contextlib
import os
import random
import signal
import socket
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.configuration import ClientConnection, ResourceManagerConfiguration
from hedgerow.resource_manager.network_policies import network_policy_controller
from hedgerow.version import __version__
from hedgerow_adapters.kubernetes.credentials import Connection, load_connection
from hedgerow_adapters.kubernetes.http_transport import HttpTransport
from hedgerow_adapters.leader_election import ElectionEvent, EventKind, LeaderElector, LeadershipLostError, Timings
from hedgerow_adapters.probes import Check, serve_metrics, serve_probes
from hedgerow_adapters.protocol.transport import Request, Transport, TransportError
from hedgerow_adapters.runtime.events import EventRecorder
from hedgerow_adapters.runtime.runner import EVERYWHERE, ControllerRunner
from hedgerow_adapters.telemetry import ControllerTelemetry, RuntimeMetrics, configure_logs, get_logger
from returns.result import Failure

from hedgerow_entrypoints.errors import CommandError
