#!/usr/bin/env python3
"""Checks what `ridge ... --json` prints against its JSON Schema. Usage: check_schema.py RIDGE ROOT

The validator below knows the keywords that docs/schema/*.json use and refuses any other, so that a rule is never skipped.
"""
import copy
import json
import pathlib
import re
import subprocess
import sys

KEYWORDS = {"$schema", "$defs", "$ref", "title", "description", "type", "required", "properties", "additionalProperties",
            "items", "enum", "const", "pattern", "anyOf"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "number": (int, float),
         "integer": int}


def is_type(value, name):
    if name in ("number", "integer") and isinstance(value, bool):
        return False
    return isinstance(value, TYPES[name])


def problems(value, schema, root, path="$"):
    """All violations, as text that starts with the place."""
    unknown = set(schema) - KEYWORDS
    assert not unknown, f"check_schema.py does not know {unknown}"
    found = []
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        found += problems(value, target, root, path)
    if "const" in schema and value != schema["const"]:
        found.append(f"{path}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{path}: {value!r} is none of {schema['enum']}")
    names = schema.get("type")
    names = [names] if isinstance(names, str) else names
    if names and not any(is_type(value, name) for name in names):
        found.append(f"{path}: {value!r} is no {' or '.join(names)}")
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{path}: {value!r} does not match {schema['pattern']}")
    if "anyOf" in schema and all(problems(value, option, root, path) for option in schema["anyOf"]):
        found.append(f"{path}: fits none of the alternatives")
    if isinstance(value, dict):
        found += [f"{path}: {key} is missing" for key in schema.get("required", []) if key not in value]
        for key, element in value.items():
            rule = schema.get("properties", {}).get(key, schema.get("additionalProperties", True))
            if rule is False:
                found.append(f"{path}: {key} is not in the schema")
            elif isinstance(rule, dict):
                found += problems(element, rule, root, f"{path}.{key}")
    if isinstance(value, list) and "items" in schema:
        for i, element in enumerate(value):
            found += problems(element, schema["items"], root, f"{path}[{i}]")
    return found


def main(ridge, root):
    schema = json.loads((root / "docs" / "schema" / "show.json").read_text())
    kinds = [key for key, rule in schema["properties"].items()
             if rule.get("items", {}).get("$ref", "").startswith("#/$defs/")]
    queries = [[], ["devices", "--keys"], ["h200-sxm"], ["h100-sxm/mig-3g.40gb"], ["prices", "--as-of", "2026-06"],
               ["dense:layers=2,hidden=64,heads=2,kv_heads=1,ffn=128,gated=1,vocab=100,tied=0"]]
    queries += [[kind] for kind in kinds]
    failed = False
    for query in queries:
        command = [ridge, "show", *query, "--json", "--data", str(root / "data")]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        document = json.loads(text, parse_constant=lambda name: sys.exit(f"{command}: {name} is not JSON"))
        for problem in problems(document, schema, schema)[:10]:
            print(f"show {' '.join(query)}: {problem}")
            failed = True
        for kind in set(document) & set(kinds):
            if not document[kind]:
                print(f"show {' '.join(query)}: no {kind}")
                failed = True
    # The check itself: a document with one thing wrong is refused.
    command = [ridge, "show", "h200-sxm", "--json", "--data", str(root / "data")]
    good = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for damage in (lambda d: d["devices"][0].pop("tdp_w"), lambda d: d["devices"][0].update(tdp=700),
                   lambda d: d["devices"][0].update(memory_bytes="141 GB"), lambda d: d.update(schema="ridge.show/2"),
                   lambda d: d["devices"][0]["peak_dense_flops_per_s"].update(bf16="x")):
        bad = copy.deepcopy(good)
        damage(bad)
        if not problems(bad, schema, schema):
            print("a damaged document passes")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
