#!/usr/bin/env python3
"""What is no MCP server, on loopback: one port for all, the path says what.

Prints the port. /401 and /403 refuse, /404 is not there, /page is for
browsers, /login sends them to a login, /moved elsewhere, /500 has broken
down; each also with more behind it. Ends with its standard input.
"""
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = b"<!DOCTYPE html>\n<html><head><title>Welcome</title></head></html>"
ANSWERS = {
    "401": (401, "application/json", b'{"error":"no"}', {
        "WWW-Authenticate": 'Bearer error="invalid_token", '
        'error_description="it was taken back"'}),
    "403": (403, "text/plain", b"not for you", {}),
    "404": (404, "text/html", PAGE, {}),
    "page": (200, "text/html; charset=utf-8", PAGE, {}),
    "login": (302, "text/plain", b"", {
        "Location": "https://sso.example.com/login?next=hidden-in-it"}),
    "moved": (301, "text/plain", b"", {
        "Location": "https://mcp.example.com/v2"}),
    "500": (500, "text/plain", b"it broke down", {}),
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def do_GET(self):
        name = self.path.split("?")[0].split("/")[1]
        status, media_type, body, headers = ANSWERS.get(name, ANSWERS["404"])
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        for header in headers.items():
            self.send_header(*header)
        self.end_headers()
        self.wfile.write(body)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
