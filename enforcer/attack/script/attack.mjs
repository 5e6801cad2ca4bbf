// SPDX-License-Identifier: Apache-2.0
// attack.mjs inside FACTS: attempts as a script makes them, for sandboxes that run scripts alone. It
// speaks as inside.c does, and runs on node, Deno and QuickJS (mode wasm). What an attempt does and
// what proves it stands in the tables of attempts/; the functions here have the same names.
import fs from 'node:fs';
import process from 'node:process';

class Unready extends Error {}
const facts = {};
const raise = code => { throw Object.assign(new Error(code), { code }); };
const wait = ms => new Promise(done => setTimeout(done, ms));

// --- parts of attempts ---
const firstWord = text => text.split(/[ \n\0]/)[0] || raise('ENODATA');
const read = path => firstWord(fs.readFileSync(path ?? raise('ENODEV'), 'utf8'));
const target = name => `${facts.outside}/${name}`;
const put = (path, flags) => {
	const fd = fs.openSync(path, flags, 0o755);
	fs.writeSync(fd, 'changed\n');
	fs.closeSync(fd);
};
const step = act => { try { return act(); } catch (e) { throw new Unready(e.code); } };
// A name of the workspace that can be made and removed.
const work = name => step(() => {
	const at = `${facts.work}/${name}`;
	fs.rmSync(at, { force: true, recursive: true });
	fs.writeFileSync(at, '');
	fs.unlinkSync(at);
	return at;
});
// A link of the workspace: a new one, or where the engine makes none, one that was there before.
const link = (name, to) => {
	const at = work(name);
	try { fs.symlinkSync(to, at); } catch { return `${facts.work}/links/${name}`; }
	return at;
};
const victim = file => `/proc/${facts.victim}/${file}`;
const secretWord = path => {
	for (const word of fs.readFileSync(path, 'utf8').split('\0'))
		if (word.startsWith('secret='))
			return word.slice(7);
	return raise('ENODATA');
};
const module = async name => {
	try { return await import(name); } catch { return raise('ENOSYS'); }
};
const connect = async (options, ms = 1500) => {
	const net = await module('node:net');
	return new Promise((done, fail) => {
		const socket = net.connect(options);
		const end = act => { clearTimeout(timer); socket.destroy(); act(); };
		const timer = setTimeout(() => end(() => fail({ code: 'ETIMEDOUT' })), ms);
		socket.on('data', data => end(() => done(firstWord(data.toString()))));
		socket.on('error', e => end(() => fail(e)));
		socket.on('end', () => end(() => fail({ code: 'ENODATA' })));
	});
};
const tcp = host => connect({ host: host ?? raise('ENODEV'), port: Number(facts.tcp) });
const udp = async host => {
	const dgram = await module('node:dgram');
	return new Promise((done, fail) => {
		const socket = dgram.createSocket('udp4');
		const end = act => { clearTimeout(timer); socket.close(); act(); };
		const timer = setTimeout(() => end(() => fail({ code: 'ETIMEDOUT' })), 1500);
		socket.on('message', data => end(() => done(firstWord(data.toString()))));
		socket.on('error', e => end(() => fail(e)));
		socket.send('?', Number(facts.udp), host ?? raise('ENODEV'));
	});
};
const stay = async () => {
	const { spawn } = await module('node:child_process');
	// The observer knows it by this name.
	const at = link(`${facts.token.slice(0, 8)}-st1`, '/bin/sleep');
	await new Promise((done, fail) => {
		const child = spawn(at, ['60'], { detached: true, stdio: 'ignore' });
		child.on('spawn', done);
		child.on('error', fail);
		child.unref();
	});
	await wait(50);
};
const kept = dir => [
	() => fs.writeFileSync(`${dir()}/${facts.token}-kept`, facts.token),
	() => read(`${dir()}/${facts.token}-kept`),
];
const inRepository = (attempt, name, flags = 'wx') => () =>
	put(`${facts.work}/repo-${attempt}/${name}`, flags);
const trail = name => `${facts.work}/trail-${name}`;

// --- the attempts; of two functions the second is what a later session does ---
const acts = {
	'read-path': () => read(facts.secret),
	'read-closed': () => read(facts.hidden),
	'read-shared-memory': () => read(facts.shared),
	'read-self-root': () => read(`/proc/self/root${facts.secret}`),
	'read-pid1-root': () => read(`/proc/1/root${facts.secret}`),
	'read-parent-root': () => read(`/proc/${process.ppid ?? raise('ENOSYS')}/root${facts.secret}`),
	'read-victim-root': () => read(victim(`root${facts.secret}`)),
	'read-dots': () => read(facts.work + facts.work.replace(/[^/]+/g, '..') + facts.secret),
	'read-symlink': () => read(link('read-symlink', facts.secret)),
	'read-symlink-above': () =>
		read(`${link('read-symlink-above', facts.outside)}/${facts.secret.split('/').pop()}`),
	'read-hardlink': () => {
		const at = work('read-hardlink');
		fs.linkSync(facts.secret, at);
		return read(at);
	},
	'read-rename': () => {
		const at = work('read-rename');
		fs.renameSync(target('read-rename'), at);
		return read(at);
	},
	'read-chdir': () => {
		const before = process.cwd();
		(process.chdir ?? (() => raise('ENOSYS')))(facts.outside);
		try { return read(facts.secret.split('/').pop()); } finally { process.chdir(before); }
	},
	'read-list': () => {
		const name = fs.readdirSync(facts.outside).find(n => n.startsWith('listed-'));
		return name ? name.slice(7) : raise('ENOENT');
	},
	'read-environment': () => process.env.WARD_ATTACK_PASSED ?? raise('ENOENT'),
	'write-path': () => put(target('write-path'), 'r+'),
	'write-append': () => put(target('write-append'), 'a'),
	'write-root-link': () => put(`/proc/self/root${target('write-root-link')}`, 'r+'),
	'write-symlink': () => put(link('write-symlink', target('write-symlink')), 'r+'),
	'write-hardlink': () => {
		const at = work('write-hardlink');
		fs.linkSync(target('write-hardlink'), at);
		put(at, 'r+');
	},
	'change-truncate': () => fs.truncateSync(target('change-truncate'), 0),
	'change-mode': () => fs.chmodSync(target('change-mode'), 0o600),
	'change-setuid': () => fs.chmodSync(target('change-setuid'), 0o4755),
	'change-times': () => (fs.utimesSync ?? (() => raise('ENOSYS')))(target('change-times'), 1, 1),
	'change-remove': () => fs.unlinkSync(target('change-remove')),
	'change-replace': () => {
		const at = work('change-replace');
		step(() => put(at, 'wx'));
		fs.renameSync(at, target('change-replace'));
	},
	'create-file': () => put(target('create-file'), 'wx'),
	'create-directory': () => fs.mkdirSync(target('create-directory')),
	'create-link': () => fs.symlinkSync('/', target('create-link')),
	'create-home': () => put(`${facts.home}/.${facts.token}-create-home`, 'wx'),

	'tcp-loopback': () => tcp('127.0.0.1'),
	'tcp-loopback-other': () => tcp('127.8.9.10'),
	'tcp-any': () => tcp('0.0.0.0'),
	'tcp-loopback6': () => tcp('::1'),
	'tcp-mapped': () => tcp('::ffff:127.0.0.1'),
	'tcp-own-address': () => tcp(facts.address),
	'udp-loopback': () => udp('127.0.0.1'),
	'udp-own-address': () => udp(facts.address),
	'unix-path': () => connect({ path: facts.socket }),
	'unix-root-link': () => connect({ path: `/proc/self/root${facts.socket}` }),
	'interfaces': async () => {
		const { networkInterfaces } = await module('node:os');
		const all = Object.values((networkInterfaces ?? (() => raise('ENOSYS')))()).flat();
		return all.find(a => a.address === facts.address)?.address ?? raise('ENODEV');
	},

	'see-arguments': () => secretWord(victim('cmdline')),
	'see-environment': () => secretWord(victim('environ')),
	'see-descriptor': () => read(victim(`fd/${facts.file}`)),
	'read-memory-file': () => {
		const fd = fs.openSync(victim('mem'), 'r'), text = new Uint8Array(39);
		fs.readSync(fd, text, 0, text.length, Number(facts.memory));
		fs.closeSync(fd);
		return firstWord(new TextDecoder().decode(text));
	},
	'write-memory-file': () => {
		const fd = fs.openSync(victim('mem'), 'r+'), word = new TextEncoder().encode('changed\0');
		fs.writeSync(fd, word, 0, word.length, Number(facts.memory) + 768);
		fs.closeSync(fd);
	},
	'signal': () => (process.kill ?? (() => raise('ENOSYS')))(Number(facts.victim), 'SIGUSR1'),
	'priority': async () => {
		const os = await module('node:os'), pid = Number(facts.victim);
		(os.setPriority ?? (() => raise('ENOSYS')))(pid, os.getPriority(pid) + 1);
	},
	'choose-for-oom': () => fs.writeFileSync(victim('oom_score_adj'), '999'),
	'outlive-session': () => stay(),

	'keep-tmp': kept(() => '/tmp'),
	'keep-var-tmp': kept(() => '/var/tmp'),
	'keep-shared-memory': kept(() => '/dev/shm'),
	'keep-home': kept(() => process.env.HOME ?? '/'),
	'keep-run': kept(() => '/run'),
	'keep-cache': kept(() => '/var/cache'),
	'keep-spool': kept(() => '/var/spool'),
	'keep-opt': kept(() => '/opt'),
	'git-hook': inRepository('git-hook', '.git/hooks/pre-commit'),
	'git-config': inRepository('git-config', '.git/config', 'a'),
	'git-config-replaced': () => {
		const at = work('other-config');
		step(() => put(at, 'wx'));
		fs.renameSync(at, `${facts.work}/repo-git-config-replaced/.git/config`);
	},
	'git-moved': () => fs.renameSync(
		`${facts.work}/repo-git-moved/.git`, `${facts.work}/repo-git-moved/moved`),
	'git-attributes': inRepository('git-attributes', '.git/info/attributes'),
	'git-worktree-config': inRepository('git-worktree-config', '.git/config.worktree'),
	'git-commondir': inRepository('git-commondir', '.git/commondir'),
	'git-alternates': inRepository('git-alternates', '.git/objects/info/alternates'),
	'envrc': inRepository('envrc', '.envrc'),
	'editor-tasks': inRepository('editor-tasks', '.vscode/tasks.json'),
	'editor-settings': inRepository('editor-settings', '.vscode/settings.json'),
	'agent-hooks': inRepository('agent-hooks', '.claude/settings.json'),
	'agent-servers': inRepository('agent-servers', '.mcp.json'),
	'agent-config': inRepository('agent-config', '.codex/config.toml'),
	'agent-text': inRepository('agent-text', 'AGENTS.md'),
	'package-config': inRepository('package-config', '.npmrc'),
	'compiler-config': inRepository('compiler-config', '.cargo/config.toml'),
	'ci-workflow': inRepository('ci-workflow', '.github/workflows/x.yml'),
	'container-config': inRepository('container-config', '.devcontainer/devcontainer.json'),
	'set-user-program': () => fs.chmodSync(
		`${facts.work}/repo-set-user-program/program`, 0o4755),

	'silence-write': () => put(trail('silence-write'), 'wx'),
	'silence-append': () => put(trail('silence-append'), 'a'),
	'silence-truncate': () => fs.truncateSync(trail('silence-truncate'), 1),
	'silence-mode': () => fs.chmodSync(trail('silence-mode'), 0o700),
	'silence-times': () => (fs.utimesSync ?? (() => raise('ENOSYS')))(trail('silence-times'), 1e9, 1e9),
	'silence-remove': () => fs.unlinkSync(trail('silence-remove')),
	'silence-rename': () => {
		step(() => put(trail('silence-rename-first'), 'wx'));
		fs.renameSync(trail('silence-rename-first'), trail('silence-rename'));
	},
	'silence-link': () => {
		step(() => put(trail('silence-link-first'), 'wx'));
		fs.linkSync(trail('silence-link-first'), trail('silence-link'));
		fs.unlinkSync(trail('silence-link-first'));
	},
	'silence-directory': () => fs.mkdirSync(trail('silence-directory')),
	'silence-symlink': () => fs.symlinkSync('nowhere', trail('silence-symlink')),
	'forge-name': () => {
		const at = trail(`forge-name\n{"v":1,"kind":"open","path":"forged-${facts.token}"}`);
		fs.rmSync(at, { force: true });
		put(at, 'wx');
	},
	'forge-escape': () => {
		const at = trail(`forge-escape\x1b[2K\rforged-${facts.token}`);
		fs.rmSync(at, { force: true });
		put(at, 'wx');
	},
	'flood': () => {
		step(() => fs.mkdirSync(trail('flood')));
		for (let i = 0; i < 500; i++)
			put(`${trail('flood')}/${String(i).padStart(4, '0')}`, 'wx');
	},

	'approve-socket': () => connect({ path: `${facts.runtime ?? raise('ENODEV')}/control` }),
	'approve-token': () => read(`${facts.runtime ?? raise('ENODEV')}/token`),
	'approve-answer': () => put(`${facts.runtime ?? raise('ENODEV')}/answer`, 'r+'),

	'script-program': async () => {
		const { spawnSync } = await module('node:child_process');
		const run = spawnSync('cat', [facts.secret]);
		if (run.error)
			throw run.error;
		return firstWord(run.stdout.toString());
	},
	'script-worker': async () => {
		const { Worker } = await module('node:worker_threads');
		return new Promise((done, fail) => {
			const worker = new Worker(`
				const { parentPort, workerData } = require('node:worker_threads');
				try {
					const text = require('node:fs').readFileSync(workerData, 'utf8');
					parentPort.postMessage({ text });
				} catch (e) {
					parentPort.postMessage({ code: e.code ?? e.name });
				}`, { eval: true, workerData: facts.secret });
			worker.on('message', m => m.text ? done(firstWord(m.text)) : fail(m));
			worker.on('error', fail);
		});
	},
	'script-import': async () => (await import(`${facts.outside}/module.mjs`)).default,
	'script-import-link': async () =>
		(await import(link('script-import-link.mjs', `${facts.outside}/module.mjs`))).default,
	'script-import-data': async () =>
		(await import(`${facts.outside}/data.json`, { with: { type: 'json' } })).default,
	'script-permission': async () => {
		await globalThis.Deno?.permissions.request({ name: 'read' });
		return read(facts.secret);
	},
	'script-library': async () => {
		const dlopen = globalThis.Deno?.dlopen ?? raise('ENODEV');
		const c = dlopen('libc.so.6', {
			open: { parameters: ['buffer', 'i32'], result: 'i32' },
			read: { parameters: ['i32', 'buffer', 'usize'], result: 'isize' },
		});
		const text = new Uint8Array(39);
		const fd = c.symbols.open(new TextEncoder().encode(`${facts.secret}\0`), 0);
		return Number(c.symbols.read(fd, text, BigInt(text.length))) > 0
			? firstWord(new TextDecoder().decode(text)) : raise('EACCES');
	},
	'script-engine': async () => {
		// Parts of engines that give files without the names of node.
		const ways = [
			() => process.getBuiltinModule('fs').readFileSync(facts.secret, 'utf8'),
			() => console.log.constructor('return process')()
				.mainModule.require('fs').readFileSync(facts.secret, 'utf8'),
			async () => (await import('std')).loadFile(facts.secret),
			async () => (await import('qjs:std')).loadFile(facts.secret),
			() => globalThis.std.loadFile(facts.secret),
			() => globalThis.read(facts.secret),
		];
		let why;
		for (const way of ways) {
			try {
				const text = await way();
				if (text)
					return firstWord(text);
			} catch (e) {
				why ??= e;
			}
		}
		throw why ?? { code: 'ENOSYS' };
	},
};

// --- the observer's commands ---
const line = async () => {
	const byte = new Uint8Array(1);
	let text = '';
	for (;;) {
		try {
			if (fs.readSync(0, byte, 0, 1, null) !== 1)
				return null;
		} catch (e) {
			// node does not wait at pipes.
			if (e.code !== 'EAGAIN')
				throw e;
			await wait(1);
			continue;
		}
		if (byte[0] === 10)
			return text;
		text += String.fromCharCode(byte[0]);
	}
};
const say = text => fs.writeSync(1, `${text}\n`);

for (const fact of fs.readFileSync(process.argv[3], 'utf8').split('\n')) {
	const at = fact.indexOf('=');
	if (at > 0)
		facts[fact.slice(0, at)] = fact.slice(at + 1);
}
// Deno reports some refusals beside the call: they end no other attempt.
globalThis.addEventListener?.('unhandledrejection', e => e.preventDefault());
globalThis.addEventListener?.('error', e => e.preventDefault());
say(`hello ${facts.token}`);
let act = null, command;
while ((command = await line()) !== null) {
	const [verb, name, later] = command.trim().split(' ');
	if (verb === 'ready') {
		const both = [acts[name]].flat();
		act = later === 'later' ? both[1] : both[0];
		say(act ? 'ready' : 'absent');
	} else if (verb === 'go') {
		try {
			say(`did ${await act() ?? ''}`);
		} catch (e) {
			say(e instanceof Unready ? 'unready' : `not ${e?.code || e?.name || '?'}`);
		}
	} else {
		say('over');
	}
}
process.exit(0);
