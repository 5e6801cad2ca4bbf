#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 7200
"""clang-tidy has nothing to say. Runs with `./bootstrap test --tidy`: WARD_TIDY is a clang build.

The analyzer takes up to a minute a source. So what it had nothing to say about is noted in that build,
by a digest of all that it saw, and not looked at again: a run that was ended goes on where it was.

Its analyzer does not know __attribute__((cleanup)): it takes for a leak what leaves its scope in a
variable of ward_cleanup…, and for never read what is stored there last. Nor does it know that
LIST_REMOVE changes what LIST_FIRST gives: to it, a list that is emptied is used after it was freed.
Such reports, and no others, are dropped here; unix.Malloc as a whole is worth having for its other
uses after free. What is freed how is the sanitized build's to check.
"""
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

from _sources import SRC, finish

TIDY = os.environ["WARD_TIDY"]
FINDING = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+):\d+: (?:fatal )?(?:error|warning): ", re.M)
CHECK = re.compile(r" \[([\w.,-]+)\]$", re.M)
LEFT = re.compile(r"(?:Potential leak of memory pointed to by '(\w+)[^']*' \[clang-analyzer-unix\.Malloc|"
                  r"Value stored to '(\w+)' is never read \[clang-analyzer-deadcode\.DeadStores)\b")
AFTER_FREE = "Use of memory after it is freed [clang-analyzer-unix.Malloc"


def cleaned_up(path, line, name):
    """Does the function that `line` is in declare `name` with a cleanup?"""
    with open(path, encoding="utf-8") as f:
        lines = f.readlines()
    text = "".join(lines)
    at = len("".join(lines[:line]))
    function = text[text.rfind("\n{\n", 0, at):text.find("\n}\n", at - 1)]
    return re.search(rf"\bward_cleanup\w*(\(\w+\))?\s[^;=]*\b{name}\b", function)


def emptied(path, line):
    """Is the line, with the one above it, a loop that takes a list's first until there is none?"""
    with open(path, encoding="utf-8") as f:
        loop = "".join(f.readlines()[line - 2:line])
    return re.search(r"while \(!LIST_EMPTY\((.+)\)\)\n\s+\w+\(LIST_FIRST\(\1\)[,)]", loop)


def tidy(source, *options):
    """The findings in a source: (place and check, the whole text) of each."""
    result = subprocess.run(["clang-tidy", "--quiet", *options[:1], source, *options[1:]],
                            capture_output=True, text=True, check=False)
    starts = list(FINDING.finditer(result.stdout))
    found = []
    for start, end in zip(starts, [s.start() for s in starts[1:]] + [len(result.stdout)]):
        text = result.stdout[start.start():end]
        path = os.path.normpath(os.path.join(TIDY, start["path"]))
        title, line = text.split("\n", 1)[0], int(start["line"])
        left = LEFT.search(title)
        if left and cleaned_up(path, line, left[1] or left[2]):
            continue
        if AFTER_FREE in title and "'LIST_REMOVE'" in text and emptied(path, line):
            continue
        check = CHECK.search(text)
        name = check[1].replace(",-warnings-as-errors", "") if check else "?"
        found.append((f"{os.path.relpath(path, SRC)}:{start['line']}: {name}", text))
    if result.returncode and not starts:
        found.append((f"{os.path.relpath(source, SRC)}: clang-tidy failed",
                      result.stdout + result.stderr))
    return found


# The control: with the same settings it finds what is there, and drops nothing else.
CONTROL = """#include <sys/queue.h>
#include "enforcer/base/cleanup.h"
int null(void);
int leak(void);
int none(void);
int null(void)
{
	int *p = 0;
	return *p;
}
int leak(void)
{
	int *p = malloc(sizeof(*p));
	return p ? 1 : 0;
}
int none(void)
{
	ward_cleanup_free int *p = malloc(sizeof(*p));
	return p ? 1 : 0;
}
struct item {
	LIST_ENTRY(item) link;
	int n;
};
LIST_HEAD(list, item);
static void drop(struct item *i)
{
	LIST_REMOVE(i, link);
	free(i);
}
void empty(struct list *l);
void empty(struct list *l)
{
	while (!LIST_EMPTY(l))
		drop(LIST_FIRST(l));
}
int freed(struct list *l);
int freed(struct list *l)
{
	struct item *i = LIST_FIRST(l);
	if (!i)
		return 0;
	drop(i);
	return i->n;
}
"""
with tempfile.NamedTemporaryFile("w", suffix=".c", encoding="ascii") as f:
    f.write(CONTROL)
    f.flush()
    control = tidy(f.name, f"--config-file={SRC}/.clang-tidy", "--", f"-I{SRC}")
seen = [place.rsplit(":", 2)[1:] for place, _ in control]
if seen != [["9", " clang-analyzer-core.NullDereference"], ["14", " clang-analyzer-unix.Malloc"],
            ["44", " clang-analyzer-unix.Malloc"]]:
    sys.exit("FAIL: it is to see a null pointer followed, a leak and a use after free, and sees "
             f"{control}")
broken = tidy(os.path.join(SRC, "no-such-file.c"), f"--config-file={SRC}/.clang-tidy", "--")
if not broken:
    sys.exit("FAIL: a run of clang-tidy that fails passes")


def outputs(rule):
    """What the build makes by a rule: ninja's targets."""
    return subprocess.run(["ninja", "-C", TIDY, "-t", "targets", "rule", rule], check=True,
                          capture_output=True, text=True).stdout.split()


def digest(source):
    """Of what the analyzer sees of a source: with comments, macros and places; None: it does not
    compile."""
    seen = hashlib.sha256(SETTINGS)
    for command in commands[source]:
        argv = [a for a in shlex.split(command) if a != "-MD"]
        for option in ("-o", "-MQ", "-MF"):
            del argv[argv.index(option):argv.index(option) + 2]
        result = subprocess.run([*argv, "-E", "-CC", "-dD"], cwd=TIDY, capture_output=True,
                                check=False)
        if result.returncode:
            return None
        seen.update(result.stdout)
    return seen.hexdigest()


def look(source):
    """The findings in a source, none if there were none in it as it is."""
    key = digest(source)
    note = os.path.join(TIDY, "tidied", key or "")
    if key and os.path.exists(note):
        return []
    found = tidy(source, f"-p={TIDY}")
    if key and not found:
        with open(note, "w", encoding="utf-8") as f:
            f.write(os.path.relpath(source, SRC) + "\n")
    return found


# The sources that the build generates come first.
subprocess.run(["ninja", "-C", TIDY, "--quiet",
                *(o for o in outputs("CUSTOM_COMMAND") if o.endswith((".c", ".h")))], check=True)
SETTINGS = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
for path in (__file__, os.path.join(SRC, ".clang-tidy")):
    with open(path, "rb") as f:
        SETTINGS += f.read()
os.makedirs(os.path.join(TIDY, "tidied"), exist_ok=True)
commands = {}
with open(os.path.join(TIDY, "compile_commands.json"), encoding="utf-8") as f:
    for entry in json.load(f):
        source = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
        if source.startswith(SRC + "/") and not source.startswith((TIDY, SRC + "/tests/")):
            commands.setdefault(source, []).append(entry["command"])

with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    runs = list(pool.map(look, sorted(commands)))
findings = list(dict.fromkeys(f for run in runs for f in run))
# The places last: of a long output the end is what is shown.
finish([text for _, text in findings] + [place for place, _ in findings], commands)
