# SPDX-License-Identifier: Apache-2.0
# Attempts of ../python.sh: each argument is one, with what it is about.
import os
import sys


def node(code, *args):
    import js
    return js.Function.new("args", "const fs = process.getBuiltinModule('node:fs'),"
                           " cp = process.getBuiltinModule('node:child_process');"
                           " try {" + code + "} catch (e) { return e.code }")(args)


def read(path):
    with open(path) as f:
        return f.read().strip()


def write(path):
    with open(path, "w") as f:
        f.write("x")
    return "written"


def run(path):
    return node(f"const r = cp.spawnSync({path!r}, ['--version']); return r.error ? r.error.code : 'ran';")


def constructor(path):
    # Not by the name of a global, but by what any object of JavaScript leads to.
    from js import Object
    make = Object.new().constructor.constructor
    return make(f"try {{ return process.getBuiltinModule('node:fs').readFileSync({path!r}, 'utf8') }} catch (e) {{ return e.code }}")()


def deep(n=0):
    return deep(n + 1)


def socket(host):
    import socket as s
    s.create_connection((host, 80), 5)


def process():
    import subprocess
    subprocess.run(["/bin/true"])


ACTS = {
    "read": read,
    "write": write,
    "rename": os.rename,
    "mkdir": os.mkdir,
    "node-read": lambda p: node(f"return fs.readFileSync({p!r}, 'utf8')"),
    "node-write": lambda p: node(f"fs.writeFileSync({p!r}, 'x'); return 'written'"),
    "node-run": run,
    "constructor": constructor,
    "process": process,
    "socket": socket,
    "deep": deep,
}
for arg in sys.argv[1:]:
    what, *rest = arg.split(" ")
    try:
        said = ACTS[what](*rest)
    except BaseException as e:
        said = type(e).__name__
    print(f"{arg}: {said}")
