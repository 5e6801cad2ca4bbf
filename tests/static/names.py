#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every name is one thing: none that is seen beyond its file has two definitions.

Looked at are tags, typedefs, enumerators, macros, functions and objects of headers, functions and
objects with external linkage, and tags that begin with ward_ wherever they are defined. A name
clashes with the same one in another file, also as another kind; within a file the compiler looks
after that. A .c file may not use a header's name for something of its own either. Names that only
.c files have, without ward_, are local and do not meet."""
import collections
import json
import os
import re
import subprocess

from _sources import BUILD, SRC, files, finish, read

FOLDERS = ("enforcer/", "audit/", "fs/", "conf/")
# How often a base name may stand; main.c is where a program starts.
BASE_NAMES, ENTRY = 2, "main"


def bare(text):
    """The text without comments and what is in strings and characters; joined lines are one."""
    def empty(found):
        word = found.group(0)
        if word[0] == "/":
            return "\n" * word.count("\n") or " "
        return '""' if word[0] == '"' else "0"
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', empty, text,
                  flags=re.S).replace("\\\n", " ")


def statements(code):
    """Each statement at file level, without the braces that it has and what is in them."""
    depth, text = 0, ""
    for c in code:
        if c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
            # A function ends here; a struct, an enum or a list of values has its ";" to come.
            if depth == 0 and text.rstrip().endswith(")"):
                yield text.strip()
                text = ""
        elif depth == 0 and c == ";":
            yield text.strip()
            text = ""
        elif depth == 0:
            text += c


def declared(statement):
    """(kind, name) of what a header declares at file level besides tags; None: nothing."""
    statement = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|\[[^\]]*\]", " ", statement)
    if statement.startswith("typedef"):
        found = re.search(r"\(\s*\*\s*(\w+)\s*\)", statement) or \
            re.search(r"(\w+)\s*(?:\(|$)", statement)
        return "typedef", found.group(1)
    found = re.match(r"[\w\s*]+?\b(\w+)\s*\(", statement)
    if found and not statement.startswith("static_assert"):
        return "function", found.group(1)
    found = re.match(r"(?:extern|static|const)\b[^=]*?(\w+)\s*(?:=|$)", statement, re.S)
    return ("object", found.group(1)) if found else None


def defined(path, text):
    """(kind, name) of what a file defines; of a .c file tags, enumerators and macros."""
    text = bare(text)
    # A macro that its file takes back is gone for whoever includes it: tables of X macros.
    gone = set(re.findall(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", text, re.M))
    for name in re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M):
        if name not in gone:
            yield "macro", name
    code = re.sub(r"^[ \t]*#[^\n]*", "", text, flags=re.M)
    yield from re.findall(r"\b(struct|union|enum)\s+(\w+)\s*\{", code)
    for body in re.findall(r"\benum\b\s*\w*\s*\{([^{}]*)\}", code):
        for part in re.sub(r"\((?:[^()]|\([^()]*\))*\)", "", body).split(","):
            name = re.match(r"\s*([A-Za-z_]\w*)", part)
            if name:
                yield "enumerator", name.group(1)
    if path.endswith(".h"):
        yield from filter(None, map(declared, statements(code)))


def linked():
    """(file, name) of each function and object with external linkage, as the objects have them."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    sources = {os.path.join(c["directory"], c["output"]): os.path.relpath(
        os.path.join(c["directory"], c["file"]), SRC) for c in commands}
    objects = [o for o, source in sources.items() if source.startswith(FOLDERS)]
    out = subprocess.run(["nm", "-A", "-g", "--defined-only", "--format=posix", *objects],
                         capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        path, name = re.match(r"(.+?): (\S+) ", line).groups()
        # What a sanitizer adds begins with "__".
        if not name.startswith("__") and name != ENTRY:
            yield sources[path], name


def more_than_once(texts, symbols):
    """The complaints about the names of these files (path: text) and of their objects."""
    seen = collections.defaultdict(lambda: collections.defaultdict(set))  # name: file: kinds
    local = collections.defaultdict(lambda: collections.defaultdict(set))
    for path, text in texts.items():
        for kind, name in defined(path, text):
            shared = path.endswith(".h") or (name.startswith("ward_") and kind != "macro")
            (seen if shared else local)[name][path].add(kind)
    for name, places in seen.items():
        places = {**places, **local.get(name, {})}
        if len(places) > 1:
            yield name, [f"{'/'.join(sorted(kinds))} in {path}"
                         for path, kinds in sorted(places.items())]
    # A function stands in its header and in its .c file, as one thing.
    bodies = collections.defaultdict(set)
    for path, name in symbols:
        bodies[name].add(path)
    for name, places in bodies.items():
        # A macro around the function of its name stands in the same header.
        other = {path for path, kinds in seen.get(name, {}).items() if "function" not in kinds
                 and kinds & {"macro", "enumerator", "typedef", "struct", "union", "enum"}}
        if len(places) > 1 or other:
            yield name, sorted(places | other)
    bases = collections.defaultdict(set)
    for path in texts:
        bases[os.path.basename(os.path.splitext(path)[0])].add(os.path.splitext(path)[0])
    for base, places in bases.items():
        if len(places) > BASE_NAMES and base != ENTRY:
            yield f"the base name {base}", sorted(places)


# What must be found, and what must not: this check can fail.
SEEDS = {
    "a/one.h": "struct ward_tag { int a; };\nenum x { WARD_TWICE = 0, WARD_ONCE = (1 << 2) };\n"
               "int ward_call(int a, void (*f)(int)) ward_must_check;\n"
               "typedef int (*ward_type)(int);\n#define WARD_MACRO 1\nstruct ward_known;\n"
               "extern const struct ward_tag ward_table[2];\n"
               "#define ROW(a) a,\nROW(1)\n#undef ROW\n",
    "b/two.h": "enum ward_tag { WARD_TWO };\nenum { WARD_TWICE = 1 };\n/* struct ward_said {}; */\n"
               "static inline int ward_call(void)\n{\n\treturn 0;\n}\nstruct ward_type;\n"
               "typedef struct ward_known *ward_type;\n#define WARD_MACRO 2\n"
               "extern int ward_table;\n#define ROW(a) #a,\nROW(1)\n#undef ROW\n",
    "b/two.c": "struct ward_known { struct local { int a; } b; };\n#define LOCAL 1\n",
    "c/two.c": "struct local { int a; };\n#define LOCAL 2\n#define WARD_ONCE 3\n",
    "d/two.c": "struct ward_said { int a; };\n",
}
SEEDED = {"ward_tag", "WARD_TWICE", "ward_call", "ward_type", "WARD_MACRO", "ward_table",
          "WARD_ONCE", "ward_linked", "the base name two"}
found = {name for name, _ in more_than_once(SEEDS, [("b/two.c", "ward_linked"),
                                                    ("c/two.c", "ward_linked"),
                                                    ("c/two.c", "ward_alone")])}
complaints = [f"the seeded {name} is {'not ' if name in SEEDED else ''}found"
              for name in sorted(found ^ SEEDED)]
looked_at = {path: read(path) for path in files(".c", ".h") if path.startswith(FOLDERS)}
complaints += [f"{name} is more than one thing: {', '.join(places)}"
               for name, places in sorted(more_than_once(looked_at, linked()))]
finish(complaints, looked_at)
