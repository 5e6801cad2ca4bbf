# SPDX-License-Identifier: Apache-2.0
# Part of ../toolchains.sh.
import http.server
class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello from inside\n")
    def log_message(self, *args):
        pass
s = http.server.HTTPServer(("127.0.0.1", 0), Hello)
open("port", "w").write(str(s.server_port))
s.serve_forever()
