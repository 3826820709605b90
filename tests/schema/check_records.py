"""Holds every record of results/ against the published schema with a validator that is not ours.

Beyond the schema, which allows members it does not know (a newer minor version may add some), our own files
may have no member that the schema does not describe, and every described member needs a description.
"""
import copy
import json
import pathlib
import sys

import jsonschema

FLAWS = {
    "a bandwidth that is a string": lambda r: r["points"][0]["summary"].update(bandwidth_bytes_per_s="fast"),
    "a path MTU that is none": lambda r: r["points"][0].update(path_mtu_bytes=1000),
    "a measured point without summary": lambda r: r["points"][0].pop("summary"),
    "another major version": lambda r: r["schema"].update(version="3.0.0"),
    "a member the schema does not know": lambda r: r["points"][0].update(bandwith=1),
}


def strict(schema):
    """The same schema, refusing members it does not describe."""
    result = copy.deepcopy(schema)
    for node in [result, *result["definitions"].values(), *result["properties"].values()]:
        if "properties" in node:
            node["additionalProperties"] = False
    return result


def undescribed(schema):
    for name, node in [("record", schema), *schema["definitions"].items()]:
        for member, value in node.get("properties", {}).items():
            if "$ref" not in value and not value.get("description"):
                yield f"{name}.{member}"


def main(results):
    path = results / "schema" / "mtuscope-record-2.2.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    faults = [f"{path}: {member} has no description" for member in undescribed(schema)]
    validator = jsonschema.Draft7Validator(strict(schema))
    files = sorted(f for f in results.rglob("*.json") if f.parent != path.parent)
    if not files:
        faults.append(f"no records in {results}")
    for file in files:
        record = json.loads(file.read_text(encoding="utf-8"))
        for error in validator.iter_errors(record):
            faults.append(f"{file}: /{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
    example = json.loads((results / "examples" / "measured.json").read_text(encoding="utf-8"))
    for name, spoil in FLAWS.items():
        spoiled = copy.deepcopy(example)
        spoil(spoiled)
        if validator.is_valid(spoiled):
            faults.append(f"the schema does not notice {name}")
    print("\n".join(faults) or f"{len(files)} records are as the schema says")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
