"""Bounds what foreign code can do: memory, processor time per case, files, processes, the network.

Three layers for the network and for files, since none holds everywhere: a network namespace of its own where the
kernel grants one, resource limits, and an audit hook that refuses by name whatever Python is asked to open.
"""

import _signal
import contextlib
import importlib
import os
import resource
import signal
import sys

from .current import WORLD

_CLONE_NEWNET = 0x40000000
_CLONE_NEWUSER = 0x10000000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def allowed_bytes(wanted):
    """Return how much memory a process may ask for: whoever started it may have less to give."""
    given = resource.getrlimit(resource.RLIMIT_AS)[1]
    return wanted if given == resource.RLIM_INFINITY else min(wanted, given)


def confine(memory_bytes, root):
    """Apply every limit to this process; call before the tree at ``root`` is imported.

    Returns what the kernel granted.
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


# Folders whose files a case may read: the tree, the interpreter's own, the empty one the process stands in.
_READABLE = []


def _readable(path):
    if isinstance(path, int):
        return True
    place = os.path.normpath(os.path.join(_CWD, os.fsdecode(path)))
    return place == os.devnull or f"{place}/".startswith(tuple(_READABLE))


_CWD = os.getcwd()


def _hide_files():
    """Let a case find no file of this machine where the interpreter or the tree has none."""

    def hiding(original):
        def found(path):
            if WORLD.active and isinstance(path, (str, bytes, os.PathLike)) and not _readable(path):
                return False
            return original(path)

        return found

    for name in ("exists", "lexists", "isfile", "isdir", "islink", "ismount"):
        setattr(os.path, name, hiding(getattr(os.path, name)))


def _keep_timer():
    """Keep the tree from the timer that ends a case."""

    def refusing(name):
        def refuse(*args):
            return WORLD.refuse(f"signal.{name}()", "touched the timer that ends a case")

        return refuse

    install = signal.signal

    def checked(number, handler):
        if number == signal.SIGALRM:
            WORLD.refuse("signal.signal()", "touched the timer that ends a case")
        return install(number, handler)

    signal.signal = checked
    for name in ("setitimer", "alarm", "pthread_sigmask"):
        setattr(signal, name, refusing(name))


# What Python does without telling an audit hook.
_UNTOLD = {
    "_posixsubprocess": {"fork_exec": "started a process"},
    "os": {"mkfifo": "made a pipe", "mknod": "made a node", "pidfd_open": "looked at a process"},
    "posix": {"mkfifo": "made a pipe", "mknod": "made a node", "pidfd_open": "looked at a process"},
    "signal": {"pidfd_send_signal": "signalled a process", "pthread_kill": "signalled a thread"},
    "_signal": {"pidfd_send_signal": "signalled a process", "pthread_kill": "signalled a thread"},
}


def _close_side_doors():
    def refusing(path, how):
        return lambda *args, **kwargs: WORLD.refuse(f"{path}()", how)

    for module, names in _UNTOLD.items():
        try:
            holder = importlib.import_module(module)
        except ImportError:
            # Where there is no such module there is no such door.
            continue
        for name, how in names.items():
            if hasattr(holder, name):
                setattr(holder, name, refusing(f"{module}.{name}", how))


def _leave_network():
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    granted = any(libc.unshare(flags) == 0 for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))
    # Through it every system call is in reach, past every hook; the finder refuses to load it again.
    for name in [name for name in sys.modules if name.partition(".")[0] in ("ctypes", "_ctypes")]:
        del sys.modules[name]
    return granted


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
    "os.chdir": "changed the working folder",
    "os.mkdir": "made a folder",
    "os.rmdir": "removed a folder",
    "os.link": "made a link",
    "os.symlink": "made a link",
    "os.truncate": "truncated a file",
    "os.chmod": "changed a file",
    "os.chown": "changed a file",
    "shutil.rmtree": "removed a folder",
    "os.utime": "changed a file",
    "os.setxattr": "changed a file",
    "sqlite3.connect": "opened a database",
    "ctypes.dlopen": "loaded a native library",
    "resource.setrlimit": "changed a resource limit",
    "_thread.start_new_thread": "started a thread",
    "_thread.start_joinable_thread": "started a thread",
}


# What packages do when they are imported, numerical ones above all, and a resolution has no need of.
_LOADING = ("ctypes.dlopen", "_thread.start_new_thread", "_thread.start_joinable_thread")


@contextlib.contextmanager
def libraries_loading():
    """Let a block, which imports somebody's own packages, load native libraries and start threads."""
    kept = {event: _REFUSED.pop(event) for event in _LOADING}
    try:
        yield
    finally:
        _REFUSED.update(kept)


# Looked at during a case only, since importing the tree reads folders of its own.
_READING = {"os.listdir": "listed a folder", "os.scandir": "listed a folder"}


def _audit(event, args):
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


def _opening(path, mode, flags):
    if path == os.devnull:
        return None
    writes = isinstance(flags, int) and flags & _WRITING
    if writes or (isinstance(mode, str) and set(mode) & set("wax+")):
        return "opened a file for writing"
    return "opened a file of this machine" if WORLD.active and not _readable(path) else None


_TIMER = frozenset((signal.SIGALRM,))


def start_timer(seconds):
    """Kill this process (SIGALRM, whose default action cannot be swallowed) unless ``stop_timer`` comes in time."""
    _signal.signal(signal.SIGALRM, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, _TIMER)
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def stop_timer():
    """End what ``start_timer`` began."""
    _signal.setitimer(_signal.ITIMER_REAL, 0)
