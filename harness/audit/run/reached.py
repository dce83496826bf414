"""Which cases of a trial come to a fault: the others cannot show it, and need not be run."""

from __future__ import annotations

import tempfile
from functools import reduce
from operator import or_
from pathlib import Path

from harness.audit.mutants.package import MutablePackage
from harness.audit.reading.mutant import Mutant
from harness.audit.run.blocks import Blocks
from harness.audit.run.hits import Ran
from harness.audit.run.runner import Runner
from harness.audit.run.trial import mask_bytes


class Reached:
    """The cases, a bit each, that run each block of a package without a fault.

    A block that runs at import, or for one case and not for the same case again, is every case's: what it works out
    is kept for later ones. So is what is in no block. A memory that forgets can hide a case, which then does not show
    a fault; that a fault shows is never said in error.
    """

    def __init__(self, blocks: Blocks, ran: Ran) -> None:
        self._blocks = blocks
        self._always = frozenset(ran.always)
        places = [bytearray(mask_bytes(len(ran.cases))) for _ in ran.sets]
        for position, number in enumerate(ran.cases):
            places[number][position >> 3] |= 1 << (position & 7)
        having: dict[int, list[int]] = {}
        for place, some in zip(places, ran.sets, strict=True):
            cases = int.from_bytes(place, "little")
            for block in some:
                having.setdefault(block, []).append(cases)
        self._cases = {block: reduce(or_, found) for block, found in having.items()}

    def cases(self, mutant: Mutant) -> int | None:
        """Return the cases, a bit each, that come to the block around a fault; None where all of them do."""
        block = self._blocks.around(mutant)
        return None if block is None or block in self._always else self._cases.get(block, 0)


def reached_by(package: MutablePackage, runner: Runner) -> Reached | None:
    """Return which cases of the runner's trial come where, None where the runner cannot say, or a case disagrees."""
    blocks = Blocks(package.texts)
    with tempfile.TemporaryDirectory(prefix="stackproof-") as name:
        folder = Path(name)
        package.write(folder, blocks.instrumented)
        ran = runner.ran(folder)
    return None if ran is None else Reached(blocks, ran)
