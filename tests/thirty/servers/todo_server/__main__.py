import importlib.resources
import json

from . import mcp_lines


def first(_):
    text = importlib.resources.files(__package__).joinpath("todo.json")
    return json.loads(text.read_text())[0]


def main():
    mcp_lines.serve("todo", {"first": ("the first thing to do", first)})


if __name__ == "__main__":
    main()
