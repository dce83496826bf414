"""The one reader of Python source: what is written, read, decided, called and defined, from the text alone.

It needs the standard library (`ast`) alone and has relative imports only, so that a child process can load it under
another name. A function called ``..._of`` answers for one node, one called ``..._in`` for all nodes under it. Nothing
here knows what a record is, or where files are.

- `writes`: ``writes_of(node)`` gives `CodeWrite` (form, name, node, owner, value) for attributes, items, entries
  of dicts, ``setattr``, ``declare(...)``, ``del``; ``copies_of(call)`` those of ``replace(x, name=v)``;
  ``Fields(names).written(node)`` those of some fields. ``targets_of(statement)`` gives `Target` (form, node, value)
  for every kind of binding, ``stored(target)`` takes one apart, ``binds(node)`` gives only the names.
- `reads`: ``reads_of(node)`` gives `CodeRead` (form, name, node, owner).
- `decisions`: ``decisions_of(node)`` gives the single conditions, ``conditions_of(node)`` the whole ones.
- `calls`: ``arguments_of(call, function)`` says which parameter gets what; ``positional``, ``defaults``, ``given``.
- `scopes`: ``parameters_of(function)``, ``times_bound(function)``, ``aliases(function)``, ``scopes_in(node)``.
- `functions`: ``defined_in(module)`` gives `Defined` (node, qualified, owner, is_inner), ``function_at(found,
  line)``, ``defined_names(statement)``, ``needed(module, names)``.
- `constants`: ``literals(node, named)``, ``assignments(statements)``.
- `nodes`: names and texts of nodes, ``heads`` and ``inside`` of compound statements, ``in_order`` of execution.
- `positions`: ``span_of(node)``, and ``CharacterColumns(text)``, which find by position what `ast` found::

      found = CharacterColumns(text).by_span(writes_in(ast.parse(text)))
      found[NodeSpan(3, 4, 3, 13)]  # line, column, end line, end column in characters, as libcst's PositionProvider

- `sites`: ``Sites(fields)`` collects write sites and decisions of whole files, and orders them by slots.
"""
