// SPDX-License-Identifier: Apache-2.0
//
// Runs a program of WASI preview 1 under Node's WASI. wardfs starts this inside the walls of a
// session. Node's WASI follows absolute links out of a directory: it is no wall itself.
//
//   wardfs-node-wasi.mjs --tree DIR… MODULE ARGUMENT…
import fs from "node:fs";
import process from "node:process";
import { WASI } from "node:wasi";

const preopens = {};
const rest = process.argv.slice(2);
while (rest.length && rest[0] === "--tree") {
	rest.shift();
	const tree = rest.shift();
	if (fs.existsSync(tree)) preopens[tree] = tree;
}
preopens["."] = ".";

try {
	const wasi = new WASI({
		version: "preview1",
		args: rest,
		env: process.env,
		preopens,
		returnOnExit: true,
	});
	const module = await WebAssembly.compile(fs.readFileSync(rest[0]));
	const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
	if (instance.exports._start) process.exit(wasi.start(instance));
	wasi.initialize(instance);
	process.exit(0);
} catch (e) {
	fs.writeSync(2, `wardfs: ${rest[0]}: ${e?.message ?? e}\n`);
	process.exit(e instanceof WebAssembly.RuntimeError || e instanceof RangeError ? 134 : 1);
}
