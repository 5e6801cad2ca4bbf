// SPDX-License-Identifier: Apache-2.0
// What a script finds under mode wasm, in the words of node: console, process, fs, path, timers, modules. `host`
// holds the functions of functions.h, findExports is that of exports.js. Nothing here is a wall: a script may change all of it, and gains nothing, for
// the host's functions and the guard decide.
(function (host, findExports) {
'use strict';

// --- bytes and text ---

class TextEncoder {
	get encoding() { return 'utf-8'; }
	encode(text = '') { return new Uint8Array(host.bytes(String(text))); }
}
class TextDecoder {
	get encoding() { return 'utf-8'; }
	decode(data = new ArrayBuffer(0)) {
		const view = ArrayBuffer.isView(data);
		return host.text(view ? data.buffer : data, view ? data.byteOffset : 0, data.byteLength);
	}
}
const utf8 = new TextEncoder(), fromUtf8 = new TextDecoder();

class Buffer extends Uint8Array {
	static from(data, encoding) {
		if (typeof data !== 'string')
			return new Buffer(data instanceof ArrayBuffer ? data : Uint8Array.from(data));
		switch (encoding ?? 'utf8') {
		case 'utf8': case 'utf-8': return new Buffer(host.bytes(data));
		case 'hex': return new Buffer(Uint8Array.from(data.match(/[0-9a-f]{2}/gi) ?? [], (x) => parseInt(x, 16)));
		case 'base64': return new Buffer(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)));
		case 'latin1': case 'binary': return new Buffer(Uint8Array.from(data, (c) => c.charCodeAt(0)));
		default: throw new TypeError(`Unknown encoding: ${encoding}`);
		}
	}
	static alloc(n) { return new Buffer(n); }
	static isBuffer(x) { return x instanceof Buffer; }
	static byteLength(text) { return utf8.encode(text).length; }
	static concat(list) {
		const all = new Buffer(list.reduce((n, b) => n + b.length, 0));
		let at = 0;
		for (const b of list) { all.set(b, at); at += b.length; }
		return all;
	}
	toString(encoding = 'utf8') {
		switch (encoding) {
		case 'utf8': case 'utf-8': return fromUtf8.decode(this);
		case 'hex': return Array.from(this, (x) => x.toString(16).padStart(2, '0')).join('');
		case 'base64': return btoa(Array.from(this, (x) => String.fromCharCode(x)).join(''));
		case 'latin1': case 'binary': return Array.from(this, (x) => String.fromCharCode(x)).join('');
		default: throw new TypeError(`Unknown encoding: ${encoding}`);
		}
	}
	toJSON() { return { type: 'Buffer', data: Array.from(this) }; }
}

// --- path ---

const path = {
	sep: '/', delimiter: ':',
	normalize(p) {
		const parts = [];
		for (const part of p.split('/')) {
			if (part === '..' && parts.length && parts[parts.length - 1] !== '..') parts.pop();
			else if (part === '..' && p[0] === '/') continue;
			else if (part && part !== '.') parts.push(part);
		}
		return (p[0] === '/' ? '/' : '') + parts.join('/') || (p[0] === '/' ? '/' : '.');
	},
	join(...parts) { return path.normalize(parts.filter(Boolean).join('/')); },
	resolve(...parts) {
		let all = '';
		for (const p of [host.directory(), ...parts]) all = p[0] === '/' ? p : p ? `${all}/${p}` : all;
		return path.normalize(all);
	},
	isAbsolute(p) { return p[0] === '/'; },
	dirname(p) {
		const at = p.replace(/\/+$/, '').lastIndexOf('/');
		return at < 0 ? '.' : at === 0 ? '/' : p.slice(0, at);
	},
	basename(p, end = '') {
		const name = p.replace(/\/+$/, '').split('/').pop();
		return end && name !== end && name.endsWith(end) ? name.slice(0, -end.length) : name;
	},
	extname(p) {
		const name = path.basename(p), at = name.lastIndexOf('.');
		return at > 0 ? name.slice(at) : '';
	},
	relative(from, to) {
		const a = path.resolve(from).split('/').filter(Boolean), b = path.resolve(to).split('/').filter(Boolean);
		while (a.length && b.length && a[0] === b[0]) { a.shift(); b.shift(); }
		return [...a.map(() => '..'), ...b].join('/');
	},
};
path.posix = path;

// --- files ---

// errno(3) of Linux; others have their number alone.
const errors = { 1: ['EPERM', 'operation not permitted'], 2: ['ENOENT', 'no such file or directory'],
	9: ['EBADF', 'bad file descriptor'], 13: ['EACCES', 'permission denied'], 17: ['EEXIST', 'file already exists'],
	18: ['EXDEV', 'cross-device link not permitted'], 20: ['ENOTDIR', 'not a directory'],
	21: ['EISDIR', 'illegal operation on a directory'], 22: ['EINVAL', 'invalid argument'],
	24: ['EMFILE', 'too many open files'], 27: ['EFBIG', 'file too large'], 28: ['ENOSPC', 'no space left on device'],
	30: ['EROFS', 'read-only file system'], 32: ['EPIPE', 'broken pipe'], 39: ['ENOTEMPTY', 'directory not empty'],
	40: ['ELOOP', 'too many symbolic links encountered'], 122: ['EDQUOT', 'disk quota exceeded'] };

function done(result, syscall, ...paths) {
	if (typeof result !== 'number' || result >= 0)
		return result;
	const [code, text] = errors[-result] ?? [`E${-result}`, 'system call failed'];
	const names = paths.map((p) => ` '${p}'`).join(' ->');
	const e = new Error(`${code}: ${text}, ${syscall}${names}`);
	throw Object.assign(e, { errno: result, code, syscall }, paths.length ? { path: paths[0] } : {});
}
function named(p) {
	if (p instanceof Uint8Array) return fromUtf8.decode(p);
	if (typeof p === 'string') return p;
	throw new TypeError('The "path" argument must be of type string or an instance of Buffer');
}
const encodingOf = (o) => typeof o === 'string' ? o : o?.encoding;
function asBuffer(data, encoding) {
	if (typeof data === 'string') return Buffer.from(data, encoding);
	if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
	throw new TypeError('The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView');
}
function put(fd, data, at = -1) {
	return done(host.write(fd, data.buffer, data.byteOffset, data.byteLength, at), 'write');
}
function opened(p, flags, mode, use) {
	if (typeof p === 'number')
		return use(p);
	const fd = done(host.open(named(p), flags, mode ?? 0o666), 'open', p);
	try {
		return use(fd);
	} finally {
		host.close(fd);
	}
}

const kinds = { 1: 0o010000, 2: 0o020000, 4: 0o040000, 6: 0o060000, 8: 0o100000, 10: 0o120000, 12: 0o140000 };
class Kind {
	#kind;
	constructor(kind) { this.#kind = kind; }
	isFile() { return this.#kind === 0o100000; }
	isDirectory() { return this.#kind === 0o040000; }
	isSymbolicLink() { return this.#kind === 0o120000; }
	isFIFO() { return this.#kind === 0o010000; }
	isSocket() { return this.#kind === 0o140000; }
	isCharacterDevice() { return this.#kind === 0o020000; }
	isBlockDevice() { return this.#kind === 0o060000; }
}
class Stats extends Kind {
	constructor(v) {
		super(v[1] & 0o170000);
		['dev', 'mode', 'nlink', 'uid', 'gid', 'ino', 'size', 'blocks', 'atimeMs', 'mtimeMs', 'ctimeMs']
			.forEach((name, i) => { this[name] = v[i]; });
		for (const t of ['atime', 'mtime', 'ctime']) this[t] = new Date(this[`${t}Ms`]);
	}
}
class Dirent extends Kind {
	constructor(dir, name, type) { super(kinds[type]); this.name = name; this.parentPath = dir; }
}
function stat(p, follow, options, call) {
	const v = host.stat(typeof p === 'number' ? p : named(p), follow);
	if (v === -2 && options?.throwIfNoEntry === false)
		return undefined;
	return new Stats(done(v, call, p));
}

const fs = {
	openSync: (p, flags = 'r', mode = 0o666) => done(host.open(named(p), flags, mode), 'open', p),
	closeSync(fd) { done(host.close(fd), 'close'); },
	readSync(fd, buffer, offset = 0, length = buffer.byteLength - offset, position = null) {
		const got = new Uint8Array(done(host.read(fd, length, position ?? -1), 'read'));
		new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).set(got, offset);
		return got.length;
	},
	writeSync(fd, data, offset, length, position) {
		if (typeof data === 'string')
			return put(fd, asBuffer(data, length), offset ?? -1);
		const b = asBuffer(data), from = offset ?? 0;
		return put(fd, b.subarray(from, from + (length ?? b.length - from)), position ?? -1);
	},
	readFileSync(p, options) {
		const all = opened(p, options?.flag ?? 'r', 0, (fd) => new Buffer(done(host.slurp(fd), 'read')));
		return encodingOf(options) ? all.toString(encodingOf(options)) : all;
	},
	writeFileSync(p, data, options) {
		const b = asBuffer(data, encodingOf(options));
		opened(p, options?.flag ?? 'w', options?.mode, (fd) => put(fd, b));
	},
	appendFileSync(p, data, options) { fs.writeFileSync(p, data, { encoding: encodingOf(options), flag: 'a' }); },
	copyFileSync(from, to) { fs.writeFileSync(to, fs.readFileSync(from)); },
	existsSync(p) { return typeof p === 'string' && Array.isArray(host.stat(p, 1)); },
	accessSync(p) { done(host.stat(named(p), 1), 'access', p); },
	statSync: (p, options) => stat(p, 1, options, 'stat'),
	lstatSync: (p, options) => stat(p, 0, options, 'lstat'),
	fstatSync: (fd) => stat(fd, 1, undefined, 'fstat'),
	readdirSync(p, options) {
		const v = done(host.list(named(p)), 'scandir', p), all = [];
		for (let i = 0; i < v.length; i += 2)
			all.push(options?.withFileTypes ? new Dirent(p, v[i], v[i + 1]) : v[i]);
		return all;
	},
	mkdirSync(p, options) {
		const mode = (typeof options === 'number' ? options : options?.mode) ?? 0o777;
		let r = host.mkdir(named(p), mode);
		if (r === -2 && options?.recursive && path.dirname(p) !== p) {
			fs.mkdirSync(path.dirname(p), options);
			r = host.mkdir(p, mode);
		}
		if (!(r === -17 && options?.recursive && fs.statSync(p).isDirectory()))
			done(r, 'mkdir', p);
	},
	rmdirSync(p) { done(host.rmdir(named(p)), 'rmdir', p); },
	unlinkSync(p) { done(host.unlink(named(p)), 'unlink', p); },
	rmSync(p, options) {
		const st = fs.lstatSync(p, { throwIfNoEntry: !options?.force });
		if (!st) return;
		if (!st.isDirectory()) return fs.unlinkSync(p);
		if (!options?.recursive) done(-21, 'rm', p);
		for (const name of fs.readdirSync(p)) fs.rmSync(`${p}/${name}`, options);
		fs.rmdirSync(p);
	},
	renameSync(from, to) { done(host.rename(named(from), named(to)), 'rename', from, to); },
	linkSync(from, to) { done(host.link(named(from), named(to)), 'link', from, to); },
	symlinkSync(target, p) { done(host.symlink(named(target), named(p)), 'symlink', target, p); },
	readlinkSync: (p) => done(host.readlink(named(p)), 'readlink', p),
	realpathSync: (p) => done(host.real(named(p)), 'realpath', p),
	truncateSync(p, size = 0) {
		if (!Number.isSafeInteger(size)) throw new RangeError('The value of "len" is out of range');
		done(host.truncate(named(p), Math.max(size, 0)), 'truncate', p);
	},
	chmodSync(p, mode) { done(host.chmod(named(p), mode), 'chmod', p); },
};
// The same as promises, and with a callback: the work itself is done at once.
fs.promises = {};
for (const name of Object.keys(fs).filter((n) => n.endsWith('Sync'))) {
	const plain = name.slice(0, -4), act = fs[name];
	fs.promises[plain] = async (...args) => act(...args);
	fs[plain] = (...args) => {
		const then = args.pop();
		fs.promises[plain](...args).then((v) => setTimeout(then, 0, null, v), (e) => setTimeout(then, 0, e));
	};
}

// --- console ---

const plainKey = /^[A-Za-z_$][\w$]*$/;
function quote(s) {
	return `'${s.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t').replace(/\r/g, '\\r')}'`;
}
function errorText(e) {
	const head = `${e.name ?? 'Error'}${e.message ? `: ${e.message}` : ''}`;
	const stack = typeof e.stack === 'string' ? e.stack.replace(/\n$/, '') : '';
	return stack ? `${head}\n${stack}` : head;
}
function listed(open, items, close) {
	if (!items.length) return open + close;
	const line = `${open} ${items.join(', ')} ${close}`;
	return line.length <= 72 && !line.includes('\n') ? line
		: `${open}\n${items.map((i) => `  ${i.replace(/\n/g, '\n  ')}`).join(',\n')}\n${close}`;
}
function inspect(v, depth = 2, seen = []) {
	switch (typeof v) {
	case 'string': return quote(v);
	case 'number': return Object.is(v, -0) ? '-0' : String(v);
	case 'bigint': return `${v}n`;
	case 'function': return v.name ? `[Function: ${v.name}]` : '[Function (anonymous)]';
	case 'object': break;
	default: return String(v);
	}
	if (v === null) return 'null';
	if (seen.includes(v)) return '[Circular *1]';
	if (v instanceof Error) return seen.length ? `[${errorText(v)}]` : errorText(v);
	if (v instanceof Date) return isNaN(v) ? 'Invalid Date' : v.toISOString();
	if (v instanceof RegExp) return String(v);
	if (v instanceof Promise) return 'Promise {}';
	const name = v.constructor?.name ?? '[Object: null prototype]';
	if (depth < 0) return Array.isArray(v) ? '[Array]' : `[${name}]`;
	const inner = (x) => inspect(x, depth - 1, [...seen, v]);
	if (v instanceof ArrayBuffer) return `ArrayBuffer { byteLength: ${v.byteLength} }`;
	if (Array.isArray(v) || ArrayBuffer.isView(v) && 'length' in v) {
		const items = Array.prototype.slice.call(v, 0, 100).map(inner);
		if (v.length > 100) items.push(`... ${v.length - 100} more items`);
		return listed(Array.isArray(v) ? '[' : `${name}(${v.length}) [`, items, ']');
	}
	if (v instanceof Map)
		return listed(`Map(${v.size}) {`, [...v].map(([k, x]) => `${inner(k)} => ${inner(x)}`), '}');
	if (v instanceof Set) return listed(`Set(${v.size}) {`, [...v].map(inner), '}');
	const items = Reflect.ownKeys(v).filter((k) => Object.prototype.propertyIsEnumerable.call(v, k)).map((k) => {
		const d = Object.getOwnPropertyDescriptor(v, k);
		const key = typeof k === 'symbol' ? `[${String(k)}]` : plainKey.test(k) ? k : quote(k);
		return `${key}: ${'value' in d ? inner(d.value) : d.set ? '[Getter/Setter]' : '[Getter]'}`;
	});
	return listed(name === 'Object' ? '{' : `${name} {`, items, '}');
}
function format(...args) {
	const show = (x) => typeof x === 'string' ? x : inspect(x);
	if (typeof args[0] !== 'string') return args.map(show).join(' ');
	const first = args.shift().replace(/%([sdifjoOc%])/g, (all, c) => {
		if (c === '%') return '%';
		if (!args.length) return all;
		const x = args.shift();
		switch (c) {
		case 's': return typeof x === 'object' && x !== null ? inspect(x, 0) : String(x);
		case 'd': return typeof x === 'bigint' ? `${x}n` : String(Number(x));
		case 'i': return String(parseInt(x, 10));
		case 'f': return String(parseFloat(x));
		case 'j': return JSON.stringify(x);
		case 'c': return '';
		default: return inspect(x, 4);
		}
	});
	return [first, ...args.map(show)].join(' ');
}
let indent = '';
const timers = new Map(), counts = new Map();
function say(fd, args) { put(fd, utf8.encode((indent + format(...args)).replace(/\n/g, `\n${indent}`) + '\n')); }
const out = (...args) => say(1, args), told = (...args) => say(2, args);
const console = {
	log: out, info: out, debug: out, error: told, warn: told,
	dir: (v) => say(1, [inspect(v)]),
	table: (v) => say(1, [inspect(v)]),
	trace: (...args) => say(2, [`Trace: ${format(...args)}`]),
	assert: (ok, ...args) => { if (!ok) say(2, ['Assertion failed' + (args.length ? ': ' + format(...args) : '')]); },
	group: (...args) => { if (args.length) out(...args); indent += '  '; },
	groupEnd: () => { indent = indent.slice(2); },
	count: (l = 'default') => { counts.set(l, (counts.get(l) ?? 0) + 1); out(`${l}: ${counts.get(l)}`); },
	time: (l = 'default') => { timers.set(l, host.now(1)); },
	timeEnd: (l = 'default') => { out(`${l}: ${(host.now(1) - timers.get(l)).toFixed(3)}ms`); timers.delete(l); },
};

// --- timers ---

let queue = [], lastTimer = 0;
function later(repeat, f, ms, args) {
	if (typeof f !== 'function') throw new TypeError('The "callback" argument must be of type function');
	const wait = Math.max(Number(ms) || 0, repeat ? 1 : 0);
	const t = { id: ++lastTimer, at: host.now(1) + wait, every: repeat ? wait : 0, f, args, alive: true,
		unref: () => t, ref: () => t, [Symbol.toPrimitive]: () => t.id };
	queue.push(t);
	return t;
}
function stop(t) {
	const id = t?.id ?? t, found = queue.find((q) => q.id === id);
	if (found) found.alive = false;
	queue = queue.filter((q) => q.id !== id);
}
// Runs the first timer that is due. Milliseconds until the next; -1: there is none.
function turn() {
	if (!queue.length)
		return -1;
	let first = queue[0];
	for (const t of queue) if (t.at < first.at || (t.at === first.at && t.id < first.id)) first = t;
	const now = host.now(1);
	if (first.at > now)
		return first.at - now;
	if (first.every) first.at = now + first.every;
	else stop(first);
	first.f(...first.args);
	return 0;
}

// --- process ---

function entries(get) {
	const all = [];
	for (let i = 0, v; typeof (v = get(i)) === 'string'; i++) all.push(v);
	return all;
}
function stream(fd) {
	return { fd, isTTY: false, write(data, ...rest) {
		put(fd, asBuffer(data));
		const then = rest.pop();
		if (typeof then === 'function') later(false, then, 0, []);
		return true;
	}, end(data) { if (data !== undefined) this.write(data); }, on() { return this; }, once() { return this; } };
}
const heard = { exit: [] };
const stdin = {
	fd: 0, isTTY: false, encoding: null, heard: {},
	setEncoding(e) { this.encoding = e; return this; },
	chunk() {
		const b = new Buffer(done(host.read(0, 65536, -1), 'read'));
		return b.length ? (this.encoding ? b.toString(this.encoding) : b) : null;
	},
	on(what, f) {
		const begin = !this.heard.data && what === 'data';
		(this.heard[what] ??= []).push(f);
		const pump = () => {
			const c = this.chunk();
			for (const g of this.heard[c === null ? 'end' : 'data'] ?? []) g(c ?? undefined);
			if (c !== null) later(false, pump, 0, []);
		};
		if (begin) later(false, pump, 0, []);
		return this;
	},
	resume() { return this; },
	async *[Symbol.asyncIterator]() { for (let c; (c = this.chunk()) !== null;) yield c; },
};
const process = {
	argv: ['wardfs-quickjs', '', ...entries(host.argument)],
	env: Object.fromEntries(entries(host.variable).map((v) => [v.slice(0, v.indexOf('=')), v.slice(v.indexOf('=') + 1)])),
	exitCode: undefined, platform: 'linux', arch: 'wasm32', pid: 1, execPath: 'wardfs-quickjs',
	version: 'v20.0.0', versions: { quickjs: 'ng' }, stdin, stdout: stream(1), stderr: stream(2),
	cwd: () => host.directory(),
	exit(code) {
		if (code !== undefined) process.exitCode = code;
		host.exit(status());
	},
	on(what, f) { (heard[what] ??= []).push(f); return process; },
	nextTick: (f, ...args) => queueMicrotask(() => f(...args)),
	hrtime: Object.assign((from = [0, 0]) => {
		const ns = BigInt(Math.round(host.now(1) * 1e6)) - BigInt(from[0]) * 1000000000n - BigInt(from[1]);
		return [Number(ns / 1000000000n), Number(ns % 1000000000n)];
	}, { bigint: () => BigInt(Math.round(host.now(1) * 1e6)) }),
	uptime: () => host.now(1) / 1000,
};
let leaving = false;
function status() {
	if (!leaving) {
		leaving = true;
		for (const f of heard.exit) f(process.exitCode ?? 0);
	}
	return Number(process.exitCode ?? 0) | 0;
}

// --- modules ---

const crypto = {
	getRandomValues(view) {
		const b = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
		for (let at = 0; at < b.length; at += 65536)
			b.set(new Uint8Array(host.random(Math.min(65536, b.length - at))), at);
		return view;
	},
	randomBytes: (n) => crypto.getRandomValues(new Buffer(n)),
};
const builtin = { fs, path, process, console, buffer: { Buffer }, crypto, 'fs/promises': fs.promises,
	util: { inspect, format, TextEncoder, TextDecoder }, timers: {}, os: { EOL: '\n', tmpdir: () => '/tmp',
		platform: () => 'linux', homedir: () => process.env.HOME } };
const given = Symbol.for('wardfs.builtin');
function ours(name) {
	const plain = name.replace(/^node:/, '');
	return Object.hasOwn(builtin, plain) ? plain : null;
}
function absent(name, from) {
	return Object.assign(new Error(`Cannot find module '${name}' from '${from}'. Mode wasm has fs, path, process, ` +
		'buffer, crypto, util, os and files by path (./x.js): no packages and no network'), { code: 'MODULE_NOT_FOUND' });
}
function locate(base, name) {
	if (!/^(\.{0,2}\/|\.\.?$)/.test(name)) throw absent(name, base);
	const at = name[0] === '/' ? path.normalize(name) : path.join(path.dirname(base), name);
	for (const end of ['', '.js', '.mjs', '.cjs', '.json', '/index.js'])
		if (fs.statSync(at + end, { throwIfNoEntry: false })?.isFile()) return at + end;
	throw absent(name, base);
}
const loaded = new Map();
let main;
function requireFrom(base) {
	const require = (name) => {
		if (ours(name)) return builtin[ours(name)];
		const at = locate(base, name);
		return at.endsWith('.json') ? JSON.parse(fs.readFileSync(at, 'utf8')) : exportsOf(at);
	};
	require.resolve = (name) => ours(name) ? name : locate(base, name);
	require.main = main;
	return require;
}
// A file runs once, whoever loads it first.
function exportsOf(at) {
	return loaded.has(at) ? loaded.get(at).exports : common(fs.readFileSync(at, 'utf8'), at);
}
function common(source, at, first = false) {
	const module = { exports: {}, filename: at, id: first ? '.' : at, loaded: false };
	if (first) main = module;
	loaded.set(at, module);
	try {
		const wrap = host.evaluate(`(function (exports, require, module, __filename, __dirname) {${
			source.replace(/^#!/, '//')}\n})`, at);
		wrap.call(module.exports, module.exports, requireFrom(at), module, at, path.dirname(at));
		module.loaded = true;
	} finally {
		if (!module.loaded) loaded.delete(at);
	}
	return module.exports;
}

// Does it parse as a script? If not, and it has an import or export of its own, it is a module (node 22).
function kind(source, name) {
	if (/\.mjs$/.test(name)) return 1;
	if (/\.cjs$/.test(name)) return 0;
	if (!/^\s*(import|export)\b|\bawait\b|import\.meta/m.test(source)) return 0;
	try {
		host.evaluate(`(function (exports, require, module, __filename, __dirname) {${source.replace(/^#!/, '//')}\n})`,
			name);
		return 0;
	} catch (e) {
		return e instanceof SyntaxError ? 1 : 0;
	}
}

// A module that gives out what `value` is, and these names of it.
function giving(value, names) {
	const all = [...new Set(names)].filter((k) => k !== 'default');
	return `const m = ${value}, of = (k) => { try { return m?.[k]; } catch { /* its getter threw */ } };\nexport default m;\n` +
		all.map((k, i) => `const _${i} = of(${JSON.stringify(k)});\nexport { _${i} as ${JSON.stringify(k)} };\n`).join('');
}
// The names that a CommonJS file exports, with those of the files that it passes on.
function namesOf(source, at, seen) {
	seen.add(at);
	const found = findExports(source);
	return [found.names, ...found.from.map((name) => {
		if (ours(name)) return Object.keys(builtin[ours(name)]);
		try {
			const next = locate(at, name), text = seen.has(next) || next.endsWith('.json') ? '' : fs.readFileSync(next, 'utf8');
			return text && kind(text, next) === 0 ? namesOf(text, next, seen) : [];
		} catch {
			return []; // the file itself says so when it runs
		}
	})].flat();
}
function moduleText(name) {
	const plain = ours(name), inside = `globalThis[Symbol.for('wardfs.builtin')]`;
	if (plain)
		return giving(`${inside}.builtin[${JSON.stringify(plain)}]`, Object.keys(builtin[plain]));
	const source = fs.readFileSync(name, 'utf8');
	if (name.endsWith('.json')) return `export default ${source}`;
	if (kind(source, name) === 0)
		return giving(`${inside}.exportsOf(${JSON.stringify(name)})`, namesOf(source, name, new Set()));
	return moduleOf(source, name);
}
// A module knows where it is; on the first line, so that the numbers of the others stay.
function moduleOf(source, at) {
	const text = source.replace(/^#!/, '//');
	if (at[0] !== '/' || !/\bimport\.meta\b/.test(text)) return text;
	const url = `file://${encodeURI(at).replace(/[?#]/g, encodeURIComponent)}`;
	const own = JSON.stringify({ dirname: path.dirname(at), filename: at, url });
	return `Object.assign(import.meta, ${own});${text}`;
}

const globals = { console, process, Buffer, TextEncoder, TextDecoder, crypto, global: globalThis,
	setTimeout: (f, ms, ...args) => later(false, f, ms, args), clearTimeout: stop,
	setInterval: (f, ms, ...args) => later(true, f, ms, args), clearInterval: stop,
	setImmediate: (f, ...args) => later(false, f, 0, args), clearImmediate: stop, [given]: { builtin, exportsOf } };
for (const key of Reflect.ownKeys(globals))
	Object.defineProperty(globalThis, key, { value: globals[key], writable: true, configurable: true, enumerable: false });
if (typeof queueMicrotask !== 'function')
	Object.defineProperty(globalThis, 'queueMicrotask', { value: (f) => { Promise.resolve().then(f); },
		writable: true, configurable: true });
const { setTimeout } = globals;
builtin.timers = globals;

return {
	turn, status, kind,
	resolve(name) {
		const at = /^\[/.test(name) ? name : path.resolve(name);
		process.argv[1] = at;
		if (at[0] === '[') process.argv.splice(1, 1);
		return at;
	},
	script(source, at) {
		if (at[0] === '/') return void common(source, at, true);
		globalThis.require = requireFrom(path.join(host.directory(), at));
		host.evaluate(source, at);
	},
	normalize: (base, name) => ours(name) ? `node:${ours(name)}` : locate(base[0] === '/' ? base
		: path.join(host.directory(), base), name),
	load: moduleText,
	module: moduleOf,
	report(e) {
		let text = 'exception';
		try {
			text = e instanceof Error ? errorText(e) : inspect(e);
		} catch { /* of the script's own making */ }
		put(2, utf8.encode(`Uncaught ${text}\n`));
	},
};
})
