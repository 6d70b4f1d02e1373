"""Relays TCP connections to a PostgreSQL server on a Unix socket.

usage: relay.py SOCKET PID [WORD]

Prints its port. When a client sends WORD, takes down the loopback device of this network namespace, which must be private. After
that, nothing arrives, and neither side is notified. Exits when the process PID exits.
"""

import os
import socket
import subprocess
import sys
import threading
import time

word = sys.argv[3].encode() if len(sys.argv) > 3 else None


def forward(source, target, word=None):
    recent = b""
    while chunk := source.recv(65536):
        recent = recent[-100:] + chunk
        if word and word in recent:
            subprocess.run(["ip", "link", "set", "lo", "down"], check=True)
            return
        target.sendall(chunk)
    target.shutdown(socket.SHUT_WR)


def serve(listener):
    while True:
        client, _ = listener.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(sys.argv[1])
        connections.append((client, server))
        threading.Thread(target=forward, args=(client, server, word), daemon=True).start()
        threading.Thread(target=forward, args=(server, client), daemon=True).start()


# Keeps the sockets open after a relay thread has ended.
connections = []
listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(listener,), daemon=True).start()
print(listener.getsockname()[1], flush=True)
while os.path.exists(f"/proc/{sys.argv[2]}"):
    time.sleep(0.2)  # wait: for the exit of the tests, which do not wait for this process
