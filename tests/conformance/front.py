"""What stands between the public suite and `matins serve --http`.

    front.py PORT-FILE URL TOKEN-FILE SERVER

The suite knows no token, and tools and prompts by their own names: requests
get the token and the names of SERVER behind `matins serve`, replies the own
ones again. All else is passed on as it comes. Listens on loopback.
"""
import base64
import http.client
import http.server
import json
import os
import sys
import urllib.parse

PORT_FILE, TO, TOKEN_FILE, SERVER = sys.argv[1:]
TO = urllib.parse.urlsplit(TO)
PREFIX = f"mcp__{SERVER}__"
with open(TOKEN_FILE, encoding="ascii") as f:
    TOKEN = f.read().strip()
LIMIT_S = 60


def merged(name):
    return PREFIX + name if name.startswith(("test_", "json_")) else name


def merged_field(value):
    """Mcp-Name, which may be in Base64."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return merged(value)
    try:
        name = base64.b64decode(value[9:-2], validate=True).decode()
    except ValueError:
        return value
    return "=?base64?%s?=" % base64.b64encode(merged(name).encode()).decode()


def rename(body):
    try:
        m = json.loads(body)
        params = m["params"]
    except (ValueError, TypeError, KeyError):
        return body
    if not isinstance(params, dict):
        return body
    for holder in params, params.get("ref"):
        if isinstance(holder, dict) and isinstance(holder.get("name"), str):
            holder["name"] = merged(holder["name"])
    return json.dumps(m).encode()


def restore(data):
    return data.replace(b'"' + PREFIX.encode(), b'"')


class Front(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def pass_on(self):
        body = rename(self.rfile.read(int(
            self.headers.get("Content-Length", 0))))
        up = http.client.HTTPConnection(TO.hostname, TO.port, timeout=LIMIT_S)
        up.putrequest(self.command, TO.path, skip_host=True,
                      skip_accept_encoding=True)
        for name, value in self.headers.items():
            low = name.lower()
            if low == "mcp-name":
                value = merged_field(value)
            if low not in ("content-length", "connection", "authorization",
                           "transfer-encoding", "accept-encoding"):
                up.putheader(name, value)
        up.putheader("Authorization", "Bearer " + TOKEN)
        up.putheader("Content-Length", str(len(body)))
        up.endheaders(body)
        self.answer(up.getresponse())
        up.close()

    def answer(self, r):
        is_stream = "event-stream" in r.headers.get("Content-Type", "")
        data = b"" if is_stream else restore(r.read())
        self.send_response(r.status)
        for name, value in r.headers.items():
            if name.lower() not in ("content-length", "connection",
                                    "transfer-encoding", "date"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.close_connection = True
        if not is_stream:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        while is_stream:
            line = r.readline()
            if not line:
                break
            self.wfile.write(restore(line))

    def do_POST(self):
        try:
            self.pass_on()
        except (OSError, http.client.HTTPException):
            self.close_connection = True

    do_GET = do_DELETE = do_POST


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Front)
server.daemon_threads = True
with open(PORT_FILE + ".new", "w", encoding="ascii") as f:
    f.write(str(server.server_port))
os.rename(PORT_FILE + ".new", PORT_FILE)
server.serve_forever()
