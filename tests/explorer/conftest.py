"""A real server for the tests of the page: what a browser meets is what is tested."""

import pytest
from explorer.browsing import CHROMIUM, COMPILING, NO_CHROMIUM, Visit


@pytest.fixture(scope="module")  # tests of other folders turn the clock that its event loop goes by
def address():
    pytest.importorskip("uvicorn", reason="the extra `explore` is missing")
    from tomnet.explorer.serve import served

    with served(18765) as address:
        yield address


@pytest.fixture(scope="module")  # while it is open an event loop runs, and other tests want one of their own
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip(NO_CHROMIUM)
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=COMPILING)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def kept_page(browser, address):
    """One for all tests that leave it as it was: to open another for each takes longer than they do."""
    visit = Visit(browser, address)
    yield visit
    visit.end("kept")


@pytest.fixture
def same_page(kept_page):
    """As a test finds it, nothing having been said, it leaves it."""
    kept_page.evaluate("() => (tomnetSaid = '')")
    before = kept_page.scene
    yield kept_page
    kept_page.answered()
    assert kept_page.scene == before
    assert kept_page.faults == []


@pytest.fixture(params=["desktop", pytest.param("phone", marks=pytest.mark.slow)])
def page(browser, address, request):
    """The page as it opens; what it looked like at the end of a test is kept. On a phone only where all tests run, but
    for those `on_every_screen`."""
    visit = Visit(browser, address, request.param)
    yield visit
    visit.end(request.node.name)
