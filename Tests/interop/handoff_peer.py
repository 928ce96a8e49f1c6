#!/usr/bin/env python3
"""A second implementation of the protocol, written from docs/protocol.md with Python's standard library alone.

It is there to show that the document is enough, and to speak to our commands in ways that they never would.
"""

import argparse
import base64
import datetime
import hashlib
import hmac
import json
import plistlib
import re
import secrets
import socket
import ssl
import struct
import sys
import threading
import time
import uuid
from pathlib import Path

PROTOCOL = "handoff/1"
SERVICE_TYPE = "_handoff._tcp"
NOTES_APP = "org.handoff.notes"
NOTE_TYPE = "org.handoff.notes.note"
VERSION = 1
MAX_FRAME_BYTES = 1_048_576
PAIRING_SECONDS = 5
PING_SECONDS = 4
MAX_MISSED_PINGS = 3
MAX_NONCES = 65_536
LINGER_SECONDS = 1
SENDING_SECONDS = 60
HANDOFF_FAILED = 4608
REFUSED = 5000


# Bytes and texts ------------------------------------------------------------------------------------------------------


def base32(value):
    return base64.b32encode(value).decode().rstrip("=").lower()


def base64url(value):
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def from_base64url(text, length):
    """Reads that many bytes; None where the text is anything but their one encoding."""
    try:
        value = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return None
    return value if len(value) == length and base64url(value) == text else None


def der_items(data):
    """The elements of a DER sequence, as (tag, whole element, content)."""
    while data:
        length, start = data[1], 2
        if length & 0x80:
            start = 2 + (length & 0x7F)
            length = int.from_bytes(data[2:start], "big")
        yield data[0], data[: start + length], data[start : start + length]
        data = data[start + length :]


def public_key_info(certificate):
    """The SubjectPublicKeyInfo of a DER certificate: the sixth field after the optional version."""
    (_, _, content), = der_items(certificate)
    _, _, to_be_signed = next(der_items(content))
    fields = [whole for tag, whole, _ in der_items(to_be_signed) if tag != 0xA0]
    return fields[5]


# Who one is -----------------------------------------------------------------------------------------------------------


class Identity:
    """A machine's identity directory (certs/README.md): its account, team and keys."""

    def __init__(self, directory):
        self.directory = Path(directory)
        account = ssl.PEM_cert_to_DER_cert((self.directory / "account.pem").read_text())
        self.account_hash = hashlib.sha256(public_key_info(account)).digest()
        self.discovery_key = bytes.fromhex((self.directory / "discovery.key").read_text().strip())
        # The one way by which the ssl module gives a certificate's fields without a connection.
        decoded = ssl._ssl._test_decode_cert(str(self.directory / "certificate.pem"))
        (self.team,), (machine,) = teams_and_machines(decoded)
        self.machine = uuid.UUID(machine)

    def mac(self, message):
        return hmac.digest(self.discovery_key, message, "sha256")[:16]

    def account_tag(self, salt):
        return self.mac(b"account" + salt + self.account_hash)

    def team_tag(self, salt):
        return self.mac(b"team" + salt + self.team.encode())

    def dial_proof(self, nonce=None):
        nonce = nonce or secrets.token_bytes(16)
        return base32(nonce + self.mac(b"dial" + nonce))

    def proven_nonce(self, label):
        """The nonce of a valid dial proof, else None."""
        try:
            value = base64.b32decode((label or "").upper() + "====")
        except ValueError:
            return None
        nonce, proof = value[:16], value[16:]
        return nonce if len(value) == 32 and hmac.compare_digest(proof, self.mac(b"dial" + nonce)) else None

    def context(self, purpose, protocol=PROTOCOL):
        context = ssl.SSLContext(purpose)
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        context.options |= ssl.OP_NO_TICKET
        context.set_alpn_protocols([protocol])
        context.load_cert_chain(self.directory / "certificate.pem", self.directory / "key.pem")
        context.load_verify_locations(self.directory / "account.pem")
        return context


def teams_and_machines(certificate):
    """What stands for team ID and machine id in a certificate as ssl decodes it; there has to be one of each."""
    prefix = "handoff:machine:"
    units = [value for names in certificate["subject"] for key, value in names if key == "organizationalUnitName"]
    names = certificate.get("subjectAltName", ())
    machines = [value.removeprefix(prefix) for kind, value in names if kind == "URI" and value.startswith(prefix)]
    return units, machines


# Announcement ---------------------------------------------------------------------------------------------------------


def make_announcement(identity, salt=None, spoken=str(VERSION)):
    """The strings of a TXT record."""
    salt = salt or secrets.token_bytes(8)
    values = {
        "txtvers": "1",
        "v": spoken,
        "sl": base64url(salt),
        "ah": base64url(identity.account_tag(salt)),
        "tm": base64url(identity.team_tag(salt)),
    }
    return [f"{key}={value}" for key, value in values.items()]


def make_service_name():
    return "h-" + base32(secrets.token_bytes(7))[:10]


def read_announcement(identity, strings):
    """What a TXT record says to this identity; None where the service is not a peer."""
    values = {}
    for string in strings:
        key, _, value = string.decode("latin-1").partition("=")
        key = key.lower()
        if key not in ("txtvers", "v", "sl", "ah", "tm"):
            continue
        if key in values:
            return None
        values[key] = value
    salt = from_base64url(values.get("sl", ""), 8)
    account, team = (from_base64url(values.get(key, ""), 16) for key in ("ah", "tm"))
    if values.get("txtvers") != "1" or not versions(values.get("v", "")) or None in (salt, account, team):
        return None
    return {
        "account": hmac.compare_digest(account, identity.account_tag(salt)),
        "team": hmac.compare_digest(team, identity.team_tag(salt)),
    }


def versions(text):
    """The versions that a peer speaks, of a text as `1` or `1-2`; none where it is anything else."""
    match = re.fullmatch(r"([1-9][0-9]?)(?:-([1-9][0-9]?))?", text, re.ASCII)
    return range(int(match[1]), int(match[2] or match[1]) + 1) if match else range(0)


# Links ----------------------------------------------------------------------------------------------------------------


class LinkEnded(Exception):
    """A link is over; `reason` is what the end that ended it says."""

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


class Link:
    """Frames over one connection, used by one thread."""

    def __init__(self, connection):
        self.connection = connection
        self.received = b""

    @property
    def remote_host(self):
        """The other end's address; of an IPv6 link-local one with its interface, without which it means nothing."""
        address = self.connection.getpeername()
        scope = address[3] if len(address) == 4 else 0
        return f"{address[0]}%{scope}" if scope else address[0]

    def send_bytes(self, data):
        self.connection.sendall(data)

    def send(self, kind, **keys):
        self.send_bytes(frame({"kind": kind, **keys}))

    def receive(self, within=PAIRING_SECONDS):
        """The next message. TimeoutError when none is whole in time; what has come of it is kept."""
        deadline = time.monotonic() + within
        length = struct.unpack(">I", self.take(4, deadline, peek=True))[0]
        if not 1 <= length <= MAX_FRAME_BYTES:
            raise self.refuse("protocolViolation")
        body = self.take(4 + length, deadline)[4:]
        try:
            message = plistlib.loads(body, fmt=plistlib.FMT_BINARY)
            kind = message["kind"]
        except Exception as error:  # plistlib raises whatever comes to hand
            raise self.refuse("protocolViolation") from error
        if kind == "bye":
            raise LinkEnded(message["reason"])
        return message

    def take(self, count, deadline, peek=False):
        while len(self.received) < count:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self.connection.settimeout(left)
            piece = self.connection.recv(65_536)
            if not piece:
                raise LinkEnded("connectionLost")
            self.received += piece
        data = self.received[:count]
        if not peek:
            self.received = self.received[count:]
        return data

    def refuse(self, reason):
        """Ends the link, and gives what to raise."""
        self.end(reason)
        return LinkEnded(reason)

    def end(self, reason):
        self.send("bye", reason=reason)
        self.close()

    def close(self):
        """Ends the writing, reads what is under way, then closes, so that the other end can read the last message."""
        try:
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(LINGER_SECONDS)
            while self.connection.recv(65_536):
                pass
        except OSError:
            pass
        self.connection.close()


def frame(message):
    body = plistlib.dumps(message, fmt=plistlib.FMT_BINARY)
    return struct.pack(">I", len(body)) + body


class Peer:
    """One running app."""

    def __init__(self, identity, name="python", visitor=False, service=None, spoken=str(VERSION)):
        self.identity = identity
        self.instance = secrets.token_bytes(16)
        self.hello = {
            "versions": spoken,
            "instance": self.instance,
            "app": NOTES_APP,
            "name": name,
            "host": socket.gethostname(),
            "types": [NOTE_TYPE],
        }
        if visitor:
            self.hello["visitor"] = True
        if service:
            self.hello["service"] = service
        self.nonces = {}  # as a set that keeps its order

    # Dialling

    def connect(self, host, port):
        """A link on which nothing has been said yet."""
        connection = socket.create_connection((host, port), timeout=3)
        context = self.identity.context(ssl.PROTOCOL_TLS_CLIENT)
        connection = context.wrap_socket(connection, server_hostname=self.identity.dial_proof())
        if connection.selected_alpn_protocol() != PROTOCOL:
            raise LinkEnded("applicationProtocol")
        return Link(connection)

    def dial(self, host, port):
        """A paired link and the other end's first offers."""
        link = self.connect(host, port)
        self.judge(link, link.receive())
        link.send("hello", **self.hello)
        message = link.receive()
        if message["kind"] != "offers":
            raise link.refuse("protocolViolation")
        link.send("offers", offers=[])
        return link, message["offers"]

    # Accepting

    def listener_context(self, protocol=PROTOCOL):
        context = self.identity.context(ssl.PROTOCOL_TLS_SERVER, protocol)
        context.num_tickets = 0
        context.sni_callback = self.check_proof
        return context

    def check_proof(self, connection, label, context):
        """Answers the server name, before any certificate, with the alert to send, or None."""
        nonce = self.identity.proven_nonce(label)
        # After a HelloRetryRequest the same connection says it again.
        repeats = nonce is not None and getattr(connection, "nonce", None) == nonce
        if not repeats and (nonce is None or nonce in self.nonces):
            return ssl.ALERT_DESCRIPTION_HANDSHAKE_FAILURE
        connection.nonce = nonce
        self.nonces[nonce] = True
        if len(self.nonces) > MAX_NONCES:
            del self.nonces[next(iter(self.nonces))]
        return None

    def accept(self, connection, context):
        """A link on which nothing has been said yet."""
        connection.settimeout(PAIRING_SECONDS)
        connection = context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        connection.do_handshake()
        if connection.selected_alpn_protocol() != PROTOCOL:
            connection.close()
            raise LinkEnded("applicationProtocol")
        return Link(connection)

    def judge(self, link, hello=None):
        """Judges the other end by its certificate and, if it has come, its hello."""
        teams, machines = teams_and_machines(link.connection.getpeercert())
        if teams != [self.identity.team]:
            raise link.refuse("otherTeam")
        try:
            (machine,) = map(uuid.UUID, machines)
        except ValueError as error:
            raise link.refuse("badCertificate") from error
        if hello is None:
            return
        if hello["kind"] != "hello":
            raise link.refuse("protocolViolation")
        if (machine, hello["instance"]) == (self.identity.machine, self.instance):
            raise link.refuse("ourselves")
        if VERSION not in versions(hello["versions"]):
            raise link.refuse("versionUnsupported")


# The notes app --------------------------------------------------------------------------------------------------------


def continue_activity(peer, host, port, within, updates=0):
    """Waits until the peer there offers something, takes the first of it, and then so many of its newer states."""
    deadline = time.monotonic() + within
    link, offers = peer.dial(host, port)
    offered, request = None, 1
    while True:
        if offers and offered is None:
            offered = offers[0]
            link.send("fetch", request=1, activity=offered["id"])
        message = link.receive(deadline - time.monotonic())
        if message["kind"] == "ping":
            link.send("pong", sequence=message["sequence"])
        elif message["kind"] == "offers":
            offers = message["offers"]
        elif message["kind"] == "activity":
            check(link, message["activity"], offered)
            report(**message["activity"])
            if message["request"] == 1:
                link.send("continued", activity=offered["id"])
            if message["request"] > updates:
                return link.end("done")
        elif message["kind"] == "update" and message["activity"] == offered["id"]:
            request = request + 1
            link.send("fetch", request=request, activity=offered["id"])
        elif message["kind"] == "error" and message["request"] == request:
            link.end("done")
            raise LinkEnded(f"error {message['code']}: {message['message']}")


def check(link, activity, offered):
    """Refuses another activity than the one that was asked for, and one without what it says is required."""
    if (activity["id"], activity["type"]) != (offered["id"], offered["type"]):
        raise link.refuse("protocolViolation")
    missing = [key for key in activity.get("required", []) if key not in activity["userInfo"]]
    if missing:
        raise link.refuse("protocolViolation")


def send_note(peer, host, port, note):
    """Sends a note to the peer there, and waits until it has it."""
    link, _ = peer.dial(host, port)
    link.send("send", request=1, offer=note.offer)
    while True:
        message = link.receive(SENDING_SECONDS)
        if message["kind"] in ("continued", "failed", "decline", "error"):
            link.end("done")
            return message
        if message["kind"] != "accept":
            note.answer(link, message)


class NoteServer:
    """Offers one note, or something else of that form, to whoever is of the account and team."""

    def __init__(self, peer, title, content, kind=NOTE_TYPE, webpage=None, accepts=True, moody=None):
        self.peer = peer
        self.moody = moody
        self.accepts = accepts
        self.wanted = None
        self.offer = {"id": str(uuid.uuid4()), "type": kind, "title": title, "web": webpage is not None}
        self.activity = {
            **self.offer,
            **({"webpage": webpage} if webpage else {}),
            "required": ["id", "title"],
            "userInfo": {
                "id": str(uuid.uuid4()),
                "title": title,
                "content": content,
                "version": {str(uuid.uuid4()): 1},
                "modified": datetime.datetime.utcnow().replace(microsecond=0),
            },
        }

    def serve(self, listener):
        context = self.peer.listener_context()
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=self.run, args=(connection, context), daemon=True).start()

    def run(self, connection, context):
        try:
            link = self.peer.accept(connection, context)
            self.peer.judge(link)
            link.send("hello", **self.peer.hello)
            self.peer.judge(link, link.receive())
            self.talk(link)
        except LinkEnded as end:
            report(event="ended", reason=end.reason)
        except OSError as error:
            report(event="failed", reason=str(error))
        finally:
            connection.close()

    def talk(self, link):
        link.send("offers", offers=[self.offer])
        report(event="paired")
        sequence, unanswered = 0, 0
        while unanswered < MAX_MISSED_PINGS:
            try:
                message = link.receive(PING_SECONDS)
            except TimeoutError:
                sequence, unanswered = sequence + 1, unanswered + 1
                link.send("ping", sequence=sequence)
                continue
            unanswered = 0
            self.answer(link, message)
        raise LinkEnded("timedOut")

    def answer(self, link, message):
        kind = message["kind"]
        if kind == "ping":
            link.send("pong", sequence=message["sequence"])
        elif kind == "fetch":
            request = message["request"]
            if self.is_first_asked():
                link.send("error", request=request, code=HANDOFF_FAILED, message="Not now.")
            elif message["activity"].lower() == self.activity["id"]:
                link.send("activity", request=request, activity=self.activity)
            else:
                link.send("error", request=request, code=HANDOFF_FAILED, message="It is not offered any more.")
        elif kind == "continued":
            report(event="continued", activity=message["activity"])
        elif kind == "send":
            self.take(link, message["request"], message["offer"])
        elif kind == "activity" and self.wanted:
            check(link, message["activity"], self.wanted)
            report(event="received", activity=message["activity"])
            link.send("continued", activity=self.wanted["id"])
            self.wanted = None
        elif kind == "hello":
            raise link.refuse("protocolViolation")
        elif kind not in ("pong", "offers", "activity", "error", "update", "accept", "decline", "failed", "unsupported"):
            request = {"request": message["request"]} if "request" in message else {}
            link.send("unsupported", unsupported=kind, **request)

    def is_first_asked(self):
        """True for the one fetch, of all that are made of peers with the same file, that makes the file."""
        try:
            if self.moody:
                self.moody.touch(exist_ok=False)
        except FileExistsError:
            return False
        return self.moody is not None

    def take(self, link, request, offer):
        """Accepts what is sent here, or declines it."""
        if not self.accepts:
            link.send("decline", request=request, code=REFUSED, message="This peer takes nothing.")
            return
        self.wanted = offer
        link.send("accept", request=request)
        link.send("fetch", request=1, activity=offer["id"])


# The command ----------------------------------------------------------------------------------------------------------


def report(**line):
    print(json.dumps(line, default=printable), flush=True)


def printable(value):
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    continuing = verbs.add_parser("continue", help="continue what a peer offers and print it as JSON")
    continuing.add_argument("identity", type=Identity, help="a directory, see certs/README.md")
    continuing.add_argument("host")
    continuing.add_argument("port", type=int)
    continuing.add_argument("--visitor", action="store_true", help="leave no trace in the peer's log and list")
    continuing.add_argument("--within", type=float, default=20, help="seconds")
    continuing.add_argument("--updates", type=int, default=0, help="wait for so many newer states, a line each")
    sending = verbs.add_parser("send", help="send a note to a peer and print its last answer as JSON")
    sending.add_argument("identity", type=Identity)
    sending.add_argument("host")
    sending.add_argument("port", type=int)
    sending.add_argument("--title", required=True)
    sending.add_argument("--content", required=True)
    serving = verbs.add_parser("serve", help="offer a note; each event is a line of JSON")
    serving.add_argument("identity", type=Identity)
    serving.add_argument("port", type=int)
    serving.add_argument("--title", required=True)
    serving.add_argument("--content", required=True)
    serving.add_argument("--service", help="the instance name that is announced for it")
    serving.add_argument("--versions", default=str(VERSION), help="say that it speaks these, as in 1-2")
    serving.add_argument("--type", default=NOTE_TYPE, help="offer it as an activity of this type")
    serving.add_argument("--webpage", help="an address to open where no app takes the type")
    serving.add_argument("--moody", type=Path, help="while there is no such file, make it instead of giving the note")
    serving.add_argument("--decline", action="store_true", help="take nothing that is sent here")
    announcing = verbs.add_parser("announcement", help="make an instance name and a TXT record, and print them as JSON")
    announcing.add_argument("identity", type=Identity)
    announcing.add_argument("--versions", default=str(VERSION))
    options = parser.parse_args()
    try:
        if options.verb == "continue":
            peer = Peer(options.identity, visitor=options.visitor)
            continue_activity(peer, options.host, options.port, options.within, options.updates)
        elif options.verb == "send":
            peer = Peer(options.identity, visitor=True)
            note = NoteServer(peer, options.title, options.content)
            report(**send_note(peer, options.host, options.port, note))
        elif options.verb == "serve":
            peer = Peer(options.identity, service=options.service, spoken=options.versions)
            with socket.create_server(("", options.port), family=socket.AF_INET6, dualstack_ipv6=True) as listener:
                report(event="listening")
                NoteServer(
                    peer, options.title, options.content, options.type, options.webpage, not options.decline, options.moody
                ).serve(listener)
        else:
            txt = make_announcement(options.identity, spoken=options.versions)
            report(service=make_service_name(), txt=txt)
    except (LinkEnded, OSError) as error:
        sys.exit(f"{Path(__file__).name}: {error or type(error).__name__}")


if __name__ == "__main__":
    main()
