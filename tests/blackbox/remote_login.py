"""The authorization server of remote_peer.py. The flaw is what stands behind
"oauth-" in the path of the endpoint: prm~, as~, token~, prmto~, tokento~ with
an escaped URL (named, or redirected to), echo, hangtoken, short; is~TOKEN,
long~BYTES: the token."""

import asyncio
import base64
import collections
import hashlib
import json
import urllib.parse

from remote_troubles import head, put, silence

MARK = "mark-%s-9f3b1c"  # what tests look for, and must not find
CODES, TOKENS, REFRESH = {}, set(), set()
SERIAL = collections.Counter()


def fresh(kind):
    SERIAL[kind] += 1
    return MARK % ("%s%d" % (kind, SERIAL[kind]))


def base_of(request, writer):
    is_tls = writer.get_extra_info("ssl_object") is not None
    return "%s://%s" % ("https" if is_tls else "http", request.headers["host"])


async def say(writer, document, status=200, *more):
    text = json.dumps(document).encode()
    await put(writer, head(status, "application/json", len(text), *more) + text)


async def has_token(request, writer):
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind == "Bearer" and token in TOKENS:
        return True
    flaw = request.word("oauth")
    prm = base_of(request, writer) + "/prm/" + request.path.split("/")[1]
    if flaw.startswith("prm~"):
        prm = urllib.parse.unquote(flaw[4:])
    await put(
        writer,
        head(
            401,
            "text/plain",
            0,
            'WWW-Authenticate: Bearer resource_metadata="%s"' % prm,
        ),
    )
    return False


async def serve_metadata(request, writer):
    base, name = base_of(request, writer), request.path.split("/")[-1]
    request.words = name.split("_")
    flaw = request.word("oauth") or ""
    issuer = "%s/as/%s" % (base, name)
    if request.path.startswith("/prm/"):
        if flaw.startswith("as~"):
            issuer = urllib.parse.unquote(flaw[3:])
        if flaw.startswith("prmto~"):
            to = urllib.parse.unquote(flaw[6:])
            await put(writer, head(307, "text/plain", 0, "Location: " + to))
            return
        await say(
            writer,
            {
                "resource": "%s/%s/mcp" % (base, name),
                "authorization_servers": [issuer],
            },
        )
        return
    token = issuer + "/token"
    if flaw.startswith("token~"):
        token = urllib.parse.unquote(flaw[6:])
    await say(
        writer,
        {
            "issuer": issuer,
            "authorization_endpoint": issuer + "/authorize",
            "token_endpoint": token,
            "registration_endpoint": issuer + "/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        },
    )


async def serve_authorize(request, writer):
    asked = dict(urllib.parse.parse_qsl(request.query))
    code = fresh("code")
    CODES[code] = asked
    to = asked["redirect_uri"] + "?" + urllib.parse.urlencode(
        {"code": code, "state": asked["state"]}
    )
    await put(writer, head(302, "text/plain", 0, "Location: " + to))


def grant(form):
    kind = form.get("grant_type")
    if kind == "authorization_code":
        asked = CODES.pop(form.get("code"), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        want = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if not asked or asked["code_challenge"] != want:
            return None
    elif kind == "refresh_token":
        if form.get("refresh_token") not in REFRESH:
            return None
        REFRESH.remove(form["refresh_token"])
    access, renew = fresh("access"), fresh("refresh")
    TOKENS.add(access)
    REFRESH.add(renew)
    answer = {"access_token": access, "token_type": "Bearer", "expires_in": 3600}
    if kind != "client_credentials":
        answer["refresh_token"] = renew
    return answer


async def serve_token(request, writer):
    form = dict(urllib.parse.parse_qsl(request.text))
    flaw = request.word("oauth") or ""
    if flaw == "hangtoken":
        await silence()
    if flaw.startswith("tokento~"):
        to = urllib.parse.unquote(flaw[8:])
        await put(writer, head(307, "text/plain", 0, "Location: " + to))
        return
    if flaw == "echo":  # gives back all that it was given
        given = request.text + " " + request.headers.get("authorization", "")
        await say(
            writer, {"error": "invalid_grant", "error_description": given}, 400
        )
        return
    answer = grant(form)
    if not answer:
        await say(writer, {"error": "invalid_grant"}, 400)
        return
    if flaw.startswith(("is~", "long~")):
        what, _, text = flaw.partition("~")
        answer["access_token"] = text if what == "is" else int(text) * "x"
        TOKENS.add(answer["access_token"])
    if flaw == "short":  # the first one ends at once, the next takes its time
        is_first = form["grant_type"] == "authorization_code"
        await asyncio.sleep(0 if is_first else 0.5)
        answer["expires_in"] = 1 if is_first else 3600
    await say(writer, answer)


async def serve_login(request, writer):
    """/as/NAME/WHAT"""
    what = request.path.split("/")[3]
    request.words = request.path.split("/")[2].split("_")
    if what == "authorize":
        await serve_authorize(request, writer)
    elif what == "token":
        await serve_token(request, writer)
    elif what == "register":
        asked = json.loads(request.text)
        await say(
            writer,
            {
                "client_id": "registered",
                "client_secret": fresh("secret"),
                "redirect_uris": asked["redirect_uris"],
                "token_endpoint_auth_method": "client_secret_basic",
            },
            201,
        )
    else:
        await put(writer, head(404, "text/plain", 0))
