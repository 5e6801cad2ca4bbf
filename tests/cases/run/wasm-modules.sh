#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 120
# Mode wasm: import of CommonJS files gives what it gives in node 20 (the answers below are node's).
set -eu
. "$WARD_SRC/tests/lib.sh"
[ -x "$WARD_BUILD/wardfs-quickjs" ] ||
	fail "wardfs-quickjs was not built: $(cat "$WARD_SRC/build-quickjs/missing" 2>/dev/null || echo 'no wabt?')"
mkdir p
cd p
run() {
	expect 0 "$WARD_BUILD/wardfs-quickjs" --tree "$PWD" "$@"
}

echo "--- the default export is module.exports, and names are found in the text"
cat >c.cjs <<'J'
console.log('c runs', require.main === module);
exports.two = 2; exports['a b'] = 'ab'; exports.if = 'if'; module.exports.late = () => exports.two;
J
cat >plain.js <<'J'
module.exports = { one, ...require('./c.cjs') };
function one() { return 1; }
J
echo 'module.exports = 7' >seven.js
echo 'export const e = "esm"; export default "d"' >esm.js
echo "globalThis.ready = 'set before';" >setup.mjs
echo 'exports.saw = globalThis.ready' >saw.cjs
echo "exports.cyc = 1; exports.other = require('./cyc2.cjs').b" >cyc.cjs
echo "exports.b = require('./cyc.cjs').cyc" >cyc2.cjs
echo "throw new Error('at load')" >bad.cjs
echo "Object.defineProperty(exports, 'g', { enumerable: true, get: function () { return n.m } }); var n = { m: 5 }; exports.default = 'dd'" \
	>g.cjs
cat >main.mjs <<'J'
import './setup.mjs';
import d, { two, late, 'a b' as ab, if as iff } from './c.cjs';
import * as ns from './plain.js';
import seven from './seven.js';
import e2, { e } from './esm.js';
import { saw } from './saw.cjs';
import { cyc, other } from './cyc.cjs';
import gd, { g } from './g.cjs';
import fs, { readFileSync } from 'node:fs';
console.log(two, late(), ab, iff, d.two, Object.keys(ns).sort().join(), ns.one(), seven, e, e2, saw, cyc, other, gd.default, g);
console.log((await import('./c.cjs')).default === d, fs.readFileSync === readFileSync);
for (const name of ['bad', 'missing'])
	await import(`./${name}.cjs`).catch((x) => console.log(x.code ?? x.message));
J
run main.mjs
[ "$OUT" = "c runs false
2 2 ab if 2 a b,default,if,late,one,two 1 7 esm d set before 1 1 dd 5
true true
at load
MODULE_NOT_FOUND" ] || fail "a module: $OUT"
echo "import { nope } from './c.cjs'" >nope.mjs
expect 1 "$WARD_BUILD/wardfs-quickjs" --tree "$PWD" nope.mjs
has "$ERR" "SyntaxError: Could not find export 'nope'"

echo "--- a length that no file can have changes no file"
echo kept >kept.txt
cat >length.js <<'J'
const fs = require('fs');
for (const n of [1e18, 0.5, NaN, '3'])
	try { fs.truncateSync('kept.txt', n); } catch (e) { console.log(e.name); }
fs.truncateSync('kept.txt', 3);
console.log(fs.readFileSync('kept.txt', 'utf8'));
J
run length.js
[ "$OUT" = "RangeError
RangeError
RangeError
RangeError
kep" ] || fail "a length: $OUT"

echo "--- a module knows where it is"
mkdir 'a b'
echo "export const at = import.meta.dirname;" >'a b/deep.mjs'
printf '#!/usr/bin/env node\nimport { at } from "./a b/deep.mjs"; console.log(import.meta.url, import.meta.filename, at)\nthrow new Error("line")\n' >where.mjs
expect 1 "$WARD_BUILD/wardfs-quickjs" --tree "$PWD" where.mjs
[ "$OUT" = "file://$PWD/where.mjs $PWD/where.mjs $PWD/a b" ] || fail "where: $OUT"
has "$ERR" "Error: line"

echo "--- a script knows that it is the main one; what failed to load is loaded again"
cat >main.cjs <<'J'
console.log(require.main === module);
for (let i = 0; i < 2; i++) try { require('./bad.cjs'); } catch (e) { console.log(e.message); }
import('./c.cjs').then((m) => console.log(require('./c.cjs') === m.default));
J
run main.cjs
[ "$OUT" = "true
at load
at load
c runs false
true" ] || fail "a script: $OUT"

echo "--- the forms, and what only looks like one"
cat >forms.mjs <<'J'
import * as fs from 'fs';
const forms = {
	'exports.a = 1; exports.b = exports.c = 2; ({ exports: {} }).exports.d = 1; // exports.e = 1\n"exports.f = 1"': 'a,b,c',
	'/* exports.a = 1 */ if (0) exports.b = /exports.c = 1/; exports.d = `exports.e = ${exports.f = 1} exports.g = 1`': 'b,d,f',
	'exports.a = 6 / 2 / 3; exports.b = "/"; exports.c = (x) => x.replace(/[\'"/]/g, ""); exports.d = 1': 'a,b,c,d',
	'var a, c; module.exports = { a, "b": c, c: c, d: 1, e: a }': 'a,b,c',
	'var a; module.exports = {\n a, // one\n b() {}, c: a }': 'a,b',
	'var a; 0 && (module.exports = { a })': 'a',
	'var q; exports = module.exports = { q }; exports.s = 1': 'q,s',
	'module.exports = function () {}; module.exports.helper = 1; module.exports["x-y"] = 2': 'helper,x-y',
	'Object.defineProperty(exports, "__esModule", { value: true }); exports.a = void 0': '__esModule,a',
	'Object.defineProperty(exports, "a", { get: function () { return 1; } }); exports.b = 1': 'b',
	'module.exports = require("./x.cjs")': 'x,y',
	'module.exports = require("./x.cjs"); module.exports = { x: Array }': 'x',
	'const all = (m, e) => Object.assign(e, m), ts = { __exportStar: all }; ts.__exportStar(require("./x.cjs"), exports);': 'x,y',
	'var _x = require("./x.cjs"); Object.keys(_x).forEach(function (k) { if (k === "default" || k === "__esModule") return; exports[k] = _x[k]; });': 'x,y',
	'(function (f) { f(exports) })(function (exports) { exports.umd = 1 })': 'umd',
	'for (const k of ["a"]) exports[k] = 1': '',
	'module.exports = null': '',
	'exports.a = 1; module.exports = require("./loop.cjs")': 'a',
};
fs.writeFileSync('x.cjs', 'exports.x = 1; exports.y = 2');
fs.writeFileSync('loop.cjs', 'module.exports = require("./form17.cjs")');
let i = 0;
for (const [text, names] of Object.entries(forms)) {
	const file = `./form${i++}.cjs`;
	fs.writeFileSync(file, text);
	const found = Object.keys(await import(file)).filter((n) => n !== 'default').sort().join();
	if (found !== names) console.log(`${text}: ${found}, not ${names}`);
}
console.log(i);
J
run forms.mjs
[ "$OUT" = 18 ] || fail "$OUT"
