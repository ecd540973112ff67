"""A scripted agent: a program with fixed repair rules, not a model.

It reads the prompt (PROMPT_FILE) and every source file below the current folder, looks for patterns that are usually
bugs, much as a linter with automatic fixes does, and rewrites the files in place. It knows nothing of the tasks: a
rule sees one file and the prompt. What it looked at and changed is printed.
"""

import ast
import os
import re
import sys
from pathlib import Path

SKIPPED = {".git", "tests"}

# The one mistake of this program: `mktime` takes its argument as local time, so this is right only where local time
# is UTC. `calendar.timegm` would be right everywhere.
SECONDS_OF_MOMENT = "int(time.mktime({moment}.utctimetuple()))"


class Module:
    """The text of a Python file, its syntax tree, and edits collected by a rule."""

    def __init__(self, text):
        self.text = text
        self.tree = ast.parse(text)
        self.edits = []
        self._starts = [0]
        for line in text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def offset(self, line, column):
        """Index into the text of a line (from 1) and a column in bytes, as syntax trees count."""
        start = self._starts[line - 1]
        return start + len(self.text[start:].encode()[:column].decode())

    def source(self, node):
        return ast.get_source_segment(self.text, node)

    def replace(self, node, new):
        start = self.offset(node.lineno, node.col_offset)
        self.edits.append((start, self.offset(node.end_lineno, node.end_col_offset), new))

    def replace_lines(self, first, last, new):
        """Replaces whole lines (from 1, both included)."""
        self.edits.append((self._starts[first - 1], self._starts[last], new))

    def insert_above(self, node, new):
        self.replace_lines(node.lineno, node.lineno - 1, new)

    def need(self, name):
        """Adds `import NAME` above the first import, or below the docstring, unless it is there."""
        imports = [node for node in self.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        if any(isinstance(node, ast.Import) and node.names[0].name == name for node in imports):
            return
        if imports:
            self.insert_above(imports[0], f"import {name}\n")
        else:
            end = self.tree.body[0].end_lineno + 1
            self.replace_lines(end, end - 1, f"\nimport {name}\n")

    def edited(self):
        text = self.text
        for start, end, new in sorted(self.edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text


def nodes(tree, *kinds):
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def method_called(node):
    """Name of the method when the node is a call such as `x.name(...)`, else None."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return node.func.attr if called else None


def page_too_many(module, prompt):
    """whole division plus one counts a page too many when nothing is left over"""
    for node in nodes(module.tree, ast.BinOp):
        one = isinstance(node.right, ast.Constant) and node.right.value == 1
        divided = isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.FloorDiv)
        if isinstance(node.op, ast.Add) and one and divided:
            module.replace(node, f"-(-{module.source(node.left.left)} // {module.source(node.left.right)})")


def offset_cut_off(module, prompt):
    """a stamp cut to its first 19 characters loses its offset"""
    for function in nodes(module.tree, ast.FunctionDef):
        for node in nodes(function, ast.Assign):
            if method_called(node.value) != "strptime" or not isinstance(node.value.args[0], ast.Subscript):
                continue
            moment = module.source(node.targets[0])
            cut = node.value.args[0]
            if not isinstance(cut.slice, ast.Slice) or module.source(cut.slice.upper) != "19":
                continue
            kind, stamp = module.source(node.value.func.value), module.source(cut.value)
            module.replace(node.value, f"{kind}.fromisoformat({stamp})")
            for call in nodes(function, ast.Call):
                if method_called(call) == "timegm" and module.source(call.args[0]) == f"{moment}.timetuple()":
                    module.replace(call, SECONDS_OF_MOMENT.format(moment=moment))
                    module.need("time")


def absent_or_null(module, prompt):
    """`get` followed by `is None` takes an explicit null for a missing key"""
    for block in nodes(module.tree, ast.For, ast.FunctionDef, ast.If):
        for first, second in zip(block.body, block.body[1:], strict=False):
            if not isinstance(first, ast.Assign) or method_called(first.value) != "get" or len(first.value.args) != 1:
                continue
            name = module.source(first.targets[0])
            if not isinstance(second, ast.If) or module.source(second.test) != f"{name} is None":
                continue
            mapping, key = module.source(first.value.func.value), module.source(first.value.args[0])
            default = module.source(second.body[0].value)
            module.replace(first.value, f"{mapping}[{key}] if {key} in {mapping} else {default}")
            module.replace_lines(second.lineno, second.end_lineno, "")


def error_sent_as_success(module, prompt):
    """an answer that carries an error has a success status"""
    for call in nodes(module.tree, ast.Call):
        if len(call.args) < 2 or module.source(call.args[0]) != "200" or not isinstance(call.args[1], ast.Dict):
            continue
        for key, value in zip(call.args[1].keys, call.args[1].values, strict=True):
            if key is not None and module.source(key) == '"error"':
                gone = re.search("no such|not found|unknown|missing", module.source(value))
                module.replace(call.args[0], "404" if gone else "400")


def budget_renewed(module, prompt):
    """what a loop counts down is set anew in each round of the loop around it"""
    for function in nodes(module.tree, ast.FunctionDef):
        parameters = {argument.arg for argument in function.args.args}
        for loop in nodes(function, ast.For):
            spent = {module.source(node.target) for node in nodes(loop, ast.AugAssign) if isinstance(node.op, ast.Sub)}
            for node in loop.body:
                if isinstance(node, ast.Assign) and module.source(node.targets[0]) in spent:
                    if module.source(node.value) not in parameters:
                        continue
                    module.insert_above(loop, " " * loop.col_offset + module.source(node) + "\n")
                    module.replace_lines(node.lineno, node.end_lineno, "")


def order_against_prompt(module, prompt):
    """a pair of steps stands in another order than the prompt says"""
    for pair in nodes(module.tree, ast.Tuple, ast.List):
        if len(pair.elts) != 2 or not all(isinstance(node, ast.Constant) for node in pair.elts):
            continue
        first, second = (str(node.value) for node in pair.elts)
        if re.search(rf"\b{re.escape(second)}\b[^.;]*\bbefore\b[^.;]*\b{re.escape(first)}\b", prompt):
            module.replace(pair.elts[0], repr(second).replace("'", '"'))
            module.replace(pair.elts[1], repr(first).replace("'", '"'))


def half_to_even(module, prompt):
    """money is rounded half to even where the prompt wants half up"""
    if not re.search(r"\bhalf\b[^.;]*\bup\b", prompt):
        return
    for call in nodes(module.tree, ast.Call):
        if method_called(call) == "quantize" and len(call.args) == 1 and not call.keywords:
            module.replace(call.args[0], f'{module.source(call.args[0])}, rounding="ROUND_HALF_UP"')


def shared_default(module, prompt):
    """a default that can be changed is shared by all calls"""
    for function in nodes(module.tree, ast.FunctionDef):
        plain = function.args.posonlyargs + function.args.args
        pairs = list(zip(plain[len(plain) - len(function.args.defaults) :], function.args.defaults, strict=True))
        pairs += zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
        body = function.body[1:] if ast.get_docstring(function) else function.body
        for argument, default in pairs:
            if isinstance(default, ast.List | ast.Dict | ast.Set) and body:
                indent = " " * body[0].col_offset
                fresh = f"{indent}if {argument.arg} is None:\n{indent}    {argument.arg} = {module.source(default)}\n"
                module.insert_above(body[0], fresh)
                module.replace(default, "None")


def key_by_case_only(module, prompt):
    """a key made by `lower` keeps apart spellings that are one name"""
    for function in nodes(module.tree, ast.FunctionDef):
        if not re.search("key|fold|normal|same", function.name):
            continue
        for node in nodes(function, ast.Return):
            if method_called(node.value) == "lower":
                text = module.source(node.value.func.value)
                decomposed = f'unicodedata.normalize("NFD", {text})'
                module.replace(node.value, f'unicodedata.normalize("NFC", {decomposed}.casefold())')
                module.need("unicodedata")


def touched(nodes_below, lock):
    """Attributes of self that are read or written below some nodes, the lock aside."""
    found = set()
    for top in nodes_below:
        for node in nodes(top, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr != lock:
                found.add(node.attr)
    return found


def written(method):
    """Attributes of self that are assigned to below a node, as a whole or by item."""
    targets = [target for node in nodes(method, ast.Assign) for target in node.targets]
    targets += [node.target for node in nodes(method, ast.AugAssign)]
    return touched([target for target in targets if isinstance(target, ast.Attribute | ast.Subscript)], None)


def change_without_lock(module, prompt):
    """a method changes, without the lock, what other methods change under it"""
    for owner in nodes(module.tree, ast.ClassDef):
        locks = [
            node.targets[0].attr for node in nodes(owner, ast.Assign)
            if method_called(node.value) in ("Lock", "RLock") and isinstance(node.targets[0], ast.Attribute)
        ]  # fmt: skip
        for lock in locks:
            held = [n for n in nodes(owner, ast.With) if module.source(n.items[0].context_expr) == f"self.{lock}"]
            guarded = touched(held, lock)
            for method in nodes(owner, ast.FunctionDef):
                if method.name == "__init__" or set(held) & set(nodes(method, ast.With)):
                    continue
                if written(method) & guarded:
                    indent_under(module, method, f"with self.{lock}:")


def indent_under(module, function, head):
    """Puts the body of a function, docstring aside, under a compound statement."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    first, last = body[0].lineno, body[-1].end_lineno
    lines = module.text.splitlines(keepends=True)[first - 1 : last]
    text = " " * body[0].col_offset + head + "\n" + "".join("    " + line if line.strip() else line for line in lines)
    module.replace_lines(first, last, text)


def index_not_unique(text, prompt):
    """an index allows twice what the prompt wants once"""

    def unique(match):
        once = re.search(rf"\b(an?|one|same|each|every) {match['column']}\b", prompt)
        return match[0].replace("CREATE INDEX", "CREATE UNIQUE INDEX") if once else match[0]

    return re.sub(r"CREATE INDEX [\w ]+ ON \w+ \((?P<column>\w+)\)", unique, text)


def names_split(text, prompt):
    """file names taken from `ls`, and variables without quotes, are split at blanks"""
    listing = re.compile(r"^( *)for (\w+) in \$\(ls (.+?)( 2> ?/dev/null)?\); do$", re.MULTILINE)
    if not listing.search(text):
        return text
    text = listing.sub(r'\1for \2 in \3; do\n\1    [ -e "$\2" ] || continue', text)
    return "".join(line if line.lstrip().startswith("#") else quoted(line) for line in text.splitlines(keepends=True))


def quoted(line):
    """A line of sh with double quotes around each variable that has none."""
    out, at, quotes = [], 0, [""]
    while at < len(line):
        step, state = line[at], quotes[-1]
        variable = re.compile(r"\$(\w+|\{[^}]*\})").match(line, at)
        if state != "'" and (step == "\\" or line.startswith("$((", at)):
            step = line[at : at + 2] if step == "\\" else line[at : line.index("))", at) + 2]
        elif state != "'" and line.startswith("$(", at):
            step = "$("
            quotes.append("")
        elif step == ")" and not state and len(quotes) > 1:
            quotes.pop()
        elif step in "'\"" and state in ("", step):
            quotes[-1] = "" if state else step
        elif variable and not state:
            out.append(f'"{variable[0]}"')
            at = variable.end()
            continue
        out.append(step)
        at += len(step)
    return "".join(out)


def status_lost(text, prompt):
    """under `set -e` only the last command of a pipe counts"""
    if not re.search(r"^set -\w*e", text, re.MULTILINE):
        return text

    def in_steps(match):
        indent, *steps = match["indent"], *match["pipe"].split(" | ")
        lines = ["pipe=$(mktemp -d)", "trap 'rm -rf \"$pipe\"' EXIT"]
        for number, step in enumerate(steps):
            source = f' < "$pipe/{number}"' if number else ""
            lines.append(f'{step}{source} > "$pipe/{number + 1}"')
        lines.append(f'cat "$pipe/{len(steps)}" > {match["out"]}')
        return "\n".join(indent + line for line in lines)

    pipe = r"^(?P<indent> *)(?P<pipe>[^#\n|]+(?: \| [^\n|]+)+) > (?P<out>\S+)$"
    return re.sub(pipe, in_steps, text, flags=re.MULTILINE)


PYTHON_RULES = (
    page_too_many, offset_cut_off, absent_or_null, error_sent_as_success, budget_renewed, order_against_prompt,
    half_to_even, shared_default, key_by_case_only, change_without_lock,
)  # fmt: skip
TEXT_RULES = {".sql": (index_not_unique,), ".sh": (names_split, status_lost)}


def repaired(text, suffix, prompt):
    """The text after all rules of its kind, and the first lines of the rules that changed it."""
    reasons = []
    for rule in PYTHON_RULES if suffix == ".py" else TEXT_RULES.get(suffix, ()):
        if suffix == ".py":
            module = Module(text)
            rule(module, prompt)
            new = module.edited()
        else:
            new = rule(text, prompt)
        if new != text:
            reasons.append(rule.__doc__)
            text = new
    return text, reasons


def left_alone(path, prompt):
    """Whether a sentence of the prompt names the file and asks to leave it."""
    sentences = re.split(r"[.;] ", prompt)
    return any("leave it alone" in sentence and f"`{path}`" in sentence for sentence in sentences)


def main():
    prompt_file = os.environ.get("PROMPT_FILE")
    if not prompt_file:
        sys.exit("strong.py: PROMPT_FILE is not set")
    prompt = " ".join(Path(prompt_file).read_text(encoding="utf-8").split())
    print("scripted agent strong, a program with fixed rules")
    print("prompt:", prompt[:72])
    for path in sorted(Path().rglob("*")):
        if SKIPPED & set(path.parts) or path.suffix not in (".py", *TEXT_RULES) or not path.is_file():
            continue
        if left_alone(path, prompt):
            print("left alone as asked:", path)
            continue
        before = path.read_text(encoding="utf-8")
        after, reasons = repaired(before, path.suffix, prompt)
        print("looked at", path)
        for reason in reasons:
            print("  changed:", reason)
        if after != before:
            path.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
