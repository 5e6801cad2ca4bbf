#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate.py WARDFS bash|zsh|fish: writes a shell's completion of wardfs, made from what --help says.

So no list of verbs and options stands a second time. What an argument means is told by the word that
--help has for it (KINDS).
"""
import os
import re
import subprocess
import sys

# The word in --help → what is offered. Words that are not here are free text.
KINDS = {"FILE|PROFILE": "policy", "PROFILE": "profile", "FILE": "file", "PATH": "file",
         "SESSION|FILE": "trail", "PID": "text",
         "DIR": "dir", "SOURCE": "dir", "MOUNTPOINT": "dir", "MODE": "mode", "SESSION": "session",
         "LEVEL": "level",
         "USER": "user", "CMD": "command", "ACTION": "action", "VERB": "rule", "KEY": "file",
         "A": "policy", "B": "policy"}
# Lists of words, and where --help has them.
WORDS_FROM = {"mode": (["run"], r"Isolation: (.*?) +(?:-., )?--"),
              "level": (["run"], r"for mode auto: ((?:[a-z]+, )+[a-z]+)"),
              "action": (["policy", "explain"], r"ACTION is one of: ([a-z ]+)"),
              "rule": (["policy", "add"], r"VERB is one of: ([a-z ]+)")}
WORDS = dict.fromkeys(WORDS_FROM, "")
# A word that is no option's or argument's name in a usage line.
VERB = re.compile(r"^  ([a-z][a-z-]*) +(\S.*)")
OPTION = re.compile(r"^ {2,6}(?:(-[a-zA-Z0-9?])(?:, |$))?(?:(--[a-z][a-z-]*)(?:\[?[ =]([A-Z][^ ]*))?)?"
                    r"(?: +|$)(.*)")


class Verb:
    """A word of the command line, what follows it, and what it takes."""

    def __init__(self, path, what):
        self.path, self.what = path, what
        self.verbs, self.options, self.arguments = [], {}, []

    def all(self):
        yield self
        for verb in self.verbs:
            yield from verb.all()


def help_text(program, path):
    env = dict(os.environ, LC_ALL="C.UTF-8", ARGP_HELP_FMT="rmargin=1000")
    return subprocess.run([program, *path, "--help"], check=True, capture_output=True, text=True,
                          env=env).stdout


def add_options(verb, text):
    for line in text.splitlines():
        found = OPTION.match(line)
        if found and (found[1] or found[2]):
            name = found[2] or found[1]
            verb.options.setdefault(name, (found[1], found[3], found[4].strip()))


def add_arguments(verb, usage):
    words = re.sub(r"\[OPTION\.\.\.\]|\[--\]", "", usage).split()
    verb.arguments = [KINDS[w] for w in (re.sub(r"[\[\].]", "", w) for w in words) if w in KINDS]


def nested(program, path, what):
    """A verb with --help of its own."""
    verb = Verb(path, what)
    text = help_text(program, path)
    if re.match(r"Usage: wardfs( [a-z]+)* VERB ", text):
        for line in text[text.index("Verbs:"):].splitlines():
            found = VERB.match(line)
            if found:
                verb.verbs.append(nested(program, path + [found[1]], found[2]))
        verb.options["--help"] = ("-?", None, "Give this help list")
        if not path:
            verb.options["--version"] = ("-V", None, "Print program version")
    else:
        add_options(verb, text)
        add_arguments(verb, text.splitlines()[0])
    return verb


def kind(argument):
    return KINDS.get(re.sub(r"\[.*", "", argument or "").rstrip("]."), "text" if argument else "none")


def quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


# --- bash ---

BASH = r'''# bash completion for wardfs; made from its --help.
__wardfs_sessions() {
	wardfs ps 2>/dev/null | sed -e 1d -e 's/ .*//'
	[ "$1" = running ] || wardfs audit list 2>/dev/null | sed -e 1d -e 's/ .*//'
}

__wardfs_offer() {
	local words=
	case $1 in
	profile) words=$__wardfs_profiles ;;
	policy)
		words=$__wardfs_profiles
		compopt -o filenames 2>/dev/null
		COMPREPLY=($(compgen -f -- "$2"))
		;;
	file | trail)
		compopt -o filenames 2>/dev/null
		COMPREPLY=($(compgen -f -- "$2"))
		;;
	dir)
		compopt -o filenames 2>/dev/null
		COMPREPLY=($(compgen -d -- "$2"))
		;;
	user) COMPREPLY=($(compgen -u -- "$2")) ;;
	command) COMPREPLY=($(compgen -c -- "$2")) ;;
	session) words=$(__wardfs_sessions "$3") ;;
@WORDS@	esac
	[ "$1" != trail ] || words=$(__wardfs_sessions all)
	COMPREPLY+=($(compgen -W "$words" -- "$2"))
}

_wardfs() {
	local cur=${COMP_WORDS[COMP_CWORD]} path= verbs= options= arguments= i word kind= skip= dashed= n=0
	COMPREPLY=()
	for ((i = 1; i <= COMP_CWORD; i++)); do
		__wardfs_table "$path"
		[ "$i" -lt "$COMP_CWORD" ] || break
		word=${COMP_WORDS[i]}
		if [ -n "$skip" ]; then
			# bash takes "--option=value" for three words
			[ "$word" = = ] || skip=
			continue
		fi
		case $dashed$word in
		--) dashed=yes ;;
		-*)
			kind=$(__wardfs_kind "$path" "$word")
			[ "$kind" = none ] || skip=$kind
			;;
		*)
			case " $verbs " in
			*" $word "*) path=${path:+$path }$word ;;
			*) n=$((n + 1)) ;;
			esac
			;;
		esac
		# the command that is run has options of its own
		case $arguments in
		command | 'session command')
			if [ "$n" -ge "$(set -- $arguments; echo $#)" ]; then
				compopt -o default 2>/dev/null
				return
			fi
			;;
		esac
	done
	if [ -n "$skip" ]; then
		[ "$cur" != = ] || cur=
		__wardfs_offer "$skip" "$cur" running
		return
	fi
	if [[ -z $dashed && $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$cur"))
		return
	fi
	if [ -n "$verbs" ]; then
		COMPREPLY=($(compgen -W "$verbs" -- "$cur"))
		return
	fi
	set -- $arguments
	[ "$n" -lt "$#" ] || n=$(($# - 1))
	[ "$#" -eq 0 ] || { shift "$n"; __wardfs_offer "$1" "$cur" \
		"$(case $path in audit* | 'policy diff') echo all ;; *) echo running ;; esac)"; }
}
complete -F _wardfs wardfs
'''


def bash(top, profiles):
    out = ["# shellcheck shell=bash disable=SC2207,SC2046,SC2034",
           f"__wardfs_profiles={quote(' '.join(profiles))}", "",
           "__wardfs_table() {", "\tcase $1 in"]
    for verb in top.all():
        options = sorted(verb.options)
        out.append(f"\t{quote(' '.join(verb.path))})")
        out.append(f"\t\tverbs={quote(' '.join(v.path[-1] for v in verb.verbs))}")
        out.append(f"\t\toptions={quote(' '.join(options))}")
        out.append(f"\t\targuments={quote(' '.join(verb.arguments))}")
        out.append("\t\t;;")
    out += ["\tesac", "}", "", "__wardfs_kind() {", "\tcase \"$1 $2\" in"]
    for verb in top.all():
        for name, (short, argument, _) in sorted(verb.options.items()):
            if argument:
                path = " ".join(verb.path)
                names = "|".join(quote(f"{path} {n}") for n in (short, name) if n)
                out.append(f"\t{names}) echo {kind(argument)} ;;")
    out += ["\t*) echo none ;;", "\tesac", "}", ""]
    words = "".join(f"\t{k}) words={quote(w)} ;;\n" for k, w in WORDS.items())
    first, rest = BASH.split("\n", 1)
    return first + "\n" + "\n".join(out) + "\n" + rest.replace("@WORDS@", words)


# --- zsh ---

ZSH_KIND = {"policy": "_alternative 'p:profile:(@P@)' 'f:file:_files'", "profile": "(@P@)",
            "file": "_files", "dir": "_files -/", "user": "_users", "command": "_command_names -e",
            "session": "_wardfs_sessions", "trail": "_alternative 's:session:_wardfs_sessions' 'f:file:_files'",
            "text": " "}


def zsh_function(verb):
    return "_wardfs" + "".join("_" + w.replace("-", "_") for w in verb.path)


def zsh_text(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_action(name, profiles):
    action = (f"({WORDS[name]})" if name in WORDS else ZSH_KIND[name]).replace("@P@", " ".join(profiles))
    # an action of several words is called in a function of its own
    return f"{{ {action} }}".replace("'", "'\\''") if action.startswith("_alternative") else action


def zsh(top, profiles):
    out = ["#compdef wardfs", "# zsh completion for wardfs; made from its --help.", "",
           "_wardfs_sessions() {", "\tlocal -a all",
           "\tall=(${(f)\"$({ wardfs ps; wardfs audit list } 2>/dev/null | "
           "sed -e '/^SESSION /d' -e 's/ .*//')\"})", "\tcompadd -a all", "}", ""]
    for verb in top.all():
        out.append(f"{zsh_function(verb)}() {{")
        if verb.verbs:
            out += ["\tlocal -a verbs=("]
            out += [f"\t\t'{zsh_text(v.path[-1])}:{zsh_text(v.what)}'" for v in verb.verbs]
            out += ["\t)", "\tif ((CURRENT == 2)); then", "\t\t_describe verb verbs",
                    "\t\treturn", "\tfi", "\tlocal verb=$words[2]",
                    "\tshift words", "\t((CURRENT--))", "\tcase $verb in"]
            out += [f"\t{v.path[-1]}) {zsh_function(v)} ;;" for v in verb.verbs]
            out += ["\tesac"]
        else:
            spec = []
            for name, (short, argument, what) in sorted(verb.options.items()):
                for one in (short, name):
                    if one and one != "-?":
                        tail = f":{kind(argument)}:{zsh_action(kind(argument), profiles)}" if argument else ""
                        equals = "=" if argument and one.startswith("--") else ""
                        spec.append(f"'*{one}{equals}[{zsh_text(what or name)}]{tail}'")
            for i, one in enumerate(verb.arguments):
                if one == "command":
                    spec.append("'*::command:_normal'")
                    break
                last = i == len(verb.arguments) - 1
                spec.append(f"'{'*' if last else i + 1}:{one}:{zsh_action(one, profiles)}'")
            out.append("\t_arguments -s \\\n\t\t" + " \\\n\t\t".join(spec))
        out += ["}", ""]
    return "\n".join(out) + "\n_wardfs \"$@\"\n"


# --- fish ---

FISH_KIND = {"policy": "-F -a '@P@'", "profile": "-f -a '@P@'", "file": "-F",
             "dir": "-f -a '(__fish_complete_directories)'", "user": "-f -a '(__fish_complete_users)'",
             "command": "-f -a '(__fish_complete_subcommand)'", "session": "-f -a '(__wardfs_sessions)'",
             "trail": "-F -a '(__wardfs_sessions)'", "text": "-f"}

FISH = r'''# fish completion for wardfs; made from its --help.
function __wardfs_sessions
	begin
		wardfs ps
		wardfs audit list
	end 2>/dev/null | sed -e '/^SESSION /d' -e 's/ .*//' | sort -u
end

# True where the words so far, without options, begin with exactly these and, with -n, have no more.
function __wardfs_at
	argparse n -- $argv
	set -l words (commandline -opc | string match -v -- '-*')
	set -e words[1]
	set -l count (count $argv)
	test (count $words) -ge $count; or return 1
	set -q _flag_n; and test (count $words) -ne $count; and return 1
	test $count -eq 0; and return 0
	test "$words[1..$count]" = "$argv"
end

'''


def fish_action(name, profiles):
    action = f"-f -a '{WORDS[name]}'" if name in WORDS else FISH_KIND[name]
    return action.replace("@P@", " ".join(profiles))


def fish(top, profiles):
    out = []
    for verb in top.all():
        at = "__wardfs_at " + " ".join(verb.path)
        for one in verb.verbs:
            out.append(f"complete -c wardfs -f -n {quote('__wardfs_at -n ' + ' '.join(verb.path))} "
                       f"-a {quote(one.path[-1])} -d {quote(one.what)}")
        for name, (short, argument, what) in sorted(verb.options.items()):
            line = f"complete -c wardfs -n {quote(at)}"
            if name.startswith("--"):
                line += f" -l {name[2:]}"
            if short and short != "-?":
                line += f" -s {short[1:]}"
            if argument:
                line += " -x" if kind(argument) not in ("file", "policy", "trail") else " -r"
                line += " " + fish_action(kind(argument), profiles).replace("-f", "", 1)
            if what:
                line += f" -d {quote(what.split('. ')[0][:100])}"
            out.append(" ".join(line.split(" ")))
        for one in dict.fromkeys(verb.arguments):
            out.append(f"complete -c wardfs -n {quote(at)} {fish_action(one, profiles)}")
    return FISH + "\n".join(out) + "\n"


def main():
    program, shell = os.path.abspath(sys.argv[1]), sys.argv[2]
    for name, (path, pattern) in WORDS_FROM.items():
        text = " ".join(help_text(program, path).split())
        WORDS[name] = " ".join(re.findall(r"[a-z]{2,}", re.sub(r"\(.*?\)", "",
                                                               re.search(pattern, text)[1])))
    top = nested(program, [], "")
    listed = subprocess.run([program, "profile", "list"], check=True, capture_output=True, text=True,
                            cwd="/").stdout
    profiles = [line.split()[0] for line in listed.splitlines() if " shipped with " in line]
    sys.stdout.write({"bash": bash, "zsh": zsh, "fish": fish}[shell](top, profiles))


main()
