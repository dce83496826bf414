"""Before and after of `lift_writes`."""

from __future__ import annotations

from examples import Example

_HEAD = """\
from app.overrides_runtime import declare


class Args:
    page_size: int = 1
    backend: str = ""
    limit: int = 0

    def use_mla(self):
        return self.backend == "mla"

    def is_paged(self):
        return self.page_size > 1

"""
_HEAD_AFTER = _HEAD.replace("import declare", "import declare, run_pass")
_HEAD_ALONE = _HEAD.replace("import declare", "import run_pass")
_HEAD_ALL = _HEAD.replace("import declare", "import provides, run_pass, run_provider")
_OTHER = """
    def _other(self):
        declare(self, "_other", limit=1)
"""


def _example(
    title: str,
    before: str,
    after: str | None = None,
    left: tuple[str, ...] = (),
    *,
    head: str | None = None,
    force: bool = False,
) -> Example:
    if head is None:
        # An import that nothing needs any more goes.
        head = _HEAD_AFTER if " declare(" in (after or "") else _HEAD_ALONE
    return Example(
        title,
        _HEAD + before,
        None if after is None else head + after,
        options={"fields": ("page_size", "backend"), "force": force},
        left=left,
    )


EXAMPLES = (
    _example(
        "A guarded declaration becomes a pass",
        """\
    def _handle_page_size(self):
        # Nobody chose one.
        if self.page_size is None and not self.use_mla():
            declare(self, "_handle_page_size", page_size=1)
            logger.info(f"page size {self.page_size}")
""",
        """\
    def _handle_page_size(self):
        run_pass(self, _page_size_pass)


def _page_size_pass(view):
    # Nobody chose one.
    if view.page_size is None and not view.use_mla():
        view.declare(page_size=1)
        logger.info(f"page size {view.page_size}")
""",
    ),
    _example(
        "Regions that follow one another become one pass, which is handed the locals that it needs",
        """\
    def _handle_backend(self, kind):
        size = compute()

        if kind == "A":
            declare(self, "_handle_backend", backend="a")
        if self.backend == "a":
            declare(self, "_handle_backend", page_size=size)
        self.limit = 2
        if size:
            declare(self, "_handle_backend", page_size=3)
""",
        """\
    def _handle_backend(self, kind):
        size = compute()

        run_pass(self, _backend_and_page_size_pass, kind, size)
        self.limit = 2
        run_pass(self, _backend_page_size_pass, size)


def _backend_and_page_size_pass(view, kind, size):
    if kind == "A":
        view.declare(backend="a")
    if view.backend == "a":
        view.declare(page_size=size)


def _backend_page_size_pass(view, size):
    if size:
        view.declare(page_size=3)
""",
    ),
    _example(
        "Branches that ask the architecture, by names, lists or parts, become providers; one that stays is as it was",
        """\
    def _handle_family(self, config):
        model_arch = config.architectures[0]

        if model_arch in ["AlphaForCausalLM", "BetaForCausalLM"]:
            # Their kernels need it.
            declare(self, "_handle_family", backend="a")
        elif "Gamma" in model_arch and self.limit > 1:
            size = config.size
            declare(self, "_handle_family", page_size=size)
        elif model_arch == "DeltaForCausalLM":
            self.limit = 5
            if config.large:
                declare(self, "_handle_family", page_size=64)
        elif model_arch in EPSILON_ARCHITECTURES:
            if self.backend is None:
                declare(self, "_handle_family", backend=config.default)


EPSILON_ARCHITECTURES = ("EpsilonModel", "EpsilonForCausalLM")
""",
        """\
    def _handle_family(self, config):
        model_arch = config.architectures[0]

        run_provider(
            self,
            model_arch,
            (_alpha_provider, _gamma_provider, _epsilon_architectures_provider),
            config,
        )
        if model_arch == "DeltaForCausalLM":
            self.limit = 5
            run_pass(self, _delta_page_size_pass, config)


EPSILON_ARCHITECTURES = ("EpsilonModel", "EpsilonForCausalLM")


@provides("AlphaForCausalLM", "BetaForCausalLM")
def _alpha_provider(view, config):
    # Their kernels need it.
    view.declare(backend="a")


@provides(lambda model_arch: "Gamma" in model_arch)
def _gamma_provider(view, config):
    if view.limit > 1:
        size = config.size
        view.declare(page_size=size)


@provides(lambda model_arch: model_arch in EPSILON_ARCHITECTURES)
def _epsilon_architectures_provider(view, config):
    if view.backend is None:
        view.declare(backend=config.default)


def _delta_page_size_pass(view, config):
    if config.large:
        view.declare(page_size=64)
""",
        head=_HEAD_ALL,
    ),
    _example(
        "A branch stays in its chain where another might be taken as well, or an else",
        """\
    def _handle_chain(self, model_arch):
        if "Alpha" in model_arch:
            declare(self, "_handle_chain", backend="a")
        elif model_arch == "AlphaBetaModel":
            declare(self, "_handle_chain", backend="b")
        if model_arch == "AlphaModel":
            declare(self, "_handle_chain", backend="c")
        else:
            declare(self, "_handle_chain", backend="d")
""",
        """\
    def _handle_chain(self, model_arch):
        run_pass(self, _chain_backend_pass, model_arch)


def _chain_backend_pass(view, model_arch):
    if "Alpha" in model_arch:
        view.declare(backend="a")
    elif model_arch == "AlphaBetaModel":
        view.declare(backend="b")
    if model_arch == "AlphaModel":
        view.declare(backend="c")
    else:
        view.declare(backend="d")
""",
    ),
    _example(
        "What cannot be lifted as a whole is looked into",
        """\
    def _handle_all(self):
        if self.limit:
            self.limit = 3
            if self.backend is None:
                declare(self, "_handle_all", backend="b")
        elif self.page_size:
            return
        else:
            declare(self, "_handle_all", page_size=2)
""",
        """\
    def _handle_all(self):
        if self.limit:
            self.limit = 3
            run_pass(self, _all_backend_pass)
        elif self.page_size:
            return
        else:
            declare(self, "_handle_all", page_size=2)


def _all_backend_pass(view):
    if view.backend is None:
        view.declare(backend="b")
""",
        left=("returns",),
    ),
    _example(
        "Left: a method that reads what is not applied yet, or writes; a local that may be unbound, or is used later",
        """\
    def _handle_left(self, other):
        if self.backend:
            declare(self, "_handle_left", page_size=2)
            other(self.is_paged())
        if self.backend:
            self._other()
            declare(self, "_handle_left", page_size=3)
        if other:
            size = 4
        if self.backend:
            declare(self, "_handle_left", page_size=size)
        if self.backend:
            found = 5
            declare(self, "_handle_left", page_size=found)
        print(found)
        if self.backend:
            other(self)
            declare(self, "_handle_left", page_size=6)
"""
        + _OTHER,
        left=("before it is applied", "which writes limit", "unbound", "used outside", "not followed"),
    ),
)
