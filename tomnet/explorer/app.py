"""The server: a page, and what it asks for.

An answer to a mistake is one sentence that names the field and what was expected there, never what was sent.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..recordings.bad_recording import BadRecording
from ..support.errors import BadSetting, TomnetError, needs_extra
from ..world.gridworld import ACTIONS
from . import acting, observers
from .beside import beside
from .catalogue import catalogue
from .guard import LOOPBACK, Guard
from .known_agents import known_agents
from .requests import Act, Comparison, DrawLevel, Known, Question, Read, Request, Watch
from .turns import Superseded, Turns
from .uploaded_episode import read_episode

with needs_extra("explore"):
    from fastapi import FastAPI
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException
    from starlette.responses import FileResponse, JSONResponse

PAGE = Path(__file__).parent / "page"
THE_ACTIONS = f"one of {', '.join(ACTIONS)}"
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def make_app(hosts: tuple[str, ...] = LOOPBACK) -> FastAPI:
    app = FastAPI(title="tomnet explore", docs_url=None, redoc_url=None, openapi_url="/api/openapi.json")
    app.add_middleware(Guard, hosts=hosts)
    _answer_mistakes(app)
    _serve_page(app)
    _answer_questions(app, Turns(), Turns())
    return app


def _answer_questions(app: FastAPI, turns: Turns, slow: Turns) -> None:
    """`slow` has a queue of its own: what is drawn once for a whole page must not keep people's questions waiting."""

    async def take(asked: Any, work: Callable[[], Any], queue: Turns = turns) -> Any:
        return await queue.take(asked.client, type(asked).__name__, work)

    @app.get("/api/catalogue")
    def offer() -> dict[str, Any]:
        return catalogue()

    @app.post("/api/level")
    async def level(asked: DrawLevel) -> dict[str, str]:
        return {"level": await take(asked, lambda: acting.random_level(asked.subgoal, asked.seed))}

    @app.post("/api/read")
    def read(asked: Read) -> dict[str, Any]:
        return read_episode(asked.text)

    @app.post("/api/watch")
    async def watch(asked: Watch) -> dict[str, str]:
        return {"text": await take(asked, lambda: acting.watch(asked.agent, asked.level, asked.seed))}

    @app.post("/api/act")
    async def act(asked: Act) -> dict[str, list[str]]:
        return {"steps": await take(asked, lambda: acting.act(asked.agent, asked.now, asked.steps, asked.seed))}

    @app.post("/api/ask")
    async def ask(asked: Question) -> dict[str, Any]:
        past = tuple(asked.past)
        return await take(asked, lambda: observers.ask(asked.observer, past, asked.now, asked.everywhere))

    @app.post("/api/beside")
    async def compare(asked: Comparison) -> dict[str, Any]:
        past = tuple(asked.past)
        return await take(asked, lambda: beside(asked.observer, past, asked.now, asked.agent, asked.everywhere))

    @app.post("/api/known-agents")
    async def known(asked: Known) -> dict[str, Any]:
        return await take(asked, lambda: known_agents(asked.observer), slow)


def page_files() -> dict[str, Path]:
    return {path.name: path for path in sorted(PAGE.iterdir()) if path.suffix in KINDS}


def _serve_page(app: FastAPI) -> None:
    files = page_files()

    @app.get("/{name}", include_in_schema=False)
    def file(name: str) -> FileResponse:
        if name not in files:  # names are looked up, never joined to a path
            raise HTTPException(404)
        return FileResponse(files[name], media_type=KINDS[files[name].suffix])

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return file("index.html")


# --- Mistakes


def _answer_mistakes(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    def bad_field(_, error: RequestValidationError) -> JSONResponse:
        return _say(_bad_field(error), 422)

    @app.exception_handler(TomnetError)
    def bad_input(_, error: TomnetError) -> JSONResponse:
        return _say(sentence(error), 422)

    @app.exception_handler(Superseded)
    def superseded(_, error: Superseded) -> JSONResponse:
        return JSONResponse({"error": "A newer question came first.", "superseded": True}, 409)

    @app.exception_handler(HTTPException)
    def refused(_, error: HTTPException) -> JSONResponse:
        words = {404: "There is nothing here.", 405: "That cannot be asked this way.", 400: "That is no JSON."}
        return _say(words.get(error.status_code, "That cannot be answered."), error.status_code)

    @app.exception_handler(Exception)
    def fault_of_ours(_, error: Exception) -> JSONResponse:
        return _say("Something went wrong here; the terminal says what.", 500)


def sentence(error: TomnetError) -> str:
    """Where and what is wrong, without what was sent."""
    if isinstance(error, BadRecording):
        line = f"Line {error.line}, " if error.line is not None else ""
        own_names = error.field == "action" and error.expected != THE_ACTIONS  # which came with the text
        return f"{line}{error.field}: expected {'one that the text tells of' if own_names else error.expected}."
    return f"{error.field}: {error.why}." if isinstance(error, BadSetting) else f"{error}."


FIELDS = {name for kind in Request.__subclasses__() for name in kind.model_fields}


_OWN_WORDS = {  # where pydantic's would say what was sent
    "extra_forbidden": "no such field",
    "union_tag_invalid": "no such kind of agent",
}


def _bad_field(error: RequestValidationError) -> str:
    """The first field at fault, by a name of ours; a name that came from outside stays outside."""
    first = next(iter(error.errors()), None)
    if first is None or first["type"] == "json_invalid":
        return "That is no JSON."
    where = ".".join(str(part) for part in first["loc"] if isinstance(part, int) or part in FIELDS)
    return f"{where or 'question'}: {_OWN_WORDS.get(first['type'], first['msg'])}."


def _say(words: str, status: int) -> JSONResponse:
    return JSONResponse({"error": words}, status)
