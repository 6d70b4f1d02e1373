"""Relays TCP clients to a PostgreSQL on a Unix socket.

usage: relay.py SOCKET PID [WORD]

Prints its port. When a client sends WORD, takes down the loopback device of this network namespace, which must be private: from then
on nothing arrives, and neither side is notified. Exits when the process PID exits.
"""

import os
import socket
import subprocess
import sys
import threading
import time

word = sys.argv[3].encode() if len(sys.argv) > 3 else None


def forward(source, target, word=None):
    seen = b""
    while piece := source.recv(65536):
        seen = seen[-100:] + piece
        if word and word in seen:
            subprocess.run(["ip", "link", "set", "lo", "down"], check=True)
            return
        target.sendall(piece)
    target.shutdown(socket.SHUT_WR)


def serve(listener):
    while True:
        client, _ = listener.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(sys.argv[1])
        kept.append((client, server))
        threading.Thread(target=forward, args=(client, server, word), daemon=True).start()
        threading.Thread(target=forward, args=(server, client), daemon=True).start()


kept = []
listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(listener,), daemon=True).start()
print(listener.getsockname()[1], flush=True)
while os.path.exists(f"/proc/{sys.argv[2]}"):
    time.sleep(0.2)  # wait: polls until the tests exit; they do not wait for this process
