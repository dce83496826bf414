"""The options of a gate as one object, whoever asks for it: the command line, `harness.api`, pytest or a stack.

A new option is a field here, a row of ``GATE_OPTIONS`` in ``harness/cli/frame/options.py``, and a key in
``harness/config.py`` if a project may set it.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.common.defaults import DEFAULT_CASES, cores

if TYPE_CHECKING:
    from harness.engine.ledger.entries import Ledger
    from harness.engine.search.plan import Request, Shard
    from harness.moves import Moved
    from harness.subjects.spec import SubjectSpec
    from harness.world.case import Case


@dataclass(frozen=True)
class GateOptions:
    """Everything that a gate can be asked for, besides its two subjects.

    - ``fields``: compare these fields and nothing else; ``all_fields``: compare every field of the record;
    - ``cases``, ``seconds``: stop the search after the first of the two; with neither, after ``DEFAULT_CASES``;
    - ``seed``: which cases are drawn; ``jobs``: the number of processes, one a core if it is None;
    - ``ledger``: a file of differences that are meant;
    - ``answers``: a file of answers to probes, ``python``: the interpreter that runs the subjects (None: ours);
    - ``case_seconds``, ``memory_mib``: how long a case and how large its process may get;
    - ``domains``: the values that a callable's arguments take, by name.
    """

    fields: tuple[str, ...] = ()
    all_fields: bool = False
    cases: int | None = None
    seconds: float | None = None
    seed: int = 0
    jobs: int | None = None
    ledger: Path | None = None
    answers: Path | None = None
    python: str | None = None
    case_seconds: float = 10.0
    memory_mib: int = 2048
    domains: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def replaced(self, **given: Any) -> GateOptions:
        """Return these options with the ``given`` ones in their place; None and empty lists are not given.

        Two pairs of options replace one another: a number of cases here takes away the seconds that were set before,
        and a choice of fields takes away ``all_fields``.
        """
        chosen = {
            name: value for name, value in given.items() if value is not None and value is not False and value != []
        }
        for pair, unset in ((("cases", "seconds"), None), (("fields", "all_fields"), ())):
            if chosen.keys() & set(pair):
                chosen = {pair[0]: unset, pair[1]: unset if unset is None else False, **chosen}
        if "fields" in chosen:
            chosen["fields"] = tuple(chosen["fields"])
        return dataclasses.replace(self, **chosen)

    @property
    def most_cases(self) -> int | None:
        """The number of cases that end the search, None where only time does."""
        return DEFAULT_CASES if self.cases is None and self.seconds is None else self.cases

    @property
    def processes(self) -> int:
        """The number of processes that share the cases."""
        return self.jobs or cores()

    def spec(self, subject: str, folder: Path | None = None) -> SubjectSpec:
        """Return the subject called ``subject``; relative paths and revisions start at ``folder``, or where we are.

        Raises UsageError for whatever does not exist.
        """
        from harness.subjects.open import open_spec

        return open_spec(
            subject,
            answers=self.answers,
            python=self.python or sys.executable,
            case_seconds=self.case_seconds,
            memory_mib=self.memory_mib,
            cwd=folder,
            domains=self.domains,
        )

    def request(
        self,
        first: SubjectSpec,
        second: SubjectSpec,
        *,
        ledger: Ledger | None = None,
        aliases: Mapping[str, str] | None = None,
        moved: tuple[Moved, ...] | None = None,
        notes: tuple[str, ...] = (),
        corpus: Sequence[Case] = (),
        shard: Shard | None = None,
    ) -> Request:
        """Return what the engine is asked for: these options on two subjects. Nothing else makes a `Request`.

        ``ledger`` takes the place of the file ``self.ledger``, in which ``aliases`` are other names of the subjects.
        ``moved`` and ``notes`` are those of a change, ``corpus`` are cases to run first, and ``shard`` is the part of
        the search to do. Raises UsageError for a ledger that cannot be read.
        """
        from harness.engine.ledger.entries import Ledger, load_ledger
        from harness.engine.search.plan import Budget, Request, Shard

        if ledger is None:
            ledger = load_ledger(self.ledger, aliases or {}) if self.ledger is not None else Ledger()
        return Request(
            first=first,
            second=second,
            fields=self.fields,
            all_fields=self.all_fields,
            budget=Budget(cases=self.most_cases, seconds=self.seconds),
            ledger=ledger,
            seed=self.seed,
            jobs=self.processes,
            corpus=tuple(corpus),
            moved=moved,
            notes=notes,
            shard=shard or Shard(),
        )
