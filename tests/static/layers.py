#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who may include whom: a folder knows what stands above it in meson.build, and no more."""
import os
import re

from _sources import files, finish, read

# What a way in or out of a session stands on.
NET = ["enforcer/net/base", "enforcer/net/decide", "enforcer/net/setup", "enforcer/net/protocol"]
# folder: the folders (or single headers) of ours that its files may include, besides its own.
MAY_INCLUDE = {
    "enforcer/base": [],
    "enforcer/ipc": ["enforcer/base"],
    "enforcer/screen": ["enforcer/base", "enforcer/ipc"],
    "conf": [],
    # What is true of each mode, as data; the operations stand above the sandbox.
    "enforcer/modes/table": [],
    "enforcer/policy": ["enforcer/base", "enforcer/ipc", "conf", "enforcer/modes/table"],
    "audit": ["enforcer/base", "enforcer/ipc", "enforcer/policy/policy.h",
              "enforcer/policy/grants.h", "enforcer/policy/settings.h",
              "enforcer/policy/approver_key.h",
              # connections are decided again
              "enforcer/policy/explain.h"],
    "fs": ["enforcer/base", "enforcer/ipc", "enforcer/policy", "audit"],
    # main knows all rooms; static/tiers says which of them may use which.
    "enforcer/net": ["enforcer/base", "enforcer/ipc", "enforcer/policy", "audit"] + [
        "enforcer/net/" + room for room in ("setup", "protocol", "base", "names", "decide",
                                            "conn", "entry")],
    "enforcer/net/setup": ["enforcer/base", "enforcer/ipc"],
    "enforcer/net/protocol": ["enforcer/base", "enforcer/policy", "audit"],
    "enforcer/net/base": ["enforcer/base", "enforcer/ipc", "enforcer/policy/policy.h",
                          "enforcer/policy/grants.h", "audit",
                          "enforcer/net/setup", "enforcer/net/protocol"],
    "enforcer/net/names": ["enforcer/base", "enforcer/policy", "enforcer/net/base",
                           "enforcer/net/setup"],
    "enforcer/net/decide": ["enforcer/policy", "enforcer/base", "enforcer/net/base",
                            "enforcer/net/names"],
    "enforcer/net/conn": ["enforcer/base", "enforcer/ipc", "enforcer/policy/grants.h"] + NET + [
        "enforcer/net/names"],
    "enforcer/net/entry": ["enforcer/base"] + NET + ["enforcer/net/names", "enforcer/net/conn"],
    # settings.h: what "unlimited" is.
    "enforcer/sandbox": ["enforcer/base", "enforcer/ipc", "conf", "enforcer/modes/table",
                         "enforcer/policy/settings.h"],
    # Engines of mode docker: what they are told, of the sandbox that they run in.
    "enforcer/container": ["conf/embedded.h", "enforcer/base", "enforcer/sandbox/sandbox.h"],
    # A runtime's flags follow from the policy.
    "enforcer/modes": ["enforcer/container/container.h",
                       "enforcer/base", "enforcer/modes/table", "enforcer/sandbox/sandbox.h",
                       "enforcer/policy/policy.h", "enforcer/policy/settings.h",
                       "enforcer/policy/outline.h", "enforcer/policy/explain.h",
                       # Where the proxy inside is.
                       "enforcer/policy/proxy.h",
                       # The names of what a module may import.
                       "enforcer/wasm/host/wasi.def"],
    # Images of the store, and the program that unpacks them.
    "enforcer/image": ["enforcer/base", "enforcer/ipc", "enforcer/policy/image_name.h"],
    # Batches of records on their way to a collector, which answers.
    "enforcer/send": ["enforcer/base", "enforcer/ipc/cage.h"],
    # What a run risks: from the policy, the host and earlier trails to a mode.
    "enforcer/risk": ["enforcer/base", "enforcer/ipc/helper.h", "conf", "enforcer/modes/table",
                      "enforcer/modes/modes.h", "enforcer/policy", "audit"],
    # What the client of `attach` sees pass; what parses it stays in the helper.
    "enforcer/session": ["enforcer/base", "enforcer/ipc", "enforcer/screen/tty_modes.h",
                         "enforcer/screen/pieces.h", "conf", "enforcer/modes/table",
                         "enforcer/modes/modes.h", "enforcer/risk/risk.h",
                         "enforcer/image/image.h", "enforcer/image/save.h",
                         "enforcer/container/container.h",
                         "enforcer/policy", "audit",
                         "enforcer/net/protocol/token.h", "enforcer/sandbox",
                         "enforcer/review/review.h"],
    # What a session of review has staged.
    "enforcer/review": ["enforcer/base", "enforcer/ipc/helper.h"],
    "enforcer/cli": ["enforcer/base", "enforcer/ipc", "conf", "enforcer/modes/table",
                     "enforcer/modes/modes.h", "enforcer/image/image.h",
                     "enforcer/image/save.h",
                     "enforcer/send/send.h", "enforcer/container/container.h",
                     "enforcer/policy", "audit",
                     "enforcer/net/protocol/token.h", "enforcer/sandbox", "enforcer/session",
                     "enforcer/review/review.h", "enforcer/review/text_hunks.h"],
    # A runtime of engines: sessions without a sandbox of ours.
    "enforcer/oci": ["enforcer/base", "enforcer/ipc", "enforcer/policy", "audit",
                     "enforcer/container/container.h", "enforcer/session"],
    # A program that stands alone, inside any sandbox and outside of it.
    "enforcer/attack": ["enforcer/base", "conf"],
    # Inside the session, of which it knows nothing.
    "enforcer/wasm": ["enforcer/base", "conf"],
    "enforcer/hostd": ["enforcer/base", "enforcer/ipc", "fs/base/fuse_kernel.h",
                       # It makes the groups that an ordinary user cannot.
                       "enforcer/sandbox/cgroup.h"],
    "enforcer/auditd": ["enforcer/base", "enforcer/ipc", "enforcer/policy/settings.h", "audit",
                        "enforcer/session"],
}
# Only these may know libfuse.
FUSE = "fs"


def layer(folder):
    """The line above that a folder falls under: its own or that of a folder around it."""
    while folder and folder not in MAY_INCLUDE:
        folder = os.path.dirname(folder)
    return folder


def includes(path):
    for number, line in enumerate(read(path).splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if found:
            yield number, found.group(1) == '"', found.group(2)


complaints, looked_at = [], 0
for path in files(".c", ".h"):
    if path.startswith("tests/"):
        continue
    folder = layer(os.path.dirname(path))
    if not folder:
        complaints.append(f"{path}: its folder has no line in this check")
        continue
    looked_at += 1
    for number, ours, what in includes(path):
        where = f"{path}:{number}"
        if ours:
            target = layer(os.path.dirname(what))
            if "/" not in what:
                complaints.append(f'{where}: "{what}" is not a path from the root')
            elif target != folder and target not in MAY_INCLUDE[folder] and \
                    what not in MAY_INCLUDE[folder]:
                complaints.append(f'{where}: {folder} may not include "{what}"')
        elif what.startswith("fuse") and folder != FUSE:
            complaints.append(f"{where}: only {FUSE} may include <{what}>")
        elif re.match(r"(enforcer|audit|fs|conf)/", what):
            complaints.append(f"{where}: our headers are included with quotes")
finish(complaints, looked_at)
