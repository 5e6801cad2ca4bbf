#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One file writes to standard output and standard error: enforcer/base/out.c, which escapes what is foreign.

Another file that must write there stands below with its reason, and with what it may use.
"""
import re

from _sources import files, finish, read

FOLDERS = ("enforcer", "audit", "fs", "conf")
# Functions that write to a stream, or to standard error without being told so.
CALLS = """printf vprintf fprintf vfprintf dprintf vdprintf puts fputs putc fputc putchar fwrite fputs_unlocked
fwrite_unlocked putc_unlocked putchar_unlocked perror psignal psiginfo err errx verr verrx warn warnx vwarn
vwarnx error error_at_line json_dumpf json_dumpfd argp_parse argp_error argp_failure argp_usage argp_help
argp_state_help""".split()
# The streams, and descriptors of theirs that something is written to.
STREAMS = r"\b(?:stdout|stderr|STDOUT_FILENO|STDERR_FILENO)\b|\b(?:write|writev|send|ward_fd_write_all)\(\s*[12]\s*,"
WRITES = re.compile(r"(?<![\w.>])(?:%s)\s*\(|%s" % ("|".join(CALLS), STREAMS))

# Programs that run while wardfs is built, and write sources.
BUILD = {"enforcer/sandbox/filter_main.c", "enforcer/net/setup/filter_main.c", "enforcer/policy/key_print.c"}
# file: what it may use.
MAY = {
    "enforcer/base/out.c": r".*",
    # argp(3) writes by itself: what it writes goes through enforcer/base/out.c.
    "enforcer/cli/base/arguments.c": r"argp_parse\(|argp_error\(|argp_state_help\(|stdout|stderr|STDERR_FILENO",
    # The lines to and from an observer, which are no terminal; argp(3), before the program has done
    # anything; files of facts and reports.
    "enforcer/attack/inside.c": r"printf\(|fputs\(|fputc\(|stdout",
    "enforcer/attack/paths_inside.c": r"printf\(|stdout",
    "enforcer/attack/attack_main.c": r"argp_parse\(|argp_error\(",
    "enforcer/attack/facts.c": r"fprintf\(",
    "enforcer/attack/report.c": r"fprintf\(|fputs\(|putc\(",
    "enforcer/attack/report_file.c": r"fprintf\(|fputs\(|putc\(",
    "enforcer/attack/observe.c": r"dprintf\(",
    "enforcer/attack/servers.c": r"write\(1,",
    # They ask whether it is a terminal.
    "enforcer/cli/audit/audit_verb.c": r"STDOUT_FILENO",
    "enforcer/cli/run/cmd_top.c": r"STDOUT_FILENO",
    "enforcer/cli/base/progress.c": r"STDERR_FILENO",
    # The answer of a command comes through a pipe in its place.
    "enforcer/cli/audit/timestamp_tsa.c": r"STDOUT_FILENO",
    # A tar archive, which it refuses to write to a terminal.
    "enforcer/cli/audit/cmd_audit_bundle.c": r"STDOUT_FILENO",
}
# What they print is escaped but for the format: it is ours, a literal or a choice of two.
FORMATS = re.compile(r"\b(?:ward_outf|ward_tellf|ward_shownf|ward_arguments_wrong)\(\s*([^;]*?)\);", re.S)
LITERAL = re.compile(r'(?:(?:""|[A-Z]\w*)\s*)+|[^?]+\?\s*""\s*:\s*""')
# Constants with a name.
NAMED = {"help"}


def first(arguments):
    """The format of a call: its first argument, or the one behind the buffer or the state."""
    found = re.sub(r"^(?:state|&b|b)\s*,\s*", "", arguments)
    return re.split(r",(?![^(]*\))", found)[0].strip()


def code(text):
    """The text without comments, and with empty strings."""
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', '""', text)


complaints, looked_at, used = [], [], set()
for folder in FOLDERS:
    for path in files(".c", ".h", below=folder):
        if path in BUILD:
            continue
        looked_at.append(path)
        for number, line in enumerate(code(read(path)).splitlines(), 1):
            if line.lstrip().startswith("#include"):
                continue
            for found in WRITES.finditer(line):
                if path in MAY and re.fullmatch(MAY[path], found.group()):
                    used.add(path)
                else:
                    complaints.append(f"{path}:{number}: {found.group()} writes past enforcer/base/out.h")
        text = code(read(path))
        for found in FORMATS.finditer(text) if path.endswith(".c") and path != "enforcer/base/out.c" else ():
            given = first(found.group(1))
            if given not in NAMED and not LITERAL.fullmatch(given):
                number = text[:found.start()].count("\n") + 1
                complaints.append(f"{path}:{number}: the format '{given}' is no literal")
complaints += [f"{path}: writes nothing any more: take it off the list" for path in sorted(MAY.keys() - used)]
finish(complaints, looked_at)
