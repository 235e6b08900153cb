#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What requests cost a server in counts that no busy machine changes much: how often it takes memory from the heap, and reads
and writes (files and sockets), for each request of one client. Fails where one of these passes its bound. How often it waits is printed
beside them; that depends on the machine.

Usage: count.py PROGRAM LIBRARY, where LIBRARY is allocations.c as a shared library.
"""
import json
import mmap
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time

# Of each request: allocations, and reads and writes. A tenth above what was measured. Whoever makes a request cheaper lowers its
# bounds.
BOUNDS = {
    "a poll that finds nothing": (115, 4),
    "a look-up of a record": (140, 4),
    "a page of 200 changes": (400, 6),
    "a save": (250, 24),
    "a batch of 200": (7600, 185),
    "a save, to its push on a device": (770, 72),
}
WARM_UP = 100
ROUNDS = 400
# The longest that an answer may take.
PATIENCE = 60
CONTAINER = "iCloud.org.example.counts"


class Connection:
    """A connection that is kept, on which one request follows another."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.received = b""

    def receive(self):
        part = self.socket.recv(1 << 18)
        if not part:
            raise SystemExit(f"the server ended a connection after {self.received[-500:]!r}")
        self.received += part

    def read_until(self, end):
        while end not in self.received:
            self.receive()
        found, _, self.received = self.received.partition(end)
        return found

    def send(self, method, path, body=b"", headers=""):
        self.socket.sendall(
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n{headers}"
            f"Content-Length: {len(body)}\r\n\r\n".encode() + body)

    def ask(self, path, body):
        self.send("POST", path, body)
        head = self.read_until(b"\r\n\r\n").decode()
        length = int(re.search(r"(?i)content-length: (\d+)", head).group(1))
        while len(self.received) < length:
            self.receive()
        answer, self.received = self.received[:length], self.received[length:]
        if " 200 " not in head.splitlines()[0] or b"serverErrorCode" in answer:
            raise SystemExit(f"{path.partition('?')[0]}: {head.splitlines()[0]} {answer[:500]!r}")
        return answer


class Server:
    def __init__(self, program, library, folder):
        counted = os.path.join(folder, "allocations")
        with open(counted, "wb") as file:
            file.write(bytes(8))
        self.file = open(counted, "r+b")
        self.allocations = mmap.mmap(self.file.fileno(), 8)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        data = os.path.join(folder, "data")
        self.process = subprocess.Popen(
            [program, "serve", "--port", str(self.port), "--data", data, "--log-level", "error",
             "--requests-per-second", "0"],
            env={**os.environ, "LD_PRELOAD": library, "COUNT_ALLOCATIONS_IN": counted}, stdout=subprocess.PIPE)
        # The first line says that it listens; no line comes where it ended.
        if b"listening" not in self.process.stdout.readline():
            self.process.kill()
            raise SystemExit("the server did not start")
        with open(os.path.join(data, "first-run.txt")) as file:
            text = file.read()
        tokens = {name: re.search(rf"TIDEBELL_{name}=(\w+)", text).group(1) for name in ("API_TOKEN", "WEB_AUTH_TOKEN")}
        self.query = f"ckAPIToken={tokens['API_TOKEN']}&ckWebAuthToken={tokens['WEB_AUTH_TOKEN']}&clientId="

    def path(self, call, client="writer"):
        return f"/database/1/{CONTAINER}/development/private/{call}?{self.query}{client}"

    def counts(self):
        root = f"/proc/{self.process.pid}"
        with open(f"{root}/io") as file:
            io = dict(line.split(": ") for line in file.read().splitlines())
        waits = 0
        for thread in os.listdir(f"{root}/task"):
            try:
                with open(f"{root}/task/{thread}/status") as file:
                    waits += int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", file.read()).group(1))
            except FileNotFoundError:
                pass  # It has ended since.
        return struct.unpack("q", self.allocations[:8])[0], int(io["syscr"]) + int(io["syscw"]), waits


def note(number):
    fields = {"title": {"value": f"note {number}"}, "body": {"value": "x" * 200}, "count": {"value": number}}
    return {"operationType": "create", "record": {"recordType": "Note", "recordName": f"note-{number}", "fields": fields}}


def save(zone, numbers):
    body = {"zoneID": {"zoneName": zone}, "operations": [note(number) for number in numbers]}
    return json.dumps(body).encode()


def measure(server, name, ask):
    """Asks often, and returns what one time cost."""
    for _ in range(WARM_UP):
        ask()
    # What was begun before ends.
    time.sleep(0.2)
    before = server.counts()
    for _ in range(ROUNDS):
        ask()
    return tuple((after - start) / ROUNDS for after, start in zip(server.counts(), before))


def main():
    program, library = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, library, folder)
        try:
            results = dict(run(server))
        finally:
            server.process.terminate()
            server.process.wait()
    failed = False
    print(f"{'of each, at most the number in brackets':<40}{'allocations':>18}{'reads and writes':>20}{'waits':>12}")
    for name, bounds in BOUNDS.items():
        line = f"{name:<40}"
        for (count, bound, width) in zip(results[name], bounds, (18, 20)):
            line += f"{count:.1f} ({bound})".rjust(width)
            failed = failed or count > bound
        print(line + f"{results[name][2]:.1f}".rjust(12))
    if failed:
        raise SystemExit("A request costs more than its bound. Make it cheaper, or raise the bound in Benchmarks/Counts/count.py, and say why.")


def run(server):
    client = Connection(server.port)
    for zone in ("counts", "pushes"):
        client.ask(
            server.path("zones/modify"),
            json.dumps({"operations": [{"operationType": "create", "zone": {"zoneID": {"zoneName": zone}}}]}).encode())
    numbers = iter(range(1 << 40))
    # 1,000 records, of which pages are read.
    for _ in range(5):
        client.ask(server.path("records/modify"), save("counts", [next(numbers) for _ in range(200)]))
    token = json.loads(client.ask(server.path("changes/database"), b"{}"))["syncToken"]

    def asking(call, body):
        path, body = server.path(call), json.dumps(body).encode()
        return lambda: client.ask(path, body)

    def saving(zone, count):
        path = server.path("records/modify")
        return lambda: client.ask(path, save(zone, [next(numbers) for _ in range(count)]))

    for name, ask in (
        ("a poll that finds nothing", asking("changes/database", {"syncToken": token})),
        ("a look-up of a record", asking(
            "records/lookup", {"zoneID": {"zoneName": "counts"}, "records": [{"recordName": "note-7"}]})),
        ("a page of 200 changes", asking(
            "changes/zone", {"zones": [{"zoneID": {"zoneName": "counts"}, "resultsLimit": 200}]})),
        ("a save", saving("counts", 1)),
        ("a batch of 200", saving("counts", 200)),
    ):
        yield name, measure(server, name, ask)
    yield "a save, to its push on a device", measure(server, "pushes", telling(server, client, saving("pushes", 1)))


def telling(server, client, save_one):
    """Saves, and waits until another device of the user is told."""
    client.ask(
        server.path("subscriptions/modify"),
        json.dumps({"operations": [{"operationType": "create", "subscription": {
            "subscriptionID": "counts", "subscriptionType": "zone", "zoneID": {"zoneName": "pushes"},
            "notificationInfo": {"shouldSendContentAvailable": True}}}]}).encode())
    device = Connection(server.port)
    device.send(
        "GET", f"/ext/1/{CONTAINER}/development/notifications/stream?{server.query}device",
        headers="Accept: text/event-stream\r\n")
    device.read_until(b"event: ready")

    def tell():
        save_one()
        device.read_until(b'"sid":"counts"')

    return tell


main()
