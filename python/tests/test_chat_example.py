# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""examples/chat: the server with OpenAI's API, and the chat in the terminal, with a small model of random weights."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import ROOT

import adze

for name in ("fastapi", "uvicorn", "tokenizers", "jinja2", "onnx"):
    pytest.importorskip(name)

CHAT = ROOT / "examples" / "chat"
sys.path.insert(0, str(CHAT))
ROWS = 256


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chat") / "tiny"
    subprocess.run([sys.executable, str(CHAT / "tiny.py"), str(folder)], check=True)
    adze.compile(str(folder / "model.onnx")).save(folder / "model.so")
    return folder


def find_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Client:
    def __init__(self, port):
        self.port = port

    def send(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        data = body if isinstance(body, (str, type(None))) else json.dumps(body)
        connection.request(method, path, data, {"Content-Type": "application/json"})
        return connection, connection.getresponse()

    def get(self, path):
        connection, answer = self.send("GET", path)
        with contextlib.closing(connection):
            return answer.status, json.load(answer)

    def post(self, path, body):
        connection, answer = self.send("POST", path, body)
        with contextlib.closing(connection):
            return answer.status, json.load(answer)

    def stream(self, path, body):
        """The events of a stream."""
        connection, answer = self.send("POST", path, {**body, "stream": True})
        with contextlib.closing(connection):
            assert answer.status == 200 and answer.getheader("content-type").startswith("text/event-stream")
            events = answer.read().decode().split("\n\n")
        assert events[-1] == "" and events[-2] == "data: [DONE]"
        return [json.loads(event.removeprefix("data: ")) for event in events[:-2]]


@pytest.fixture(scope="module")
def server(folder):
    port = find_port()
    environment = {**os.environ, "MODEL": str(folder), "ROWS": str(ROWS), "QUEUE": "8"}
    command = [sys.executable, "-m", "uvicorn", "server:app", "--port", str(port), "--log-level", "warning"]
    process = subprocess.Popen(command, cwd=CHAT, env=environment)
    client = Client(port)
    try:
        for _ in range(600):
            try:
                client.get("/v1/models")
                break
            except ConnectionError:
                assert process.poll() is None
                time.sleep(0.1)
        yield client
    finally:
        process.terminate()
        assert process.wait(30) in (0, -15)


@pytest.fixture(scope="module")
def expected(folder):
    """Greedy text of adze.Generator itself, and its tokens."""
    from text import Language

    language = Language(folder)
    generator = adze.Generator(adze.load(folder / "model.so", threads=1), rows=ROWS, batch=1, end_tokens=language.ends)

    def run(tokens, count):
        made = generator.add(tokens, max_tokens=count).wait()
        return language.tokenizer.decode(made), made

    run.language = language
    return run


def wait_until_idle(server):
    for _ in range(300):
        if server.get("/stats")[1]["sequences"] == 0:
            return
        time.sleep(0.1)
    raise AssertionError("sequences run on")


GREEDY = {"model": "tiny", "temperature": 0}


def test_models(server):
    status, body = server.get("/v1/models")
    assert status == 200 and [m["id"] for m in body["data"]] == ["tiny"] and body["object"] == "list"
    assert server.get("/v1/models/tiny")[1] == body["data"][0]


def test_completion(server, expected):
    prompt = "What is a compiler?"
    tokens = expected.language.encode(prompt)
    text, made = expected(tokens, 30)
    for given in (prompt, tokens):
        status, body = server.post("/v1/completions", {**GREEDY, "prompt": given, "max_tokens": 30})
        assert status == 200 and body["object"] == "text_completion"
        assert body["choices"] == [{"index": 0, "text": text, "logprobs": None, "finish_reason": "length"}]
        assert body["usage"] == {
            "prompt_tokens": len(tokens), "completion_tokens": 30, "total_tokens": len(tokens) + 30
        }  # fmt: skip


def test_streams(server):
    body = {**GREEDY, "prompt": "What is a compiler?", "max_tokens": 30}
    whole = server.post("/v1/completions", body)[1]
    events = server.stream("/v1/completions", {**body, "stream_options": {"include_usage": True}})
    assert len(events) > 5  # it comes in pieces
    assert "".join(e["choices"][0]["text"] for e in events[:-1]) == whole["choices"][0]["text"]
    assert [e["choices"][0]["finish_reason"] for e in events[:-1]] == [None] * (len(events) - 2) + ["length"]
    assert events[-1]["choices"] == [] and events[-1]["usage"] == whole["usage"]
    chat = {**GREEDY, "messages": [{"role": "user", "content": "Hello!"}], "max_tokens": 20}
    message = server.post("/v1/chat/completions", chat)[1]["choices"][0]["message"]
    events = server.stream("/v1/chat/completions", chat)
    assert {e["object"] for e in events} == {"chat.completion.chunk"} and len({e["id"] for e in events}) == 1
    assert events[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert events[-1]["choices"][0] == {"index": 0, "delta": {}, "logprobs": None, "finish_reason": "length"}
    text = "".join(e["choices"][0]["delta"].get("content", "") for e in events)
    assert message == {"role": "assistant", "content": text} and text


def test_chat_follows_the_template(server, expected):
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello!"}]
    tokens = expected.language.tokenizer.encode("<|system|>Be brief.<|end|><|user|>Hello!<|end|><|assistant|>").ids
    text, _ = expected(tokens, 12)
    parts = [messages[0], {"role": "user", "content": [{"type": "text", "text": "Hello!"}]}]
    for given in (messages, parts):
        body = server.post("/v1/chat/completions", {**GREEDY, "messages": given, "max_completion_tokens": 12})[1]
        assert body["choices"][0]["message"]["content"] == text
        assert body["usage"]["prompt_tokens"] == len(tokens)


def test_requests_at_once(server):
    """Concurrent requests share runs of the model, and get the results of separate ones."""
    bodies = [
        {"model": "tiny", "prompt": f"Question {i}?", "max_tokens": 150, "temperature": 0.8 * (i % 2), "seed": i}
        for i in range(6)
    ]
    alone = [server.post("/v1/completions", body)[1]["choices"] for body in bodies]
    before = server.get("/stats")[1]
    with ThreadPoolExecutor(6) as pool:
        streams = list(pool.map(lambda body: server.stream("/v1/completions", body), bodies))
    after = server.get("/stats")[1]
    for events, choices in zip(streams, alone):
        assert "".join(e["choices"][0]["text"] for e in events) == choices[0]["text"]
    made = after["tokens"] - before["tokens"]
    assert made > 6 * 100
    assert after["runs"] - before["runs"] < made * 0.7
    wait_until_idle(server)


def test_choices(server):
    body = {"model": "tiny", "prompt": ["One", "Two"], "n": 3, "seed": 5, "max_tokens": 12}
    choices = server.post("/v1/completions", body)[1]["choices"]
    assert [c["index"] for c in choices] == list(range(6)) and len({c["text"] for c in choices}) == 6
    again = server.post("/v1/completions", {**body, "prompt": "Two", "n": 1, "seed": 6})[1]["choices"]
    assert again[0]["text"] == choices[4]["text"]
    pieces = [""] * 6
    for event in server.stream("/v1/completions", body):
        pieces[event["choices"][0]["index"]] += event["choices"][0]["text"]
    assert pieces == [c["text"] for c in choices]


def test_stops(server):
    body = {**GREEDY, "prompt": "What is a compiler?", "max_tokens": 40}
    text = server.post("/v1/completions", body)[1]["choices"][0]["text"]
    at = len(text) // 2
    stop = text[at : at + 4]
    wanted = text[: text.index(stop)]
    for stops in (stop, ["never in there", stop]):
        choice = server.post("/v1/completions", {**body, "stop": stops})[1]["choices"][0]
        assert (choice["text"], choice["finish_reason"]) == (wanted, "stop")
    events = server.stream("/v1/completions", {**body, "stop": stop})
    assert "".join(e["choices"][0]["text"] for e in events) == wanted


@pytest.mark.parametrize(
    "path, body, status, code, message",
    [
        ("completions", {"prompt": "a", "model": "other"}, 404, "model_not_found", "'other' does not exist"),
        ("completions", {"prompt": "a", "temperature": -1}, 400, None, "temperature: "),
        ("completions", {"prompt": "a", "max_tokens": 0}, 400, None, "max_tokens: "),
        ("completions", {"prompt": "a", "logprobs": 2}, 400, "unsupported_parameter", "'logprobs' is not supported"),
        ("completions", {"prompt": ""}, 400, None, "at least one token"),
        ("completions", {"prompt": [1, 512]}, 400, None, r"token ids in [0, 512)"),
        ("completions", {"prompt": [1] * ROWS}, 400, "context_length_exceeded", "the prompt has 256"),
        ("completions", {}, 400, None, "prompt: "),
        ("completions", "{", 400, None, "JSON"),
        ("completions", {"prompt": ["a"] * 9}, 429, "rate_limit_exceeded", "the server takes 8"),
        ("chat/completions", {"messages": []}, 400, None, "messages: "),
        ("chat/completions", {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, 400, None, "text only"),
        ("nothing", {}, 404, None, "Not Found"),
    ],
)
def test_errors(server, path, body, status, code, message):
    got, answer = server.post(f"/v1/{path}", {"model": "tiny", **body} if isinstance(body, dict) else body)
    assert got == status, answer
    assert answer["error"]["code"] == code and message in answer["error"]["message"]
    assert answer["error"]["type"] == "invalid_request_error"


def test_client_goes_away(server):
    connection, answer = server.send(
        "POST", "/v1/completions", {**GREEDY, "prompt": ["a"] * 8, "max_tokens": 200, "stream": True}
    )
    answer.readline()
    answer.close()
    connection.close()
    wait_until_idle(server)
    # All slots are free again.
    assert server.post("/v1/completions", {**GREEDY, "prompt": ["a"] * 8, "max_tokens": 2})[0] == 200


def test_text_stream(expected):
    from text import TextStream

    text = "naïve €5 🙂 end"
    ids = expected.language.encode(text)
    stream, pieces = TextStream(expected.language), []
    for token in ids:
        pieces.append(stream.add(token))
    assert "".join(pieces) + stream.finish() == text
    assert not any("\ufffd" in piece for piece in pieces) and len([p for p in pieces if p]) > 5
    stream = TextStream(expected.language, ["5 🙂", "zz"])
    assert "".join(map(stream.add, ids)) == "naïve €" and stream.is_stopped and stream.finish() == ""
    stream = TextStream(expected.language, ["endless"])
    assert "".join(map(stream.add, ids)) == text.removesuffix("end") and stream.finish() == "end"


def test_terminal(folder, expected):
    """Two turns: the second one has the first in its caches, and the same result as a new run of
    both."""
    done = subprocess.run(
        [sys.executable, str(CHAT / "chat.py"), str(folder), "--temperature", "0", "--max-tokens", "9"],
        input="Hello!\nWhat is a compiler?\n", stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    messages, wanted = [], ""
    for line in ("Hello!", "What is a compiler?"):
        messages.append({"role": "user", "content": line})
        text, _ = expected(expected.language.encode_chat(messages), 9)
        messages.append({"role": "assistant", "content": text})
        wanted += text + "\n"
    assert done.stdout == wanted
