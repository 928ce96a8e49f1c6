#!/usr/bin/env python3
"""Breaks the rules of docs/protocol.md, "Streams", at either end, and prints how each misdeed was answered."""

import argparse
import hashlib
import json
import secrets
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from handoff_peer import Identity, LinkEnded, Peer, frame, report
from handoff_streams import STREAM_PROTOCOL, Stream, StreamServer, ask, dial_stream, open_stream, serve
from hostile_peer import raw_frame, try_out

UNKNOWN = hashlib.sha256(b"unknown").digest()
NOTHING = hashlib.sha256(b"").digest()


# What a dialler does with a note of the other end that it has fetched -----------------------------------------------------


def reaction(stream):
    """What comes on a stream: `data`, `ended` for close_notify, or `closed` for an end without it."""
    try:
        return "data" if stream.read() else "ended"
    except ConnectionError:
        return "closed"


def ticket_for(peer, link, activity):
    return ask(link, 10, "openStream", activity=activity["id"])


def instead_of_token(make):
    def deed(peer, link, activity, _):
        ticket = ticket_for(peer, link, activity)
        stream = dial_stream(peer, link, ticket)
        stream.write(make(ticket["token"]))
        return reaction(stream)
    return deed


def token_twice(peer, link, activity, _):
    ticket = ticket_for(peer, link, activity)
    first = dial_stream(peer, link, ticket)
    first.send(token=ticket["token"])
    first.send(content=activity["userInfo"]["hash"])
    second = dial_stream(peer, link, ticket)
    second.send(token=ticket["token"])
    second.send(content=activity["userInfo"]["hash"])
    return f"{reaction(first)}, {reaction(second)}"


def token_of_another(peer, link, activity, other):
    ticket = ticket_for(peer, link, activity)
    stream = dial_stream(Peer(other, visitor=True), link, ticket)
    stream.send(token=ticket["token"])
    stream.send(content=activity["userInfo"]["hash"])
    return reaction(stream)


def other_text(peer, link, activity, _):
    stream, _ = open_stream(peer, link, activity=activity["id"])
    stream.send(content=UNKNOWN)
    return reaction(stream)


def open_source(**source):
    return lambda peer, link, activity, _: ask(link, 10, "openStream", **source)["kind"]


def blob(**keys):
    return {"blob": {"sha256": UNKNOWN, "size": 1, "offset": 0, "prefix": NOTHING, **keys}}


def begins_elsewhere(peer, link, activity, _):
    """Claims to have what it has not, and has to be given the whole."""
    (attachment,) = activity["userInfo"]["attachments"]
    known = {key: attachment[key] for key in ("sha256", "size")}
    return str([
        ask(link, 10, "openStream", **blob(**known, offset=offset, prefix=UNKNOWN)).get("offset", 0)
        for offset in (0, 1, known["size"])
    ])


def blob_of_another(peer, link, activity, other):
    """Asks for a file as a machine that has not fetched the note."""
    (attachment,) = activity["userInfo"]["attachments"]
    peer = Peer(other, visitor=True)
    link, _ = peer.dial(link.remote_host, link.connection.getpeername()[1])
    return open_source(**blob(sha256=attachment["sha256"], size=attachment["size"]))(peer, link, activity, None)


WHEN_FETCHED = {
    "no token": instead_of_token(lambda token: b""),
    "unknown token": instead_of_token(lambda token: frame({"token": secrets.token_bytes(32)})),
    "short token": instead_of_token(lambda token: frame({"token": token[:31]})),
    "token as a text": instead_of_token(lambda token: frame({"token": token.hex()})),
    "noise for a token": instead_of_token(lambda token: raw_frame(bytes(range(256)))),
    "token in a large frame": instead_of_token(lambda token: frame({"token": token, "more": bytes(4096)})),
    "half a token": instead_of_token(lambda token: frame({"token": token})[:20]),
    "token used twice": token_twice,
    "token with another certificate": token_of_another,
    "hash of another text": other_text,
    "stream of an unknown activity": open_source(activity="00000000-0000-0000-0000-000000000007"),
    "stream of nothing": open_source(),
    "blob with a short digest": open_source(**blob(sha256=UNKNOWN[:31])),
    "blob of negative size": open_source(**blob(size=-1)),
    "blob from a negative offset": open_source(**blob(offset=-1)),
    "blob from beyond its end": open_source(**blob(offset=2)),
    "blob of nothing but a size": open_source(blob={"size": 1}),
    "unknown blob": open_source(**blob()),
    "blob of a note that another has fetched": blob_of_another,
    "beginning that is not there": begins_elsewhere,
}


def when_fetched(options, deed):
    peer = Peer(options.identity)
    link, offers = peer.dial(options.host, options.port)
    activity = ask(link, 10, "fetch", activity=offers[0]["id"])["activity"]
    try:
        return deed(peer, link, activity, options.other)
    except LinkEnded as end:
        if not end.reason.startswith("error"):
            raise
        # Only the code: its text is the other end's.
        return end.reason.split(":")[0]


# What an acceptor sends for a text or a file ---------------------------------------------------------------------------


def end_in_a_record(stream, data):
    stream.write(data[: len(data) // 2])
    stream.tls.write(b"x" * 1000)
    stream.socket.sendall(stream.outgoing.read()[:-10])
    stream.socket.shutdown(socket.SHUT_WR)


def end_after_a_record(stream, data):
    stream.write(data[: len(data) // 2])
    stream.socket.shutdown(socket.SHUT_WR)


def end_after_all(stream, data):
    stream.write(data)
    stream.socket.shutdown(socket.SHUT_WR)


def send_and_finish(change):
    def deed(stream, data):
        stream.write(change(data))
        stream.finish()
    return deed


WHEN_ASKED = {
    "another certificate": None,
    "FIN in a record": end_in_a_record,
    "FIN after a record": end_after_a_record,
    "FIN after the last byte": end_after_all,
    "nothing": send_and_finish(lambda data: b""),
    "a byte too few": send_and_finish(lambda data: data[:-1]),
    "a byte too many": send_and_finish(lambda data: data + b"!"),
    "another content": send_and_finish(lambda data: b"!" + data[1:]),
}


class HostileServer(StreamServer):
    """Does something else wrong with each stream, and then everything right."""

    misdeeds = ()
    other = None

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.left = list(self.misdeeds)

    def start_of(self, blob):
        # As if the beginning that is there were another one, so that each misdeed has the whole to do it with.
        return 0 if self.left else super().start_of(blob)

    def accept_stream(self, connection):
        if self.left[:1] != ["another certificate"]:
            return super().accept_stream(connection)
        name = self.left.pop(0)
        stream = Stream(connection, Peer(self.other).listener_context(STREAM_PROTOCOL), server_side=True)
        report(event="misdeed", name=name, answer=reaction(stream))
        raise LinkEnded("misdeed")

    def send_text(self, stream):
        if self.left:
            self.misbehave(stream, self.text, reaction)
        else:
            super().send_text(stream)

    def send_blob(self, stream, content, offset):
        if self.left:
            self.misbehave(stream, content, lambda stream: "receipt" if stream.receive().get("code") else "taken")
        else:
            super().send_blob(stream, content, offset)

    def misbehave(self, stream, data, answer):
        name = self.left.pop(0)
        try:
            WHEN_ASKED[name](stream, data)
            came = answer(stream)
        except OSError:
            came = "closed"
        report(event="misdeed", name=name, answer=came)


# The command ----------------------------------------------------------------------------------------------------------


def dial(options):
    """Does everything that a dialler can do wrong, and prints the answers as one JSON object."""
    with ThreadPoolExecutor(len(WHEN_FETCHED)) as threads:
        deeds = [lambda deed=deed: when_fetched(options, deed) for deed in WHEN_FETCHED.values()]
        answers = dict(zip(WHEN_FETCHED, threads.map(try_out, deeds)))
    print(json.dumps(answers))


def offer(options):
    """Offers a note, and does a misdeed with each stream, in this order; then everything is right."""
    HostileServer.misdeeds, HostileServer.other = options.misdeeds, options.other
    serve(HostileServer, options)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(required=True)
    dialling = verbs.add_parser("dial", help=dial.__doc__)
    dialling.set_defaults(run=dial)
    dialling.add_argument("identity", type=Identity)
    dialling.add_argument("host")
    dialling.add_argument("port", type=int)
    dialling.add_argument("other", type=Identity, help="that of another machine")
    serving = verbs.add_parser("serve", help=offer.__doc__)
    serving.set_defaults(run=offer)
    serving.add_argument("identity", type=Identity)
    serving.add_argument("port", type=int)
    serving.add_argument("--title", required=True)
    serving.add_argument("--text", required=True, type=Path)
    serving.add_argument("--attach", action="append", default=[], type=Path)
    serving.add_argument("--service")
    serving.add_argument("--other", required=True, type=Identity)
    serving.add_argument("misdeeds", nargs="+", choices=WHEN_ASKED)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
