#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inside a folder: a room includes and calls its own files and the rooms below it, never one above,
and no files call each other in a circle. What is called is read from the objects of the build."""
import os
import re

import _objects
from _sources import files, finish, read

# folder: its rooms, the lowest first; "": the files of the folder itself. Rooms of one string stand
# side by side: none of them may use another.
TIERS = {
    "fs": ["base", "review", "kernel", "quota", "node", "watch", "handle", "request", "resolve", "gate",
           "replay", "forget", "ops", "serve", ""],
    "audit": ["", "log", "write", "store", "query", "verify", "export"],
    "enforcer/session": ["owner", "home", "tree", "guard", "plan", "records", "limits", "control",
                         "grants", "terminal", "exec", "reload", "ask", "warm", "run", "mount"],
    "enforcer/sandbox": ["", "init"],
    "enforcer/modes": ["table", ""],
    "enforcer/net": ["protocol setup", "base", "names", "decide", "conn", "entry", ""],
    "enforcer/cli": ["base", "audit doctor panel place", "run", "policy", "review", ""],
}


def room_of(folder, path):
    return os.path.relpath(os.path.dirname(path), folder).replace(".", "", 1)


def ranks(tiers):
    return {room: rank for rank, rooms in enumerate(tiers) for room in rooms.split(" ")}


def may_use(rank, room, other):
    return room == other or rank[other] < rank[room]


def symbols(paths):
    """({name: source that defines it}, {source: names that it uses}) of these (source, object)."""
    defines, uses = {}, {}
    for source, path in paths:
        defined, uses[source] = TABLE[path]
        defines.update(dict.fromkeys(defined, source))
    return defines, uses


def calls(sources):
    """{source: {other source: a name of it that the source uses}}"""
    defines, uses = symbols(sources)
    graph = {}
    for source in uses:
        graph[source] = {}
        for name in sorted(uses[source]):
            other = defines.get(name, source)
            if other != source:
                graph[source].setdefault(other, name)
    return graph


def circles(graph):
    """The sets of nodes that reach each other (Tarjan), of two and more."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            circle = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(circle) > 1:
                found.append(sorted(circle))

    for node in graph:
        if node not in index:
            visit(node)
    return found


def check_includes(folder, rank, paths):
    for path in paths:
        room = room_of(folder, path)
        for number, line in enumerate(read(path).splitlines(), 1):
            found = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
            if not found or not found.group(1).startswith(folder + "/"):
                continue
            other = room_of(folder, found.group(1))
            if other in rank and not may_use(rank, room, other):
                yield f'{path}:{number}: {room or "the top"} may not include "{found.group(1)}"'


def check_calls(folder, rank, graph):
    for source in sorted(graph):
        room = room_of(folder, source)
        for other in sorted(graph[source]):
            if not may_use(rank, room, room_of(folder, other)):
                yield (f"{source}: {room or 'the top'} may not use {graph[source][other]} of "
                       f"{other}")
    for circle in circles(graph):
        names = [graph[a][b] for a in circle for b in circle if b in graph[a]]
        yield f"a circle of calls: {', '.join(circle)} ({', '.join(names)})"


def check(folder, tiers, built):
    rank = ranks(tiers)
    paths = files(".c", ".h", below=folder)
    for room in rank:
        if not any(room_of(folder, path) == room for path in paths):
            yield f"{os.path.join(folder, room)}: has a place among the tiers, and no file"
    for path in paths:
        if room_of(folder, path) not in rank:
            yield f"{path}: its room has no place among the tiers of {folder}"
        elif path.endswith(".c") and path not in built:
            yield f"{path}: was not compiled"
    paths = [path for path in paths if room_of(folder, path) in rank]
    yield from check_includes(folder, rank, paths)
    graph = calls([(path, built[path]) for path in paths if path.endswith(".c")
                   and path in built])
    yield from check_calls(folder, rank, graph)


def self_test():
    """What the check is made of finds what it is to find."""
    rank = ranks(["a", "b c", ""])
    assert may_use(rank, "", "a") and may_use(rank, "b", "b") and may_use(rank, "b", "a")
    assert not may_use(rank, "a", "") and not may_use(rank, "b", "c")
    graph = {"1": {"2": "f"}, "2": {"3": "g"}, "3": {"1": "h"}, "4": {"1": "f"}, "5": {}}
    assert circles(graph) == [["1", "2", "3"]]
    assert not circles({"1": {"2": "f", "3": "g"}, "2": {"3": "g"}, "3": {}})
    assert room_of("fs", "fs/main.c") == "" and room_of("fs", "fs/node/node.c") == "node"


self_test()
complaints, of = [], dict(reversed(_objects.objects()))
TABLE = _objects.symbols(of.values())
for where, order in TIERS.items():
    complaints += check(where, order, of)
finish(complaints, TIERS)
