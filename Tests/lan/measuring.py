"""What the scripts that measure share: a lab with peers, and a connection to each. Only the standard library."""

import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TEAM = "HANDOFFAPP"


def figures(name, values, unit="ms"):
    values = sorted(values)
    print(f"{name:<58} {statistics.median(values):8.2f} {values[0]:8.2f} {values[-1]:8.2f} {unit}", flush=True)


class Lab:
    """Hosts with an identity of one account each; gone at the end, whatever happens."""

    def __init__(self, count, binaries):
        self.work = tempfile.mkdtemp(prefix="handoff-measure.")
        self.binaries = binaries
        self.place = f"{self.work}/lab"
        self.environment = dict(os.environ, HANDOFF_LAB=self.place)
        self.lab("up", str(count), "--owner", str(os.getpid()))
        subprocess.run([ROOT / "certs/make-account", f"{self.work}/account"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for host in "abcdefgh"[:count]:
            os.makedirs(f"{self.place}/{host}/handoff/config", mode=0o700)
            identity = f"{self.place}/{host}/handoff/config/identity"
            make = [ROOT / "certs/make-peer", f"{self.work}/account", identity, TEAM]
            subprocess.run(make, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lab("down")
        shutil.rmtree(self.work)

    def lab(self, *arguments):
        subprocess.run([HERE / "lab", *arguments], env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def command(self, host, *arguments):
        return [HERE / "lab", "exec", host, *arguments]

    def notes(self, host, *arguments):
        command = self.command(host, f"{self.binaries}/notes", *arguments)
        return subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True).stdout

    def start_peer(self, host, verbose=True):
        """Starts a peer; a verbose one's log has to be read from its standard error."""
        command = self.command(host, f"{self.binaries}/notes", "run", *["--verbose"] * verbose)
        errors = subprocess.PIPE if verbose else subprocess.DEVNULL
        return subprocess.Popen(
            command, env=self.environment, stdout=subprocess.DEVNULL, stderr=errors, text=True
        )

    def control(self, host):
        """A connection to the peer's socket: sockets with a path do not belong to a network namespace."""
        path = f"{self.place}/{host}/handoff/run/notes.socket"
        return wait(lambda: Control(path), OSError)


class Control:
    """Asks a running peer without the cost of a process."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rw")

    def ask(self, **request):
        self.file.write(json.dumps(request) + "\n")
        self.file.flush()
        return json.loads(self.file.readline())

    def peers(self):
        return self.ask(status={})["status"]["_0"]["peers"]

    def offers(self):
        return [offer for offer in self.ask(activities={})["activities"]["_0"] if offer.get("peer")]


def wait(condition, *errors, limit=15):
    """Tries until a condition holds; the result is its value."""
    end = time.monotonic() + limit
    while True:
        try:
            if value := condition():
                return value
        except errors:
            pass
        if time.monotonic() > end:
            raise SystemExit(f"measure: nothing happened within {limit} s")
        time.sleep(0.001)


def stop(peer):
    peer.terminate()
    peer.wait(timeout=10)
