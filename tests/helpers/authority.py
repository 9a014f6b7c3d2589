#!/usr/bin/env python3
"""An MCP endpoint and its authorization server on loopback, as told.

Each line on stdin is a JSON object that begins a scenario on a new port; the
answer is the line "port N". From then on each request is a line on stdout:
method, path, form or headers that matter. {base} in texts of a scenario is
the address, {other} another origin that leads to it. What a scenario may say, each key with the right thing as default:

  challenge  list of WWW-Authenticate of a 401; "forbidden" the same of a 403
  docs       path -> answer, see below, instead of what would be there, or a
             list of them, of which the last stays
  prm, as    members of the two documents; null takes one away
  authorize  members of the redirect's query; null takes one away
  tokens     answers of the token endpoint, one after the other
  register   answers of the registration endpoint, the same way
  mcp        answers of the endpoint, the same way
  expires_in of tokens; rotate: with new refresh tokens; dpop: they are bound
  nonce      DPoP nonce that is asked for, of both endpoints
  needs      scopes that a token must have, one list for each request; the last
             stays
  seed       a refresh token that is known from the start
  delay      seconds that a token takes
  server     true: the endpoint is a whole server, with a tool "echo"

An answer is {"status", "json" or "body", "type", "headers"}; true is what
would be there anyway.
"""
import base64
import hashlib
import json
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCK = threading.Lock()


def merge(document, changes):
    for key, value in (changes or {}).items():
        if value is None:
            document.pop(key, None)
        else:
            document[key] = value
    return document


def base64url(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class Scenario:
    def __init__(self, told):
        self.told = told
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.scenario = self
        self.base = "http://127.0.0.1:%d" % self.server.server_port
        other = self.base.replace("127.0.0.1", "localhost")
        self.told = json.loads(json.dumps(told).replace("{base}", self.base)
                               .replace("{other}", other))
        self.codes = {}
        self.tokens = {}
        self.refresh = {}
        if told.get("seed"):
            self.refresh[told["seed"]] = (None, None)
        self.count = 0
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()

    def metadata(self):
        return merge({
            "issuer": self.base,
            "authorization_endpoint": self.base + "/authorize",
            "token_endpoint": self.base + "/token",
            "registration_endpoint": self.base + "/register",
            "revocation_endpoint": self.base + "/revoke",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
        }, self.told.get("as"))

    def resource(self):
        return merge({
            "resource": self.base + "/mcp",
            "authorization_servers": [self.base],
        }, self.told.get("prm"))

    def next(self, name):
        rest = self.told.get(name)
        if not rest:
            return True
        return rest.pop(0)

    def issue(self, scope, resource):
        self.count += 1
        token = {"access_token": "access-%d" % self.count,
                 "token_type": "DPoP" if self.told.get("dpop") else "Bearer",
                 "expires_in": self.told.get("expires_in", 3600)}
        self.tokens[token["access_token"]] = (scope or "").split()
        if self.told.get("rotate", True) or not self.refresh:
            token["refresh_token"] = "refresh-%d" % self.count
            self.refresh[token["refresh_token"]] = (scope, resource)
        if scope:
            token["scope"] = scope
        return token


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def say(self, *words):
        with LOCK:
            print(self.command, self.path.split("?")[0], *words, flush=True)

    def answer(self, told):
        body = told.get("body", "")
        if "json" in told:
            body = json.dumps(told["json"])
        self.send_response(told.get("status", 200))
        self.send_header("Content-Type", told.get("type", "application/json"))
        self.send_header("Content-Length", str(len(body)))
        for name, value in told.get("headers", []):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def proof(self):
        """Claims of the proof that came, None without one."""
        text = self.headers.get("DPoP")
        if not text:
            return None
        part = text.split(".")[1]
        return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))

    def do_GET(self):
        scenario = self.server.scenario
        path = self.path.split("?")[0]
        told = scenario.told.get("docs", {}).get(self.path, True)
        if isinstance(told, list):
            told = told.pop(0) if len(told) > 1 else told[0]
        if path == "/authorize":
            self.authorize()
            return
        self.say("version=" + self.headers.get("MCP-Protocol-Version", ""),
                 "authorization=" + self.headers.get("Authorization", ""))
        if told is not True and told is not None:
            self.answer(told)
        elif told is None:
            self.answer({"status": 404})
        elif path == "/.well-known/oauth-protected-resource/mcp":
            self.answer({"json": scenario.resource()})
        elif path == "/.well-known/oauth-authorization-server":
            self.answer({"json": scenario.metadata()})
        else:
            self.answer({"status": 404})

    def authorize(self):
        scenario = self.server.scenario
        asked = dict(urllib.parse.parse_qsl(self.path.split("?", 1)[1]))
        self.say(*("%s=%s" % (k, asked[k]) for k in sorted(asked)
                   if k not in ("state", "code_challenge")))
        code = "code-%d" % (len(scenario.codes) + 1)
        scenario.codes[code] = asked
        query = merge({"code": code, "state": asked.get("state", "")},
                      scenario.told.get("authorize"))
        self.answer({"status": 302, "headers": [
            ("Location", asked["redirect_uri"] + "?" +
             urllib.parse.urlencode(query))]})

    def do_POST(self):
        scenario = self.server.scenario
        length = int(self.headers.get("Content-Length", 0))
        text = self.rfile.read(length).decode()
        path = self.path.split("?")[0]
        if path == "/mcp":
            self.mcp(text)
        elif path == "/token" or path == "/idp":
            self.token(dict(urllib.parse.parse_qsl(text)))
        elif path == "/register":
            self.register(json.loads(text))
        elif path == "/revoke":
            self.say(text)
            self.answer({})
        else:
            self.say()
            self.answer({"status": 404})

    def register(self, asked):
        told = self.server.scenario.next("register")
        self.say("method=" + asked.get("token_endpoint_auth_method", ""),
                 "type=" + asked.get("application_type", ""),
                 "grants=" + ",".join(asked.get("grant_types", [])),
                 "uri=" + ",".join(asked.get("redirect_uris", [])))
        if told is True:
            told = {"status": 201, "json": {
                "client_id": "registered", "token_endpoint_auth_method":
                asked["token_endpoint_auth_method"]}}
            if asked["token_endpoint_auth_method"] != "none":
                told["json"]["client_secret"] = "given"
        self.answer(told)

    def token(self, form):
        scenario = self.server.scenario
        proof = self.proof()
        told = scenario.next("tokens")
        words = ["%s=%s" % (k, form[k]) for k in sorted(form)
                 if k not in ("code_verifier", "client_assertion")]
        if "client_assertion" in form:
            part = form["client_assertion"].split(".")[1]
            claims = json.loads(base64.urlsafe_b64decode(
                part + "=" * (-len(part) % 4)))
            words.append("aud=%s sub=%s" % (claims["aud"], claims["sub"]))
        words.append("basic=" + self.headers.get("Authorization", ""))
        if proof:
            words.append("proof=%s:%s:%s" % (proof["htm"], proof["htu"],
                                             proof.get("nonce", "")))
        time.sleep(scenario.told.get("delay", 0))
        self.say(*words)
        nonce = scenario.told.get("nonce")
        if nonce and (not proof or proof.get("nonce") != nonce):
            told = {"status": 400, "json": {"error": "use_dpop_nonce"},
                    "headers": [["DPoP-Nonce", nonce]]}
        if told is True:
            told = self.grant(form)
        self.answer(told)

    def grant(self, form):
        scenario = self.server.scenario
        kind = form.get("grant_type", "")
        refused = {"status": 400, "json": {
            "error": "invalid_grant", "error_description": "not known"}}
        if kind == "authorization_code":
            asked = scenario.codes.pop(form.get("code"), None)
            verifier = form.get("code_verifier", "").encode()
            if (not asked or len(verifier) < 43 or
                    asked["redirect_uri"] != form.get("redirect_uri") or
                    asked["resource"] != form.get("resource") or
                    asked["code_challenge"] != base64url(
                        hashlib.sha256(verifier).digest())):
                return refused
            return {"json": scenario.issue(asked.get("scope"),
                                           asked["resource"])}
        if kind == "refresh_token":
            old = scenario.refresh.get(form.get("refresh_token"))
            if not old:
                return refused
            if scenario.told.get("rotate", True):
                del scenario.refresh[form["refresh_token"]]
            return {"json": scenario.issue(old[0], old[1])}
        if kind.endswith(":token-exchange"):
            return {"json": {
                "access_token": "id-jag-1", "token_type": "N_A",
                "issued_token_type":
                "urn:ietf:params:oauth:token-type:id-jag"}}
        token = scenario.issue(form.get("scope"), form.get("resource"))
        token.pop("refresh_token", None)
        return {"json": token}

    def mcp(self, text):
        scenario = self.server.scenario
        given = self.headers.get("Authorization", "")
        told = scenario.next("mcp")
        proof = self.proof()
        words = ["authorization=" + given.replace(" ", "_")]
        if proof:
            words.append("proof=%s:%s:%s" % (proof["htm"], proof["htu"],
                                             "ath" in proof))
        self.say(*words)
        if told is not True:
            self.answer(told)
            return
        scopes = scenario.tokens.get(given.split(" ")[-1])
        if scopes is None:
            self.answer({"status": 401, "headers": [
                ("WWW-Authenticate", c) for c in scenario.told.get(
                    "challenge", ["Bearer"])]})
            return
        needs = scenario.told.get("needs", [[]])
        needed = needs.pop(0) if len(needs) > 1 else needs[0]
        if not set(needed) <= set(scopes):
            self.answer({"status": 403, "headers": [(
                "WWW-Authenticate",
                'Bearer error="insufficient_scope", scope="%s"' %
                " ".join(needed))]})
            return
        if scenario.told.get("server"):
            self.serve(json.loads(text))
        else:
            self.answer({"json": {"jsonrpc": "2.0", "id": 1, "result": {}}})

    def serve(self, message):
        tool = {"name": "echo", "inputSchema": {"type": "object"}}
        results = {
            "initialize": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "authority", "version": "1"}},
            "tools/list": {"tools": [tool]},
            "tools/call": {"content": [
                {"type": "text", "text": "at " + self.path}]},
        }
        if "id" not in message:
            self.answer({"status": 202})
            return
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] in results:
            answer["result"] = results[message["method"]]
        else:
            answer["error"] = {"code": -32601, "message": "not here"}
        self.answer({"json": answer})


def main():
    scenarios = []
    for line in sys.stdin:
        scenarios.append(Scenario(json.loads(line)))
        with LOCK:
            print("port", scenarios[-1].server.server_port, flush=True)


main()
