#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A command that a message has for its reader quotes what it puts in: a path or a name may be an agent's
choice, and the reader pastes. Each function with such a message calls ward_shell_word() or
ward_shell_quoted(), or all that it puts in are words of ours."""
import re

from _sources import files, finish, read

COMMAND = re.compile(r'"[^"\n]*(?:\bwardfs (?:run|exec|attach|kill|ps|mount|umount|init|image|home|policy|profile|audit|net|'
                     r'quota|learn|doctor|bundle|logs|top)\b[^;,.:)"\n]*|(?:chmod|chown|umount|rm|cd) )%s')
# What these put in: names of sessions (WARD_SESSION_NAME_RULE), of verbs, of shipped profiles, of
# options.
SAFE = {
    "enforcer/session/exec/client.c": "a session",
    "enforcer/session/exec/execs.c": "no command: a record says which wardfs exec it was",
    "enforcer/session/exec/attach.c": "no command: a record says which wardfs attach it was",
    "enforcer/session/terminal/detach.c": "a session",
    "enforcer/session/run/end_lines.c": "a session, and --system",
    "enforcer/session/guard/anchor.c": "a session",
    "enforcer/cli/policy/learn_again.c": "a session",
    "enforcer/cli/policy/policy_now.c": "a session",
    "enforcer/cli/policy/cmd_learn.c": "a session; the file is quoted",
    "enforcer/cli/policy/cmd_init.c": "a shipped profile",
    "enforcer/cli/policy/cmd_profile.c": "a shipped profile; the name that was typed is quoted",
    "enforcer/cli/policy/init_proposal.c": "a digest",
    "enforcer/cli/audit/audit_options.c": "a verb",
    "enforcer/cli/audit/cmd_audit_denials.c": "--system; a session",
}


def functions(text):
    """Each function with its text: from one closing brace at the left to the next."""
    start = 0
    for end in re.finditer(r"^}\n", text, re.M):
        yield text[start:end.end()]
        start = end.end()


complaints = []
looked_at = files(".c")
for path in looked_at:
    if path in SAFE or path.startswith("tests/"):
        continue
    for body in functions(read(path)):
        # A format over several lines is one string.
        joined = re.sub(r'"\s*\n\s*"', "", body)
        found = COMMAND.search(joined)
        if found and "ward_shell_" not in body:
            complaints.append(f"{path}: a command with an unquoted word: {found.group(0)[-60:]}")
finish(complaints, looked_at)
