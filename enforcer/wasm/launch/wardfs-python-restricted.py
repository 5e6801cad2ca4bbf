# SPDX-License-Identifier: Apache-2.0
"""Runs a script under RestrictedPython. wardfs starts this inside the walls of a session.

    wardfs-python-restricted.py [--import MODULE]... [--seconds N] SCRIPT ARGUMENT...

The script has safe builtins, `argv`, and the modules of the list. It is a layer of the language, and
no wall: the walls of the session hold whatever gets past it.
"""
import os
import re
import signal
import sys
import types
import warnings

LEAST = (8, 4)
FIX = "pip install 'RestrictedPython>=8.4', in an environment outside of the project"


def refuse(text):
    print(f"wardfs: [process] python = restricted: {text}", file=sys.stderr)
    sys.exit(125)


def check_version():
    """The one that is installed, or an end. Older ones have published holes."""
    from importlib import metadata
    try:
        version = metadata.version("RestrictedPython")
    except metadata.PackageNotFoundError:
        refuse(f"this Python ({sys.executable}) has no RestrictedPython; fix: {FIX}")
    found = re.match(r"(\d+)\.(\d+)(.*)", version)
    number = (int(found[1]), int(found[2])) if found else (0, 0)
    early = found and re.match(r"[.-]?(dev|a|b|rc)", found[3])
    if number < LEAST or (number == LEAST and early):
        refuse(f"RestrictedPython {version} is too old, 8.4 or newer is needed; fix: {FIX}")


def options(words):
    modules, seconds = [], 0
    while words and words[0].startswith("--"):
        name, value, *words = words
        if name == "--import":
            modules.append(value)
        elif name == "--seconds":
            seconds = int(value)
        else:
            refuse(f"no such option: {name}")
    return modules, seconds, words


class Printer:
    """print() of a script writes at once; RestrictedPython would collect the text."""

    def __init__(self, _getattr_=None):
        pass

    def _call_print(self, *objects, sep=" ", end="\n", flush=False):
        print(*objects, sep=sep, end=end, flush=flush)


def names_for(modules):
    from RestrictedPython import Guards, limited_builtins, safe_builtins, utility_builtins
    from RestrictedPython.Eval import default_guarded_getitem, default_guarded_getiter

    def is_listed(name):
        return any(name == m or name.startswith(m + ".") for m in modules)

    def check(value):
        # What a module imported is an attribute of it: json.codecs.sys leads to everything.
        if isinstance(value, types.ModuleType) and not is_listed(value.__name__):
            raise ImportError(f"[process] import does not list {value.__name__}")
        return value

    missing = object()

    def get(thing, name):
        # Without a default it would be None, and a misspelled name would go unnoticed.
        value = Guards.safer_getattr(thing, name, missing)
        if value is missing:
            raise AttributeError(f"{type(thing).__name__!r} object has no attribute {name!r}")
        return check(value)

    def apply(function, *args, **named):
        return function(*args, **named)

    def load(name, globals=None, locals=None, fromlist=(), level=0):
        if level or not is_listed(name):
            raise ImportError(f"[process] import does not list {name}")
        module = __import__(name, {}, {}, fromlist, 0)
        for part in fromlist or ():
            if part.startswith("_"):
                raise ImportError(f"{part} is private")
            check(getattr(module, part, None))
        return check(module)

    def in_place(op, x, y):
        import operator
        return getattr(operator, {"+=": "iadd", "-=": "isub", "*=": "imul", "/=": "itruediv",
                                  "//=": "ifloordiv", "%=": "imod", "**=": "ipow", "&=": "iand",
                                  "|=": "ior", "^=": "ixor", ">>=": "irshift", "<<=": "ilshift",
                                  "@=": "imatmul"}[op])(x, y)

    def own_class(name, bases, members):
        # A script may set attributes of objects whose class it made, and of no others.
        made = type(name, bases, members)
        made._guarded_writes = 1
        return made

    builtins = {**safe_builtins, **limited_builtins, **utility_builtins}
    # Of the utilities the modules go: the list alone says which there are.
    for name, value in list(builtins.items()):
        if isinstance(value, types.ModuleType):
            del builtins[name]
    builtins.update(__import__=load, range=range, list=list, tuple=tuple, dict=dict, set=set,
                    frozenset=frozenset, min=min, max=max, sum=sum, any=any, all=all,
                    enumerate=enumerate, map=map, filter=filter, reversed=reversed, iter=iter,
                    next=next, input=input, bytearray=bytearray)
    builtins.pop("_getattr_", None)
    return {
        "__builtins__": builtins,
        "__metaclass__": own_class,
        "__name__": "__main__",
        "_apply_": apply,
        "_getattr_": get,
        "_getitem_": default_guarded_getitem,
        "_getiter_": default_guarded_getiter,
        "_inplacevar_": in_place,
        "_iter_unpack_sequence_": Guards.guarded_iter_unpack_sequence,
        "_print_": Printer,
        "_unpack_sequence_": Guards.guarded_unpack_sequence,
        "_write_": Guards.full_write_guard,
    }


def watch(seconds):
    """Goes on in a child, which this process ends in time: Python answers no signal while a function
    in C computes, and a thread would wait for that function, too."""
    ended = (signal.SIGALRM, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT)
    signal.pthread_sigmask(signal.SIG_BLOCK, ended)
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ended)
        return

    def end(*_):
        os.kill(child, signal.SIGKILL)
        os.write(2, f"wardfs: [limits] command = {seconds}s: the script was ended\n".encode())
        os._exit(124)

    signal.signal(signal.SIGALRM, end)
    for number in ended[1:]:
        # A terminal sends it to both.
        signal.signal(number, lambda number, _: os.kill(child, number))
    signal.alarm(seconds)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ended)
    status = os.waitpid(child, 0)[1]
    signal.alarm(0)
    if not os.WIFSIGNALED(status):
        os._exit(os.WEXITSTATUS(status))
    number = os.WTERMSIG(status)
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def main():
    modules, seconds, words = options(sys.argv[1:])
    check_version()
    from RestrictedPython import compile_restricted
    script = words[0]
    try:
        with open(script, encoding="utf-8") as f:
            text = f.read()
    except OSError as e:
        print(f"python: can't open file {script!r}: {e}", file=sys.stderr)
        return 2
    # It warns of a print() whose text nobody collects.
    warnings.simplefilter("ignore", SyntaxWarning)
    try:
        code = compile_restricted(text, script, "exec")
    except SyntaxError as e:
        for line in e.args[0] if isinstance(e.args[0], tuple) else e.args[:1]:
            print(f"{script}: {line}", file=sys.stderr)
        return 1
    names = names_for(modules)
    names["argv"] = list(words)
    if seconds:
        watch(seconds)
    sys.argv = list(words)
    try:
        exec(code, names)
    except SystemExit:
        raise
    except BaseException as e:
        # Without this file's frames.
        trace = e.__traceback__.tb_next
        sys.excepthook(type(e), e.with_traceback(trace), trace)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
