"""One real server for all tests of the page: what a browser meets is what is tested."""

import threading
import time

import pytest


@pytest.fixture(scope="session")
def address():
    uvicorn = pytest.importorskip("uvicorn", reason="the extra `explore` is missing")
    from tomnet.explorer.app import make_app
    from tomnet.explorer.serve import free_socket

    bound = free_socket(18765)
    server = uvicorn.Server(uvicorn.Config(make_app(), log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)
