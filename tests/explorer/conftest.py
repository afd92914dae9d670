"""One real server for all tests of the page: what a browser meets is what is tested."""

import pytest


@pytest.fixture(scope="session")
def address():
    pytest.importorskip("uvicorn", reason="the extra `explore` is missing")
    from tomnet.explorer.serve import served

    with served(18765) as address:
        yield address
