#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A provider of language models that follows a script, and a registry of one package.

usage: provider.py DIR ADDRESS PORT

DIR/script      JSON, a list of steps {"run": command, "want": pattern}: what the agent is told to run,
                and what its output must match before it is told the next; read at each request
DIR/transcript  a line of JSON for each answer of the agent's: step, matched, output
DIR/log         what was asked for, a line each
DIR/package.tgz what the registry beneath /npm/ has, as tiny 1.0.0
DIR/ready       made when it listens

It speaks OpenAI's Responses (/v1/responses) and chat completions (/v1/chat/completions), and Gemini's
streamGenerateContent. What was run so far is told by the request itself, which holds the whole talk.
"""
import base64
import hashlib
import http.server
import json
import os
import re
import sys
import threading

DIR, ADDRESS, PORT = sys.argv[1], sys.argv[2], int(sys.argv[3])
LOCK = threading.Lock()
# How the agents call the tool that runs a command, and its argument.
TOOLS = {"exec_command": "cmd", "shell_command": "command", "run_shell_command": "command", "bash": "command"}
# Of a talk: more only ends one that would never end.
ANSWERS_MAX = 200


def write(name, line):
    with LOCK, open(os.path.join(DIR, name), "a", encoding="utf-8") as f:
        f.write(line + "\n")


def next_step(outputs, offered):
    """(tool, arguments), or (None, text): what the agent is told after these outputs."""
    with open(os.path.join(DIR, "script"), encoding="utf-8") as f:
        script = json.load(f)
    for i, output in enumerate(outputs):
        if i >= len(script):
            break
        matched = re.search(script[i]["want"], output) is not None
        if i == len(outputs) - 1:
            write("transcript", json.dumps({"step": i, "matched": matched, "output": output}))
        if not matched:
            return None, f"stuck at step {i}"
    if len(outputs) >= len(script):
        return None, "all done"
    tool = next((t for t in TOOLS if t in offered), None)
    if not tool:
        return None, f"no tool to run a command with: {offered}"
    arguments = {TOOLS[tool]: script[len(outputs)]["run"]}
    if tool == "bash":
        arguments["description"] = f"step {len(outputs)}"
    return tool, arguments


def text_of(value):
    """An output as text: agents send it as such, or in parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = list(value.values())
    return "\n".join(text_of(v) for v in value) if isinstance(value, list) else ""


def still_running(outputs):
    """(outputs a step, session): codex answers before a command has ended, and is asked again until it has."""
    steps, session, again = [], None, False
    for output in outputs:
        steps[-1:] = [steps[-1] + output] if again else steps[-1:] + [output]
        found = re.search(r"Process running with session ID (\d+)", output)
        session, again = (int(found.group(1)), True) if found else (None, False)
    return steps, session


def responses(body):
    outputs = [text_of(i.get("output")) for i in body["input"] if i.get("type", "").endswith("_output")]
    offered = [t.get("name") for t in body.get("tools", [])]
    n = len(outputs)
    steps, session = still_running(outputs)
    if session is not None and n < ANSWERS_MAX:
        tool, what = "write_stdin", {"session_id": session, "chars": "", "yield_time_ms": 30000}
    else:
        tool, what = next_step(steps, offered)
    item = {"type": "function_call", "id": f"fc{n}", "call_id": f"call{n}", "name": tool,
            "arguments": json.dumps(what)}
    if not tool:
        item = {"type": "message", "id": f"m{n}", "role": "assistant",
                "content": [{"type": "output_text", "text": what}]}
    usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1,
             "output_tokens_details": None, "total_tokens": 2}
    for name, data in (("response.created", {"response": {"id": f"r{n}"}}),
                       ("response.output_item.done", {"item": item}),
                       ("response.completed", {"response": {"id": f"r{n}", "usage": usage}})):
        yield f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n"


def chat(body):
    outputs = [text_of(m.get("content")) for m in body["messages"] if m.get("role") == "tool"]
    offered = [t["function"]["name"] for t in body.get("tools", [])]
    # What is asked besides (a title for the talk) has no tools.
    tool, what = next_step(outputs, offered) if offered else (None, "a title")
    n = len(outputs)
    delta = {"role": "assistant", "content": None if tool else what}
    if tool:
        delta["tool_calls"] = [{"index": 0, "id": f"call{n}", "type": "function",
                                "function": {"name": tool, "arguments": json.dumps(what)}}]
    end = "tool_calls" if tool else "stop"
    for choice in ({"index": 0, "delta": delta, "finish_reason": None},
                   {"index": 0, "delta": {}, "finish_reason": end}):
        chunk = {"id": f"c{n}", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
                 "choices": [choice]}
        yield f"data: {json.dumps(chunk)}\n\n"
    yield "data: [DONE]\n\n"


def gemini(body):
    parts = [p for c in body["contents"] for p in c.get("parts", [])]
    outputs = [text_of(p["functionResponse"].get("response")) for p in parts if "functionResponse" in p]
    offered = [f["name"] for t in body.get("tools", []) for f in t.get("functionDeclarations", [])]
    tool, what = next_step(outputs, offered) if offered else (None, "{}")
    part = {"functionCall": {"name": tool, "args": what}} if tool else {"text": what}
    yield "data: " + json.dumps({
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": "scripted"}) + "\n\n"


class Handler(http.server.BaseHTTPRequestHandler):
    """One request: of an agent, or of npm."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Nothing on stderr: the log has it."""

    def answer(self, kind, data, status=200):
        data = data if isinstance(data, bytes) else data.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        write("log", "GET " + self.path)
        if self.path == "/npm/-/tiny-1.0.0.tgz":
            with open(os.path.join(DIR, "package.tgz"), "rb") as f:
                self.answer("application/octet-stream", f.read())
        elif self.path == "/npm/tiny":
            with open(os.path.join(DIR, "package.tgz"), "rb") as f:
                digest = base64.b64encode(hashlib.sha512(f.read()).digest()).decode()
            dist = {"tarball": f"http://{self.headers['Host']}/npm/-/tiny-1.0.0.tgz",
                    "integrity": f"sha512-{digest}"}
            self.answer("application/json", json.dumps({
                "name": "tiny", "dist-tags": {"latest": "1.0.0"},
                "versions": {"1.0.0": {"name": "tiny", "version": "1.0.0", "dist": dist}}}))
        else:
            self.answer("application/json", '{"data": [], "models": []}', 200 if "models" in self.path else 404)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        key = self.headers.get("Authorization") or self.headers.get("x-goog-api-key") or ""
        write("log", f"POST {self.path} {key}")
        path = self.path.partition("?")[0]
        if path == "/v1/responses":
            self.answer("text/event-stream", "".join(responses(body)))
        elif path == "/v1/chat/completions":
            self.answer("text/event-stream", "".join(chat(body)))
        elif path.endswith(":streamGenerateContent"):
            self.answer("text/event-stream", "".join(gemini(body)))
        elif path.endswith(":generateContent"):
            self.answer("application/json", "".join(gemini(body)).removeprefix("data: "))
        elif path.endswith(":countTokens"):
            self.answer("application/json", '{"totalTokens": 1}')
        else:
            self.answer("application/json", "{}", 404)


server = http.server.ThreadingHTTPServer((ADDRESS, PORT), Handler)
with open(os.path.join(DIR, "ready"), "w", encoding="utf-8"):
    pass
server.serve_forever()
