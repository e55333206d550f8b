# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Serves a decoder model over HTTP with the API of OpenAI: /v1/models, /v1/completions and /v1/chat/completions.

    MODEL=FOLDER uvicorn server:app --port 8000

FOLDER has model.so and the files of the tokenizer. Concurrent requests share runs of the model. Environment variables: BATCH
(most sequences of a run), ROWS (most tokens of a sequence), QUEUE (most sequences at once), THREADS, and DEVICE (cuda:0).
"""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import secrets
import threading
import time
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Optional, Union

import adze
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from text import Language, TextStream

MODEL = pathlib.Path(os.environ.get("MODEL", "model"))
BATCH = int(os.environ.get("BATCH", "8"))
ROWS = int(os.environ.get("ROWS", "4096"))
QUEUE = int(os.environ.get("QUEUE", "64"))
THREADS = int(os.environ["THREADS"]) if "THREADS" in os.environ else None
DEVICE = os.environ.get("DEVICE")


class ApiError(Exception):
    """A response with a status other than 200, in the format of OpenAI's API."""

    def __init__(self, status: int, message: str, code: Optional[str] = None, param: Optional[str] = None) -> None:
        super().__init__(message)
        kind = "server_error" if status >= 500 else "invalid_request_error"
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}


# ---- The engine -------------------------------------------------------------


class Answer:
    """A running sequence, and a queue of its tokens, which ends with None."""

    def __init__(self, sequence: adze.TokenSequence) -> None:
        self.sequence = sequence
        self.loop = asyncio.get_running_loop()
        self.queue: asyncio.Queue[Optional[int]] = asyncio.Queue()
        self.passed = 0

    def publish(self) -> bool:
        """Appends new tokens to the queue. Returns True if the sequence continues. Called by the engine's thread."""
        has_ended = self.sequence.end is not None
        new = self.sequence.tokens[self.passed :]
        self.passed += len(new)
        for item in [*new, None] if has_ended else new:
            self.loop.call_soon_threadsafe(self.queue.put_nowait, item)
        return not has_ended


class Engine:
    """A generator, and the thread that steps it while any sequence runs."""

    def __init__(self) -> None:
        self.language = Language(MODEL)
        module = adze.load(MODEL / "model.so", threads=THREADS, device=DEVICE)
        self.generator = adze.Generator(module, rows=ROWS, batch=BATCH, end_tokens=self.language.ends)
        self.answers: list[Answer] = []
        self.lock, self.wake = threading.Lock(), threading.Event()
        self.is_closed = False
        self.thread = threading.Thread(target=self.work, name="engine")
        self.thread.start()

    def work(self) -> None:
        while not self.is_closed:
            self.wake.wait()
            self.wake.clear()
            active = 1
            while active and not self.is_closed:
                active = self.generator.step()
                with self.lock:
                    self.answers = [answer for answer in self.answers if answer.publish()]

    async def start(self, tokens: list[int], sampling: dict[str, Any]) -> Answer:
        """Adds a sequence at the next step."""
        # The generator may be in the middle of a step: the event loop does not wait for it.
        answer = Answer(await asyncio.to_thread(lambda: self.generator.add(tokens, **sampling)))
        with self.lock:
            self.answers.append(answer)
        self.wake.set()
        return answer

    def close(self) -> None:
        self.is_closed = True
        self.wake.set()
        self.thread.join()


# ---- Requests ---------------------------------------------------------------


class StreamOptions(BaseModel):
    include_usage: bool = False


class Common(BaseModel):
    """The common fields of both kinds of requests. The last three are extensions."""

    model: str
    max_tokens: Optional[int] = Field(None, ge=1)
    temperature: float = Field(1.0, ge=0, le=2)
    top_p: float = Field(1.0, gt=0, le=1)
    n: int = Field(1, ge=1, le=16)
    seed: Optional[int] = None
    stop: Union[str, list[str], None] = None
    stream: bool = False
    stream_options: StreamOptions = StreamOptions()
    # Parameters of the API that are not implemented: a response that ignores them would be wrong.
    logprobs: Union[bool, int, None] = None
    tools: Optional[list[Any]] = None
    response_format: Optional[dict[str, Any]] = None
    top_k: int = Field(0, ge=0, lt=1 << 31)
    min_p: float = Field(0.0, ge=0, le=1)
    repetition_penalty: float = Field(1.0, gt=0)


class Completion(Common):
    prompt: Union[str, list[int], list[str], list[list[int]]]
    echo: bool = False
    suffix: Optional[str] = None


class Part(BaseModel):
    type: str
    text: str = ""


class Message(BaseModel):
    role: str
    content: Union[str, list[Part]] = ""


class Chat(Common):
    messages: list[Message] = Field(min_length=1)
    max_completion_tokens: Optional[int] = Field(None, ge=1)


def check(request: Common) -> None:
    if request.model != MODEL.name:
        raise ApiError(404, f"The model '{request.model}' does not exist.", "model_not_found", "model")
    for name in ("logprobs", "tools", "echo", "suffix"):
        if getattr(request, name, None):
            raise ApiError(400, f"'{name}' is not supported.", "unsupported_parameter", name)
    if request.response_format and request.response_format.get("type") != "text":
        raise ApiError(400, "'response_format' is not supported.", "unsupported_parameter", "response_format")


def check_prompt(engine: Engine, tokens: list[int], param: str) -> list[int]:
    words = engine.language.tokenizer.get_vocab_size()
    if not tokens:
        raise ApiError(400, "expected a prompt of at least one token", None, param)
    if len(tokens) >= ROWS:
        message = f"The model has room for {ROWS} tokens, but the prompt has {len(tokens)}."
        raise ApiError(400, message, "context_length_exceeded", param)
    if not all(0 <= token < words for token in tokens):
        raise ApiError(400, f"expected token ids in [0, {words})", None, param)
    return tokens


def read_prompts(engine: Engine, request: Completion) -> list[list[int]]:
    prompt = request.prompt
    prompts = prompt if isinstance(prompt, list) and prompt and not isinstance(prompt[0], int) else [prompt]
    encoded = [engine.language.encode(p) if isinstance(p, str) else p for p in prompts]
    return [check_prompt(engine, tokens, "prompt") for tokens in encoded]


def read_chat(engine: Engine, request: Chat) -> list[list[int]]:
    messages = []
    for message in request.messages:
        parts = [Part(type="text", text=message.content)] if isinstance(message.content, str) else message.content
        if any(part.type != "text" for part in parts):
            raise ApiError(400, "expected messages of text only", None, "messages")
        messages.append({"role": message.role, "content": "".join(part.text for part in parts)})
    try:
        tokens = engine.language.encode_chat(messages)
    except Exception as error:  # the template is code from the model
        raise ApiError(400, f"the chat's template: {error}", None, "messages") from None
    return [check_prompt(engine, tokens, "messages")]


# ---- Answers ----------------------------------------------------------------


class Choice:
    """The text of one answer as it is generated, and the reason why it ended."""

    def __init__(self, index: int, answer: Answer, engine: Engine, request: Common, most: int) -> None:
        stops = [request.stop] if isinstance(request.stop, str) else request.stop or []
        self.index, self.answer, self.engine, self.most = index, answer, engine, most
        self.text = TextStream(engine.language, stops)
        self.finish_reason: Optional[str] = None

    async def pieces(self) -> AsyncIterator[str]:
        sequence = self.answer.sequence
        while not self.text.is_stopped:
            token = await self.answer.queue.get()
            if token is None:
                break
            if piece := self.text.add(token):
                yield piece
        if self.text.is_stopped:
            sequence.cancel()
        elif sequence.error:
            raise ApiError(500, str(sequence.error))
        elif rest := self.text.finish():
            yield rest
        is_ended = sequence.tokens and sequence.tokens[-1] in self.engine.language.ends
        is_full = sequence.end == "full" or len(sequence.tokens) >= self.most
        self.finish_reason = "length" if is_full and not is_ended and not self.text.is_stopped else "stop"


class Job:
    """The choices of a request: `n` for each prompt."""

    def __init__(self, engine: Engine, request: Common, prompts: list[list[int]], most: Optional[int]) -> None:
        self.engine, self.request, self.prompts = engine, request, prompts
        self.most = most or ROWS
        self.choices: list[Choice] = []
        self.head = {"created": int(time.time()), "model": request.model}

    async def start(self) -> None:
        count = len(self.prompts) * self.request.n
        running = len(self.engine.answers)
        if running + count > QUEUE:
            raise ApiError(429, f"{running} sequences run; the server takes {QUEUE}.", "rate_limit_exceeded")
        r = self.request
        seed = secrets.randbits(63) if r.seed is None else r.seed
        sampling = {"temperature": r.temperature, "top_p": r.top_p, "top_k": r.top_k, "min_p": r.min_p}
        sampling |= {"repetition_penalty": r.repetition_penalty, "max_tokens": self.most}
        try:
            for tokens in self.prompts:
                for _ in range(r.n):
                    index = len(self.choices)
                    answer = await self.engine.start(tokens, {**sampling, "seed": seed + index % r.n})
                    self.choices.append(Choice(index, answer, self.engine, r, self.most))
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Ends the sequences that still run: the client may have disconnected."""
        for choice in self.choices:
            choice.answer.sequence.cancel()

    def usage(self) -> dict[str, int]:
        prompt = sum(map(len, self.prompts))
        made = sum(len(choice.answer.sequence.tokens) for choice in self.choices)
        return {"prompt_tokens": prompt, "completion_tokens": made, "total_tokens": prompt + made}

    async def merged(self) -> AsyncIterator[tuple[Choice, Optional[str]]]:
        """Yields pieces of all choices as they are generated; None ends one."""
        queue: asyncio.Queue[Any] = asyncio.Queue()

        async def forward(choice: Choice) -> None:
            try:
                async for piece in choice.pieces():
                    queue.put_nowait((choice, piece))
                queue.put_nowait((choice, None))
            except Exception as error:
                queue.put_nowait((choice, error))

        tasks = [asyncio.create_task(forward(choice)) for choice in self.choices]
        try:
            for _ in range(len(tasks)):
                piece: Optional[str] = ""
                while piece is not None:
                    choice, piece = await queue.get()
                    if isinstance(piece, Exception):
                        raise piece
                    yield choice, piece
        finally:
            for task in tasks:
                task.cancel()


def event(body: Any) -> str:
    return f"data: {body if isinstance(body, str) else json.dumps(body)}\n\n"


async def stream(job: Job, head: dict[str, Any], first: Any, piece_of: Any) -> AsyncIterator[str]:
    """Yields server-sent events. `first` begins a choice; `piece_of` returns the event of a piece of text."""

    def chunk(index: int, part: dict[str, Any], reason: Optional[str] = None) -> str:
        choice = {"index": index, **part, "logprobs": None, "finish_reason": reason}
        return event({**head, "choices": [choice]})

    try:
        if first:
            for choice in job.choices:
                yield chunk(choice.index, first)
        async for choice, piece in job.merged():
            yield chunk(choice.index, piece_of(piece), choice.finish_reason if piece is None else None)
        if job.request.stream_options.include_usage:
            yield event({**head, "choices": [], "usage": job.usage()})
        yield event("[DONE]")
    except ApiError as error:  # the status was sent already
        yield event(error.body)
    finally:
        job.end()


async def collect(job: Job, head: dict[str, Any], whole: Any) -> dict[str, Any]:
    texts = [""] * len(job.choices)
    try:
        async for choice, piece in job.merged():
            texts[choice.index] += piece or ""
    finally:
        job.end()
    choices = [
        {"index": c.index, **whole(texts[c.index]), "logprobs": None, "finish_reason": c.finish_reason}
        for c in job.choices
    ]
    return {**head, "choices": choices, "usage": job.usage()}


# ---- The application --------------------------------------------------------


@asynccontextmanager
async def lifespan(app: FastAPI):
    app.state.engine = Engine()
    yield
    app.state.engine.close()


app = FastAPI(lifespan=lifespan)


@app.exception_handler(ApiError)
async def on_api_error(request: Request, error: ApiError):
    return JSONResponse(error.body, error.status)


@app.exception_handler(HTTPException)
async def on_http_error(request: Request, error: HTTPException):
    return JSONResponse(ApiError(error.status_code, str(error.detail)).body, error.status_code)


@app.exception_handler(adze.ArgumentError)
async def on_argument_error(request: Request, error: adze.ArgumentError):
    return JSONResponse(ApiError(400, str(error)).body, 400)


@app.exception_handler(RequestValidationError)
async def on_invalid(request: Request, error: RequestValidationError):
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:])
    return JSONResponse(ApiError(400, f"{where or 'body'}: {first['msg']}", None, where or None).body, 400)


def describe_model() -> dict[str, Any]:
    return {"id": MODEL.name, "object": "model", "created": int((MODEL / "model.so").stat().st_mtime), "owned_by": "adze"}


@app.get("/v1/models")
async def models():
    return {"object": "list", "data": [describe_model()]}


@app.get("/v1/models/{name}")
async def model(name: str):
    if name != MODEL.name:
        raise ApiError(404, f"The model '{name}' does not exist.", "model_not_found", "model")
    return describe_model()


@app.post("/v1/completions")
async def completions(request: Completion):
    engine = app.state.engine
    check(request)
    job = Job(engine, request, read_prompts(engine, request), request.max_tokens or 16)
    await job.start()
    head = {"id": f"cmpl-{secrets.token_hex(12)}", "object": "text_completion", **job.head}
    if request.stream:
        events = stream(job, head, None, lambda piece: {"text": piece or ""})
        return StreamingResponse(events, media_type="text/event-stream")
    return await collect(job, head, lambda text: {"text": text})


@app.post("/v1/chat/completions")
async def chat_completions(request: Chat):
    engine = app.state.engine
    check(request)
    job = Job(engine, request, read_chat(engine, request), request.max_completion_tokens or request.max_tokens)
    await job.start()
    head = {"id": f"chatcmpl-{secrets.token_hex(12)}", **job.head}
    if request.stream:
        head["object"] = "chat.completion.chunk"
        first = {"delta": {"role": "assistant", "content": ""}}
        events = stream(job, head, first, lambda piece: {"delta": {} if piece is None else {"content": piece}})
        return StreamingResponse(events, media_type="text/event-stream")
    head["object"] = "chat.completion"
    return await collect(job, head, lambda text: {"message": {"role": "assistant", "content": text}})


@app.get("/stats")
async def stats():
    """Returns the numbers of runs of the model and of their tokens: there are fewer runs if requests shared some."""
    engine = app.state.engine
    info = await asyncio.to_thread(lambda: engine.generator.info)
    return {"sequences": len(engine.answers), "batch": info.batch, "runs": info.num_runs, "tokens": info.num_rows}
