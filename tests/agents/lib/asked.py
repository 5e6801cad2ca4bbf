# SPDX-License-Identifier: Apache-2.0
# Part of agents.sh: asked.py N prints the provider's script of N tasks with files that are asked
# about. Each is one of: to append, to make a module, to edit it in place, to test and move it, and
# to change the description of CI.
import json
import sys

AGAIN = "again() { for i in 1 2 3 4 5 6 7 8 9 10; do sh -c \"$1\" && return; sleep 1; done; }; again "


def task(n):
    name = f"src/m{n // 5}.py"
    what = (
        (f"echo 'N = {n}' >>src/add.py && tail -1 src/add.py", f"N = {n}"),
        (f"echo 'ONE = {n}' >{name} && cat {name}", f"ONE = {n}"),
        (f"sed -i 's/ONE/TWO/' {name} && cat {name}", "TWO = "),
        (f"python3 -m unittest discover -s src 2>&1 && mv {name} {name}.old && ls src", r"\.old"),
        (f"echo 'name: ci{n}' >>.github/ci.yml && tail -1 .github/ci.yml", f"ci{n}"),
    )[n % 5]
    return {"run": AGAIN + json.dumps(what[0]), "want": what[1]}


json.dump([task(n) for n in range(int(sys.argv[1]))], sys.stdout)
