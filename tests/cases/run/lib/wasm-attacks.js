// SPDX-License-Identifier: Apache-2.0
// Attacks on the engine and on what the host gives it. Each prints one line: its name and its end.
const fs = require('fs');
const [wanted, ...paths] = process.argv.slice(2);

// What an attempt gives, in a word.
function attempt(f) {
	try {
		return String(f());
	} catch (e) {
		return e.code ?? e.name;
	}
}

// Every function with a path, with each path on either side of those that take two.
const perPath = {
	open: (p) => fs.closeSync(fs.openSync(p)),
	create: (p) => fs.writeFileSync(p, 'x'),
	append: (p) => fs.appendFileSync(p, 'x'),
	copyFrom: (p) => fs.copyFileSync(p, 'copied'),
	copyTo: (p) => fs.copyFileSync('kept.txt', p),
	access: (p) => fs.accessSync(p),
	stat: (p) => fs.statSync(p),
	lstat: (p) => fs.lstatSync(p),
	readlink: (p) => fs.readlinkSync(p),
	realpath: (p) => fs.realpathSync(p),
	readdir: (p) => fs.readdirSync(p),
	mkdir: (p) => fs.mkdirSync(p),
	rmdir: (p) => fs.rmdirSync(p),
	unlink: (p) => fs.unlinkSync(p),
	rm: (p) => fs.rmSync(p),
	renameFrom: (p) => fs.renameSync(p, 'renamed'),
	renameTo: (p) => fs.renameSync('kept.txt', p),
	linkFrom: (p) => fs.linkSync(p, 'linked'),
	linkTo: (p) => fs.linkSync('kept.txt', p),
	symlinkAt: (p) => fs.symlinkSync('kept.txt', p),
	truncate: (p) => fs.truncateSync(p, 0),
	chmod: (p) => fs.chmodSync(p, 0o600),
};

// The engine's own code, in C, that calls itself as deep as a script's data are.
const deep = 100000;
const wrap = (f, v) => {
	for (let i = 0; i < deep; i++) v = f(v);
	return v;
};
const nested = {
	parse: () => JSON.parse('['.repeat(deep)),
	stringify: () => JSON.stringify(wrap((o) => ({ o }), 1)),
	source: () => eval('['.repeat(deep)),
	expression: () => new RegExp('(?:'.repeat(deep) + 'a' + ')'.repeat(deep)),
	proxy: () => wrap((p) => new Proxy(p, {}), {}).x,
	text: () => String(wrap((a) => [a], 1)),
	flat: () => wrap((a) => [a], 1).flat(Infinity),
	sort: () => [2, 1].sort(function again() { return [2, 1].sort(again); }),
	getter: () => ({ get x() { return this.x; } }).x,
	generator: () => { function* g() { yield* g(); } return [...g()]; },
};

// Outside of a buffer, and of one that goes while the host is about to fill it.
const buffers = {
	beyond: () => { const b = new Uint8Array(8); b[2 ** 31] = b[-1] = 1; return b[2 ** 31] ?? b[-1]; },
	view: () => new DataView(new ArrayBuffer(8)).getInt32(7),
	shrunk: () => { const b = new ArrayBuffer(8, { maxByteLength: 64 }), u = new Uint8Array(b, 4); b.resize(0); return u[0]; },
	length: () => fs.readSync(fs.openSync('kept.txt'), new Uint8Array(4), 0, 1e9),
	offset: () => fs.readSync(fs.openSync('kept.txt'), new Uint8Array(4), -5, 4),
	wrapped: () => fs.readSync(fs.openSync('kept.txt'), new Uint8Array(4), 4294967290, 8),
	written: () => fs.writeSync(1, new Uint8Array(4), 4294967290, 8),
	detached() {
		const b = new ArrayBuffer(64);
		return fs.readSync(fs.openSync('kept.txt'), new Uint8Array(b), { valueOf() { b.transfer(); return 0; } }, 8, 0);
	},
};

// Collects whatever function or object the host's side hands to what a script has replaced, and
// calls each function with a path outside.
function leaks(p) {
	// The first of them is known to read: so a path inside is told.
	const seen = new Set([fs.readFileSync]);
	const { getOwnPropertyNames: names, getOwnPropertyDescriptor: descriptor, defineProperty } = Object;
	const { apply, ownKeys } = Reflect;
	const add = Set.prototype.add;
	const spy = (proto, name, own) => defineProperty(proto, name, { ...own, value(...given) {
		for (let i = 0; i < given.length; i++) apply(add, seen, [given[i]]);
		apply(add, seen, [this]);
		return apply(own.value, this, given);
	} });
	const restore = [];
	for (const proto of [Function.prototype, Array.prototype, String.prototype, Promise.prototype, Map.prototype, TypedArray()])
		for (const name of names(proto)) {
			const own = descriptor(proto, name);
			if (name === 'constructor' || typeof own.value !== 'function' || !own.configurable) continue;
			restore.push([proto, name, own]);
		}
	for (let i = 0; i < restore.length; i++) spy(...restore[i]);
	for (const name of ['path', 'flag', 'encoding', 'recursive', 'mode'])
		defineProperty(Object.prototype, name, { configurable: true, get() { apply(add, seen, [this]); }, set() { apply(add, seen, [this]); } });
	for (const f of ['open', 'readdir', 'stat', 'realpath']) attempt(() => perPath[f](p));
	for (const f of ['create', 'open', 'copyFrom']) attempt(() => perPath[f]('spied.txt'));
	for (const name of ['path', 'flag', 'encoding', 'recursive', 'mode']) delete Object.prototype[name];
	for (let i = 0; i < restore.length; i++) defineProperty(...restore[i]);
	const reached = new Set(seen);
	for (const o of seen)
		if (o !== null && (typeof o === 'object' || typeof o === 'function'))
			for (const key of ownKeys(o)) {
				const own = descriptor(o, key);
				if (own && typeof own.value === 'function') reached.add(own.value);
			}
	const said = [];
	for (const f of reached)
		if (typeof f === 'function' && f !== process.exit)
			for (const given of [[p], [p, 0, 0], [p, 'r'], [0, p], [p, 'utf8']]) said.push(attempt(() => f(...given)));
	return { reached: reached.size, said: said.filter((s) => s.includes('wardfs') && !s.includes('=>')) };
}
function TypedArray() {
	return Object.getPrototypeOf(Uint8Array.prototype);
}

const acts = {
	paths() {
		for (const name of Object.keys(perPath)) console.log(`${name}: ${paths.map((p) => attempt(() => perPath[name](p))).join(' ')}`);
	},
	nested() {
		for (const name of Object.keys(nested)) console.log(`${name}: ${attempt(nested[name])}`);
		console.log('the engine goes on:', JSON.parse('[[1]]').flat(Infinity)[0]);
	},
	buffers() {
		for (const name of Object.keys(buffers)) console.log(`${name}: ${attempt(buffers[name])}`);
	},
	leaks() {
		const { reached, said } = leaks(paths[0]);
		console.log(`leaks: ${reached > 1 ? 'some' : 'nothing'} reached, ${said.length ? 'some' : 'nothing'} told`);
		console.log(`by constructors: ${attempt(() => Object.keys([].constructor.constructor('return this')()).filter((n) => /host|std|os|bjson|scriptArgs/.test(n)).length)}`);
	},
	// More elements than a size of 32 bits counts bytes of: what the engine makes of it stays its own.
	overflow() {
		console.log('made', Array.prototype.with.call({ length: 2 ** 29 + 1 }, 0, 1).length > 0);
	},
};
acts[wanted]();
