// SPDX-License-Identifier: Apache-2.0
// Makes the attempts that its arguments name, and prints how each ended.
const fs = require('fs');
const act = {
	read: (p) => fs.readFileSync(p, 'utf8').trim(),
	write(p) { fs.writeFileSync(p, 'x'); return 'written'; },
	link(p) { fs.linkSync(p, 'linked'); return 'linked'; },
	rename(p) { fs.renameSync('new.txt', p); return 'renamed'; },
	need(p) { require(p); return 'found'; },
	deep: () => act.deep() + 1,
	// Whatever a script does to the objects of the language, the paths are compared elsewhere.
	polluted(p) {
		const normal = [Object.prototype, String.prototype.startsWith, Array.prototype.some, RegExp.prototype.test];
		Object.prototype.path = p;
		Object.prototype.allowed = Object.prototype.isAllowed = Object.prototype.root = '/';
		String.prototype.startsWith = Array.prototype.some = RegExp.prototype.test = () => true;
		let said;
		try {
			said = act.read(p);
		} catch (e) {
			said = e.code;
		}
		said += ` and ${({}).path}`;
		delete Object.prototype.path;
		[, String.prototype.startsWith, Array.prototype.some, RegExp.prototype.test] = normal;
		return said;
	},
	// What the host's functions themselves say: outside, upwards, a tree's own descriptor, a name with a NUL.
	host(p) {
		const codes = [];
		for (const attempt of [() => fs.openSync(p), () => fs.openSync(`${process.cwd()}/../../../../../..${p}`),
			() => fs.readSync(3, new Uint8Array(8)), () => fs.openSync('kept.txt\0/../..')]) {
			try {
				codes.push(attempt());
			} catch (e) {
				codes.push(e.errno);
			}
		}
		return codes.join(' ');
	},
	// A thousand times, and until it has led both in and out.
	race(p) {
		let inside = false, out = false;
		for (let i = 0; i < 1000 || ((!inside || !out) && i < 1000000); i++) {
			try {
				const said = act.read(p);
				if (said !== 'inside') return said;
				inside = true;
			} catch (e) {
				if (!['EACCES', 'ENOENT', 'ELOOP'].includes(e.code)) throw e;
				out ||= e.code === 'EACCES';
			}
		}
		return inside && out ? 'both' : 'one alone';
	},
};
for (const arg of process.argv.slice(2)) {
	const [what, ...rest] = arg.split(' ');
	let said;
	try {
		said = act[what](...rest);
	} catch (e) {
		said = e.code ?? e.name;
	}
	console.log(`${arg}: ${said}`);
}
