"""What remote_peer.py does instead of answering. TROUBLES: each gets the writer
and the right answer as bytes."""

import asyncio
import json
import socket
import struct
import zlib


class Over(Exception):
    """This connection is done."""


def head(status, kind, length, *more):
    lines = ["HTTP/1.1 %d X" % status, "Content-Type: " + kind, *more]
    if length is not None:
        lines.append("Content-Length: %d" % length)
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def reset(writer):
    """A reset instead of an orderly end."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
    raise Over


async def put(writer, data):
    writer.write(data)
    await writer.drain()


async def silence():
    await asyncio.sleep(1000)


async def forever(writer, first, again, pause=0):
    await put(writer, first)
    while True:
        await put(writer, again)
        await asyncio.sleep(pause)


async def hang(writer, _answer):
    await silence()


async def half(writer, answer):
    await put(writer, head(200, "application/json", len(answer)) + answer[:9])
    await silence()


async def slow(writer, answer):
    await put(writer, head(200, "application/json", len(answer)))
    for i in range(len(answer)):
        await put(writer, answer[i : i + 1])
        await asyncio.sleep(1)


async def heads(writer, _answer):
    await forever(writer, b"HTTP/1.1 200 OK\r\n", b"X-More: %s\r\n" % (b"x" * 999))


async def header(writer, _answer):
    await forever(writer, b"HTTP/1.1 200 OK\r\nX-Long: ", b"x" * 9999)


async def slowhead(writer, _answer):
    await forever(writer, b"HTTP/1.1 200 OK\r\n", b"X-More: x\r\n", 0.2)


async def early(writer, _answer):
    await forever(writer, b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.05)


async def body(writer, _answer):
    await forever(writer, head(200, "application/json", None) + b'{"a":"', b"x" * 9999)


async def event(writer, _answer):
    await forever(
        writer, head(200, "text/event-stream", None) + b"data: ", b"x" * 9999
    )


async def events(writer, _answer):
    """Small ones without end, none of them an answer."""
    await forever(
        writer,
        head(200, "text/event-stream", None),
        b'data: {"jsonrpc":"2.0","method":"notifications/message","params":'
        b'{"level":"info","data":"x"}}\n\n',
        0.05,
    )


async def comments(writer, _answer):
    await forever(
        writer, head(200, "text/event-stream", None), b": keep-alive\n\n", 0.1
    )


async def length(writer, _answer):
    await put(writer, head(200, "application/json", 1 << 30))
    await silence()


async def bomb(writer, _answer):
    """A document without end, a MiB of it in 1 KiB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    begin = packer.compress(b'{"a":"') + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    first = head(200, "application/json", None, "Content-Encoding: gzip")
    await forever(writer, first + begin, again)


async def cut(writer, _answer):
    writer.close()
    raise Over


async def resets(writer, _answer):
    reset(writer)


async def resethead(writer, _answer):
    await put(writer, b"HTTP/1.1 200 OK\r\nContent-")
    reset(writer)


async def resetbody(writer, answer):
    await put(writer, head(200, "application/json", len(answer)) + answer[:9])
    await asyncio.sleep(0.1)
    reset(writer)


async def cutbody(writer, answer):
    await put(writer, head(200, "application/json", len(answer)) + answer[:-1])
    await cut(writer, answer)


async def cutstream(writer, answer):
    await put(
        writer, head(200, "text/event-stream", None) + b"data: " + answer[:-1] + b"\n"
    )
    await cut(writer, answer)


async def noise(writer, _answer):
    await put(writer, b"\0\1\2 nothing of HTTP\r\n\r\n")
    await cut(writer, b"")


async def html(writer, _answer):
    text = b"<html>an answer of some proxy</html>"
    await put(writer, head(200, "text/html", len(text)) + text)


async def empty(writer, answer):
    """An answer, with nothing in its result."""
    text = json.dumps({**json.loads(answer), "result": {}}).encode()
    await put(writer, head(200, "application/json", len(text)) + text)


async def html502(writer, _answer):
    text = b"<html>502</html>"
    await put(writer, head(502, "text/html", len(text)) + text)


TROUBLES = {
    f.__name__: f
    for f in (
        hang,
        half,
        slow,
        heads,
        header,
        slowhead,
        early,
        body,
        event,
        events,
        comments,
        length,
        bomb,
        cut,
        resets,
        resethead,
        resetbody,
        cutbody,
        cutstream,
        noise,
        html,
        html502,
        empty,
    )
}
