# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Asks the server several questions at once, one of them as a stream.

    client.py URL
"""

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

URL = sys.argv[1]


def ask(path: str, body: dict | None = None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, {"Content-Type": "application/json"})
    return urllib.request.urlopen(request, timeout=60)


def wait_for_server(seconds: float = 60) -> str:
    """Returns the name of the model."""
    end = time.monotonic() + seconds
    while True:
        try:
            return json.load(ask("/v1/models"))["data"][0]["id"]
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def main() -> None:
    model = wait_for_server()
    print("model:", model)
    body = {"model": model, "temperature": 0, "max_tokens": 40}
    chats = [{**body, "messages": [{"role": "user", "content": f"Question {i}?"}]} for i in range(6)]

    def complete(chat: dict) -> str:
        return json.load(ask("/v1/chat/completions", chat))["choices"][0]["message"]["content"]

    alone = [complete(chat) for chat in chats]
    before = json.load(ask("/stats"))
    with ThreadPoolExecutor(len(chats)) as pool:
        together = list(pool.map(complete, chats))
    after = json.load(ask("/stats"))
    print("the same answers at once:", together == alone)
    shared = after["runs"] - before["runs"] < len(chats) * body["max_tokens"]
    print("with", "fewer runs" if shared else "as many runs", "of the model")
    pieces = []
    for line in ask("/v1/chat/completions", {**chats[0], "stream": True}):
        if line.startswith(b"data: {"):
            pieces.append(json.loads(line[6:])["choices"][0]["delta"].get("content", ""))
    print("the same answer as a stream:", "".join(pieces) == alone[0])
    try:
        ask("/v1/completions", {"model": "other", "prompt": "a"})
    except urllib.error.HTTPError as error:
        print(error.code, json.load(error)["error"]["message"])


main()
