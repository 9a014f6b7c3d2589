"""
Look at pages in headless chromium and print what is so, as JSON.

    browser.py CHROMIUM PROFILE PAGE...

Chromium is driven by its DevTools protocol over a pipe: JSON, a NUL behind
each message. PROFILE is a folder for it to fill. For each page an object is
printed, on a line of its own; LOOK says in JavaScript what it has of the
document, look() what else. Pages beyond LARGE bytes are neither unfolded nor
printed. Ends with 77 when chromium does not start, with 1 when it ends too
early, each with a line on stderr, and by SIGALRM when all of it takes longer
than two minutes.
"""
import base64
import json
import os
import select
import signal
import struct
import subprocess
import sys
import zlib

LARGE = 4 << 20

# What a document is and how it looks under the media that are set.
LOOK = r"""(() => {
const all = s => [...document.querySelectorAll(s)];
const rgb = c => (c.match(/[\d.]+/g) || []).map(Number);
const over = e => {                    // first background behind a text
    for (; e; e = e.parentElement) {
        const c = rgb(getComputedStyle(e).backgroundColor);
        if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
};
const light = c => {
    const [r, g, b] = c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
};
const contrast = e => {
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(over(e))];
    return (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
};
const texts = all('body *').filter(e => e.checkVisibility() &&
    [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()));
const faint = texts.filter(e => contrast(e) < 4.5);
const ids = all('[id]').map(e => e.id);
const levels = all('main h1,main h2,main h3,h1').map(e => +e.tagName[1]);
const scrolls = e => e && (/auto|scroll/.test(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
return {
    title: document.title, lang: document.documentElement.lang,
    h1: all('h1').map(e => e.innerText), h2: all('h2').map(e => e.innerText),
    steps: all('details.step h3').map(e => e.innerText),
    verdict: all('header').map(e => e.className).join(),
    footer: all('footer').map(e => e.innerText),
    main: all('main').length,
    schemes: [...new Set(all('a:not([href^="#"])').map(e => e.protocol))].sort(),
    troubles: all('article').map(e => e.innerText),
    changes: all('details.change').length,
    changed: all('details.change > summary').map(e => e.innerText), bars: all('.bar').length,
    folded: all('details.step:not([open]) h3').map(e => e.innerText),
    kept: (all('.facts > summary')[0] || {}).innerText || '',
    cells: Object.fromEntries(all('details.step').map(e => [e.querySelector('h3').innerText,
        e.querySelectorAll('div.body td').length])),
    dead: all('a[href^="#"]').filter(e => !document.getElementById(e.hash.slice(1))).length,
    without_alt: all('img:not([alt]),img[alt=""],audio:not([aria-label])').length,
    without_scope: all('th:not([scope])').length,
    twice: ids.filter((id, i) => ids.indexOf(id) !== i),
    skipped_level: levels.some((n, i) => i && n > levels[i - 1] + 1),
    active: all('script,base,form,input,button,iframe,object,embed,link,style:not(head style),' +
        'meta[http-equiv="refresh" i],svg:not(.bar):not(.chart *),[style]').map(e => e.outerHTML.slice(0, 80)),
    handlers: all('*').filter(e => [...e.attributes].some(a => /^on/i.test(a.name))).length,
    pictures: all('img').map(e => [e.complete && e.naturalWidth, e.alt]),
    sounds: all('audio').map(e => [e.readyState > 0 && !e.error, Math.round(e.duration * 100) / 100]),
    moving: all('*').filter(e => { const c = getComputedStyle(e);
        return parseFloat(c.transitionDuration) || parseFloat(c.animationDuration); }).length,
    texts: texts.length, faint: faint.map(e => e.outerHTML.slice(0, 80)),
    colours: [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor],
    closed: all('details:not([open])').length,
    unseen: all('details > :not(summary)').filter(e => !e.checkVisibility({contentVisibilityAuto: false}) ||
        !e.getBoundingClientRect().height).length,
    wide: document.documentElement.scrollWidth - innerWidth,
    cut: all('body *').filter(e => !e.matches('.skip-link') && e.checkVisibility() && !scrolls(e.parentElement) &&
        e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80)),
};
})()"""

# The element that has the focus, and whether a person sees that.
FOCUS = r"""(() => {
const e = document.activeElement;
if (!e || e === document.body) return null;
const c = getComputedStyle(e), box = e.getBoundingClientRect();
return [e.tagName.toLowerCase() + ' ' + e.innerText.trim().split('\n')[0],
    e.matches(':focus-visible') && parseFloat(c.outlineWidth) >= 2 && c.outlineStyle !== 'none' &&
    box.left >= 0 && box.right <= innerWidth && box.bottom > 0 && box.top < innerHeight];
})()"""


class Browser:
    """Chromium with one page."""

    def __init__(self, chromium, profile):
        to_it, ours = os.pipe()
        self.inp, from_it = os.pipe()
        self.out = ours

        def wire():  # it reads from 3 and writes to 4
            a, b = os.dup(to_it), os.dup(from_it)
            a, b = (os.dup(a), os.dup(b)) if {a, b} & {3, 4} else (a, b)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [chromium, "--headless", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-extensions",
             "--disable-dev-shm-usage", "--force-color-profile=srgb", "--hide-scrollbars",
             f"--user-data-dir={profile}", *(["--no-sandbox"] if os.getuid() == 0 else [])],
            close_fds=False, preexec_fn=wire, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_it)
        os.close(from_it)
        self.rest, self.serial, self.events, self.session = b"", 0, [], None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network", "Audits", "DOM":
            self.ask(domain + ".enable")

    def take(self):
        """The next message."""
        while b"\0" not in self.rest:
            piece = os.read(self.inp, 1 << 20)
            if not piece:
                raise OSError("chromium went away")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **params):
        self.serial += 1
        wanted = {"id": self.serial, "method": method, "params": params}
        if self.session:
            wanted["sessionId"] = self.session
        os.write(self.out, json.dumps(wanted).encode() + b"\0")
        while True:
            message = self.take()
            if message.get("id") == self.serial:
                if "error" in message:
                    raise OSError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.note(message)

    def note(self, message):
        self.events.append(message)
        if message.get("method") == "Page.javascriptDialogOpening":
            os.write(self.out, json.dumps({"id": 0, "method": "Page.handleJavaScriptDialog",
                     "params": {"accept": False}, "sessionId": self.session}).encode() + b"\0")

    def named(self, *methods):
        return [e["params"] for e in self.events if e.get("method") in methods]

    def value(self, code):
        answer = self.ask("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise OSError(json.dumps(answer["exceptionDetails"])[:400])
        return answer["result"].get("value")

    def open(self, path):
        self.events = []
        self.ask("Page.navigate", url="file://" + path)
        while not self.named("Page.loadEventFired"):
            self.note(self.take())
        # sounds say their length a moment later
        while self.value("[...document.querySelectorAll('audio')].some(e => !e.error && !e.readyState)"):
            select.select([], [], [], 0.02)

    def media(self, width, scheme="light", kind="screen"):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                 mobile=width < 500)
        self.ask("Emulation.setEmulatedMedia", media=kind,
                 features=[{"name": "prefers-color-scheme", "value": scheme}])
        return self.value(LOOK)

    def press(self, key, code):
        for kind in "keyDown", "keyUp":
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                     **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}))

    def tabs(self, most=80):
        """What Tab comes by, in order, and what of it is not to be seen."""
        names, hidden = [], []
        for _ in range(most):
            self.press("Tab", 9)
            found = self.value(FOCUS)
            if not found:
                break
            names.append(found[0])
            # a player shows its own parts
            if not found[1] and not found[0].startswith("audio"):
                hidden.append(found[0])
        return names, hidden

    def region(self, selector, *places):
        """Colours of an element at places, which are parts of its width, halfway down."""
        box = self.value(f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
                         "if (!e) return null; e.scrollIntoView(); const b = e.getBoundingClientRect();"
                         "return [b.left + scrollX, b.top + scrollY + b.height / 2, b.width, 2]; })()")
        if not box:
            return None
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True,
                        clip=dict(zip(("x", "y", "width", "height"), box), scale=1))
        width, colour = pixels(base64.b64decode(shot["data"]))
        return [colour(int(width * place)) for place in places]

    def end(self):
        try:
            self.session = None
            self.ask("Browser.close")
        except OSError:
            pass
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)


def pixels(png):
    """Width of a PNG of eight bits without interlace, and the colours of its first line."""
    width, height, kind = 0, 0, 0
    data, at = b"", 8
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at:at + 8])
        if name == b"IHDR":
            width, height, _, kind = struct.unpack(">IIBB", png[at + 8:at + 18])
        if name == b"IDAT":
            data += png[at + 8:at + 8 + size]
        at += size + 12
    step = {2: 3, 6: 4}[kind]
    data, stride, lines = zlib.decompress(data), width * step, [bytes(width * step)]
    for y in range(height):
        how, line = data[y * (stride + 1)], bytearray(data[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        above = lines[-1]
        for i in range(stride):
            a, b, c = (line[i - step], above[i], above[i - step]) if i >= step else (0, above[i], 0)
            if how == 4:
                p = a + b - c
                near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = line[i] + (0, a, b, (a + b) // 2, near if how == 4 else 0)[how] & 255
        lines.append(bytes(line))
    return width, lambda x: list(lines[1][x * step:x * step + 3])


def hue(colour):
    """The name of a colour, and the colour."""
    red, green, blue = colour
    name = "red" if red > max(green, blue) + 40 else "green" if green > max(red, blue) + 20 else "none"
    return f"{name} {colour}"


def look(browser, path):
    browser.open(path)
    seen = {"light": browser.media(1000), "phone": browser.media(360)}
    if os.path.getsize(path) < LARGE:
        by_media(browser, seen)
        by_keyboard(browser, seen)
    events = browser.named
    seen["url"] = browser.value("location.href")
    seen["console"] = [json.dumps(e)[:300] for e in events(
        "Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Audits.issueAdded")]
    seen["requests"] = [u for u in (e["request"]["url"] for e in events("Network.requestWillBeSent"))
                        if not u.startswith("data:") and u != "file://" + path]
    seen["dialogs"] = len(events("Page.javascriptDialogOpening"))
    seen["frames"] = len(events("Page.frameAttached", "Page.windowOpen"))
    return seen


def by_media(browser, seen):
    seen["dark"] = browser.media(1000, "dark")
    night = browser.region("header", 0.004)
    seen["paper"] = browser.media(680, kind="print")
    pdf = base64.b64decode(browser.ask("Page.printToPDF", preferCSSPageSize=True)["data"])
    seen["pages"] = pdf.count(b"/Type /Page\n")
    browser.media(1000)
    day = browser.region("header", 0.004)
    seen["regions"] = {"night": night and hue(night[0]), "verdict": day and hue(day[0]),
                       "picture": browser.region("img", 0.25, 0.75)}


def by_keyboard(browser, seen):
    seen["summaries"] = browser.value(
        "[...document.querySelectorAll('summary')].filter(e => e.checkVisibility()).length")
    seen["tabs"], seen["hidden"] = browser.tabs()
    seen["stops"] = sum(t.startswith("summary ") for t in seen["tabs"])
    folded = "document.querySelectorAll('details:not([open])').length"
    first = left = browser.value(folded)
    while left:  # the outer ones come first
        browser.value("document.querySelector('details:not([open]) > summary').focus()")
        browser.press("Enter", 13)
        before, left = left, browser.value(folded)
        if left >= before:
            break
    seen["opened"] = first - left
    if browser.value("(() => { const e = document.querySelector('.skip-link');"
                     "if (e) e.focus(); return !!e; })()"):
        browser.press("Enter", 13)
        browser.press("Tab", 9)
        seen["skipped_to"] = browser.value(FOCUS)


def main():
    signal.alarm(120)
    try:
        browser = Browser(sys.argv[1], sys.argv[2])
    except OSError as problem:
        print(f"browser.py: {problem}", file=sys.stderr)
        sys.exit(77)
    try:
        for path in sys.argv[3:]:
            print(json.dumps(look(browser, os.path.abspath(path))), flush=True)
    finally:
        browser.end()


if __name__ == "__main__":
    try:
        main()
    except OSError as problem:
        sys.exit(f"browser.py: {problem}")
