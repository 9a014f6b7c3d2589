"""A pool of processes, locks in shared memory and a manager's queue."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import mcp_lines


def square(n):
    return n * n


def squares(arguments):
    with multiprocessing.Lock(), ProcessPoolExecutor(2) as pool:
        return list(pool.map(square, arguments["numbers"]))


if __name__ == "__main__":
    mcp_lines.serve("processes", {"squares": ("of numbers", squares)})
