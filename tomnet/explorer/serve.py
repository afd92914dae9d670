"""The server on this machine: a free port, the address said and opened, and an end with Ctrl-C."""

import socket
import threading
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..support.errors import BadSetting, needs_extra
from .app import make_app

with needs_extra("explore"):
    import uvicorn

HOST = "127.0.0.1"
TRIED = 20  # ports, from the one that was asked for
MOST_CONNECTIONS = 500


def free_socket(port: int) -> socket.socket:
    """Bound to this port or, where it is taken, to one of the next; kept open, so that nobody takes it meanwhile."""
    for number in range(port, min(port + TRIED, 65536)):
        # asyncio sends small answers at once only where it is told that this is TCP; otherwise each waits for 40 ms
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((HOST, number))
            bound.listen()  # whoever comes before the server is ready waits, and is not turned away
        except OSError:
            bound.close()
        else:
            return bound
    raise BadSetting("port", port, f"this and the {TRIED - 1} ports after it are taken")


def _server() -> uvicorn.Server:
    """Silent about what others do wrong."""
    how = {"log_level": "error", "server_header": False, "ws": "none"}
    return uvicorn.Server(uvicorn.Config(make_app(), limit_concurrency=MOST_CONNECTIONS, **how))


def serve(port: int, *, browser: bool) -> None:
    """Answers until Ctrl-C."""
    bound = free_socket(port)
    address = f"http://{HOST}:{bound.getsockname()[1]}/"
    print(f"tomnet explore: {address} (Ctrl-C stops it)", flush=True)
    if browser:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    with suppress(KeyboardInterrupt):  # uvicorn passes it on once every connection is closed
        _server().run(sockets=[bound])
    print("tomnet explore: stopped")


@contextmanager
def served(port: int) -> Iterator[str]:
    """The address of a server beside what else this process does, for as long as that takes."""
    bound, server = free_socket(port), _server()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://{HOST}:{bound.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)
