"""`tomnet explore`: theory of mind to play with, in the browser."""

import dataclasses
from typing import Annotated

from tyro.conf import arg

from ..support.checks import check_between


@dataclasses.dataclass
class Explore:
    """Open a page to draw worlds, watch agents and ask observers: on this machine only, until Ctrl-C."""

    port: Annotated[int, arg(metavar="N", help="port to try first; if it is taken, one of the next")] = 8765
    no_browser: bool = False
    """say the address and open nothing"""

    def __call__(self) -> None:
        from ..explorer.serve import serve

        check_between("port", self.port, 1, 65535)
        serve(self.port, browser=not self.no_browser)
