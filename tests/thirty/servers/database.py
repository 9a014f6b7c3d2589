#!/usr/bin/env python3
"""A script with a first line for env; SQLite, a temporary file, time zones."""

import sqlite3
import tempfile
from datetime import datetime
from zoneinfo import ZoneInfo

import mcp_lines


def words(arguments):
    with tempfile.NamedTemporaryFile(suffix=".db") as file:
        db = sqlite3.connect(file.name)
        db.execute("create table word (text)")
        db.executemany("insert into word values (?)",
                       [(w,) for w in arguments["text"].split()])
        db.commit()
        (n,) = db.execute("select count(*) from word").fetchone()
        db.close()
    year = datetime(2026, 1, 1, tzinfo=ZoneInfo("Asia/Tokyo")).year
    return f"{n} words in {year}"


mcp_lines.serve("database", {"words": ("counts words", words)})
