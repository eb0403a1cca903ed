"""A bot worker whose players of the level ``random`` all fail, as a fault in their code would make them."""

from __future__ import annotations

import sys
from typing import NoReturn

from service.bots import choice
from service.cli import main


def fail(*_: object) -> NoReturn:
    raise ZeroDivisionError


if __name__ == "__main__":
    vars(choice)["LEVELS"] = {**choice.LEVELS, "random": fail}
    sys.exit(main(["bots"]))
