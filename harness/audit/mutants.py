"""The mutants of a package: all of them, those of certain kinds, a sample of them."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from harness.audit.functions import Function, function_at, functions_of
from harness.audit.mutant import Mutant, Role, compiles, diff, mutated
from harness.audit.operators import all_operators
from harness.audit.source import Source
from harness.audit.vocabulary import Vocabulary
from harness.common.errors import UsageError, hint


class Package:
    """A package's sources as they are in its folder: where mutants come from, and where they are put back."""

    def __init__(self, folder: Path) -> None:
        """Read the package in ``folder``. Raises UsageError when that holds no package, or one that is not Python."""
        if not (folder / "__init__.py").is_file():
            raise UsageError(f"{str(folder)!r} holds no package: there is no __init__.py")
        self.folder = folder.resolve()
        self.name = self.folder.name
        self.texts: dict[str, str] = {}
        self._functions: dict[str, list[Function]] = {}
        for path in sorted(self.folder.rglob("*.py")):
            try:
                # Line ends stay as they are: a mutant changes nothing but its place.
                self.texts[path.relative_to(self.folder.parent).as_posix()] = path.read_bytes().decode("utf-8")
            except UnicodeDecodeError:
                raise UsageError(f"{str(path)!r} is not UTF-8") from None

    def files_under(self, places: Collection[str]) -> list[str]:
        """Return the files (as in `texts`) that are ``places``, or lie in them, such as ``declarative/passes``.

        Raises UsageError for a place that holds none.
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

        ``files`` (as in `texts`), ``operators`` and ``roles`` restrict them: the values of write sites and the guards
        have the roles value and guard. What constants occur for a field is learned from all files in any case. That
        each compiles is for `sample` to see to. Raises UsageError for a name that there is not.
        """
        known = {operator.name: operator for operator in all_operators()}
        _check(files, self.texts, "file")
        _check(operators, known, "operator")
        sources, vocabulary = self._parsed
        return [
            mutant
            for file, source in sources.items()
            if files is None or file in files
            for name, operator in known.items()
            if operators is None or name in operators
            for mutant in operator.mutants(source, vocabulary)
            if roles is None or mutant.role in roles
        ]

    @cached_property
    def _parsed(self) -> tuple[Mapping[str, Source], Vocabulary]:
        sources = {file: Source(file, text) for file, text in self.texts.items()}
        return sources, Vocabulary(sources.values())

    def mutated(self, mutant: Mutant) -> str:
        """Return the mutant's file with the fault in it. Raises UsageError for a mutant of other sources."""
        return mutated(self._text(mutant), mutant)

    def diff(self, mutant: Mutant) -> str:
        """Return the mutant as a unified diff. Raises UsageError for a mutant of other sources."""
        return diff(self._text(mutant), mutant)

    def function_of(self, mutant: Mutant) -> Function:
        """Return the function that the mutant's fault is in. Raises UsageError for a mutant of other sources."""
        if mutant.file not in self._functions:
            self._functions[mutant.file] = functions_of(self._text(mutant))
        return function_at(self._functions[mutant.file], mutant.line)

    def outside(self, mutants: Iterable[Mutant], names: Collection[str]) -> list[Mutant]:
        """Return the mutants that are in none of the functions and classes ``names``.

        Raises UsageError for a name that there is not in any of their files.
        """
        named = [(mutant, self.function_of(mutant).name.split(".")) for mutant in mutants]
        known = {part for _, parts in named for part in parts if part}
        _check(names, known, "function with faults")
        return [mutant for mutant, parts in named if not set(parts) & set(names)]

    def write(self, target: Path, mutant: Mutant | None = None) -> None:
        """Write the package into the folder ``target``, with the mutant's fault in it.

        Other files than sources are copied too. Raises UsageError for a mutant of other sources.
        """
        self.write_texts(target, {} if mutant is None else {mutant.file: self.mutated(mutant)})

    def write_texts(self, target: Path, changed: Mapping[str, str]) -> None:
        """Write the package into the folder ``target`` with other texts of the files in ``changed``."""
        for path in sorted(self.folder.rglob("*")):
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            name = path.relative_to(self.folder.parent).as_posix()
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            text = changed.get(name, self.texts.get(name))
            place.write_bytes(path.read_bytes() if text is None else text.encode("utf-8"))

    def sample(self, mutants: Sequence[Mutant], count: int, seed: int, *, even: bool = False) -> list[Mutant]:
        """Return up to ``count`` of ``mutants``, the same for the same seed, in the order of ``mutants``.

        With ``even`` functions and, within each, operators take turns; otherwise each mutant is as likely as another.
        A mutant that does not compile, or stands for the same text as one that was drawn, is drawn over.
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
        place = {mutant: index for index, mutant in enumerate(mutants)}
        return sorted(drawn, key=place.__getitem__)

    def _by_turns(self, mutants: Sequence[Mutant], seed: int) -> Iterator[Mutant]:
        """Yield all mutants, each time one of the next function, of it one of the next operator."""

        def of_operators(some: Sequence[Mutant]) -> Iterator[Mutant]:
            return _turns(_grouped(some, lambda mutant: mutant.operator), iter)

        functions = _grouped(_shuffled(mutants, seed), lambda mutant: (mutant.file, self.function_of(mutant).name))
        return _turns(functions, of_operators)

    def _text(self, mutant: Mutant) -> str:
        text = self.texts.get(mutant.file)
        if text is None:
            raise UsageError(f"a mutant is in {mutant.file}, which is no file of {str(self.folder)!r}")
        return text


def _shuffled(mutants: Sequence[Mutant], seed: int) -> list[Mutant]:
    shuffled = list(mutants)
    random.Random(f"mutants {seed}").shuffle(shuffled)
    return shuffled


def _grouped(mutants: Sequence[Mutant], name: Callable[[Mutant], Hashable]) -> Mapping[Hashable, Sequence[Mutant]]:
    groups: defaultdict[Hashable, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        groups[name(mutant)].append(mutant)
    # The first of the shuffled mutants says which group is first.
    return groups


def _turns(
    groups: Mapping[Hashable, Sequence[Mutant]], order: Callable[[Sequence[Mutant]], Iterator[Mutant]]
) -> Iterator[Mutant]:
    waiting = [order(group) for group in groups.values()]
    while waiting:
        for group in list(waiting):
            mutant = next(group, None)
            if mutant is None:
                waiting.remove(group)
            else:
                yield mutant


def _check(names: Collection[str] | None, known: Collection[str], what: str) -> None:
    for name in names or ():
        if name not in known:
            raise UsageError(f"there is no {what} {name!r} to mutate{hint(name, known)}")
