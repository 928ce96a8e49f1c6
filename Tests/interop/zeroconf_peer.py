#!/usr/bin/env python3
"""DNS-SD as docs/protocol.md has it, by python-zeroconf: a stack that shares nothing with Avahi."""

import argparse
import socket
import threading

from zeroconf import ServiceBrowser, ServiceInfo, ServiceStateChange, Zeroconf

from handoff_peer import SERVICE_TYPE, Identity, make_announcement, read_announcement, report

DOMAIN_TYPE = f"{SERVICE_TYPE}.local."
RESOLVE_MILLISECONDS = 3000


def announce(options):
    """Announces a service until this process ends."""
    # As bytes, since the stack would put the strings of a dictionary in an order of its own.
    strings = [string.encode() for string in make_announcement(options.identity)]
    service = ServiceInfo(
        DOMAIN_TYPE,
        f"{options.service}.{DOMAIN_TYPE}",
        port=options.port,
        properties=b"".join(bytes([len(string)]) + string for string in strings),
        server=f"{options.service}.local.",
        addresses=[socket.inet_aton(options.address)],
    )
    with Zeroconf(interfaces=[options.address]) as stack:
        stack.register_service(service)
        report(event="announced", service=options.service)
        threading.Event().wait()


def browse(options):
    """Prints each service that is found, and what its record says to this identity, until this process ends."""

    def changed(zeroconf, service_type, name, state_change):
        service = name.removesuffix(f".{DOMAIN_TYPE}")
        if state_change is ServiceStateChange.Removed:
            report(event="removed", service=service)
        elif info := zeroconf.get_service_info(service_type, name, RESOLVE_MILLISECONDS):
            match = read_announcement(options.identity, list(strings_of(info.text)))
            report(event="found", service=service, port=info.port, addresses=info.parsed_addresses(), match=match)

    with Zeroconf(interfaces=[options.address]) as stack:
        ServiceBrowser(stack, DOMAIN_TYPE, handlers=[changed])
        threading.Event().wait()


def strings_of(record):
    while record:
        length = record[0]
        yield record[1 : 1 + length]
        record = record[1 + length :]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(required=True)
    announcing = verbs.add_parser("announce", help=announce.__doc__)
    announcing.set_defaults(run=announce)
    announcing.add_argument("identity", type=Identity)
    announcing.add_argument("address", help="of the interface to use")
    announcing.add_argument("service")
    announcing.add_argument("port", type=int)
    browsing = verbs.add_parser("browse", help=browse.__doc__)
    browsing.set_defaults(run=browse)
    browsing.add_argument("identity", type=Identity)
    browsing.add_argument("address", help="of the interface to use")
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
