#!/usr/bin/env python3
"""Runs clang-tidy on every source file of lib/ and bench/ that changed since it was last found clean.

"Changed" is judged by what the compiler would see: the preprocessed text with its comments, the compiler options, the
checks and clang-tidy's version. So a changed header brings back exactly the files that include it, and a fresh clone of
a tree that was clean needs no git history to know so. The verdicts are kept below ~/.cache/mtuscope-tidy. A file costs
up to 15 s; --all adds tests/, where a slip does less harm.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

SOURCE_ROOT = pathlib.Path(__file__).resolve().parents[2]
PRODUCT = ("lib", "bench")
EVERYTHING = (*PRODUCT, "tests")


def compile_commands(build_dir, folders):
    """The files of the build in those folders and their options, without compiler, input and output."""
    commands = {}
    for entry in json.loads((build_dir / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if not any(file.is_relative_to(SOURCE_ROOT / folder) for folder in folders):
            continue  # generated files
        words = shlex.split(entry["command"])
        options, skip = [], False
        for word in words[1:]:
            if skip or word in ("-o", "-c"):
                skip = word == "-o"
            elif word != str(file) and word != entry["file"] and not word.endswith("g++"):
                options.append(word)
        commands[file] = options
    return commands


def fingerprint(file, options, common):
    """Hash of all that decides what clang-tidy says about the file; None if it does not even preprocess."""
    seen = subprocess.run(["clang++", *options, "-E", "-C", "-P", str(file)], capture_output=True)
    if seen.returncode != 0:
        return None
    root = str(SOURCE_ROOT).encode()
    digest = hashlib.sha256(common)
    digest.update(" ".join([*options, str(file)]).encode().replace(root, b"."))
    digest.update(seen.stdout.replace(root, b"."))
    return digest.hexdigest()


def check(file, options, build_dir, verdicts, common):
    """Returns (file, what clang-tidy complains about or "", whether it ran)."""
    key = fingerprint(file, options, common)
    verdict = verdicts / key if key else None
    if verdict and verdict.exists():
        return file, "", False
    run = subprocess.run(["clang-tidy", "--quiet", "-p", str(build_dir), str(file)], capture_output=True, text=True)
    if run.returncode != 0:
        return file, run.stdout or run.stderr, True
    if verdict:
        verdict.touch()
    return file, "", True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=pathlib.Path, required=True, help="configured, with compile_commands.json")
    parser.add_argument("--all", action="store_true", help="also tests/")
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="only these")
    args = parser.parse_args()

    commands = compile_commands(args.build_dir, EVERYTHING if args.all or args.files else PRODUCT)
    wanted = {file.resolve() for file in args.files} or set(commands)
    if missing := wanted - set(commands):
        sys.exit(f"not compiled in {args.build_dir}: {', '.join(map(str, sorted(missing)))}")
    verdicts = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "mtuscope-tidy")
    verdicts.mkdir(parents=True, exist_ok=True)
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    common = {True: version + (SOURCE_ROOT / ".clang-tidy").read_bytes()}
    common[False] = common[True] + (SOURCE_ROOT / "tests" / ".clang-tidy").read_bytes()

    ran, bad = 0, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(check, file, commands[file], args.build_dir, verdicts,
                            common[any(file.is_relative_to(SOURCE_ROOT / folder) for folder in PRODUCT)])
                for file in sorted(wanted)]
        for job in concurrent.futures.as_completed(jobs):
            file, complaint, has_run = job.result()
            ran += has_run
            if complaint:
                bad += 1
                print(f"{file.relative_to(SOURCE_ROOT)}:\n{complaint}")
    print(f"clang-tidy: {len(wanted)} files, {ran} checked, {bad} with complaints")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
