"""Reads the sources of a package and makes its mutants: all of them, those of certain kinds, or a sample."""

from __future__ import annotations

import ast
import random
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from harness.audit.operators import all_operators
from harness.audit.operators.operator import faults
from harness.audit.reading.files import MutableFile
from harness.audit.reading.mutant import Mutant, Role, compiles, diff, mutated
from harness.audit.reading.vocabulary import Vocabulary
from harness.common.errors import UsageError, hint
from harness.source.functions import Defined, FunctionLines, defined_in, function_at


class MutablePackage:
    """The sources of a package, read once from its folder; makes mutants of them, and writes changed copies."""

    def __init__(self, folder: Path) -> None:
        """Read the package in ``folder``. Raises UsageError if it is no package, or if a source is not UTF-8."""
        if not (folder / "__init__.py").is_file():
            raise UsageError(f"{str(folder)!r} holds no package: there is no __init__.py")
        self.folder = folder.resolve()
        self.name = self.folder.name
        self.texts: dict[str, str] = {}
        self._functions: dict[str, list[Defined]] = {}
        for path in sorted(self.folder.rglob("*.py")):
            try:
                # `read_text` would change line ends, but a mutant must change nothing besides its fault.
                self.texts[path.relative_to(self.folder.parent).as_posix()] = path.read_bytes().decode("utf-8")
            except UnicodeDecodeError:
                raise UsageError(f"{str(path)!r} is not UTF-8") from None

    def files_under(self, places: Collection[str]) -> list[str]:
        """Return the files (keys of `texts`) at ``places``; each place is a file or folder (``declarative/passes``).

        Raises UsageError if a place has no files.
        """
        found: list[str] = []
        for given in places:
            place = given.rstrip("/")
            inside = [file for file in self.texts if file == place or file.startswith(f"{place}/")]
            if not inside:
                folders = {file.rpartition("/")[0] for file in self.texts}
                raise UsageError(f"--only {given}: {self.name} has no such file or folder{hint(place, folders)}")
            found += [file for file in inside if file not in found]
        return found

    def mutants(
        self,
        *,
        files: Collection[str] | None = None,
        operators: Collection[str] | None = None,
        roles: Collection[Role] | None = None,
    ) -> list[Mutant]:
        """Return the mutants in a fixed order: by file, then by operator, then by place.

        ``files`` (keys of `texts`), ``operators`` (names) and ``roles`` restrict them; None allows all. The
        vocabulary is always that of all files, so that a mutant does not depend on the chosen files. Some mutants may
        not compile; `sample` leaves these out. Raises UsageError for an unknown name.
        """
        known = {operator.name: operator for operator in all_operators()}
        _check(files, self.texts, "file")
        _check(operators, known, "operator")
        chosen = [operator for name, operator in known.items() if operators is None or name in operators]
        sources, vocabulary = self._parsed
        return [
            mutant
            for name, file in sources.items()
            if files is None or name in files
            for mutant in faults(file, vocabulary, chosen)
            if roles is None or mutant.role in roles
        ]

    @cached_property
    def _parsed(self) -> tuple[Mapping[str, MutableFile], Vocabulary]:
        sources = {file: MutableFile(file, text) for file, text in self.texts.items()}
        return sources, Vocabulary(sources.values())

    def mutated(self, mutant: Mutant) -> str:
        """Return the text of the mutant's file with the fault in it.

        Raises UsageError for a mutant of other sources.
        """
        return mutated(self._text(mutant), mutant)

    def diff(self, mutant: Mutant) -> str:
        """Return the mutant as a unified diff. Raises UsageError for a mutant of other sources."""
        return diff(self._text(mutant), mutant)

    def function_of(self, mutant: Mutant) -> FunctionLines:
        """Return the innermost function around the mutant's fault; its name is empty for code that runs at import.

        Raises UsageError for a mutant of other sources.
        """
        if mutant.file not in self._functions:
            self._functions[mutant.file] = defined_in(ast.parse(self._text(mutant)))
        return function_at(self._functions[mutant.file], mutant.line)

    def outside(self, mutants: Iterable[Mutant], names: Collection[str]) -> list[Mutant]:
        """Return the mutants that are in none of the functions and classes ``names``.

        Raises UsageError for a name that no function or class around these mutants has.
        """
        named = [(mutant, self.function_of(mutant).name.split(".")) for mutant in mutants]
        known = {part for _, parts in named for part in parts if part}
        _check(names, known, "function with faults")
        return [mutant for mutant, parts in named if not set(parts) & set(names)]

    def write(self, target: Path, changed: Mapping[str, str]) -> None:
        """Write a copy of the package into the folder ``target``.

        ``changed`` maps files (keys of `texts`) to the texts to write instead. Files that are not Python sources are
        copied too.
        """
        for path in sorted(self.folder.rglob("*")):
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            name = path.relative_to(self.folder.parent).as_posix()
            copy = target / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = changed.get(name, self.texts.get(name))
            copy.write_bytes(path.read_bytes() if text is None else text.encode("utf-8"))

    def sample(self, mutants: Sequence[Mutant], count: int, seed: int, *, even: bool = False) -> list[Mutant]:
        """Draw up to ``count`` of ``mutants`` and return them in the order of ``mutants``.

        The same seed draws the same mutants. With ``even``, the functions take turns, and within each function the
        operators; otherwise every mutant is equally likely. A mutant is skipped if its text does not compile, equals
        the original, or equals that of a mutant drawn before.
        """
        drawn: list[Mutant] = []
        texts: set[tuple[str, str]] = set()
        for mutant in self._by_turns(mutants, seed) if even else _shuffled(mutants, seed):
            if len(drawn) >= count:
                break
            text = self.mutated(mutant)
            if (mutant.file, text) not in texts and text != self._text(mutant) and compiles(text):
                texts.add((mutant.file, text))
                drawn.append(mutant)
        position = {mutant: index for index, mutant in enumerate(mutants)}
        return sorted(drawn, key=position.__getitem__)

    def _by_turns(self, mutants: Sequence[Mutant], seed: int) -> Iterator[Mutant]:
        """Yield all mutants so that each comes from the next function, and within it from the next operator."""
        by_function = _grouped(_shuffled(mutants, seed), lambda mutant: (mutant.file, self.function_of(mutant).name))
        return _turns(_turns(iter(group) for group in _grouped(own, _operator)) for own in by_function)

    def _text(self, mutant: Mutant) -> str:
        text = self.texts.get(mutant.file)
        if text is None:
            raise UsageError(f"a mutant is in {mutant.file}, which is no file of {str(self.folder)!r}")
        return text


def _operator(mutant: Mutant) -> str:
    return mutant.operator


def _shuffled(mutants: Sequence[Mutant], seed: int) -> list[Mutant]:
    shuffled = list(mutants)
    random.Random(f"mutants {seed}").shuffle(shuffled)
    return shuffled


def _grouped(mutants: Sequence[Mutant], name: Callable[[Mutant], Hashable]) -> Iterable[list[Mutant]]:
    """Return the mutants grouped by ``name``; the groups come in the order of their first mutants."""
    groups: defaultdict[Hashable, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        groups[name(mutant)].append(mutant)
    return groups.values()


def _turns(parts: Iterable[Iterator[Mutant]]) -> Iterator[Mutant]:
    """Yield the first mutant of each part, then the second of each, and so on until all parts have ended."""
    waiting = list(parts)
    while waiting:
        for part in list(waiting):
            mutant = next(part, None)
            if mutant is None:
                waiting.remove(part)
            else:
                yield mutant


def _check(names: Collection[str] | None, known: Collection[str], what: str) -> None:
    for name in names or ():
        if name not in known:
            raise UsageError(f"there is no {what} {name!r} to mutate{hint(name, known)}")
