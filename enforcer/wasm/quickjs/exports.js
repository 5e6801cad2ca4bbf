// SPDX-License-Identifier: Apache-2.0
// Which names a CommonJS file exports, read from its text before it runs. The forms are those that node finds
// (cjs-module-lexer): assignments, Object.defineProperty, one object, and what compilers write for `export *`.
(function () {
'use strict';

const wordStart = /[A-Za-z_$\u0080-\uffff]/, wordPart = /[\w$\u0080-\uffff]/, run = /\s+|[\w$\u0080-\uffff]+/y;
// After these words a slash begins a regular expression.
const operators = new Set(['return', 'typeof', 'case', 'in', 'of', 'void', 'delete', 'throw', 'new', 'do', 'else', 'await',
	'yield', 'instanceof']);

// The index behind what begins at `at` and ends with `end`; a backslash takes the next character along.
function past(s, at, end) {
	for (at++; at < s.length && s[at] !== end; at++)
		if (s[at] === '\\') at++;
	return at + 1;
}
// The same of a regular expression; 0: it is none.
function pastRegExp(s, at) {
	for (let set = false, i = at + 1; i < s.length && s[i] !== '\n'; i++) {
		if (s[i] === '\\') i++;
		else if (s[i] === '[') set = true;
		else if (s[i] === ']') set = false;
		else if (s[i] === '/' && !set) return i + 1;
	}
	return 0;
}

// Words and punctuation as they are, strings with a quote in front. Comments, regular expressions and the text of
// templates are left out; a string with a backslash is left empty.
function tokens(s) {
	const all = [], templates = [];
	let at = 0, depth = 0;
	const template = () => {
		for (at++; at < s.length && s[at] !== '`'; at++) {
			if (s[at] === '\\') at++;
			else if (s[at] === '$' && s[at + 1] === '{') {
				templates.push(depth);
				at += 2;
				return;
			}
		}
		all.push('`');
		at++;
	};
	while (at < s.length) {
		const c = s[at];
		run.lastIndex = at;
		const found = run.exec(s);
		if (found) {
			if (wordPart.test(c)) all.push(found[0]);
			at = run.lastIndex;
		} else if (c === '/' && s[at + 1] === '/') at = s.indexOf('\n', at) + 1 || s.length;
		else if (c === '/' && s[at + 1] === '*') at = s.indexOf('*/', at + 2) + 2 || s.length;
		else if (c === '"' || c === "'") {
			const text = s.slice(at + 1, (at = past(s, at, c)) - 1);
			all.push(text.includes('\\') ? "'" : `'${text}`);
		} else if (c === '`') template();
		else if (c === '}' && templates.length && templates[templates.length - 1] === depth) {
			templates.pop();
			template();
		} else {
			const before = all[all.length - 1] ?? ';';
			const value = wordPart.test(before[0]) ? !operators.has(before) : /[)\]}'`]/.test(before[0]);
			const end = c === '/' && !value ? pastRegExp(s, at) : 0;
			if (c === '{') depth++;
			if (c === '}') depth--;
			if (end) all.push('`');
			else all.push(c);
			at = end || at + 1;
		}
	}
	return all;
}

const isWord = (t) => t !== undefined && wordStart.test(t[0]);
const isString = (t) => t !== undefined && t[0] === "'" && t.length > 1;

// { names, from }: names that the text exports itself, and the files whose names it exports as well.
return function find(source) {
	const t = tokens(source), names = new Set(), from = new Set(), required = new Map();
	const are = (at, ...words) => words.every((w, i) => t[at + i] === w);
	// Behind `exports` or `module.exports`; 0: neither stands there.
	const behind = (i) => t[i - 1] === '.' ? 0 : t[i] === 'exports' ? i + 1 : are(i, 'module', '.', 'exports') ? i + 3 : 0;
	const assigns = (i) => t[i] === '=' && t[i + 1] !== '=' && t[i + 1] !== '>';
	// require('x'), perhaps within a function of a compiler's; the x of it.
	const requires = (i) => {
		if (isWord(t[i]) && t[i] !== 'require' && t[i + 1] === '(') i += 2;
		else if (isWord(t[i]) && t[i + 1] === '.' && isWord(t[i + 2]) && t[i + 3] === '(') i += 4;
		return are(i, 'require', '(') && isString(t[i + 2]) && t[i + 3] === ')' ? t[i + 2].slice(1) : null;
	};
	// { a, 'b': c, ...require('x') }: as far as it consists of names.
	const object = (i) => {
		for (;; i++) {
			if (are(i, '.', '.', '.')) {
				const x = requires(i + 3);
				if (x !== null) from.add(x);
				i += x !== null ? 7 : isWord(t[i + 3]) ? 4 : 0;
			} else if (isWord(t[i]) || isString(t[i])) {
				if (!/^[,}(:]/.test(t[i + 1]) || (t[i + 1] === ':' && !isWord(t[i + 2]))) return;
				names.add(t[i].replace(/^'/, ''));
				i += t[i + 1] === ':' ? 3 : 1;
			}
			if (t[i] !== ',') return;
		}
	};
	const property = (i) => {
		const e = behind(i);
		if (!e || t[e] !== ',' || !isString(t[e + 1]) || !are(e + 2, ',', '{')) return;
		const at = are(e + 4, 'enumerable', ':') && t[e + 7] === ',' ? e + 8 : e + 4;
		if (are(at, 'value', ':') || (at > e + 4 && t[e + 6] === 'true' && t[at] === 'get')) names.add(t[e + 1].slice(1));
	};
	// Object.keys(x).forEach(function (k) { … exports[k] … }), as Babel writes `export * from`.
	const keys = (i) => {
		const x = required.get(t[i + 4]), k = t[i + 10];
		if (x === undefined || !are(i + 5, ')', '.', 'forEach', '(')) return;
		const key = are(i + 9, 'function', '(') ? t[i + 11] : k === undefined ? undefined : t[i + 9] === '(' ? k : t[i + 9];
		for (let j = i + 9; key && j < i + 100 && j < t.length; j++)
			if (are(j, 'exports', '[', key, ']') || are(j, 'exports', ',', key, ',')) return void from.add(x);
	};
	for (let i = 0; i < t.length; i++) {
		const e = behind(i);
		if (e && t[e] === '.' && isWord(t[e + 1]) && assigns(e + 2)) names.add(t[e + 1]);
		else if (e && t[e] === '[' && isString(t[e + 1]) && t[e + 2] === ']' && assigns(e + 3)) names.add(t[e + 1].slice(1));
		else if (e && t[i] === 'module' && assigns(e)) {
			from.clear();
			if (t[e + 1] === '{') object(e + 2);
			else if (are(e + 1, 'require') && requires(e + 1) !== null) from.add(requires(e + 1));
		} else if (are(i, 'Object', '.', 'defineProperty', '(')) property(i + 4);
		else if (are(i, 'Object', '.', 'keys', '(')) keys(i);
		else if ((t[i] === '__export' || t[i] === '__exportStar') && t[i + 1] === '(' && are(i + 2, 'require')) {
			const x = requires(i + 2);
			if (x !== null) from.add(x);
		} else if (isWord(t[i]) && t[i + 1] === '=' && t[i + 2] !== '=') {
			const x = requires(i + 2);
			if (x !== null) required.set(t[i], x);
		}
	}
	return { names: [...names], from: [...from] };
};
})()
