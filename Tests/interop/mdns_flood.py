#!/usr/bin/env python3
"""Invents peers in mDNS: writes the responses itself, so that no daemon bounds them. The standard library alone."""

import argparse
import base64
import collections
import json
import secrets
import socket
import struct
import time

from handoff_peer import SERVICE_TYPE, make_service_name

GROUP = ("224.0.0.251", 5353)
RESPONSE = struct.pack(">HHHHHH", 0, 0x8400, 0, 0, 0, 0)  # authoritative; the counts are filled in
PTR, TXT, A, SRV = 12, 16, 1, 33
IN, IN_FLUSHED = 1, 0x8001
TTL_SECONDS = 120
# Services in one packet, so that it stays below an Ethernet frame's 1,500 bytes.
BATCH = 4


def encode_name(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


TYPE_NAME = encode_name(f"{SERVICE_TYPE}.local")
TYPE_POINTER = b"\xc0\x0c"  # to the first record's name, behind the header


def record(name, kind, ttl, data, flushed=True):
    return name + struct.pack(">HHIH", kind, IN_FLUSHED if flushed else IN, ttl, len(data)) + data


def records(service, number, options, ttl):
    """All of one service; half of them have random tags."""
    name = bytes([len(service)]) + service.encode() + TYPE_POINTER
    host = encode_name(f"{service}.local")
    strings = options.txt if options.txt and number % 2 else random_strings()
    txt = b"".join(bytes([len(string)]) + string.encode() for string in strings)
    pointer = record(TYPE_POINTER, PTR, ttl, name, flushed=False)
    if ttl == 0:
        return [pointer]
    return [
        pointer,
        record(name, SRV, ttl, struct.pack(">HHH", 0, 0, options.port) + host),
        record(name, TXT, ttl, txt),
        record(host, A, ttl, socket.inet_aton(options.target or options.address)),
    ]


def random_strings():
    def random_text(count):
        return base64.urlsafe_b64encode(secrets.token_bytes(count)).decode().rstrip("=")

    return ["txtvers=1", "v=1", f"sl={random_text(8)}", f"ah={random_text(16)}", f"tm={random_text(16)}"]


def packet(answers):
    # The first name is written out, so that all others can point to it.
    body = TYPE_NAME + answers[0][len(TYPE_POINTER) :] + b"".join(answers[1:])
    return RESPONSE[:6] + struct.pack(">H", len(answers)) + RESPONSE[8:] + body


def flood(options):
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    # Responses from another port than 5353 are not heard.
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sender.bind((options.address, GROUP[1]))
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(options.address))
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
    standing = collections.deque()
    begin = time.monotonic()
    for first in range(0, options.count, BATCH):
        answers = []
        for number in range(first, min(first + BATCH, options.count)):
            service = make_service_name()
            standing.append((service, number))
            answers += records(service, number, options, TTL_SECONDS)
        # Earlier ones say good-bye, so that a full cache does not keep the next from being heard.
        while options.standing and len(standing) > options.standing:
            answers += records(*standing.popleft(), options, 0)
        sender.sendto(packet(answers), GROUP)
        time.sleep(max(0, begin + first / options.rate - time.monotonic()))
    print(json.dumps({"event": "announced", "count": options.count}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", help="of the interface to use")
    parser.add_argument("count", type=int)
    parser.add_argument("--port", type=int, default=9, help="where the services are said to be")
    parser.add_argument("--target", help="the host where they are said to be; by default this one")
    parser.add_argument("--txt", nargs="+", help="a record that half of them copy")
    parser.add_argument("--rate", type=float, default=1500, help="services a second")
    parser.add_argument("--standing", type=int, default=0, help="all but so many are taken back at once; 0: none is")
    flood(parser.parse_args())


if __name__ == "__main__":
    main()
