// SPDX-License-Identifier: Apache-2.0
//
// Runs a script on CPython in WebAssembly (npm's pyodide) in Node or Deno. wardfs starts this inside
// the walls of a session; it is no wall itself.
//
//   wardfs-python.mjs --pyodide DIR [--snapshot FILE] --tree DIR… SCRIPT ARGUMENT…
//   wardfs-python.mjs --pyodide DIR --make-snapshot       writes the snapshot to standard output
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import tty from "node:tty";
import { pathToFileURL } from "node:url";

const options = { trees: new Set() };
const rest = process.argv.slice(2);
while (rest.length && rest[0].startsWith("--")) {
	const name = rest.shift();
	if (name === "--make-snapshot") options.make = true;
	else if (name === "--tree") options.trees.add(rest.shift());
	else if (name === "--pyodide") options.pyodide = rest.shift();
	else if (name === "--snapshot") options.snapshot = rest.shift();
	else {
		fs.writeSync(2, `wardfs: python: no such option: ${name}\n`);
		process.exit(125);
	}
}

function write(fd, bytes) {
	for (let at = 0; at < bytes.length; ) {
		try {
			at += fs.writeSync(fd, bytes, at);
		} catch (e) {
			if (e.code !== "EAGAIN") throw e;
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
		}
	}
	return bytes.length;
}

function read(bytes) {
	for (;;) {
		try {
			return fs.readSync(0, bytes);
		} catch (e) {
			if (e.code === "EOF") return 0;
			if (e.code !== "EAGAIN") throw e;
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
		}
	}
}

// Emscripten gives each new file the whole mode that was asked for (0666), past the umask; and it
// removes the target of a rename before it renames, so that a failure loses both.
function repair(FS) {
	const { NODEFS } = FS.filesystems;
	const open = FS.open;
	FS.open = (name, flags = 0, mode = 0o666, ...more) =>
		open(name, flags, mode & ~process.umask(), ...more);
	NODEFS.node_ops.rename = (node, dir, name) => {
		const to = path.join(NODEFS.realPath(dir), name);
		NODEFS.tryFSOperation(() => fs.renameSync(NODEFS.realPath(node), to));
		try {
			FS.hashRemoveNode(FS.lookupNode(dir, name));
		} catch {
			// Nothing is remembered of the old one.
		}
		node.name = name;
	};
}

// As python(1) runs a file, in the module __main__.
const RUN = `
def run(path, args, env):
    import atexit, io, os, sys
    os.environ.clear()
    os.environ.update(env)
    sys.argv[:] = [path, *args]
    more = [p for p in env.get("PYTHONPATH", "").split(":") if p]
    sys.path[:] = [os.path.dirname(path), *more, *(p for p in sys.path if p)]
    if "random" in sys.modules:
        sys.modules["random"].seed()
    names = sys.modules["__main__"].__dict__
    names.update(__file__=path, __name__="__main__", __spec__=None)
    try:
        with io.open_code(path) as f:
            text = f.read()
    except OSError as e:
        print(f"python: can't open file {path!r}: [Errno {e.errno}] {e.strerror}", file=sys.stderr)
        return 2
    status = None
    try:
        exec(compile(text, path, "exec"), names)
    except SystemExit as e:
        if e.code is None:
            status = 0
        elif isinstance(e.code, int):
            status = e.code & 255
        else:
            print(e.code, file=sys.stderr)
            status = 1
    except BaseException as e:
        trace = e.__traceback__.tb_next if e.__traceback__ else None
        sys.excepthook(type(e), e.with_traceback(trace), trace)
        status = 130 if isinstance(e, KeyboardInterrupt) else 1
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except OSError:
        status = 120
    sys.stderr.flush()
    return status
run
`;

try {
	const { loadPyodide } = await import(pathToFileURL(path.join(options.pyodide, "pyodide.mjs")).href);
	const py = await loadPyodide({
		indexURL: options.pyodide + "/",
		env: { HOME: "/", LANG: "C.UTF-8", PYTHONINSPECT: "" },
		...(options.make ? { _makeSnapshot: true } : {}),
		...(options.snapshot ? { _loadSnapshot: fs.readFileSync(options.snapshot) } : {}),
	});
	if (options.make) {
		write(1, new Uint8Array(py.makeMemorySnapshot()));
		process.exit(0);
	}
	const { FS } = py;
	repair(FS);
	for (const tree of options.trees) {
		if (!fs.existsSync(tree)) continue;
		FS.mkdirTree(tree);
		FS.mount(FS.filesystems.NODEFS, { root: tree }, tree);
	}
	try {
		FS.chdir(process.cwd());
	} catch {
		FS.chdir("/");
	}
	py.setStdin({ read, isatty: tty.isatty(0) });
	py.setStdout({ write: (b) => write(1, b), isatty: tty.isatty(1) });
	py.setStderr({ write: (b) => write(2, b), isatty: tty.isatty(2) });
	const globals = py.toPy({});
	const run = py.runPython(RUN, { globals });
	const [script, ...args] = rest;
	const status = run(script, py.toPy(args), py.toPy({ ...process.env }));
	// What asyncio still has to do goes on; after an exit or an exception nothing does.
	if (status !== undefined) process.exit(status);
} catch (e) {
	// Emscripten throws objects with a number of its own.
	fs.writeSync(2, `wardfs: python: ${e?.stack ?? JSON.stringify(e)}\n`);
	process.exit(125);
}
