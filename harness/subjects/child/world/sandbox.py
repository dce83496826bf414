"""Limits what foreign code can do: memory, time per case, files, processes, the network.

There are three layers, since none of them works everywhere and for everything: a network namespace without a network
if the kernel grants one, resource limits, and an audit hook that refuses what Python is asked to open or start. This
stops a resolution that reaches for the machine by mistake, and tells what it reached for. It is no prison for hostile
code.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import contextlib
import importlib
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .current import WORLD

_CLONE_NEWNET = 0x40000000
_CLONE_NEWUSER = 0x10000000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def allowed_bytes(wanted: int) -> int:
    """Return a limit on memory that can be set: ``wanted``, or the limit of this process if that is lower."""
    given = resource.getrlimit(resource.RLIMIT_AS)[1]
    return wanted if given == resource.RLIM_INFINITY else min(wanted, given)


def confine(memory_bytes: int, root: str) -> dict[str, bool]:
    """Apply all limits to this process; to be called before the tree at ``root`` is imported.

    Returns which of the limits that need the kernel's permission are in force.
    """
    memory_bytes = allowed_bytes(memory_bytes)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    granted = _leave_network()
    places = {root, os.path.realpath(root), os.getcwd(), *map(os.path.realpath, (sys.prefix, sys.base_prefix))}
    _READABLE.extend(os.path.join(place, "") for place in (*places, sys.prefix, sys.base_prefix))
    _hide_files()
    _keep_timer()
    _close_side_doors()
    sys.addaudithook(_audit)
    return {"network_namespace": granted}


# Folders whose files a case may read: the tree, the interpreter's own, the empty working folder.
_READABLE: list[str] = []


def _readable(path: Any) -> bool:
    if isinstance(path, int):
        return True
    place = os.path.normpath(os.path.join(_CWD, os.fsdecode(path)))
    return place == os.devnull or f"{place}/".startswith(tuple(_READABLE))


_CWD = os.getcwd()


def _hide_files() -> None:
    """Hide from a case all files that it may not read.

    ``os.path.exists`` and similar functions raise no audit event, so they are replaced.
    """

    def hiding(original: Callable[[Any], bool]) -> Callable[[Any], bool]:
        def found(path: Any) -> bool:
            if WORLD.active and isinstance(path, (str, bytes, os.PathLike)) and not _readable(path):
                return False
            return original(path)

        return found

    for name in ("exists", "lexists", "isfile", "isdir", "islink", "ismount"):
        setattr(os.path, name, hiding(getattr(os.path, name)))


def _keep_timer() -> None:
    """Keep the tree from changing the timer that ends a case. Our own code uses ``_signal``, which is unchanged."""

    def refusing(name: str) -> Callable[..., Any]:
        def refuse(*args: Any) -> Any:
            return WORLD.refuse(f"signal.{name}()", "touched the timer that ends a case")

        return refuse

    install = signal.signal

    def checked(number: Any, handler: Any) -> Any:
        if number == signal.SIGALRM:
            WORLD.refuse("signal.signal()", "touched the timer that ends a case")
        return install(number, handler)

    signal.signal = checked  # type: ignore[assignment]
    for name in ("setitimer", "alarm", "pthread_sigmask"):
        setattr(signal, name, refusing(name))


# Functions that Python calls without an audit event; each is replaced by one that refuses with this message.
_UNAUDITED = {
    "_posixsubprocess": {"fork_exec": "started a process"},
    "os": {"mkfifo": "made a pipe", "mknod": "made a node", "pidfd_open": "looked at a process"},
    "posix": {"mkfifo": "made a pipe", "mknod": "made a node", "pidfd_open": "looked at a process"},
    "signal": {"pidfd_send_signal": "signalled a process", "pthread_kill": "signalled a thread"},
    "_signal": {"pidfd_send_signal": "signalled a process", "pthread_kill": "signalled a thread"},
}


def _close_side_doors() -> None:
    def refusing(path: str, how: str) -> Callable[..., Any]:
        return lambda *args, **kwargs: WORLD.refuse(f"{path}()", how)

    for module, names in _UNAUDITED.items():
        try:
            holder = importlib.import_module(module)
        except ImportError:
            # If this interpreter has no such module, there is nothing to refuse.
            continue
        for name, how in names.items():
            if hasattr(holder, name):
                setattr(holder, name, refusing(f"{module}.{name}", how))


def _leave_network() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    granted = any(libc.unshare(flags) == 0 for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))
    # ``ctypes`` can make every system call without an audit event. So it is unloaded, and the finder of a tree
    # refuses to load it again.
    for name in [name for name in sys.modules if name.partition(".")[0] in ("ctypes", "_ctypes")]:
        del sys.modules[name]
    return granted


# Audit events that are refused, and what the message says.
_REFUSED = {
    event: how
    for how, events in {
        "opened a network connection": "socket.connect",
        "bound a network address": "socket.bind",
        "sent to the network": "socket.sendto socket.sendmsg",
        "looked a host name up": "socket.getaddrinfo socket.gethostbyname socket.gethostbyaddr",
        "started a process": "subprocess.Popen os.system os.exec os.posix_spawn os.fork os.forkpty",
        "signalled a process": "os.kill os.killpg",
        "removed a file": "os.remove",
        "renamed a file": "os.rename",
        "changed the working folder": "os.chdir",
        "made a folder": "os.mkdir",
        "removed a folder": "os.rmdir shutil.rmtree",
        "made a link": "os.link os.symlink",
        "truncated a file": "os.truncate",
        "changed a file": "os.chmod os.chown os.utime os.setxattr",
        "opened a database": "sqlite3.connect",
        "loaded a native library": "ctypes.dlopen",
        "changed a resource limit": "resource.setrlimit",
        "started a thread": "_thread.start_new_thread _thread.start_joinable_thread",
    }.items()
    for event in events.split()
}


# Numerical packages, for example, load native libraries and start threads when they are imported. A resolution does
# not need to.
_LOADING = ("ctypes.dlopen", "_thread.start_new_thread", "_thread.start_joinable_thread")


@contextlib.contextmanager
def libraries_loading() -> Iterator[None]:
    """Within the block allow native libraries and threads, because it imports a user's packages."""
    kept = {event: _REFUSED.pop(event) for event in _LOADING}
    try:
        yield
    finally:
        _REFUSED.update(kept)


# Refused during a case only, because importing a tree lists folders.
_READING = {"os.listdir": "listed a folder", "os.scandir": "listed a folder"}


def _audit(event: str, args: Any) -> None:
    how = _REFUSED.get(event)
    if how is None:
        if event == "open":
            how = _opening(*args)
        elif event in _READING and WORLD.active and not _readable(args[0] or "."):
            how = _READING[event]
        if how is None:
            return
    detail = ", ".join(str(arg)[:120] for arg in args[:2] if isinstance(arg, (str, bytes, os.PathLike, tuple)))
    WORLD.refuse(f"{event}({detail})", how)


def _opening(path: Any, mode: Any, flags: Any) -> str | None:
    """Return the message with which opening ``path`` is refused, None if it is allowed."""
    if path == os.devnull:
        return None
    writes = isinstance(flags, int) and flags & _WRITING
    if writes or (isinstance(mode, str) and set(mode) & set("wax+")):
        return "opened a file for writing"
    return "opened a file of this machine" if WORLD.active and not _readable(path) else None


_TIMER = frozenset((signal.SIGALRM,))


def start_timer(seconds: float) -> None:
    """Let SIGALRM end this process unless `stop_timer` is called in time.

    A handler could raise an exception instead, but a tree can swallow that. It cannot avoid the signal's default
    action.
    """
    _signal.signal(signal.SIGALRM, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, _TIMER)
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def stop_timer() -> None:
    """Stop the timer."""
    _signal.setitimer(_signal.ITIMER_REAL, 0)
