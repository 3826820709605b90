#!/usr/bin/env python3
"""Fails where the code leaves the picture of docs/architecture.md.  usage: check_architecture.py SOURCE_ROOT

Reads the room table of docs/architecture.md (| room | may include | ...), so the document is the rule and cannot go
stale. Prints one line per violation: file:line: what, and what to do.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'\s*#\s*include\s*[<"]([^>"]+)[>"]')
# Comments, string and character literals; what is left is code.
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)

# Verbs calls that make an object someone must own.
CREATE_CALL = re.compile(
    r"\b(ibv_(?:open_device|alloc_\w+|create_\w+|reg_\w+)|rdma_(?:create_\w+|reg_\w+|getaddrinfo))\s*\(")
CREATE_CALLS_LIVE_IN = "lib/mtuscope/verbs/handles.cpp"

# The library tells its callers; only front ends print, end the process or look at the environment: pattern, what is
# wrong, the files that may.
FORBIDDEN_IN_LIB = [
    (re.compile(r"\b(?:std::)?(?:f|d|v|vf)?printf\s*\(|\b(?:f?puts|putchar)\s*\(|\bstd::(?:cout|cerr|clog)\b|"
                r"\bfmt::print\s*\("),
     "prints; return a value or use core/log", ()),
    (re.compile(r"\b(?:secure_)?getenv\s*\("), "reads the environment; take a parameter", ()),
    (re.compile(r"\b(?:std::)?(?:_|quick_|_E)?exit\s*\(|\babort\s*\("), "ends the process; throw",
     ("lib/mtuscope/launch/process.cpp",)),  # a child between fork and exec has no caller to throw to
]

# Headers that cost seconds in every file that includes them, or tie a room to an outside library: prefix, the folders
# that may include it (from .cpp files only).
CONFINED_HEADERS = [
    ("CLI/", ("bench/cli/",)),
    ("nlohmann/", ("lib/mtuscope/records/",)),
    ("valijson/", ("lib/mtuscope/records/",)),
    ("boost/", ("lib/mtuscope/stats/",)),
    ("fmt/", ("lib/mtuscope/", "bench/")),
]
VERBS_HEADERS = ("infiniband/", "rdma/")
VERBS_ROOM = "lib/mtuscope/verbs/"
MPI_FOLDERS = ("lib/mtuscope/mpi/", "bench/mpi/")


def read_arrows(document):
    """The room table as {room: set of rooms it may include}."""
    arrows = {}
    for line in document.splitlines():
        row = re.match(r"\|\s*`(\w+)`\s*\|\s*([^|]*)\|", line)
        if row:
            arrows[row[1]] = set(re.findall(r"`(\w+)`", row[2]))
    return arrows


def code_lines(text):
    """Lines with comments and literals blanked, so that words in them are not taken for code."""
    return NOT_CODE.sub(lambda m: "\n" * m[0].count("\n") or " ", text).splitlines()


def check_arrows(path, lines, arrows):
    room = path.parts[2]
    for number, line in enumerate(lines, 1):
        header = INCLUDE.match(line)
        parts = header[1].split("/") if header else []
        if len(parts) < 3 or parts[0] != "mtuscope" or parts[1] == room:
            continue
        if parts[1] not in arrows.get(room, set()):
            yield f"{path}:{number}: {room} may not include {parts[1]}; see the room table in docs/architecture.md"


def check_headers(path, lines):
    for number, line in enumerate(lines, 1):
        header = INCLUDE.match(line)
        if not header:
            continue
        if header[1].startswith(VERBS_HEADERS) and not str(path).startswith(VERBS_ROOM):
            yield f"{path}:{number}: only {VERBS_ROOM} may include <{header[1]}>"
        if header[1] == "mpi.h" and not str(path).startswith(MPI_FOLDERS):
            yield f"{path}:{number}: only {' and '.join(MPI_FOLDERS)} may include <mpi.h>"
        for prefix, folders in CONFINED_HEADERS:
            if header[1].startswith(prefix) and (path.suffix == ".hpp" or not str(path).startswith(folders)):
                yield f"{path}:{number}: <{header[1]}> belongs into .cpp files of {' or '.join(folders)} only"


def check_calls(path, code):
    for number, line in enumerate(code, 1):
        call = CREATE_CALL.search(line)
        if call and str(path) != CREATE_CALLS_LIVE_IN:
            yield f"{path}:{number}: bare {call[1]}; {CREATE_CALLS_LIVE_IN} makes the owning handles"
        for pattern, what, allowed in FORBIDDEN_IN_LIB:
            if str(path).startswith("lib/") and str(path) not in allowed and pattern.search(line):
                yield f"{path}:{number}: {what}"


def check_table(root, arrows):
    """The table names exactly the rooms that exist, and has no cycle."""
    rooms = {folder.name for folder in (root / "lib/mtuscope").iterdir() if folder.is_dir()}
    for room in sorted(rooms - set(arrows)):
        yield f"docs/architecture.md: the room table lacks {room}"
    for room in sorted(set(arrows) - rooms):
        yield f"docs/architecture.md: the room table has {room}, which is not in lib/mtuscope"
    settled = set()
    while free := {room for room in set(arrows) - settled if arrows[room] <= settled}:
        settled |= free
    if left := sorted(set(arrows) - settled):
        yield f"docs/architecture.md: these rooms include each other in a circle or name an unknown room: {', '.join(left)}"


def violations(root):
    root = pathlib.Path(root)
    arrows = read_arrows((root / "docs/architecture.md").read_text())
    yield from check_table(root, arrows)
    for folder in ("lib", "bench"):
        for file in sorted((root / folder).rglob("*.[hc]pp")):
            path, text = file.relative_to(root), file.read_text()
            lines = text.splitlines()
            if folder == "lib":
                yield from check_arrows(path, lines, arrows)
            yield from check_headers(path, lines)
            yield from check_calls(path, code_lines(text))


def main():
    found = list(violations(sys.argv[1]))
    print("\n".join(found) or "the architecture holds")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
