"""`tomnet explore`: theory of mind to play with, in the browser."""

import dataclasses
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from ..support.checks import check_between


@dataclasses.dataclass
class Explore:
    """Open a page to draw worlds, watch agents and ask observers: on this machine only, until Ctrl-C.

    With --export, write it as a folder of files that needs no server: planners and one observer of them run in the
    browser, and what only a server can do is shown as missing.
    """

    port: Annotated[int, arg(metavar="N", help="port to try first; if it is taken, one of the next")] = 8765
    no_browser: bool = False
    """say the address and open nothing"""
    export: Annotated[
        Path | None,
        arg(metavar="DIR", help="folder to write the page into, instead", help_behavior_hint="(default: serve it)"),
    ] = None

    def __call__(self) -> None:
        if self.export is not None:
            from ..explorer.export import export

            print(export(self.export))
            return
        from ..explorer.serve import serve

        check_between("port", self.port, 1, 65535)
        serve(self.port, browser=not self.no_browser)
