"""A server on pipes with all that the public suite's server scenarios ask for.

    offered.py DATE

speaks that revision only: with initialize before 2026-07-28, else with
requests that stand alone.
"""
import json
import sys

DATE = sys.argv[1]
IS_ALONE = DATE >= "2026-07-28"
META = "io.modelcontextprotocol/"
PNG = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8Dw"
       "HwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
WATCHED = "test://watched-resource"


class Refused(Exception):
    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


def put(**m):
    print(json.dumps({"jsonrpc": "2.0", **m}), flush=True)


def tell(method, params=None):
    put(method=method, **({} if params is None else {"params": params}))


def text(words):
    return {"type": "text", "text": words}


def content(*blocks, **more):
    return {"content": list(blocks), **more}


def resource(uri, words, kind="text/plain"):
    return {"type": "resource", "resource": {
        "uri": uri, "mimeType": kind, "text": words}}


IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": WAV, "mimeType": "audio/wav"}


# ---- questions ----
# A tool that asks is a function of what was answered so far: it returns a
# result, or Asks. An older client is asked by requests, a newer one by a result
# that names them; its next request brings the answers.

class Asks:
    does_without = False  # an answer that an older client refuses

    def __init__(self, **questions):
        self.questions = questions


def form(message, **properties):
    return {"method": "elicitation/create", "params": {
        "message": message, "requestedSchema": {
            "type": "object", "properties": properties,
            "required": list(properties)}}}


def sample(words, most=100):
    return {"method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": text(words)}],
        "maxTokens": most}}


ROOTS = {"method": "roots/list", "params": {}}
STRING = {"type": "string"}


def good(answers, *names):
    return all(isinstance(answers.get(n), dict) for n in names)


def once(**questions):
    """A tool that asks all of them, and tells the answers."""
    def tool(_, answers, __):
        if not good(answers, *questions):
            return Asks(**questions)
        return content(text("answered: " + json.dumps(
            {k: answers[k] for k in questions})))
    return tool


def capabilities(_, answers, can):
    known = {"sampling": ("said", sample("hello")),
             "elicitation": ("name", form("your name?", name=STRING))}
    questions = dict(q for c, q in known.items() if c in can)
    if not questions or good(answers, *questions):
        return content(text("done"))
    asks = Asks(**questions)
    asks.does_without = True
    return asks


def rounds(_, answers, __):
    for name in "step1", "step2":
        if not good(answers, name):
            return Asks(**{name: form(name + "?", value=STRING)})
    return content(text("two rounds"))


def needs_sampling(_, answers, can):
    if not IS_ALONE and not good(answers, "said"):
        return Asks(said=sample("hello"))
    if "sampling" not in can:
        raise Refused(-32021, "sampling is needed",
                      {"requiredCapabilities": {"sampling": {}}})
    return content(text("done"))


def sampled(args, answers, __):
    if not good(answers, "said"):
        return Asks(said=sample(args.get("prompt", "")))
    return content(text("LLM response: " + json.dumps(answers["said"])))


def asked(args, answers, __):
    if not good(answers, "user"):
        return Asks(user=form(args.get("message", "?"), username=STRING,
                              email=STRING))
    return content(text("User response: " + json.dumps(answers["user"])))


def choices(*names):
    return [{"const": n, "title": n.title()} for n in names]


# ---- tools ----

def level_of(meta):
    return state["level"] if not IS_ALONE else meta.get(META + "logLevel")


state = {"level": None, "prompts": 0, "tools": 0}


def logs(_, __, ___, meta):
    for n in "started", "processing", "completed":
        if level_of(meta):
            tell("notifications/message", {
                "level": "info", "logger": "offered", "data": "tool " + n})
    return content(text("done"))


def progress(_, __, ___, meta):
    for n in 0, 50, 100:
        if "progressToken" in meta:
            tell("notifications/progress", {
                "progressToken": meta["progressToken"],
                "progress": n, "total": 100})
    return content(text("done"))


def changes(kind):
    def tool(*_):
        state[kind] += 1
        method = f"notifications/{kind}/list_changed"
        if not IS_ALONE:
            tell(method)
        for number, wanted in listening.items():
            if wanted.get(kind + "ListChanged"):
                tell(method, {"_meta": {META + "subscriptionId": number}})
        return content(text("changed"))
    return tool


listening = {}
watched = set()


def touch(*_):
    """Change the resource, and name who is told: subscriptions, or nobody."""
    told = 0
    for part in WATCHED, WATCHED + "/part", WATCHED + "-not":
        if any(part.startswith(u) for u in watched):
            tell("notifications/resources/updated", {"uri": part})
            told += 1
        for number, wanted in listening.items():
            if any(part.startswith(u)
                   for u in wanted.get("resourceSubscriptions", [])):
                tell("notifications/resources/updated", {
                    "uri": part, "_meta": {META + "subscriptionId": number}})
                told += 1
    return content(text(f"told {told}"))


def end_subscriptions(*_):
    """End each subscription as a server does that has to let go of it."""
    for number in list(listening):
        del listening[number]
        put(id=number, result={"resultType": "complete", "_meta": {
            META + "subscriptionId": number}})
    return content(text("ended"))


SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {
        "$anchor": "addressDef", "type": "object",
        "properties": {"street": STRING, "city": STRING}}},
    "properties": {
        "name": STRING, "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": STRING, "email": STRING},
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}},
           "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False}
NAMED = {"type": "object", "properties": {
    "place": {"type": "string", "x-mcp-header": "Place"}}}


def says(*blocks, **more):
    return lambda *_: content(*blocks, **more)


NAME = form("What is your name?", name=STRING)
CONFIRM = form("Is it so?", ok={"type": "boolean"})
DEFAULTS = form(
    "Your data?",
    name={"type": "string", "default": "John Doe"},
    age={"type": "integer", "default": 30},
    score={"type": "number", "default": 95.5},
    status={"type": "string", "enum": ["active", "inactive", "pending"],
            "default": "active"},
    verified={"type": "boolean", "default": True})
ENUMS = form(
    "Which?",
    untitledSingle={"type": "string",
                    "enum": ["option1", "option2", "option3"]},
    titledSingle={"type": "string",
                  "oneOf": choices("value1", "value2", "value3")},
    legacyEnum={"type": "string", "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"]},
    untitledMulti={"type": "array", "items": {
        "type": "string", "enum": ["option1", "option2", "option3"]}},
    titledMulti={"type": "array", "items": {
        "anyOf": choices("value1", "value2", "value3")}})
REQUIRED = "test_input_required_result_"
TOOLS = {
    "test_simple_text": says(text("This is a text.")),
    "test_image_content": says(IMAGE),
    "test_audio_content": says(AUDIO),
    "test_embedded_resource": says(resource("test://embedded", "embedded")),
    "test_multiple_content_types": says(
        text("several"), IMAGE,
        resource("test://mixed", '{"a":1}', "application/json")),
    "test_tool_with_logging": logs,
    "test_logging_tool": logs,
    "test_tool_with_progress": progress,
    "test_error_handling": says(text("an error on purpose"), isError=True),
    "test_sampling": sampled,
    "test_elicitation": asked,
    "test_elicitation_sep1034_defaults": once(user=DEFAULTS),
    "test_elicitation_sep1330_enums": once(user=ENUMS),
    "json_schema_2020_12_tool": says(text("done")),
    "test_place": says(text("done")),
    "test_missing_capability": needs_sampling,
    "test_streaming_elicitation": once(user_name=NAME),
    "test_trigger_tool_change": changes("tools"),
    "test_trigger_prompt_change": changes("prompts"),
    "test_trigger_resource_change": touch,
    "test_end_subscriptions": end_subscriptions,
    REQUIRED + "elicitation": once(user_name=NAME),
    REQUIRED + "sampling": once(capital_question=sample("Paris?")),
    REQUIRED + "list_roots": once(client_roots=ROOTS),
    REQUIRED + "request_state": once(confirm=CONFIRM),
    REQUIRED + "multiple_inputs": once(
        user_name=NAME, greeting=sample("Greet", 50), client_roots=ROOTS),
    REQUIRED + "multi_round": rounds,
    REQUIRED + "tampered_state": once(confirm=CONFIRM),
    REQUIRED + "capabilities": capabilities,
}
SCHEMAS = {"json_schema_2020_12_tool": SCHEMA, "test_place": NAMED}
WITH_META = logs, progress


def message(block):
    return {"role": "user", "content": block}


def arguments_prompt(args):
    return [message(text(f"arg1={args.get('arg1')} arg2={args.get('arg2')}"))]


PROMPTS = {
    "test_simple_prompt": ([], lambda _: [message(text("A prompt."))]),
    "test_prompt_with_arguments": (["arg1", "arg2"], arguments_prompt),
    "test_prompt_with_embedded_resource": (
        ["resourceUri"], lambda args: [
            message(resource(args.get("resourceUri", "test://x"), "words")),
            message(text("Read it."))]),
    "test_prompt_with_image": ([], lambda _: [
        message(IMAGE), message(text("Look at it."))]),
    REQUIRED + "prompt": ([], lambda _: [message(text("A prompt."))]),
}
RESOURCES = {
    "test://static-text": {"mimeType": "text/plain", "text": "A text."},
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    WATCHED: {"mimeType": "text/plain", "text": "It changes."},
}


# ---- requests ----

def lists(**members):
    return {**members, **({"ttlMs": 0, "cacheScope": "private"}
                          if IS_ALONE else {})}


def list_tools(_):
    return lists(tools=[
        {"name": n, "description": n + " of the suite",
         "inputSchema": SCHEMAS.get(n, {"type": "object"})} for n in TOOLS])


def list_prompts(_):
    return lists(prompts=[
        {"name": n, "description": n + " of the suite", "arguments": [
            {"name": a, "required": True} for a in args]}
        for n, (args, _) in PROMPTS.items()])


def list_resources(_):
    return lists(resources=[
        {"uri": u, "name": u[7:], "mimeType": r["mimeType"]}
        for u, r in RESOURCES.items()])


def list_templates(_):
    return lists(resourceTemplates=[{
        "uriTemplate": "test://template/{id}/data", "name": "template"}])


def read(params):
    uri = params["uri"]
    parts = uri.split("/")
    if uri in RESOURCES:
        found = RESOURCES[uri]
    elif uri.startswith("test://template/") and len(parts) == 5:
        found = {"mimeType": "application/json",
                 "text": json.dumps({"id": parts[3]})}
    else:
        raise Refused(-32602 if IS_ALONE else -32002, "Resource not found",
                      {"uri": uri})
    return lists(contents=[{"uri": uri, **found}])


def get_prompt(params):
    if params["name"] not in PROMPTS:
        raise Refused(-32602, "no such prompt")
    if params["name"] == REQUIRED + "prompt" and not good(
            answers_of(params), "user_context"):
        return Asks(user_context=form("Which?", context=STRING))
    return {"messages": PROMPTS[params["name"]][1](
        params.get("arguments", {}))}


def call(params):
    tool = TOOLS.get(params["name"])
    if not tool:
        raise Refused(-32602, "no such tool")
    meta = params.get("_meta", {})
    can = meta.get(META + "clientCapabilities", state.get("can", {}))
    args = params.get("arguments", {}), answers_of(params), can
    return tool(*args, meta) if tool in WITH_META else tool(*args)


def complete(_):
    return {"completion": {"values": ["test1", "test2"], "total": 2,
                           "hasMore": False}}


def set_level(params):
    state["level"] = params["level"]
    return {}


def subscribe(params):
    if params["uri"] not in RESOURCES:
        raise Refused(-32002, "Resource not found")
    watched.add(params["uri"])
    if params["uri"] == WATCHED:
        tell("notifications/resources/updated", {"uri": WATCHED})
    return {}


def unsubscribe(params):
    watched.discard(params["uri"])
    return {}


OFFERS = {"tools": {"listChanged": True}, "prompts": {"listChanged": True},
          "resources": {"subscribe": True, "listChanged": True},
          "completions": {}, "logging": {}}
INFO = {"name": "offered", "version": "1"}


def initialize(params):
    state["can"] = params["capabilities"]
    return {"protocolVersion": DATE, "capabilities": OFFERS,
            "serverInfo": INFO}


def discover(_):
    return lists(supportedVersions=[DATE], capabilities=OFFERS,
                 _meta={META + "serverInfo": INFO})


METHODS = {
    "tools/list": list_tools, "tools/call": call,
    "prompts/list": list_prompts, "prompts/get": get_prompt,
    "resources/list": list_resources, "resources/read": read,
    "resources/templates/list": list_templates,
    "completion/complete": complete,
    **({"server/discover": discover} if IS_ALONE else {
        "initialize": initialize, "ping": lambda _: {},
        "logging/setLevel": set_level, "resources/subscribe": subscribe,
        "resources/unsubscribe": unsubscribe}),
}


# ---- the conversation ----

# older era: number of a question: (request, its name, whether it does without)
waiting = {}
numbers = [0]


def answers_of(params):
    """What was answered so far, also in rounds before."""
    given = params.get("inputResponses")
    kept = params.get("requestState")
    if kept is not None:
        if not kept.endswith("}") or not kept.startswith("{"):
            raise Refused(-32602, "the state is not ours")
        kept = json.loads(kept)
    return {**(kept or {}), **(given if isinstance(given, dict) else {})}


def ask(m, asks):
    if IS_ALONE:
        put(id=m["id"], result={
            "resultType": "input_required", "inputRequests": asks.questions,
            "requestState": json.dumps(answers_of(m["params"]))})
        return
    for name, question in asks.questions.items():
        if name in m["params"].get("inputResponses", {}):
            continue
        numbers[0] += 1
        waiting[numbers[0]] = m, name, asks.does_without
        put(id=numbers[0], **question)


def on_reply(m):
    request, name, does_without = waiting.pop(m["id"], (None, None, None))
    if not request:
        return
    if "error" in m and does_without:
        m["result"] = {}
    elif "error" in m:
        for n in [n for n, w in waiting.items() if w[0] is request]:
            del waiting[n]
        put(id=request["id"], result=content(
            text("refused: " + m["error"]["message"]), isError=True))
        return
    request["params"].setdefault("inputResponses", {})[name] = m["result"]
    if not any(w[0] is request for w in waiting.values()):
        on_request(request)


def listen(m):
    wanted = m["params"].get("notifications", {})
    listening[m["id"]] = wanted
    tell("notifications/subscriptions/acknowledged", {
        "_meta": {META + "subscriptionId": m["id"]},
        "notifications": wanted})
    for uri in wanted.get("resourceSubscriptions", []):
        tell("notifications/resources/updated", {
            "uri": uri, "_meta": {META + "subscriptionId": m["id"]}})


def on_request(m):
    params = m.setdefault("params", {})
    try:
        if IS_ALONE and m["method"] == "subscriptions/listen":
            listen(m)
            return
        if m["method"] not in METHODS:
            raise Refused(-32601, "no such method")
        result = METHODS[m["method"]](params)
    except Refused as e:
        put(id=m["id"], error=e.error)
        return
    if isinstance(result, Asks):
        ask(m, result)
        return
    if IS_ALONE:
        result.setdefault("resultType", "complete")
    put(id=m["id"], result=result)


for line in sys.stdin:
    got = json.loads(line)
    if "method" not in got:
        on_reply(got)
    elif "id" in got:
        on_request(got)
    elif got["method"] == "notifications/cancelled":
        listening.pop(got["params"].get("requestId"), None)
