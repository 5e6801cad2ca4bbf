# SPDX-License-Identifier: Apache-2.0
"""The projects that the bench builds: made on the spot, with no network."""
import base64
import hashlib
import io
import json
import os
import tarfile

NPM_PACKAGES, NPM_FILES = 300, 12


def c_project(where, units=40):
    """Every unit includes what real ones do, and one header of its own."""
    os.mkdir(f"{where}/src")
    with open(f"{where}/src/all.h", "w", encoding="ascii") as f:
        f.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <math.h>\n"
                + "".join(f"int unit{i}(int x);\n" for i in range(units)))
    for i in range(units):
        with open(f"{where}/src/unit{i}.c", "w", encoding="ascii") as f:
            f.write('#include "all.h"\n')
            for j in range(60):
                f.write(f"static int f{j}(int x) {{ char b[64]; int n = snprintf(b, sizeof b, "
                        f'"%d", x * {j}); return n > 3 ? (int)strlen(b) : x + {i}; }}\n')
            f.write(f"int unit{i}(int x) {{ int s = 0;\n" +
                    "".join(f"s += f{j}(x);\n" for j in range(60)) + "return s; }\n")
    with open(f"{where}/src/main.c", "w", encoding="ascii") as f:
        f.write('#include "all.h"\nint main(void) { int s = 0;\n' +
                "".join(f"s += unit{i}({i});\n" for i in range(units)) +
                'printf("%d\\n", s); return 0; }\n')
    with open(f"{where}/Makefile", "w", encoding="ascii") as f:
        f.write("O := $(patsubst %.c,%.o,$(wildcard src/*.c))\nCFLAGS = -O1\nall: $(O)\n"
                "\t$(CC) -o prog $(O)\nclean:\n\trm -f $(O) prog\n")


def _tarball(path, name, bins):
    """A package as `npm pack` makes it; returns its integrity."""
    files = {"package.json": json.dumps({"name": name, "version": "1.0.0",
                                         **({"bin": {name: "cli.js"}} if bins else {})})}
    files |= {f"lib/{i}.js": f"exports.f{i} = () => {i};\n" * (8 << i % 6)
              for i in range(NPM_FILES)}
    if bins:
        files["cli.js"] = "#!/usr/bin/env node\n"
    with tarfile.open(path, "w:gz", compresslevel=1) as out:
        for member, text in files.items():
            info = tarfile.TarInfo("package/" + member)
            info.size, info.mode = len(text), 0o644
            out.addfile(info, io.BytesIO(text.encode()))
    with open(path, "rb") as f:
        return "sha512-" + base64.b64encode(hashlib.sha512(f.read()).digest()).decode()


def npm_project(where):
    """A package that depends on NPM_PACKAGES others, which lie beside it as archives."""
    os.mkdir(f"{where}/archives")
    dependencies, packages = {}, {}
    for i in range(NPM_PACKAGES):
        name = f"package-{i}"
        source = f"file:archives/{name}.tgz"
        integrity = _tarball(f"{where}/archives/{name}.tgz", name, i % 10 == 0)
        dependencies[name] = source
        packages[f"node_modules/{name}"] = {
            "version": "1.0.0", "resolved": source, "integrity": integrity,
            **({"bin": {name: "cli.js"}} if i % 10 == 0 else {})}
    root = {"name": "bench", "version": "1.0.0", "dependencies": dependencies}
    with open(f"{where}/package.json", "w", encoding="ascii") as f:
        json.dump(root, f)
    with open(f"{where}/package-lock.json", "w", encoding="ascii") as f:
        json.dump({"name": "bench", "version": "1.0.0", "lockfileVersion": 3, "requires": True,
                   "packages": {"": root, **packages}}, f)
