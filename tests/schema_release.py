#!/usr/bin/env python3
"""Compares docs/schema with the schemas of the last release. Usage: schema_release.py ROOT [--update]

Within a major version keys may be added. A key that is gone, that may have a type it had not, or that was always there and no
longer is, breaks programs that read the answers: each is named, and the test fails. tests/schema/1.0.txt holds one line for each
key of the release: file, path, types, and whether it is always there. --update writes it anew: for a release only.
"""
import copy
import json
import pathlib
import sys

RELEASE = "1.0"


def types_of(rule):
    if "const" in rule:
        return {f"const {json.dumps(rule['const'])}"}
    if "enum" in rule:
        return {"null" if v is None else "boolean" if isinstance(v, bool) else "string" if isinstance(v, str) else "number" for v in rule["enum"]}
    names = rule.get("type", [])
    return {names} if isinstance(names, str) else set(names)


def label(rule, root):
    """How an alternative is told from its neighbours: the constant `kind` of an object, if it has one."""
    while "$ref" in rule:
        rule = resolve(rule, root)
    kind = rule.get("properties", {}).get("kind", {})
    return f"<{kind['const']}>" if "const" in kind else ""


def resolve(rule, root):
    target = root
    for part in rule["$ref"].removeprefix("#/").split("/"):
        target = target[part]
    return target


def flatten(rule, root, path, required, out, trail=(), seen=None):
    """Adds path → (types, always there) of `rule` and of all that is inside it."""
    if "$ref" in rule:
        if rule["$ref"] in trail:
            return
        if seen is not None:
            seen.add(rule["$ref"])
        flatten(resolve(rule, root), root, path, required, out, trail + (rule["$ref"],), seen)
    known, always = out.get(path, (set(), True))
    out[path] = (known | types_of(rule), always and required)
    for option in rule.get("anyOf", []):
        flatten(option, root, path + label(option, root), required, out, trail, seen)
    for key, inner in rule.get("properties", {}).items():
        flatten(inner, root, f"{path}.{key}", key in rule.get("required", []), out, trail, seen)
    if isinstance(rule.get("additionalProperties"), dict):
        flatten(rule["additionalProperties"], root, path + ".*", False, out, trail, seen)
    if "items" in rule:
        flatten(rule["items"], root, path + "[]", True, out, trail, seen)


def of_schema(schema):
    out, seen = {}, set()
    flatten(schema, schema, "$", True, out, (), seen)
    for name, rule in schema.get("$defs", {}).items():  # what only a checker reaches: rows of a table that has many kinds
        if f"#/$defs/{name}" not in seen:
            flatten(rule, schema, f"$defs.{name}", True, out, (), seen)
    return out


def breaks(before, now, name):
    """What a program that reads answers of `before` would miss in those of `now`."""
    found = []
    for path, (types, always) in before.items():
        if path not in now:
            found.append(f"{name} {path} is gone")
            continue
        new_types, still = now[path]
        if types and new_types - types:
            found.append(f"{name} {path} may be {', '.join(sorted(new_types - types))}; it was {', '.join(sorted(types))}")
        if always and not still:
            found.append(f"{name} {path} was always there, and may be missing")
    return found


def check_the_check():
    schema = {"type": "object", "required": ["a"], "properties": {
        "a": {"type": "number"}, "b": {"anyOf": [{"$ref": "#/$defs/c"}, {"type": "null"}]}},
        "$defs": {"c": {"type": "object", "properties": {"d": {"type": "string"}}}}}
    before = of_schema(schema)
    added = copy.deepcopy(schema)
    added["properties"]["new"] = {"type": "string"}
    assert not breaks(before, of_schema(added), "")
    for change in (lambda s: s["properties"].pop("a"), lambda s: s["$defs"]["c"]["properties"].pop("d"),
                   lambda s: s["properties"]["a"].update(type="string"), lambda s: s["properties"]["a"].update(type=["number", "null"]),
                   lambda s: s.update(required=[])):
        changed = copy.deepcopy(schema)
        change(changed)
        assert breaks(before, of_schema(changed), ""), "a change that breaks callers was not seen"


def main():
    root = pathlib.Path(sys.argv[1])
    check_the_check()
    today = {path.name: of_schema(json.loads(path.read_text())) for path in sorted((root / "docs/schema").glob("*.json"))}
    record = root / f"tests/schema/{RELEASE}.txt"
    if "--update" in sys.argv:
        record.parent.mkdir(exist_ok=True)
        record.write_text("".join(f"{name}\t{path}\t{'|'.join(sorted(types))}\t{'always' if always else 'may'}\n"
                                  for name, keys in today.items() for path, (types, always) in keys.items()))
        return 0
    release = {}
    for line in record.read_text().splitlines():
        name, path, types, always = line.split("\t")
        release.setdefault(name, {})[path] = (set(types.split("|")) - {""}, always == "always")
    found = []
    for name, keys in release.items():
        found += breaks(keys, today[name], name) if name in today else [f"{name} is gone"]
    print("\n".join(found) or f"{sum(map(len, release.values()))} keys of {len(release)} schemas are as in {RELEASE}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
