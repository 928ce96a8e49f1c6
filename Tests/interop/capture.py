"""Writes every packet that a host sends or receives into a file, each behind its length, until it is ended.

It prints a line when it has begun. Debian's Python is enough; it needs the right to raw sockets, as in the lab.
"""

import signal
import socket
import sys

EVERY_PROTOCOL = 3  # ETH_P_ALL
BUFFER = 64 << 20


def main() -> None:
    interface, path = sys.argv[1:]
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY_PROTOCOL))
    # Over the machine's limit, which root may set, and which a user cannot.
    try:
        packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUFFORCE, BUFFER)
    except (AttributeError, OSError):
        packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
    packets.bind((interface, 0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    with open(path, "wb", buffering=0) as file:
        print("capturing", flush=True)
        while True:
            packet = packets.recv(1 << 17)
            file.write(len(packet).to_bytes(4, "big") + packet)


if __name__ == "__main__":
    main()
