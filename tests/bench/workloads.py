# SPDX-License-Identifier: Apache-2.0
"""What people run, as rows of the bench: a clone, a search, a Rust build, Python tests, a Vite build.

prepare() makes the data of a section, missing() says why one cannot be measured here, and SECTIONS
runs one in the current directory, as driver.py does.
"""
import os
import shutil
import subprocess
import time

CLONED_DIRS, CLONED_FILES = 80, 50
SEARCHED_DIRS, SEARCHED_FILES = 400, 50
PYTEST_MODULES, PYTEST_TESTS = 50, 10
CRATE_MODULES, CRATE_FUNCTIONS = 20, 30
VITE_MODULES = 200
# What needs the registry is fetched once, for all environments.
VITE = "vite@5"

NEEDS = {"clone": "git", "search": "rg", "cargo": "cargo", "pytest": "pytest-3", "vite": "npm"}


def _write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def _quiet(*argv, **how):
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, **how)


def _files(top, dirs, files):
    for d in range(dirs):
        for f in range(files):
            _write(f"{top}/{d}/{f}.txt", f"directory {d} file {f}\n" * 48)


def _prepare_clone(where):
    _files(f"{where}/made", CLONED_DIRS, CLONED_FILES)
    _quiet("git", "init", "-q", cwd=f"{where}/made")
    _quiet("git", "add", "-A", cwd=f"{where}/made")
    _quiet("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "data",
           cwd=f"{where}/made")
    _quiet("git", "clone", "-q", "--bare", "made", "source.git", cwd=where)
    shutil.rmtree(f"{where}/made")


def _prepare_search(where):
    _files(f"{where}/data", SEARCHED_DIRS, SEARCHED_FILES)


def _prepare_cargo(where):
    _write(f"{where}/Cargo.toml", '[package]\nname = "bench"\nversion = "1.0.0"\nedition = "2021"\n')
    for i in range(CRATE_MODULES):
        _write(f"{where}/src/m{i}.rs", "".join(
            f"pub fn f{j}(x: u64) -> String {{ let v: Vec<u64> = (0..x).map(|k| k * {j} + {i}).collect();\n"
            f'    format!("{{}} {{:?}}", v.iter().sum::<u64>(), v.last()) }}\n' for j in range(CRATE_FUNCTIONS)))
    _write(f"{where}/src/main.rs", "".join(f"mod m{i};\n" for i in range(CRATE_MODULES)) + "fn main() {\n" + "".join(
        f'    println!("{{}}", m{i}::f{j}({i + j}));\n' for i in range(CRATE_MODULES) for j in range(CRATE_FUNCTIONS))
           + "}\n")


def _prepare_pytest(where):
    for i in range(PYTEST_MODULES):
        _write(f"{where}/tests/test_{i}.py", "import json\n" + "".join(
            f"\n\ndef test_{j}(tmp_path):\n    path = tmp_path / 'x.json'\n"
            f"    path.write_text(json.dumps(list(range({j}))))\n"
            f"    assert len(json.loads(path.read_text())) == {j}\n" for j in range(PYTEST_TESTS)))


def _prepare_vite(where):
    _write(f"{where}/package.json", '{"name": "bench", "version": "1.0.0", "type": "module", "private": true}\n')
    _write(f"{where}/index.html", '<script type="module" src="/src/main.js"></script>\n')
    for i in range(VITE_MODULES):
        _write(f"{where}/src/m{i}.js", "".join(f"export function f{j}(x) {{ return x * {j} + {i}; }}\n"
                                               for j in range(20)))
    _write(f"{where}/src/main.js",
           "".join(f"import * as m{i} from './m{i}.js';\n" for i in range(VITE_MODULES))
           + "let s = 0;\n" + "".join(f"s += m{i}.f{i % 20}({i});\n" for i in range(VITE_MODULES))
           + "console.log(s);\n")
    _quiet("npm", "install", "--no-audit", "--no-fund", "--loglevel=error", VITE, cwd=where)


PREPARE = {"clone": _prepare_clone, "search": _prepare_search, "cargo": _prepare_cargo,
           "pytest": _prepare_pytest, "vite": _prepare_vite}


def missing(section):
    """Why it cannot be measured here; None: it can."""
    program = NEEDS.get(section)
    if program and not shutil.which(program):
        return f"{program} is not installed"
    return None


# --- in each environment ---

def _timed(argv, **more):
    began = time.monotonic()
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   env={**os.environ, **more})
    return time.monotonic() - began


def clone(row):
    row("git-clone", _timed(["git", "clone", "-q", "--no-local", "source.git", "cloned"],
                            GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*"))
    shutil.rmtree("cloned")


def search(row):
    for pass_ in ("cold", "warm"):
        row(f"rg-{pass_}", _timed(["rg", "--no-config", "-c", "file 17$", "data"]))


def cargo(row):
    # The same compiler everywhere: a session sees the host's, and none of the user's home.
    row("cargo-build", _timed(["cargo", "build", "-q", "--offline"], CARGO_HOME=os.path.abspath("cargo-home"),
                              PATH="/usr/bin:/bin"))
    shutil.rmtree("target")


def pytest(row):
    row("pytest", _timed(["pytest-3", "-q", "-p", "no:cacheprovider", "--basetemp=made", "tests"],
                         PYTHONDONTWRITEBYTECODE="1"))
    shutil.rmtree("made", ignore_errors=True)


def vite(row):
    row("vite-build", _timed(["node", "node_modules/vite/bin/vite.js", "build", "--logLevel", "error"]))
    shutil.rmtree("dist")


SECTIONS = {"clone": clone, "search": search, "cargo": cargo, "pytest": pytest, "vite": vite}
