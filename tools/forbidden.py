"""Nothing in tomnet unpickles, evaluates text, starts a shell or opens a connection: `tools/forbidden.py tomnet`.

The explorer alone may listen, on this machine. What is looked at is the syntax tree, so that a comment or a word may
speak of all of it. A name put together at run time would get past this; it guards against habit, not against malice.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

NETWORK = {
    *(
        "socket",
        "socketserver",
        "ssl",
        "asyncio",
        "http",
        "urllib",
        "ftplib",
        "smtplib",
        "poplib",
        "imaplib",
        "telnetlib",
    ),
    *("xmlrpc", "requests", "httpx", "aiohttp", "urllib3", "websockets", "fastapi", "starlette", "uvicorn"),
}
MODULES = {
    **dict.fromkeys(
        ("pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"), "unpickles"
    ),
    **dict.fromkeys(NETWORK, "talks to a network"),
}
CALLS = {
    **dict.fromkeys(("eval", "exec", "compile", "__import__"), "evaluates text"),
    **dict.fromkeys(("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"), "starts a shell"),
    **dict.fromkeys(
        ("torch.load", "pandas.read_pickle", "pd.read_pickle", "importlib.import_module"), "loads anything"
    ),
}
ARGUMENTS = {"allow_pickle": "unpickles", "shell": "starts a shell"}
LISTENS = "explorer"  # the folder that may talk to a network
MAY_IMPORT_BY_NAME = {"tomnet/__init__.py", "tomnet/figures/__init__.py"}  # from lists that stand beside the call


def faults(text: str, path: str) -> Iterator[str]:
    """`tomnet/zoo.py:3: pickle: unpickles`, for each place where a file does what none may do."""
    for node in ast.walk(ast.parse(text, path)):
        for name, why in _done_by(node):
            listens = why == MODULES["socket"] and LISTENS in Path(path).parts
            known = name == "importlib.import_module" and path in MAY_IMPORT_BY_NAME
            if not listens and not known:
                yield f"{path}:{getattr(node, 'lineno', 0)}: {name}: {why}"


def _done_by(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        for name in _imported(node):
            if name.partition(".")[0] in MODULES:
                yield name, MODULES[name.partition(".")[0]]
            elif name in CALLS:  # `from os import system`, which is called by another name later
                yield name, CALLS[name]
    elif isinstance(node, ast.Call):
        name = ast.unparse(node.func).removeprefix("builtins.")
        if name in CALLS:
            yield name, CALLS[name]
        for argument in node.keywords:
            never = isinstance(argument.value, ast.Constant) and not argument.value.value  # said, and said to be off
            if argument.arg in ARGUMENTS and not never:
                yield f"{argument.arg}=", ARGUMENTS[argument.arg]


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    names = [alias.name for alias in node.names]
    if isinstance(node, ast.Import):
        return names
    return [] if node.level else [f"{node.module}.{name}" for name in names]  # a relative one is ours


def main(folders: list[str]) -> int:
    files = sorted(path for folder in folders for path in Path(folder).rglob("*.py"))
    found = [fault for path in files for fault in faults(path.read_text(), path.as_posix())]
    print("\n".join(found) or f"{len(files)} files: nothing is unpickled, evaluated or fetched")
    return bool(found) or not files


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
