#!/usr/bin/env python3
"""The streams of the second implementation: texts over 64 KiB, and attachments.

Like handoff_peer.py, it is written from docs/protocol.md with Python's standard library alone.
"""

import argparse
import hashlib
import os
import plistlib
import secrets
import socket
import ssl
import struct
import sys
import threading
import time
from pathlib import Path

from handoff_peer import (
    HANDOFF_FAILED,
    REFUSED,
    SENDING_SECONDS,
    Identity,
    LinkEnded,
    NoteServer,
    Peer,
    check,
    frame,
    report,
)

STREAM_PROTOCOL = "handoff-stream/1"
STREAM_SECONDS = 30
OPENING_SECONDS = 5
TOKEN_SECONDS = 60
BLOB_SECONDS = 120
MAX_MESSAGE_BYTES = 4096
MAX_USER_INFO_BYTES = 65_536
PIECE_BYTES = 65_536


# Streams --------------------------------------------------------------------------------------------------------------


class Truncated(ConnectionError):
    """The other end is gone without close_notify."""


class Stream:
    """Bytes over one TLS connection, whose directions end by themselves.

    The ssl module's sockets cannot: `unwrap` waits for the other end's close_notify, and `shutdown` sends none. So TLS
    is done in memory here, and the socket carries what comes of it.
    """

    def __init__(self, connection, context, **role):
        self.socket = connection
        self.socket.settimeout(STREAM_SECONDS)
        # Python's default is to take any end for one in order.
        context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, **role)
        self.perform(self.tls.do_handshake)
        if self.tls.selected_alpn_protocol() != STREAM_PROTOCOL:
            raise LinkEnded("applicationProtocol")
        self.certificate = self.tls.getpeercert(True)

    def perform(self, step, *arguments):
        """Takes a step of TLS, with as much reading and writing as it needs."""
        while True:
            try:
                return step(*arguments)
            except ssl.SSLWantReadError:
                self.flush()
                received = self.socket.recv(PIECE_BYTES)
                if received:
                    self.incoming.write(received)
                else:
                    self.incoming.write_eof()
            except ssl.SSLZeroReturnError:
                return b""
            except ssl.SSLError as error:
                # Which error it is depends on the versions of Python and OpenSSL.
                raise Truncated if self.incoming.eof else error
            finally:
                self.flush()

    def flush(self):
        if self.outgoing.pending:
            self.socket.sendall(self.outgoing.read())

    def write(self, data):
        for start in range(0, len(data), PIECE_BYTES):
            self.perform(self.tls.write, data[start : start + PIECE_BYTES])

    def read(self, count=PIECE_BYTES):
        """What has come; nothing at close_notify."""
        return self.perform(self.tls.read, count)

    def take(self, count):
        """So many bytes."""
        data = b""
        while len(data) < count:
            piece = self.read(count - len(data))
            if not piece:
                raise Truncated
            data += piece
        return data

    def send(self, **message):
        self.write(frame(message))

    def receive(self):
        """The next message."""
        length = struct.unpack(">I", self.take(4))[0]
        if not 1 <= length <= MAX_MESSAGE_BYTES:
            raise ConnectionError("a message on a stream is too large")
        return plistlib.loads(self.take(length), fmt=plistlib.FMT_BINARY)

    def finish(self):
        """Ends our direction with close_notify, and leaves the other one as it is."""
        # `unwrap` would look for the other end's close_notify, and stumble over what comes before it.
        kept = self.incoming.read()
        try:
            self.tls.unwrap()
        except ssl.SSLWantReadError:
            pass
        self.incoming.write(kept)
        self.flush()

    def close(self):
        self.socket.close()


def ask(link, within, kind, **keys):
    """Makes the only request that is under way on a link, and gives its answer; `error` is raised."""
    deadline = time.monotonic() + within
    request = secrets.randbelow(1 << 30)
    link.send(kind, request=request, **keys)
    while True:
        message = link.receive(deadline - time.monotonic())
        if message["kind"] == "ping":
            link.send("pong", sequence=message["sequence"])
        elif message.get("request") == request:
            if message["kind"] == "error":
                raise LinkEnded(f"error {message['code']}: {message['message']}")
            return message


def dial_stream(peer, link, ticket):
    """A stream to where a ticket leads, on which nothing has been said yet."""
    connection = socket.create_connection((link.remote_host, ticket["port"]), timeout=3)
    context = peer.identity.context(ssl.PROTOCOL_TLS_CLIENT, STREAM_PROTOCOL)
    stream = Stream(connection, context, server_hostname=peer.identity.dial_proof())
    if stream.certificate != link.connection.getpeercert(True):
        raise LinkEnded("otherMachine")
    return stream


def open_stream(peer, link, within=SENDING_SECONDS, **source):
    """A stream on which the token was shown, and the ticket for it."""
    ticket = ask(link, within, "openStream", **source)
    stream = dial_stream(peer, link, ticket)
    stream.send(token=ticket["token"])
    return stream, ticket


# Notes ----------------------------------------------------------------------------------------------------------------


def content_hash(title, content, attachments=()):
    """What a note's content hash is, of bytes and the attachments as userInfo has them."""
    texts = [struct.pack(">I", len(text)) + text for text in (title.encode(), content)]
    for attachment in attachments:
        name = attachment["name"].encode()
        texts += [struct.pack(">I", len(name)), name, struct.pack(">Q", attachment["size"]), attachment["sha256"]]
    return hashlib.sha256(b"".join(texts)).digest()


def read_text(peer, link, activity):
    """The text of a note that has come, as bytes."""
    note = activity["userInfo"]
    if "content" in note:
        return note["content"].encode()
    stream, _ = open_stream(peer, link, activity=activity["id"])
    stream.send(content=note["hash"])
    text = bytearray()
    while piece := stream.read():
        text += piece
        if len(text) > note["contentSize"]:
            raise ConnectionError("there is more text than was told")
    stream.finish()
    stream.close()
    if content_hash(note["title"], text, note.get("attachments", ())) != note["hash"]:
        raise ConnectionError("the note has another hash than was told")
    return bytes(text)


def fetch_blob(peer, link, attachment, path):
    """Fetches an attachment into a file, or what is missing of it; gives the place from which on it came."""
    prefix = path.read_bytes() if path.exists() else b""
    stream, ticket = open_stream(peer, link, BLOB_SECONDS, blob={
        "sha256": attachment["sha256"],
        "size": attachment["size"],
        "offset": len(prefix),
        "prefix": hashlib.sha256(prefix).digest(),
    })
    offset = ticket.get("offset", 0)
    if offset not in (0, len(prefix)):
        raise ConnectionError("the blob begins at another place than was asked for")
    digest = hashlib.sha256(prefix[:offset])
    with path.open("r+b" if offset else "wb") as file:
        file.seek(offset)
        while piece := stream.read():
            digest.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
        size = file.tell()
    if (size, digest.digest()) != (attachment["size"], attachment["sha256"]):
        stream.send(code=HANDOFF_FAILED, message="The blob is not what was told.")
        raise ConnectionError("the blob is not what was told")
    stream.send()
    stream.finish()
    stream.close()
    return offset


def take_attachments(peer, link, activity, directory, tell=lambda **step: None):
    for attachment in activity["userInfo"].get("attachments", ()):
        offset = fetch_blob(peer, link, attachment, directory / attachment["sha256"].hex())
        tell(name=attachment["name"], completed=attachment["size"], total=attachment["size"])
        report(event="attachment", name=attachment["name"], size=attachment["size"], offset=offset)


def take_text(peer, link, activity, directory):
    text = read_text(peer, link, activity)
    (directory / "text").write_bytes(text)
    report(event="text", bytes=len(text), streamed="content" not in activity["userInfo"])


def continue_note(peer, host, port, directory, within):
    """Waits for a note, and puts its text and its attachments into a directory, the latter named by their digests."""
    deadline = time.monotonic() + within
    link, offers = peer.dial(host, port)
    while not offers:
        message = link.receive(deadline - time.monotonic())
        if message["kind"] == "ping":
            link.send("pong", sequence=message["sequence"])
        offers = message["offers"] if message["kind"] == "offers" else offers
    activity = ask(link, within, "fetch", activity=offers[0]["id"])["activity"]
    check(link, activity, offers[0])
    take_text(peer, link, activity, directory)
    link.send("continued", activity=activity["id"])
    take_attachments(peer, link, activity, directory)
    link.end("done")


class StreamServer(NoteServer):
    """Offers a note with its attachments, and takes those that are sent here into a directory."""

    def __init__(self, peer, title, text, files=(), directory=None):
        super().__init__(peer, title, "", accepts=directory is not None)
        self.directory = directory
        self.delivered = threading.Event()
        self.text = Path(text).read_bytes()
        self.files = {}
        attachments = []
        for path in map(Path, files):
            content = path.read_bytes()
            attachments.append({
                "name": path.name, "size": len(content), "sha256": hashlib.sha256(content).digest()
            })
            self.files[attachments[-1]["sha256"]] = content
        self.offer["streams"] = True
        self.activity |= self.offer | {"userInfo": self.user_info(title, attachments)}
        self.tokens = {}
        self.streams = socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True)
        threading.Thread(target=self.accept_streams, daemon=True).start()

    def user_info(self, title, attachments):
        keys = self.activity["userInfo"] | ({"attachments": attachments} if attachments else {})
        del keys["content"]
        whole = keys | {"content": self.text.decode()}
        if len(plistlib.dumps(whole, fmt=plistlib.FMT_BINARY)) <= MAX_USER_INFO_BYTES:
            return whole
        return keys | {"contentSize": len(self.text), "hash": content_hash(title, self.text, attachments)}

    def answer(self, link, message):
        if message["kind"] == "openStream":
            self.give_ticket(link, message)
        elif message["kind"] == "activity" and self.wanted:
            self.take_sent(link, message["activity"])
        else:
            super().answer(link, message)

    def take_sent(self, link, activity):
        check(link, activity, self.wanted)
        self.wanted = None
        take_text(self.peer, link, activity, self.directory)
        stream, _ = open_stream(self.peer, link, activity=activity["id"])
        stream.send(attachments=True)
        link.send("continued", activity=activity["id"])
        take_attachments(self.peer, link, activity, self.directory, stream.send)
        stream.send(done=True)
        stream.finish()
        stream.close()

    def give_ticket(self, link, message):
        request, blob = message["request"], message.get("blob")
        if blob is None and message["activity"].lower() != self.activity["id"]:
            link.send("error", request=request, code=HANDOFF_FAILED, message="It is not offered any more.")
            return
        if blob is not None and blob["sha256"] not in self.files:
            link.send("error", request=request, code=REFUSED, message="There is no such file here.")
            return
        offset = self.start_of(blob) if blob else 0
        token = secrets.token_bytes(32)
        serve = (self.send_blob, self.files[blob["sha256"]], offset) if blob else (self.serve_activity,)
        self.tokens[token] = (link.connection.getpeercert(True), time.monotonic() + TOKEN_SECONDS, serve)
        link.send("stream", request=request, token=token, port=self.streams.getsockname()[1], offset=offset)

    def start_of(self, blob):
        """Where the bytes begin that the other end has not got."""
        begins = hashlib.sha256(self.files[blob["sha256"]][: blob["offset"]]).digest() == blob["prefix"]
        return blob["offset"] if begins else 0

    def accept_streams(self):
        while True:
            connection, _ = self.streams.accept()
            threading.Thread(target=self.run_stream, args=(connection,), daemon=True).start()

    def run_stream(self, connection):
        try:
            stream = self.accept_stream(connection)
            connection.settimeout(OPENING_SECONDS)
            certificate, deadline, serve = self.tokens.pop(stream.receive()["token"], (None, 0, ()))
            if certificate == stream.certificate and time.monotonic() < deadline:
                connection.settimeout(STREAM_SECONDS)
                serve[0](stream, *serve[1:])
        except (LinkEnded, OSError) as error:
            report(event="stream failed", reason=str(error))
        finally:
            connection.close()

    def accept_stream(self, connection):
        return Stream(connection, self.peer.listener_context(STREAM_PROTOCOL), server_side=True)

    def serve_activity(self, stream):
        """Gives the text, or hears how far the attachments of the note are that was sent."""
        message = stream.receive()
        if "content" not in message:
            while "done" not in message:
                message = stream.receive()
            report(event="delivered", **message)
            self.delivered.set()
        elif message["content"] == self.activity["userInfo"].get("hash"):
            self.send_text(stream)

    def send_text(self, stream):
        stream.write(self.text)
        stream.finish()
        report(event="text sent", rest=len(stream.read()))

    def send_blob(self, stream, content, offset):
        stream.write(content[offset:])
        stream.finish()
        report(event="blob sent", offset=offset, receipt=stream.receive())


def send_note(peer, host, port, server):
    """Sends a note with attachments, and waits until the other end has all of it."""
    link, _ = peer.dial(host, port)
    link.send("send", request=1, offer=server.offer)
    while not server.delivered.is_set():
        try:
            message = link.receive(1)
        except TimeoutError:
            continue
        if message["kind"] in ("failed", "decline", "error"):
            raise LinkEnded(f"{message['kind']} {message['code']}: {message['message']}")
        if message["kind"] != "accept":
            server.answer(link, message)
    link.end("done")


# The command ----------------------------------------------------------------------------------------------------------


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    continuing = verbs.add_parser("continue", help="continue what a peer offers, into a directory")
    continuing.add_argument("identity", type=Identity, help="a directory, see certs/README.md")
    continuing.add_argument("host")
    continuing.add_argument("port", type=int)
    continuing.add_argument("directory", type=Path, help="what is there of an attachment, under its digest, is kept")
    continuing.add_argument("--within", type=float, default=20, help="seconds")
    sending = verbs.add_parser("send", help="send a note with attachments; each event is a line of JSON")
    sending.add_argument("identity", type=Identity)
    sending.add_argument("host")
    sending.add_argument("port", type=int)
    serving = verbs.add_parser("serve", help="offer a note; each event is a line of JSON")
    serving.add_argument("identity", type=Identity)
    serving.add_argument("port", type=int)
    serving.add_argument("--service", help="the instance name that is announced for it")
    serving.add_argument("--directory", type=Path, help="take what is sent here, into this")
    for verb in (sending, serving):
        verb.add_argument("--title", required=True)
        verb.add_argument("--text", required=True, help="a file")
        verb.add_argument("--attach", action="append", default=[], metavar="FILE")
    options = parser.parse_args()
    try:
        if options.verb == "continue":
            continue_note(
                Peer(options.identity, visitor=True), options.host, options.port, options.directory, options.within
            )
        elif options.verb == "send":
            peer = Peer(options.identity, visitor=True)
            server = StreamServer(peer, options.title, options.text, options.attach)
            send_note(peer, options.host, options.port, server)
        else:
            serve(StreamServer, options, options.directory)
    except (LinkEnded, OSError) as error:
        sys.exit(f"{Path(__file__).name}: {error or type(error).__name__}")


def serve(server, options, *more):
    """Runs a server of this class, for ever."""
    peer = Peer(options.identity, service=options.service)
    with socket.create_server(("", options.port), family=socket.AF_INET6, dualstack_ipv6=True) as listener:
        server = server(peer, options.title, options.text, options.attach, *more)
        report(event="listening")
        server.serve(listener)


if __name__ == "__main__":
    main()
