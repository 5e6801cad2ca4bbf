# SPDX-License-Identifier: Apache-2.0
# Part of ../approve-hook-shipped.sh: a service that answers questions. PORT ASKED: files that get
# its port, and each question with the path it came to.
import http.server
import json
import os
import sys


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert self.headers["Authorization"] == "Bearer letmein"
        with open(sys.argv[2], "a", encoding="utf-8") as out:
            print(self.path, body.decode(), file=out)
        if self.path == "/moved":
            self.send_response(307)
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            return
        answer = {"answer": "once", "more": "is not passed on"}
        if os.path.exists("../answer"):
            with open("../answer", encoding="ascii") as f:
                answer["answer"] = f.read().strip()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    do_GET = do_POST

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Service)
with open(sys.argv[1] + ".new", "w", encoding="ascii") as f:
    f.write(str(server.server_address[1]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
