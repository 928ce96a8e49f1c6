#!/usr/bin/env python3
"""Breaks the rules of docs/protocol.md in many ways at once, and prints how each misdeed was answered.

The last line of the output is a JSON object: the name of each misdeed, and `bye REASON`, `alert NAME`, the kind of a
message, or `closed`.
"""

import argparse
import json
import plistlib
import re
import socket
import ssl
import struct
import uuid
from concurrent.futures import ThreadPoolExecutor

from handoff_peer import PROTOCOL, Identity, LinkEnded, Peer, frame

WAIT_SECONDS = 20


def raw_frame(body):
    return struct.pack(">I", len(body)) + body


def plist(value):
    return raw_frame(plistlib.dumps(value, fmt=plistlib.FMT_BINARY))


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


def without(hello, missing):
    return {key: value for key, value in hello.items() if key != missing}


# What a dialler sends where its hello is due, after that of the acceptor.
INSTEAD_OF_HELLO = {
    "ping before hello": lambda hello: frame({"kind": "ping", "sequence": 1}),
    "offers before hello": lambda hello: frame({"kind": "offers", "offers": []}),
    "unknown kind before hello": lambda hello: frame({"kind": "dance"}),
    "empty frame": lambda hello: struct.pack(">I", 0),
    "oversized length": lambda hello: struct.pack(">I", 1_048_577),
    "largest length": lambda hello: b"\xff\xff\xff\xff",
    "noise": lambda hello: raw_frame(bytes(range(256))),
    "header only": lambda hello: raw_frame(b"bplist00"),
    "XML list": lambda hello: raw_frame(plistlib.dumps({"kind": "hello", **hello})),
    "array on top": lambda hello: plist([{"kind": "hello", **hello}]),
    "no kind": lambda hello: plist(hello),
    "kind is a number": lambda hello: plist({**hello, "kind": 1}),
    "UID in the list": lambda hello: frame({"kind": "hello", **hello, "more": plistlib.UID(1)}),
    "33 containers": lambda hello: frame({"kind": "hello", **hello, "more": nested(32)}),
    "10,001 values": lambda hello: frame({"kind": "hello", **hello, "more": list(range(10_000))}),
    "hello without instance": lambda hello: frame({"kind": "hello", **without(hello, "instance")}),
    "short instance": lambda hello: frame({"kind": "hello", **hello, "instance": bytes(15)}),
    "name of 256 bytes": lambda hello: frame({"kind": "hello", **hello, "name": "n" * 256}),
    "65 types": lambda hello: frame({"kind": "hello", **hello, "types": ["a.b"] * 65}),
    "no such versions": lambda hello: frame({"kind": "hello", **hello, "versions": "0"}),
    "later versions only": lambda hello: frame({"kind": "hello", **hello, "versions": "2-9"}),
    "cut short": lambda hello: frame({"kind": "hello", **hello})[:-1],
    "silence": lambda hello: b"",
}

# What a paired peer sends.
WHEN_PAIRED = {
    "second hello": lambda hello: frame({"kind": "hello", **hello}),
    "ping without sequence": lambda hello: frame({"kind": "ping"}),
    "17 offers": lambda hello: frame({"kind": "offers", "offers": [
        {"id": str(uuid.UUID(int=number)), "type": "a.b", "title": ""} for number in range(17)
    ]}),
    "half a frame": lambda hello: frame({"kind": "ping", "sequence": 1})[:10],
    "no such activity": lambda hello: frame({"kind": "fetch", "request": 7, "activity": str(uuid.UUID(int=7))}),
    "unknown kind": lambda hello: frame({"kind": "dance", "request": 7}),
}


# What an acceptor sends where its hello is due, and then where its offers are due, after the dialler's hello.
WHEN_ACCEPTED = {
    "offers for a hello": lambda hello: (frame({"kind": "offers", "offers": []}), b""),
    "unknown kind for a hello": lambda hello: (frame({"kind": "dance"}), b""),
    "oversized length for a hello": lambda hello: (struct.pack(">I", 1_048_577), b""),
    "half a hello": lambda hello: (frame({"kind": "hello", **hello})[:50], b""),
    "silence for a hello": lambda hello: (b"", b""),
    "hello of later versions": lambda hello: (frame({"kind": "hello", **hello, "versions": "2"}), b""),
    "hello for offers": lambda hello: (frame({"kind": "hello", **hello}),) * 2,
    "ping for offers": lambda hello: (frame({"kind": "hello", **hello}), frame({"kind": "ping", "sequence": 1})),
    "unknown kind for offers": lambda hello: (frame({"kind": "hello", **hello}), frame({"kind": "dance"})),
    "silence for offers": lambda hello: (frame({"kind": "hello", **hello}), b""),
}


def answer(link, passing):
    """What comes, but for the messages of an ordinary link."""
    while True:
        message = link.receive(WAIT_SECONDS)
        if message["kind"] not in passing:
            break
    if message["kind"] == "unsupported":
        # The link is still good.
        link.send("ping", sequence=3)
        while link.receive()["kind"] != "pong":
            pass
    return " ".join([message["kind"], *(str(message[key]) for key in ("code", "unsupported") if key in message)])


def instead_of_hello(identity, host, port, misdeed):
    peer = Peer(identity)
    link = peer.connect(host, port)
    link.receive()
    link.send_bytes(misdeed(peer.hello))
    return answer(link, passing=())


def when_paired(identity, host, port, misdeed):
    peer = Peer(identity)
    link, _ = peer.dial(host, port)
    link.send_bytes(misdeed(peer.hello))
    return answer(link, passing=("ping", "offers"))


def when_accepted(identity, port, misdeed):
    peer = Peer(identity)
    with socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True) as listener:
        listener.settimeout(WAIT_SECONDS)
        link = peer.accept(listener.accept()[0], peer.listener_context())
    for_hello, for_offers = misdeed(peer.hello)
    link.send_bytes(for_hello)
    if for_offers:
        link.receive()
        link.send_bytes(for_offers)
    return answer(link, passing=("hello",))


def connect(identity, host, port, label, context=None):
    context = context or identity.context(ssl.PROTOCOL_TLS_CLIENT)
    with socket.create_connection((host, port), timeout=WAIT_SECONDS) as connection:
        with context.wrap_socket(connection, server_hostname=label) as secured:
            return "data" if secured.recv(1) else "closed"


def repeated_proof(identity, host, port):
    label = identity.dial_proof()
    connect(identity, host, port, label)
    return connect(identity, host, port, label)


def old_tls(identity, host, port):
    context = identity.context(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
    return connect(identity, host, port, identity.dial_proof(), context)


def other_protocol(identity, host, port):
    context = identity.context(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["http/1.1"])
    return connect(identity, host, port, identity.dial_proof(), context)


def without_certificate(identity, host, port):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(identity.directory / "account.pem")
    context.set_alpn_protocols([PROTOCOL])
    return connect(identity, host, port, identity.dial_proof(), context)


IN_THE_HANDSHAKE = {
    "no dial proof": lambda *to: connect(*to, None),
    "wrong dial proof": lambda *to: connect(*to, "a" * 52),
    "repeated dial proof": repeated_proof,
    "TLS 1.2": old_tls,
    "other application protocol": other_protocol,
    "no certificate": without_certificate,
}


def try_out(deed):
    try:
        return deed()
    except LinkEnded as end:
        return "closed" if end.reason == "connectionLost" else f"bye {end.reason}"
    except ssl.SSLError as error:
        # Not all alerts have a `reason` here, but all have a text: "[SSL] tlsv1 alert no application protocol (…)".
        alert = re.search("alert [a-z ]+[a-z]", str(error))
        return alert[0] if alert else str(error)
    except TimeoutError:
        return "nothing"
    except OSError as error:
        return type(error).__name__


def dial(options):
    """Does everything that a dialler can do wrong."""
    to = (options.identity, options.host, options.port)
    deeds = {name: lambda deed=deed: deed(*to) for name, deed in IN_THE_HANDSHAKE.items()}
    deeds |= {name: lambda bad=bad: instead_of_hello(*to, bad) for name, bad in INSTEAD_OF_HELLO.items()}
    deeds |= {name: lambda bad=bad: when_paired(*to, bad) for name, bad in WHEN_PAIRED.items()}
    return deeds


def serve(options):
    """Does what an acceptor can do wrong, each misdeed named at a port of its own, for one connection."""
    return {
        name: lambda port=port, name=name: when_accepted(options.identity, port, WHEN_ACCEPTED[name])
        for port, name in enumerate(options.misdeeds, options.port)
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(required=True)
    dialling = verbs.add_parser("dial", help=dial.__doc__)
    dialling.set_defaults(deeds=dial)
    dialling.add_argument("identity", type=Identity)
    dialling.add_argument("host")
    dialling.add_argument("port", type=int)
    serving = verbs.add_parser("serve", help=serve.__doc__)
    serving.set_defaults(deeds=serve)
    serving.add_argument("identity", type=Identity)
    serving.add_argument("port", type=int, help="the first one")
    serving.add_argument("misdeeds", nargs="+", choices=WHEN_ACCEPTED)
    options = parser.parse_args()
    deeds = options.deeds(options)
    with ThreadPoolExecutor(len(deeds)) as threads:
        answers = dict(zip(deeds, threads.map(try_out, deeds.values())))
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
