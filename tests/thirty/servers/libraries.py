"""Libraries of the distribution, and a file that lies beside the script."""

import hashlib
import os
import ssl
import uuid

import yaml

import mcp_lines

with open(os.path.join(os.path.dirname(__file__), "libraries.yaml"),
          encoding="utf-8") as file:
    settings = yaml.safe_load(file)


def describe(_):
    ssl.create_default_context()
    digest = hashlib.sha256(uuid.uuid4().bytes).hexdigest()
    return f"{settings['greeting']} {len(digest)} {os.getpid() > 0}"


mcp_lines.serve("libraries", {"describe": ("says hello", describe)})
