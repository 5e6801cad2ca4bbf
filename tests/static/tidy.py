#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 1800
"""clang-tidy has nothing to say. Runs with `./bootstrap test --tidy`: WARD_TIDY is a clang build.

Its analyzer does not know __attribute__((cleanup)): it takes for a leak what leaves its scope in a
variable of ward_cleanup…. Such a report, and no other, is dropped here; unix.Malloc as a whole is
worth having for its uses after free. What the cleanups free is the sanitized build's to check.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

from _sources import SRC, finish

TIDY = os.environ["WARD_TIDY"]
FINDING = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+):\d+: (?:fatal )?(?:error|warning): ", re.M)
CHECK = re.compile(r" \[([\w.,-]+)\]$", re.M)
LEAK = re.compile(r"Potential leak of memory pointed to by '(\w+)[^']*' \[clang-analyzer-unix\.Malloc\b")


def cleaned_up(path, line, name):
    """Does the function that `line` is in declare `name` with a cleanup, above that line?"""
    with open(path, encoding="utf-8") as f:
        above = "".join(f.readlines()[:line])
    function = above[above.rfind("\n{\n"):]
    return re.search(rf"\bward_cleanup\w*(\(\w+\))?\s[^;=]*\b{name}\b", function)


def tidy(source, *options):
    """The findings in a source: (place and check, the whole text) of each."""
    result = subprocess.run(["clang-tidy", "--quiet", *options[:1], source, *options[1:]],
                            capture_output=True, text=True, check=False)
    starts = list(FINDING.finditer(result.stdout))
    found = []
    for start, end in zip(starts, [s.start() for s in starts[1:]] + [len(result.stdout)]):
        text = result.stdout[start.start():end]
        path = os.path.normpath(os.path.join(TIDY, start["path"]))
        leak = LEAK.search(text.split("\n", 1)[0])
        if leak and cleaned_up(path, int(start["line"]), leak[1]):
            continue
        check = CHECK.search(text)
        name = check[1].replace(",-warnings-as-errors", "") if check else "?"
        found.append((f"{os.path.relpath(path, SRC)}:{start['line']}: {name}", text))
    if result.returncode and not starts:
        found.append((f"{os.path.relpath(source, SRC)}: clang-tidy failed",
                      result.stdout + result.stderr))
    return found


# The control: with the same settings it finds what is there, and drops nothing else.
CONTROL = """#include "enforcer/base/cleanup.h"
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
"""
with tempfile.NamedTemporaryFile("w", suffix=".c", encoding="ascii") as f:
    f.write(CONTROL)
    f.flush()
    control = tidy(f.name, f"--config-file={SRC}/.clang-tidy", "--", f"-I{SRC}")
seen = [place.rsplit(":", 2)[1:] for place, _ in control]
if seen != [["8", " clang-analyzer-core.NullDereference"], ["13", " clang-analyzer-unix.Malloc"]]:
    sys.exit(f"FAIL: it is to see a null pointer followed and a leak, and sees {control}")
broken = tidy(os.path.join(SRC, "no-such-file.c"), f"--config-file={SRC}/.clang-tidy", "--")
if not broken:
    sys.exit("FAIL: a run of clang-tidy that fails passes")

# The sources that the build generates come first.
subprocess.run(["ninja", "-C", TIDY, "--quiet"], check=True)
with open(os.path.join(TIDY, "compile_commands.json"), encoding="utf-8") as f:
    entries = json.load(f)
sources = sorted({os.path.normpath(os.path.join(e["directory"], e["file"])) for e in entries})
sources = [s for s in sources if s.startswith(SRC + "/") and not s.startswith(TIDY)
           and not s.startswith(SRC + "/tests/")]

with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    runs = list(pool.map(lambda s: tidy(s, f"-p={TIDY}"), sources))
findings = list(dict.fromkeys(f for run in runs for f in run))
# The places last: of a long output the end is what is shown.
finish([text for _, text in findings] + [place for place, _ in findings], sources)
