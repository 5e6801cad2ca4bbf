# SPDX-License-Identifier: Apache-2.0
# Part of ../tasks.sh.
import json
import sys

count, here = int(sys.argv[1]), sys.argv[2]
tasks = []
for n in range(count):
    name = f"task-{n}"
    script = f"cat README; cat .env; echo {n} >mine; pwd"
    task = {"name": name, "project": here + "/base", "engine": "runc"}
    if n % 3 == 0:
        task["policy"] = here + "/fixed.policy"
    if n == 3:
        script = "cat README; echo no >mine || exit 7"
    elif n == 4:
        script = f"echo no >{here}/results/task-5/tree/attack; echo no >../task-5/tree/attack; exit 9"
    elif n % 3 == 0:
        script = "cat README; echo no >mine || true"
    else:
        script += "; true"
    task["command"] = ["sh", "-c", script]
    tasks.append(task)
json.dump(tasks, sys.stdout)
