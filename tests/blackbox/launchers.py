#!/usr/bin/env python3
"""launchers.py PROGRAMS.DEF LAUNCHER FOLDER: print each row of a launcher that
the program itself reads otherwise, or has not.

An option that takes nothing leaves the next argument alone; one that takes a
value takes it, or misses it. Rows of options that print and end are left out,
and so is what this version of the program does not have.
"""
import json
import os
import re
import subprocess
import sys

table, launcher, folder = sys.argv[1:]
INFORMATION = set("""-V -h -? --version --help --help-env --help-xoptions
	--help-all --html-path --man-path --info-path""".split())


def rows():
    """(launcher, names, takes, runs, values) of each OPTION, in order."""
    text = re.sub(r"/\*.*?\*/", "", open(table).read(), flags=re.S)
    text = re.sub(r'"\s+"', "", text)
    parents = dict(re.findall(r"^LAUNCHER\((\w+), (\w+),", text, re.M))
    names = dict(re.findall(r'^LAUNCHER\((\w+), \w+,\s*"([^"]*)"', text, re.M))
    for of, option, takes, runs, values in re.findall(
            r'^OPTION\((\w+),\s*"([^"]*)",\s*(\w+),\s*(\w+),\s*"([^"]*)"\)',
            text, re.M):
        if launcher in (of, parents[of]):
            yield of, names[of].split(), option.split(), takes, runs, \
                values.split()


def say(*argv):
    """What a program prints, wherever."""
    r = subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       timeout=60)
    return r.stdout.decode(errors="replace")


def script(name):
    """A file that says its name in every language here."""
    with open(os.path.join(folder, name), "w") as f:
        f.write({"py": "#\nprint('ran %s')\n", "sh": "#\necho ran %s\n",
                 }[name[2:]] % name)


def python(option, takes, runs, values):
    script("a.py")
    script("b.py")
    if takes == "NOTHING":
        text = say(sys.executable, option, "a.py", "b.py")
        return "ran a.py" in text or "Unknown option" in text
    if runs == "PROGRAM":
        return "ran b.py" not in say(sys.executable, option, "a", "b.py")
    return all("ran b.py" in say(sys.executable, option, v.replace("*", "700"),
                                 "b.py") for v in values or ["always"])


def shell(name):
    def judge(option, takes, runs, values):
        script("a.sh")
        script("b.sh")
        if takes == "VALUE":
            return all("ran b.sh" in say(name, option, v, "b.sh")
                       for v in values or ["a.sh"] if v != "noexec")
        if option in ("-n", "-D", "--debugger"):
            return "ran b.sh" not in say(name, option, "a.sh", "b.sh")
        if runs == "PROGRAM":
            return "ran" not in say(name, option, "a.sh", "b.sh")
        return "ran a.sh" in say(name, option, "a.sh", "b.sh")
    return judge


def node(option, takes, runs, values):
    if not option.startswith("-") or option == "--watch" or (
            takes == "NOTHING" and runs == "PROGRAM"):
        return True
    text = say("node", option, *([] if takes == "VALUE" else ["--no-such"]))
    if "*" in option or "bad option: " + option in text:
        return True  # names with stars, options of another version
    return ("requires an argument" if takes == "VALUE" else
            "bad option: --no-such") in text


def env(option, takes, runs, values):
    if runs == "PROGRAM":
        return say("env", option, "printf ran").endswith("ran")
    value = {"VALUE": ["/"]}.get(takes, [])
    text = say("env", option, *value, "/usr/bin/printf", "ran")
    return text.endswith("ran") or "with command" in text


def git(names):
    def one(name, option, takes):
        args = [] if names == ["git"] else [name]
        text = say("git", *args, option, *(
            [] if takes == "VALUE" else ["--no-such"]))
        if re.search("(unknown|unrecognized|invalid).*(%s|[`']%s)('|$)" % (
                option, option.lstrip("-")), text, re.M) or re.search(
                    "together", text):
            return None
        if takes == "VALUE":
            return bool(re.search("requires|expects|given", text))
        if text.startswith("usage") or "single revision" in text:
            text = say("git", *args, option, "HEAD")
            return "fatal" not in text and "usage" not in text
        return "no-such" in text or "one pathspec" in text

    def judge(option, takes, runs, values):
        if not option.startswith("-") or takes == "ATTACHED" or \
                option == "--exec-path":
            return True
        known = [one(n, option, takes) for n in names]
        return any(k is not None for k in known) and False not in known
    return judge


def npm(names):
    """By the types that npm and npx give their options."""
    code = """const [dir, ...names] = process.argv.slice(1);
	const {definitions: d, shorthands: s} =
		require(dir + "/node_modules/@npmcli/config/lib/definitions");
	const flag = t => [].concat(t).includes(Boolean);
	console.log(JSON.stringify(names.map(n => {
		let k = n.replace(/^-+/, ""), x = s[k] ?? ["--" + k];
		if (x.length > 1) return "NOTHING";
		k = x[0].slice(2);
		if (d[k]) return flag(d[k].type) ? "NOTHING" : "VALUE";
		k = k.replace(/^no-/, "");
		return d[k] && flag(d[k].type) ? "NOTHING" : "none";
	})))"""
    real = os.path.realpath(subprocess.check_output(
        ["sh", "-c", "command -v npm"]).decode().strip())
    return json.loads(say("node", "-e", code, os.path.dirname(
        os.path.dirname(real)), *names))


def wrong():
    for of, names, options, takes, runs, values in rows():
        options = [o for o in options if o not in INFORMATION]
        if launcher in ("NPM", "NPX"):
            # npx has a -p of its own
            kind = "NOTHING" if takes == "NOTHING" else "VALUE"
            judged = [t in (kind, "none") or (launcher, o) == ("NPX", "-p")
                      for o, t in zip(options, npm(options))]
        else:
            judge = {"PYTHON": python, "NODE": node, "ENV": env,
                     "BASH": shell("bash"), "DASH": shell("dash"),
                     "GIT": git(names)}[launcher]
            judged = [judge(o, takes, runs, values) for o in options]
        for option, ok in zip(options, judged):
            if not ok:
                yield "%s %s %s" % (of, option, takes)


if launcher == "GIT":
    for line in ("init -q -b main .", "-c user.name=a -c user.email=a@b "
                 "commit -q --allow-empty -m first"):
        say("git", *line.split())
print("\n".join(wrong()))
