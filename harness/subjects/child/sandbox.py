"""Bounds what foreign code can do: memory, processor time per case, files, processes, the network.

Three layers for the network and for files, since none holds everywhere: a network namespace of its own where the
kernel grants one, resource limits, and an audit hook that refuses by name whatever Python is asked to open.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys

from .world import WORLD

_CLONE_NEWNET = 0x40000000
_CLONE_NEWUSER = 0x10000000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def confine(memory_bytes):
    """Apply every limit to this process; call before the tree is imported. Returns what the kernel granted."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    granted = _leave_network()
    sys.addaudithook(_audit)
    return {"network_namespace": granted}


def _leave_network():
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return any(libc.unshare(flags) == 0 for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))


_REFUSED = {
    "socket.connect": "opened a network connection",
    "socket.bind": "bound a network address",
    "socket.sendto": "sent to the network",
    "socket.sendmsg": "sent to the network",
    "socket.getaddrinfo": "looked a host name up",
    "socket.gethostbyname": "looked a host name up",
    "socket.gethostbyaddr": "looked a host name up",
    "subprocess.Popen": "started a process",
    "os.system": "started a process",
    "os.exec": "started a process",
    "os.posix_spawn": "started a process",
    "os.fork": "started a process",
    "os.forkpty": "started a process",
    "os.kill": "signalled a process",
    "os.killpg": "signalled a process",
    "os.remove": "removed a file",
    "os.rename": "renamed a file",
    "os.mkdir": "made a folder",
    "os.rmdir": "removed a folder",
    "os.link": "made a link",
    "os.symlink": "made a link",
    "os.truncate": "truncated a file",
    "os.chmod": "changed a file",
    "os.chown": "changed a file",
    "shutil.rmtree": "removed a folder",
    "ctypes.dlopen": "loaded a native library",
}


def _audit(event, args):
    how = _REFUSED.get(event)
    if how is None:
        if event != "open":
            return
        path, mode, flags = args
        writes = isinstance(flags, int) and flags & _WRITING
        if not writes and not (isinstance(mode, str) and set(mode) & set("wax+")):
            return
        if path == os.devnull:
            return
        how = "opened a file for writing"
    detail = ", ".join(
        str(arg)[:120] for arg in args[:2] if isinstance(arg, (str, bytes, os.PathLike, tuple))
    )
    WORLD.refuse(f"{event}({detail})", how)


@contextlib.contextmanager
def time_limit(seconds):
    """Kill this process (SIGALRM, whose default action cannot be swallowed) if the block takes longer."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
