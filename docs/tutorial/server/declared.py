"""The same settings, resolved by declaring each field once."""

from __future__ import annotations

import os
from dataclasses import replace

from server.settings import Settings


def resolve(settings: Settings) -> Settings:
    """Fill in what the user left open, and refuse what cannot work."""
    production = settings.mode == "production"
    port = settings.port if settings.port is not None else 8443 if settings.tls else 8080
    if port < 1024 and not production:
        raise ValueError(f"port {port} needs an administrator, take one from 1024 on")
    workers = settings.workers or (int(os.environ.get("SERVER_WORKERS", "4")) if production else 1)
    if workers < 1:
        raise ValueError("a server needs a worker")
    if settings.timeout_seconds <= 0:
        raise ValueError("a request needs time")
    level = settings.log_level or ("info" if production else "debug")
    return replace(
        settings,
        host=settings.host or ("0.0.0.0" if production else "127.0.0.1"),
        port=port,
        workers=workers,
        threads=min(settings.threads, 8) if workers > 1 else settings.threads,
        cache_mib=min(settings.cache_mib, 256 if workers >= 8 else 1024),
        log_level=level,
        access_log=settings.access_log and level != "warning",
    )
