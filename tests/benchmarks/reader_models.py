"""Models that tell how probable they find a text: weights run here, or a server."""

import json
from collections.abc import Sequence
from ctypes import create_string_buffer
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from urllib.request import Request, urlopen

from benchmarks.reader_cuts import Span

Score = tuple[float, int]
"""The log-probability of a span in nats, and the number of its tokens."""
_BATCH = 512
_TIMEOUT = 600


class Model(Protocol):
    """A language model; ``window`` is in its tokens."""

    name: str
    window: int

    def offsets(self, text: str) -> list[int]:
        """Return where the tokens of a text begin, in characters."""

    def score(self, context: str, spans: Sequence[Span]) -> list[Score]:
        """Return how probable each span is after the context and its lead."""

    def answer(self, prompt: str) -> str:
        """Return the answer of an instructed model."""


class LocalModel:
    """Weights in a GGUF file, run by llama.cpp in one thread.

    A context is read once; then spans are read after it and removed in turn.
    """

    def __init__(self, path: Path, window: int) -> None:
        self._llama: Any = import_module("llama_cpp")
        self._numpy: Any = import_module("numpy")
        llama = self._llama
        self.name, self.window = path.name, window
        # llama.cpp calls it as long as it runs.
        self._silence = llama.llama_log_callback(lambda _level, _text, _data: None)
        llama.llama_log_set(self._silence, None)
        llama.llama_backend_init()
        self._model = llama.llama_model_load_from_file(
            str(path).encode(), llama.llama_model_default_params()
        )
        self._vocabulary = llama.llama_model_get_vocab(self._model)
        settings = llama.llama_context_default_params()
        settings.n_ctx, settings.n_batch, settings.n_ubatch = window, _BATCH, _BATCH
        settings.n_threads = settings.n_threads_batch = 1
        # Layers with a sliding window then keep that window alone, which reads a long context in
        # half of the time. They keep what is before a span, since a span fits in one batch.
        settings.swa_full = False
        self._context = llama.llama_init_from_model(self._model, settings)
        self._memory = llama.llama_get_memory(self._context)
        self._batch = llama.llama_batch_init(_BATCH, 0, 1)

    def offsets(self, text: str) -> list[int]:
        """Return where the tokens of a text begin, in characters."""
        starts, n_bytes = [], 0
        for token in self._tokens(text):
            starts.append(n_bytes)
            n_bytes += len(self._piece(token))
        return _characters(text, starts)

    def score(self, context: str, spans: Sequence[Span]) -> list[Score]:
        """Return how probable each span is after the context and its lead."""
        self._llama.llama_memory_clear(self._memory, True)  # noqa: FBT003 - a function of C
        begin = self._llama.llama_vocab_bos(self._vocabulary)
        tokens = [begin, *self._tokens(context)]
        self._read(tokens, 0)
        return [self._score(span, len(tokens)) for span in spans]

    def answer(self, prompt: str) -> str:
        """Refuse: base models cannot answer."""
        raise NotImplementedError(f"{self.name} answers no questions; name a --server")

    def _score(self, span: Span, position: int) -> Score:
        lead = self._tokens(f"\n\n{span.lead}")
        tokens = self._tokens(f"\n\n{span.lead}{span.text}")
        first = next(
            (at for at, (a, b) in enumerate(zip(lead, tokens, strict=False)) if a != b), len(lead)
        )
        logits = self._read(tokens, position, first - 1)
        self._llama.llama_memory_seq_rm(self._memory, 0, position, -1)
        return sum(
            self._log_probability(row, token)
            for row, token in zip(logits, tokens[first:], strict=False)
        ), len(tokens) - first

    def _read(self, tokens: Sequence[int], position: int, asked: int | None = None) -> list[Any]:
        """Read tokens; return copies of the logits after those from the index ``asked``."""
        batch, rows = self._batch, []
        for start in range(0, len(tokens), _BATCH):
            part = tokens[start : start + _BATCH]
            batch.n_tokens = len(part)
            for index, token in enumerate(part):
                batch.token[index], batch.pos[index] = token, position + start + index
                batch.n_seq_id[index], batch.seq_id[index][0] = 1, 0
                batch.logits[index] = asked is not None and start + index >= asked
            if self._llama.llama_decode(self._context, batch) != 0:
                raise RuntimeError(f"llama.cpp cannot read {len(tokens)} tokens at {position}")
            rows += [self._logits(index) for index in range(len(part)) if batch.logits[index]]
        return rows

    def _logits(self, index: int) -> Any:
        size = self._llama.llama_vocab_n_tokens(self._vocabulary)
        row = self._llama.llama_get_logits_ith(self._context, index)
        return self._numpy.ctypeslib.as_array(row, (size,)).copy()

    def _log_probability(self, logits: Any, token: int) -> float:
        highest = logits.max()
        total = self._numpy.exp(logits - highest).sum()
        return float(logits[token] - highest - self._numpy.log(total))

    def _tokens(self, text: str) -> list[int]:
        data = text.encode()
        buffer = (self._llama.llama_token * (len(data) + 8))()
        count = self._llama.llama_tokenize(
            self._vocabulary,
            data,
            len(data),
            buffer,
            len(buffer),
            False,  # noqa: FBT003 - functions of C
            False,  # noqa: FBT003
        )
        return list(buffer[:count])

    def _piece(self, token: int) -> bytes:
        buffer = create_string_buffer(256)
        size = self._llama.llama_token_to_piece(
            self._vocabulary,
            token,
            buffer,
            len(buffer),
            0,
            True,  # noqa: FBT003
        )
        return bytes(buffer.raw[:size])


def to_bfloat16(source: Path, target: Path) -> None:
    """Write weights as numbers of 16 bits, which new processors read 1.3 times as fast."""
    llama: Any = import_module("llama_cpp")
    settings = llama.llama_model_quantize_default_params()
    settings.allow_requantize, settings.ftype = True, llama.LLAMA_FTYPE_MOSTLY_BF16
    if llama.llama_model_quantize(str(source).encode(), str(target).encode(), settings) != 0:
        raise RuntimeError(f"llama.cpp cannot convert {source}")


class Server:
    """A model behind the completions API of OpenAI, of servers that echo a prompt with its tokens.

    vLLM and the server of llama-cpp-python do. A prompt cache saves reading a context for each of
    its spans.
    """

    def __init__(self, url: str, name: str, window: int) -> None:
        self._url, self.name, self.window = url.rstrip("/"), name, window

    def offsets(self, text: str) -> list[int]:
        """Return where the tokens of a text begin, in characters."""
        return self._echo(text)[0] if text else []

    def score(self, context: str, spans: Sequence[Span]) -> list[Score]:
        """Return how probable each span is after the context and its lead."""
        return [self._score(f"{context}\n\n{span.lead}", span.text) for span in spans]

    def answer(self, prompt: str) -> str:
        """Return the first line of the model's answer."""
        request = {"messages": [{"role": "user", "content": prompt}], "temperature": 0}
        reply = self._post("chat/completions", {**request, "max_tokens": 200})
        text = str(reply["choices"][0]["message"]["content"] or "")
        return text.strip().partition("\n")[0]

    def _score(self, before: str, text: str) -> Score:
        """Return the score of the tokens that end in the text."""
        starts, values = self._echo(before + text)
        ends = [*starts[1:], len(before) + len(text)]
        scored = [
            value or 0.0 for value, end in zip(values, ends, strict=True) if end > len(before)
        ]
        return sum(scored), len(scored)

    def _echo(self, prompt: str) -> tuple[list[int], list[float | None]]:
        """Return the offsets and log-probabilities of a prompt's tokens."""
        request = {"prompt": prompt, "max_tokens": 1, "echo": True, "logprobs": 1, "temperature": 0}
        reply = self._post("completions", request)["choices"][0]["logprobs"]
        size = sum(offset < len(prompt) for offset in reply["text_offset"])
        return reply["text_offset"][:size], reply["token_logprobs"][:size]

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        data = json.dumps({"model": self.name, **body}).encode()
        request = Request(f"{self._url}/{path}", data, {"Content-Type": "application/json"})  # noqa: S310
        with urlopen(request, timeout=_TIMEOUT) as reply:  # noqa: S310 - the URL is the user's
            return json.load(reply)


def _characters(text: str, starts: Sequence[int]) -> list[int]:
    """Return offsets in bytes as offsets in characters; inside a character, that after it."""
    by_byte, n_bytes = {}, 0
    for index, character in enumerate(text):
        for byte in range(len(character.encode())):
            by_byte[n_bytes + byte] = index + bool(byte)
        n_bytes += len(character.encode())
    return [by_byte.get(start, len(text)) for start in starts]
