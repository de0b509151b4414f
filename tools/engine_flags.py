#!/usr/bin/env python3
"""Reads which flags a release of an engine takes, from its source, and writes them as facts.

usage: engine_flags.py ENGINE VERSION TREE --source TEXT --out FILE.toml
       ENGINE is vllm, sglang, megatron, torchtitan, trtllm, llamacpp, bridge, primus, deepspeed, maxtext, verl, nemo_rl or
       openrlhf; TREE a checkout of that release (with submodules, for bridge)

A fact is the name of a flag, its type, its default, what it may be set to and the file that says so: nothing is copied besides.
Python is parsed (ast), never run, so that neither the engine nor what it needs has to be installed. Types: switch (no value),
int, float, text, json, list. Engines that are set by keys (bridge, maxtext, verl: KEY=VALUE; primus, nemo_rl: YAML; deepspeed: JSON) have the keys
instead, those of a part as "part.key". `no` marks a switch that also has a --no- form; `deprecated` one that the engine warns about.
"""
import argparse
import ast
import pathlib
import re
import sys


class Tree:
    """Classes, constants and functions of a Python tree, by name."""

    def __init__(self, root, folders):
        self.root = pathlib.Path(root)
        self.classes, self.constants = {}, {}
        for folder in folders:
            at = self.root / folder
            for path in sorted([at] if at.is_file() else at.rglob("*.py")):
                try:
                    module = ast.parse(path.read_text(encoding="utf-8"))
                except (SyntaxError, UnicodeDecodeError):
                    continue
                self.index(module.body, str(path.relative_to(self.root)))

    def index(self, body, file):
        for node in body:
            if isinstance(node, ast.ClassDef):
                self.classes.setdefault(node.name, (node, file))
            elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self.constants.setdefault(node.targets[0].id, node.value)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                self.constants.setdefault(node.target.id, node.value)
            elif isinstance(node, (ast.If, ast.Try)):
                self.index(node.body, file)

    def module(self, file):
        return ast.parse((self.root / file).read_text(encoding="utf-8"))

    def fields(self, name, seen=()):
        """Annotated fields of a class and of what it inherits, the nearest last: {field: (annotation, value, file)}."""
        if name not in self.classes or name in seen:
            return {}
        node, file = self.classes[name]
        out = {}
        for base in node.bases:
            if isinstance(base, ast.Name):
                out.update(self.fields(base.id, (*seen, name)))
        for item in node.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                out[item.target.id] = (item.annotation, item.value, file)
        return out

    def value(self, node, depth=0):
        """The constant a node stands for, or None if it is only known when the engine runs."""
        if node is None or depth > 8:
            return None
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return [v for v in (self.value(item, depth + 1) for item in node.elts) if v is not None]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self.value(node.operand, depth + 1)
            return -inner if isinstance(inner, (int, float)) else None
        if isinstance(node, ast.BinOp):
            left, right = self.value(node.left, depth + 1), self.value(node.right, depth + 1)
            if isinstance(node.op, ast.Add) and isinstance(left, list) and isinstance(right, list):
                return left + right
            try:
                if isinstance(node.op, ast.Mult):
                    return left * right
                if isinstance(node.op, ast.Pow):
                    return left**right
            except TypeError:
                return None
        if isinstance(node, ast.Name) and node.id in self.constants:
            return self.value(self.constants[node.id], depth + 1)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            field = self.fields(node.value.id).get(node.attr)  # ModelConfig.dtype
            return self.default(field[1], depth + 1) if field else None
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in ("list", "tuple", "sorted") and node.args:
                return self.value(node.args[0], depth + 1)
            if called.endswith("get_args") and node.args:
                return self.literals(node.args[0])
            if called.endswith(".keys") and isinstance(node.func, ast.Attribute):
                known = node.func.value
                if isinstance(known, ast.Name):
                    known = self.constants.get(known.id)
                if isinstance(known, ast.Dict):
                    return [self.value(key, depth + 1) for key in known.keys if key is not None]
        return None

    def default(self, node, depth=0):
        """The default of a field: what it is set to, or what field(default=...) says."""
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("field", "Field"):
            for word in node.keywords:
                if word.arg == "default":
                    return self.value(word.value, depth + 1)
            return self.value(node.args[0], depth + 1) if node.args else None
        return self.value(node, depth)

    def literals(self, node, depth=0):
        """The texts of Literal[...], through aliases."""
        if depth > 8 or node is None:
            return []
        if isinstance(node, ast.Name):
            return self.literals(self.constants.get(node.id), depth + 1)
        if isinstance(node, ast.Subscript):
            if ast.unparse(node.value).split(".")[-1] == "Literal":
                inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                out = []
                for item in inner:
                    out += [item.value] if isinstance(item, ast.Constant) else self.literals(item, depth + 1)
                return out
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return [text for item in inner for text in self.literals(item, depth + 1)]
        if isinstance(node, ast.BinOp):
            return self.literals(node.left, depth + 1) + self.literals(node.right, depth + 1)
        return []

    def kind(self, node, depth=0):
        """Type of a flag from the annotation of its field."""
        text = ast.unparse(node)
        if isinstance(node, ast.Name) and node.id in self.constants and depth < 8:
            inner = self.constants[node.id]
            if isinstance(inner, (ast.Subscript, ast.BinOp, ast.Name)):
                return self.kind(inner, depth + 1)
        words = set(re.findall(r"[A-Za-z_][A-Za-z_0-9]*", text))
        if "bool" in words:
            return "text" if "str" in words else "switch"
        if words & {"list", "List", "tuple", "Tuple", "set", "Sequence"}:
            return "list"
        if "Literal" in words or self.literals(node):
            return "text"
        if words & {"dict", "Dict", "Mapping"}:
            return "json"
        if "int" in words:
            return "int"
        if "float" in words:
            return "float"
        if "str" in words or "Path" in words:
            return "text"
        return "json" if any(word in self.classes for word in words) else "text"


def fact(kind, default=None, choices=(), file="", **more):
    return {"type": kind, "default": default, "choices": [str(c) for c in choices if c is not None], "file": file, **more}


def from_call(tree, call, file):
    """Flags and fact of a parser.add_argument(...) or click.option(...)."""
    names = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str) and a.value.startswith("-")]
    words = {k.arg: k.value for k in call.keywords if k.arg}
    action = ast.unparse(words["action"]).strip("'\"") if "action" in words else ""
    kind = "text"
    if action in ("store_true", "store_false", "store_const") or "is_flag" in words or "StoreTrue" in action or "StoreConst" in action:
        kind = "switch"
    elif "nargs" in words and ast.unparse(words["nargs"]) not in ("'?'", "None"):
        kind = "list"
    elif "type" in words:
        text = ast.unparse(words["type"])
        kind = "json" if "json" in text else "float" if text == "float" else "int" if "int" in text else "text"
    choices = tree.value(words.get("choices"))
    if choices is None and "type" in words and isinstance(words["type"], ast.Call) and words["type"].args:
        choices = tree.value(words["type"].args[0])
    more = {}
    if "Boolean" in action:
        kind, more = "switch", {"no": True}
    if "Deprecated" in action:
        more["deprecated"] = True
    return names, fact(kind, tree.value(words.get("default")), choices if isinstance(choices, list) else (), file, **more)


def add(flags, names, one):
    for name in names:
        if name.startswith("--"):
            flags.setdefault(name, one)


def calls(node, *names):
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in names:
            yield inner


def vllm(root):
    tree = Tree(root, ["vllm/config", "vllm/engine", "vllm/entrypoints", "vllm/model_executor/layers/quantization/__init__.py"])
    flags = {}
    file = "vllm/engine/arg_utils.py"
    module = tree.module(file)
    sources = {}  # parallel_kwargs -> ParallelConfig
    for node in ast.walk(module):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "get_kwargs":
            sources[node.targets[0].id] = ast.unparse(node.value.args[0])
    for call in calls(module, "add_argument"):
        names, one = from_call(tree, call, file)
        for word in call.keywords:
            if word.arg is not None:
                continue
            # **parallel_kwargs["field"], or **{**parallel_kwargs["field"], "default": None}
            spread = [word.value] if isinstance(word.value, ast.Subscript) else \
                [v for k, v in zip(word.value.keys, word.value.values) if k is None] if isinstance(word.value, ast.Dict) else []
            for inner in spread:
                if isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Name):
                    owner, field = sources.get(inner.value.id), tree.value(inner.slice)
                    known = tree.fields(owner).get(field) if owner else None
                    if known:
                        one = of_field(tree, known)
                        if isinstance(word.value, ast.Dict):
                            one["default"] = None  # chosen when it starts
        add(flags, names, one)
    for owner in ("BaseFrontendArgs", "FrontendArgs"):
        for field, known in tree.fields(owner).items():
            add(flags, ["--" + field.replace("_", "-")], of_field(tree, known))
    for file in ("vllm/entrypoints/openai/cli_args.py", "vllm/entrypoints/cli/serve.py"):
        for call in calls(tree.module(file), "add_argument"):
            add(flags, *from_call(tree, call, file))
    return flags


def of_field(tree, known):
    annotation, value, file = known
    kind = tree.kind(annotation)
    more = {"no": True} if kind == "switch" else {}
    return fact(kind, tree.default(value), tree.literals(annotation), file, **more)


def sglang(root):
    tree = Tree(root, ["python/sglang/srt/server_args.py", "python/sglang/srt/arg_groups", "python/sglang/srt/constants.py",
                       "python/sglang/srt/utils"])
    flags = {}
    for field, (annotation, value, file) in tree.fields("ServerArgs").items():
        names, choices, kind, hidden = ["--" + field.replace("_", "-")], [], None, False
        if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) in ("A", "Annotated"):
            parts = annotation.slice.elts
            kind, choices = tree.kind(parts[0]), tree.literals(parts[0])
            for part in parts[1:]:
                if not (isinstance(part, ast.Call) and ast.unparse(part.func) == "Arg"):
                    continue
                for word in part.keywords:
                    if word.arg == "aliases":
                        names += tree.value(word.value) or []
                    elif word.arg == "cli_name":
                        names = [tree.value(word.value)]
                    elif word.arg == "choices":
                        choices = tree.value(word.value) or []
                    elif word.arg == "no_cli":
                        hidden = True
                    elif word.arg == "nargs" and kind != "switch":
                        kind = "list"
                    elif word.arg == "type_parser" and "json" in ast.unparse(word.value):
                        kind = "json"
        else:
            continue
        # A switch that may also be left open has both forms only where its action says so: the plain one always exists.
        if not hidden:
            add(flags, names, fact(kind, tree.default(value), choices, file))
    file = "python/sglang/srt/server_args.py"
    for call in calls(tree.module(file), "add_argument"):
        add(flags, *from_call(tree, call, file))
    return flags


def megatron(root):
    tree = Tree(root, ["megatron/training", "megatron/core"])
    flags = {}
    for file in ("megatron/training/arguments.py",):
        module = tree.module(file)
        excluded = {}
        for node in ast.walk(module):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "exclude":
                excluded = set(tree.value(node.value) or [])
        for call in calls(module, "add_argument"):
            add(flags, *from_call(tree, call, file))
        for node in ast.walk(module):
            if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "ArgumentGroupFactory"):
                continue
            left_out = set()
            for word in node.keywords:
                if word.arg == "exclude":
                    left_out = excluded if isinstance(word.value, ast.Name) else set(tree.value(word.value) or [])
            for field, (annotation, value, where) in tree.fields(ast.unparse(node.args[0])).items():
                if field in left_out:
                    continue
                meta, default = {}, tree.default(value)
                if isinstance(value, ast.Call):
                    for word in value.keywords:
                        if word.arg == "metadata" and isinstance(word.value, ast.Dict):
                            for key, inner in zip(word.value.keys, word.value.values):
                                if tree.value(key) == "argparse_meta" and isinstance(inner, ast.Dict):
                                    meta = {tree.value(k): v for k, v in zip(inner.keys, inner.values)}
                kind, choices = tree.kind(annotation), tree.literals(annotation)
                names = ["--" + field.replace("_", "-")]
                if kind == "switch" and default is True:
                    names = ["--no-" + field.replace("_", "-"), "--disable-" + field.replace("_", "-")]
                if "arg_names" in meta:
                    names = tree.value(meta["arg_names"])
                if "action" in meta:
                    kind = "switch" if "store_" in ast.unparse(meta["action"]) else kind
                elif "type" in meta and kind != "list":
                    text = ast.unparse(meta["type"])
                    kind = text if text in ("int", "float") else "text"
                if "choices" in meta:
                    choices = tree.value(meta["choices"]) or []
                enum = tree.classes.get(ast.unparse(annotation))
                if enum and any("Enum" in ast.unparse(base) for base in enum[0].bases):
                    kind, choices = "text", [t.targets[0].id for t in enum[0].body if isinstance(t, ast.Assign)]
                add(flags, names, fact(kind, default, choices, where))
    return flags


def torchtitan(root):
    tree = Tree(root, ["torchtitan/config"])
    flags = {}
    for section, (annotation, _, _) in tree.fields("JobConfig").items():
        owner = ast.unparse(annotation)
        for field, known in tree.fields(owner).items():
            inner = ast.unparse(known[0])
            if inner in tree.classes and tree.fields(inner):
                for deeper, last in tree.fields(inner).items():
                    add(flags, [f"--{section}.{field}.{deeper}"], of_field(tree, last))
            add(flags, [f"--{section}.{field}"], of_field(tree, known))
    return flags


def trtllm(root):
    tree = Tree(root, ["tensorrt_llm/commands/serve.py"])
    file = "tensorrt_llm/commands/serve.py"
    flags = {}
    for node in tree.module(file).body:
        if isinstance(node, ast.FunctionDef) and node.name == "serve":
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "click.option":
                    add(flags, *from_call(tree, call, file))
    return flags


def llamacpp(root):
    file = "common/arg.cpp"
    text = (pathlib.Path(root) / file).read_text(encoding="utf-8")
    flags = {}
    for match in re.finditer(r"common_arg\(\s*\{([^{}]*)\}\s*,\s*(?:\{([^{}]*)\}\s*,\s*)?(\"[^\"]*\")?", text):
        rest = text[match.end():match.end() + 2500]
        taken = re.search(r"\[[^\]]*\]\(common_params\s*&\s*\w*\s*(?:,\s*(?:const\s+)?([\w:]+))?", rest)
        kind = {"int": "int", "std::string": "text", "bool": "switch"}.get(taken.group(1) if taken and taken.group(1) else "", "switch")
        hint = (match.group(3) or "").strip('"')
        choices = re.split(r"[|,]", hint[1:-1]) if re.fullmatch(r"[\[{][\w|,]+[\]}]", hint) else []
        names = re.findall(r'"(--[^"]+)"', match.group(1))
        add(flags, names, fact(kind, None, choices, file))
        add(flags, re.findall(r'"(--[^"]+)"', match.group(2) or ""), fact("switch", None, (), file))
    return flags


def of_yaml(files, root):
    """Keys of YAML files: the type is that of the value, text where it is null."""
    import yaml
    flags = {}
    for path in files:
        file = str(path.relative_to(root))
        for key, value in (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).items():
            kind = {bool: "switch", int: "int", float: "float", list: "list", dict: "json"}.get(type(value), "text")
            one = fact(kind, value if not isinstance(value, (list, dict)) else None, (), file)
            if kind == "int":
                one["type"] = "float"  # may be set to a fraction
            flags.setdefault(key, one)
    return by_value(flags)


def by_value(flags):
    """Keys have values: a switch is one of true and false."""
    for name, one in flags.items():
        if one["type"] == "switch" and not name.startswith("--"):
            one.update(type="text", choices=["true", "false"], no=False)
    return flags


def maxtext(root):
    root = pathlib.Path(root)
    flags = of_yaml([root / "src/maxtext/configs/base.yml"], root)
    names = sorted(path.stem for path in (root / "src/maxtext/configs/models").glob("*.yml"))
    flags["model_name"]["choices"] = ["default", *names]
    return flags


def primus(root):
    root = pathlib.Path(root)
    configs = root / "primus/configs"
    models = [configs / "models/megatron" / name for name in ("language_model.yaml", "primus_megatron_model.yaml")]
    flags = of_yaml(sorted((configs / "modules/megatron").glob("*.yaml")) + models, root)
    flags.pop("extends", None)
    return flags


def deepspeed(root):
    tree = Tree(root, ["deepspeed/runtime/constants.py", "deepspeed/runtime/config.py", "deepspeed/runtime/precision_config.py",
                       "deepspeed/runtime/zero", "deepspeed/runtime/tensor_parallel", "deepspeed/runtime/config_utils.py"])
    file = "deepspeed/runtime/config.py"
    flags = {}
    for node in ast.walk(tree.module(file)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "get_scalar_param" and ast.unparse(node.args[0]) == "param_dict":
            key, default = tree.value(node.args[1]), tree.value(node.args[2]) if len(node.args) > 2 else None
            kind = {bool: "switch", int: "float", float: "float"}.get(type(default), "text")
            if isinstance(key, str):
                key = re.findall(r'"(\w+)":', key)[-1] if " " in key else key  # a constant that is set twice, first to its help
                flags.setdefault(key, fact("float" if key.endswith(("size", "steps", "gpu")) else kind, default, (), file))
    sections = {"zero_optimization": "DeepSpeedZeroConfig", "zero_optimization.offload_optimizer": "DeepSpeedZeroOffloadOptimizerConfig",
                "zero_optimization.offload_param": "DeepSpeedZeroOffloadParamConfig", "bf16": "DeepSpeedBF16Config",
                "fp16": "DeepSpeedFP16Config", "tensor_parallel": "TPTrainingConfig"}
    for section, owner in sections.items():
        for field, (annotation, value, where) in tree.fields(owner).items():
            kind = tree.kind(annotation)
            default = tree.default(value)
            flags.setdefault(f"{section}.{field}", fact("text" if "Enum" in ast.unparse(annotation) else kind, default, (), where))
    flags.setdefault("sequence_parallel_size", fact("int", None, (), file))  # read from the dict itself
    return by_value(flags)


def leaves(value, at=""):
    """Keys below keys as "part.key", with their values."""
    for key, inner in value.items():
        name = f"{at}.{key}" if at else str(key)
        if isinstance(inner, dict) and inner:
            yield from leaves(inner, name)
        else:
            yield name, inner


def of_values(tree, values, file):
    """Facts of keys from the file that sets them: the type is that of the annotation that the class or the typed
    dictionaries around give a field of that name, where all agree, else that of the value."""
    kinds = {}
    for owner in tree.classes:
        for field, (annotation, _, _) in tree.fields(owner).items():
            kinds.setdefault(field, set()).add(tree.kind(annotation))
    facts = {}
    for name, value in leaves(values):
        last = name.split(".")[-1]
        if last in ("_target_", "defaults") or name.startswith(("hydra.", "defaults")):
            continue
        known = kinds.get(last, set()) & {"int", "float", "switch"} if len(kinds.get(last, set())) == 1 else set()
        written = {bool: "switch", int: "int", float: "float", list: "list", dict: "json"}.get(type(value), "text")
        kind = known.pop() if known else "float" if written == "int" and abs(value) <= 1 else written
        computed = isinstance(value, str) and "${" in value
        facts[name] = fact(kind, None if computed or isinstance(value, (list, dict)) else value, (), file)
    return by_value(facts)


def verl(root):
    """The trainers' configurations as verl writes them out whole, and what its pools apart add to them."""
    import yaml
    root = pathlib.Path(root)
    tree = Tree(root, ["verl/workers/config", "verl/trainer/config"])
    read = lambda file: of_values(tree, yaml.safe_load((root / file).read_text(encoding="utf-8")), file)
    config = "verl/trainer/config"
    plain, megatron = (read(f"{config}/_generated_{name}.yaml") for name in ("ppo_trainer", "ppo_megatron_trainer"))
    flags = {**megatron, **plain}
    for name in plain.keys() & megatron.keys():
        flags[name]["file"] = config
    for part in ("one_step_off", "fully_async"):
        folder = f"verl/experimental/{part}_policy/config"
        for file in sorted((root / folder).glob("*.yaml")):
            for name, one in read(str(file.relative_to(root))).items():
                one["file"] = folder if name not in flags or "experimental" not in flags[name]["file"] else "verl/experimental"
                if name not in flags or "experimental" in flags[name]["file"] and flags[name]["file"] != folder:
                    flags[name] = one
    return flags


def nemo_rl(root):
    """What examples/configs/grpo_math_1B.yaml sets, which configurations build on."""
    import yaml
    root = pathlib.Path(root)
    tree = Tree(root, ["nemo_rl/algorithms", "nemo_rl/models/policy", "nemo_rl/models/generation", "nemo_rl/distributed"])
    file = "examples/configs/grpo_math_1B.yaml"
    return of_values(tree, yaml.safe_load((root / file).read_text(encoding="utf-8")), file)


def openrlhf(root):
    tree = Tree(root, ["openrlhf/cli"])
    file = "openrlhf/cli/train_ppo_ray.py"
    flags = {}
    for call in calls(tree.module(file), "add_argument"):
        add(flags, *from_call(tree, call, file))
    return flags


def bridge(root):
    file = "scripts/training/run_recipe.py"
    tree = Tree(root, ["src/megatron/bridge/training", "src/megatron/bridge/models/gpt_provider.py", "src/megatron/bridge/data",
                       "src/megatron/bridge/recipes/utils"])
    below = Tree(root, ["3rdparty/Megatron-LM/megatron/core", "3rdparty/Megatron-LM/megatron/training"])
    flags = {}
    for call in calls(tree.module(file), "add_argument"):
        add(flags, *from_call(tree, call, file))
    sections = {"train": ("TrainingConfig",), "model": ("GPTModelProvider", "MLATransformerConfig"), "optimizer": ("OptimizerConfig",),
                "ddp": ("DistributedDataParallelConfig",), "scheduler": ("SchedulerConfig",), "checkpoint": ("CheckpointConfig",),
                "dataset": ("GPTDatasetConfig",), "logger": ("LoggerConfig",), "tokenizer": ("TokenizerConfig",),
                "validation": ("ValidationConfig",), "dist": ("DistributedInitConfig",)}
    for section, owners in sections.items():
        fields = {}
        for owner in owners:
            fields.update(below.fields(owner))
            fields.update(tree.fields(owner))
            for base in tree.classes[owner][0].bases if owner in tree.classes else ():
                fields = {**below.fields(ast.unparse(base).removeprefix("MCore").removeprefix("MTrain")), **fields}
        if section == "model":
            fields = {**below.fields("TransformerConfig"), **fields}
        for field, (annotation, value, where) in fields.items():
            kind = tree.kind(annotation)
            flags.setdefault(f"{section}.{field}", fact("text" if kind == "json" else kind, tree.default(value), (), where))
    precisions = [node.name for node in tree.module("src/megatron/bridge/training/mixed_precision.py").body
                  if isinstance(node, ast.FunctionDef) and any(ast.unparse(d) == "register" for d in node.decorator_list)]
    flags["mixed_precision"] = fact("text", None, precisions, "src/megatron/bridge/training/mixed_precision.py")
    recipes = []
    for path in sorted((pathlib.Path(root) / "src/megatron/bridge/recipes").rglob("*.py")):
        recipes += re.findall(r"^def ([a-z]\w*_pretrain_\w*config)\(", path.read_text(encoding="utf-8"), re.M)
    flags["--recipe"]["choices"] = sorted(set(recipes))
    return by_value(flags)


def quoted(text):
    text = str(text).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f]", " ", text) + '"'


def written(engine, version, source, flags):
    lines = [f"# Flags of {engine} {version}, read from its source by tools/engine_flags.py: names, types, defaults, choices.",
             "", "[release]", f"engine = {quoted(engine)}", f"version = {quoted(version)}", f"source = {quoted(source)}", ""]
    by_file = {}
    for name, one in flags.items():
        by_file.setdefault(one["file"], []).append((name, one))
    for file, items in sorted(by_file.items()):
        lines += ["[[from]]", f"file = {quoted(file)}", "flags = ["]
        for name, one in sorted(items):
            parts = [f"name = {quoted(name)}", f"type = {quoted(one['type'])}"]
            default = one["default"]
            if isinstance(default, bool):
                parts.append(f"default = {quoted(str(default).lower())}")
            elif default is not None and not isinstance(default, (list, dict)) and len(str(default)) < 60:
                parts.append(f"default = {quoted(default)}")
            if one["choices"]:
                parts.append("choices = [" + ", ".join(quoted(c) for c in one["choices"]) + "]")
            parts += [f"{mark} = true" for mark in ("no", "deprecated") if one.get(mark)]
            lines.append("  { " + ", ".join(parts) + " },")
        lines += ["]", ""]
    return "\n".join(lines[:-1]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    engines = {f.__name__: f for f in (vllm, sglang, megatron, torchtitan, trtllm, llamacpp, bridge, primus, deepspeed, maxtext, verl,
                                      nemo_rl, openrlhf)}
    parser.add_argument("engine", choices=engines)
    parser.add_argument("version")
    parser.add_argument("tree")
    parser.add_argument("--source", required=True)
    parser.add_argument("--out", required=True)
    a = parser.parse_args()
    flags = engines[a.engine](a.tree)
    if len(flags) < 20:
        print(f"{a.tree}: only {len(flags)} flags found: the source has another shape than this tool knows", file=sys.stderr)
        return 1
    pathlib.Path(a.out).write_text(written(a.engine, a.version, a.source, flags), encoding="utf-8")
    print(f"{a.out}: {len(flags)} flags")
    return 0


if __name__ == "__main__":
    sys.exit(main())
