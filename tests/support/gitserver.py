#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gitserver.py DIR ADDRESS PORT TOKEN: git over HTTPS, by git's own http-backend.

Serves the repositories in DIR, with DIR/cert.pem and DIR/key.pem; reading takes nothing, pushing the
password TOKEN. Makes DIR/git-ready when it listens.
"""
import base64
import http.server
import os
import ssl
import subprocess
import sys

DIR, ADDRESS, PORT, TOKEN = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
BACKEND = "/usr/lib/git-core/git-http-backend"


def password(header):
    """What stands behind the colon of "Basic …"."""
    kind, _, text = (header or "").partition(" ")
    try:
        return base64.b64decode(text).decode().partition(":")[2] if kind == "Basic" else None
    except ValueError:
        return None


class Handler(http.server.BaseHTTPRequestHandler):
    """One request, handed to the CGI program."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Nothing on stderr."""

    def answer(self, status, head, body):
        self.send_response(status)
        for line in head:
            self.send_header(*line.split(": ", 1))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve(self):
        path, _, query = self.path.partition("?")
        given = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        known = password(self.headers.get("Authorization")) == TOKEN
        if "receive-pack" in self.path and not known:
            self.answer(401, ["WWW-Authenticate: Basic realm=\"git\""], b"")
            return
        env = {"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": DIR, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
               "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
               "QUERY_STRING": query, "REQUEST_METHOD": self.command,
               "CONTENT_TYPE": self.headers.get("Content-Type") or "",
               "CONTENT_LENGTH": str(len(given)), "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol") or "",
               "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
               "REMOTE_ADDR": self.client_address[0]}
        if known:
            env["REMOTE_USER"] = "x"  # whom http-backend lets push
        done = subprocess.run([BACKEND], input=given, stdout=subprocess.PIPE, env=env, check=False)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        status = next((int(l[8:11]) for l in lines if l.startswith("Status: ")), 200)
        self.answer(status, [l for l in lines if ": " in l and not l.startswith("Status: ")], body)

    do_GET = do_POST = serve


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(os.path.join(DIR, "cert.pem"), os.path.join(DIR, "key.pem"))
server = http.server.ThreadingHTTPServer((ADDRESS, PORT), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(DIR, "git-ready"), "w", encoding="ascii"):
    pass
server.serve_forever()
