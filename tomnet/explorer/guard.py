"""The door of the server: who may ask, how much, and what a browser may do with the answer.

The page is meant for the machine it runs on. A site elsewhere can make a browser send requests here; the names in
`Host` and `Origin` give it away.
"""

import asyncio
from collections.abc import Iterable

from ..support.errors import needs_extra

with needs_extra("explore"):
    from starlette.responses import JSONResponse
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 2 * 2**20  # bytes
PATIENCE = 20.0  # seconds for a whole question to arrive
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


class Guard:
    """ASGI middleware: refuses before anything is read or parsed, and puts the headers on every answer."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str] = LOOPBACK):
        self.app, self.hosts = app, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        guarded, refusal = _with_headers(send), self._refusal(scope["method"], headers)
        if refusal is not None:
            await refusal(scope, receive, guarded)
            return
        try:
            body = await asyncio.wait_for(_whole(receive), PATIENCE)
        except TimeoutError:
            await _say("The question took too long to arrive.", 408)(scope, receive, guarded)
            return
        if body is None:
            await _too_large()(scope, receive, guarded)
        else:
            await self.app(scope, _again(body, receive), guarded)

    def _refusal(self, method: str, headers: dict[str, str]) -> JSONResponse | None:
        if _name(headers.get("host", "")) not in self.hosts:
            return _say("This server answers under the names of this machine only.", 421)
        here = f"http://{headers['host']}"  # what listens on another port is somebody else
        if headers.get("origin", here) != here:
            return _say("Pages from elsewhere may not ask.", 403)
        if method == "POST" and headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return _say("Questions are asked in JSON.", 415)
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            return _say("The length of the question is not a number.", 400)
        return _too_large() if len(length) > 12 or int(length) > LARGEST_BODY else None


def _name(host: str) -> str:
    """Without the port."""
    name, colon, port = host.rpartition(":")
    return name if colon and (port.isdigit() or not port) else host


async def _whole(receive: Receive) -> bytes | None:
    """The body; None where it goes on after the limit, whatever length was announced."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > LARGEST_BODY:
            return None
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    """The body in one piece, and then whatever the connection has to say."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def once() -> Message:
        return waiting.pop() if waiting else await receive()

    return once


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", []), *more]}
        await send(message)

    return guarded


def _too_large() -> JSONResponse:
    return _say(f"That is more than {LARGEST_BODY // 2**20} MiB.", 413)


def _say(sentence: str, status: int) -> JSONResponse:
    return JSONResponse({"error": sentence}, status)
