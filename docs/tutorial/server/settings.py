"""The settings of the server: ten fields, and what becomes of them before the server starts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal


@dataclass
class Settings:
    """What a user can set."""

    mode: Literal["development", "production"] = "development"
    host: str | None = None
    port: int | None = None
    tls: bool = False
    workers: int | None = None
    threads: int = 1
    cache_mib: int = 64
    timeout_seconds: float = 30.0
    log_level: Literal["debug", "info", "warning"] | None = None
    access_log: bool = True


def resolve(settings: Settings) -> Settings:
    """Fill in what the user left open, and refuse what cannot work."""
    _listen(settings)
    _processes(settings)
    _memory(settings)
    _logging(settings)
    return settings


def _listen(settings: Settings) -> None:
    if settings.host is None:
        settings.host = "0.0.0.0" if settings.mode == "production" else "127.0.0.1"
    if settings.port is None:
        settings.port = 8443 if settings.tls else 8080
    if settings.port < 1024 and settings.mode == "development":
        raise ValueError(f"port {settings.port} needs an administrator, take one from 1024 on")


def _processes(settings: Settings) -> None:
    if settings.workers is None:
        settings.workers = int(os.environ.get("SERVER_WORKERS", "4")) if settings.mode == "production" else 1
    if settings.workers < 1:
        raise ValueError("a server needs a worker")
    if settings.workers > 1 and settings.threads > 8:
        settings.threads = 8


def _memory(settings: Settings) -> None:
    if settings.cache_mib > 1024:
        settings.cache_mib = 1024
    if settings.workers > 8:
        settings.cache_mib = min(settings.cache_mib, 256)


def _logging(settings: Settings) -> None:
    if settings.log_level is None:
        settings.log_level = "debug" if settings.mode == "development" else "info"
    if settings.log_level == "warning":
        settings.access_log = False
    if settings.timeout_seconds <= 0:
        raise ValueError("a request needs time")
