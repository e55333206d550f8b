# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""GreedySearch, Sampling and BeamSearch of com.microsoft, against searches in Python over ONNX's reference implementation."""

from __future__ import annotations

import numpy as np
import pytest

import adze

onnx = pytest.importorskip("onnx")
import onnx.parser  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

VOCABULARY, END, PAD = 9, 1, 2
LOWEST = np.finfo(np.float32).min

# The context is the sum over all visible tokens, so that each input matters.
DECODER = """
decoder (int32[b, s] input_ids, int32[b, s] position_ids, int32[b, t] attention_mask, float[2, b, 1, p, 4] past_0)
    => (float[b, s, 9] logits, float[2, b, 1, q, 4] present_0) {
  word = Gather(words, input_ids)
  place = Gather(places, position_ids)
  x = Add(word, place)
  heads = Unsqueeze(x, axis_1)
  keys = Unsqueeze(heads, axis_0)
  negative = Neg(keys)
  own = Concat<axis = 0>(keys, negative)
  present_0 = Concat<axis = 3>(past_0, own)
  all = ReduceSum<keepdims = 0>(present_signed, axis_02)
  present_signed = Mul(present_0, signs)
  number = Cast<to = 1>(attention_mask)
  row = Unsqueeze(number, axis_1)
  context = MatMul(row, all)
  sum = Add(context, x)
  hidden = Tanh(sum)
  scores = MatMul(hidden, head)
  logits = Add(scores, bias)
}
"""

ENCODER = """
encoder (int32[b, s] encoder_input_ids, int32[b, s] encoder_attention_mask, int32[b, 1] decoder_input_ids)
    => (float[b, 1, 9] logits, float[b, s, 4] encoder_hidden_states, float[b, 1, 1, 4] present_key_self_0,
        float[b, 1, 1, 4] present_value_self_0, float[b, 1, s, 4] present_key_cross_0, float[b, 1, s, 4] present_value_cross_0) {
  encoder_hidden_states = Gather(words, encoder_input_ids)
  present_key_cross_0 = Unsqueeze(encoder_hidden_states, axis_1)
  present_value_cross_0 = Tanh(present_key_cross_0)
  x = Gather(words, decoder_input_ids)
  present_key_self_0 = Unsqueeze(x, axis_1)
  present_value_self_0 = Neg(present_key_self_0)
BODY
}
"""

STEP = """
step (int32[b, 1] input_ids, int32[b, s] encoder_attention_mask, float[b, 1, p, 4] past_key_self_0, float[b, 1, p, 4] past_value_self_0,
      float[b, 1, s, 4] past_key_cross_0, float[b, 1, s, 4] past_value_cross_0)
    => (float[b, 1, 9] logits, float[b, 1, q, 4] present_key_self_0, float[b, 1, q, 4] present_value_self_0) {
  x = Gather(words, input_ids)
  key = Unsqueeze(x, axis_1)
  value = Neg(key)
  present_key_self_0 = Concat<axis = 2>(past_key_self_0, key)
  present_value_self_0 = Concat<axis = 2>(past_value_self_0, value)
BODY
}
"""

BODY = """
  number = Cast<to = 1>(encoder_attention_mask)
  row = Unsqueeze(number, axis_1)
  heads = Unsqueeze(row, axis_1)
  pairs = Mul({0}_key_cross_0, {0}_value_cross_0)
  crossed = MatMul(heads, pairs)
  squares = Mul(present_key_self_0, present_value_self_0)
  self = ReduceMean<keepdims = 1>(squares, axis_2)
  context = Add(crossed, self)
  both = Squeeze(context, axis_1)
  sum = Add(both, x)
  hidden = Tanh(sum)
  scores = MatMul(hidden, head)
  logits = Add(scores, bias)
"""


def make_constants(seed, boost=2.0):
    rng = np.random.default_rng(seed)
    signs = np.array([1.0, -1.0], np.float32).reshape(2, 1, 1, 1, 1)
    bias = np.zeros(VOCABULARY, np.float32)
    bias[END] = boost
    values = {
        "words": rng.standard_normal((VOCABULARY, 4)),
        "places": rng.standard_normal((32, 4)) / 4,
        "head": rng.standard_normal((4, VOCABULARY)) * 2,
    }
    constants = {name: value.astype(np.float32) for name, value in values.items()}
    axes = {"axis_0": [0], "axis_1": [1], "axis_2": [2], "axis_02": [0, 2]}
    return {**constants, "signs": signs, "bias": bias, **{name: np.array(axis, np.int64) for name, axis in axes.items()}}


def parse(text):
    graph = onnx.parser.parse_graph(text)
    # The text is for the reader; nodes have to come after what they use.
    order, known = [], {i.name for i in graph.input} | set(make_constants(0))
    nodes = list(graph.node)
    while nodes:
        ready = next(node for node in nodes if set(node.input) <= known)
        nodes.remove(ready)
        order.append(ready)
        known |= set(ready.output)
    del graph.node[:]
    graph.node.extend(order)
    return graph


def make_search(kind, inputs, outputs, constants, fixed=(), dims=None, **attributes):
    """Returns a model of one search; the weights of its graphs are initializers of the model, as
    ONNX Runtime's converter writes them."""
    names = [name if value is not None else "" for name, value in inputs.items()]
    node = onnx.helper.make_node(
        kind, names, outputs, domain="com.microsoft", eos_token_id=END, pad_token_id=PAD, **attributes
    )
    infos = [
        onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), (dims or {}).get(name, value.shape)
        )
        for name, value in inputs.items()
        if value is not None and name not in fixed
    ]
    kinds = {"sequences": onnx.TensorProto.INT32, "sequences_scores": onnx.TensorProto.FLOAT}
    results = [onnx.helper.make_tensor_value_info(name, kinds[name], None) for name in outputs]
    values = {**constants, **{name: inputs[name] for name in fixed if inputs.get(name) is not None}}
    weights = [onnx.numpy_helper.from_array(value, name) for name, value in values.items()]
    graph = onnx.helper.make_graph([node], "search", infos, results, weights)
    sets = [onnx.helper.make_opsetid("", 18), onnx.helper.make_opsetid("com.microsoft", 1)]
    return onnx.helper.make_model(graph, opset_imports=sets, ir_version=8)


def run(model, inputs):
    names = {value.name for value in model.graph.input}
    results = adze.compile(model)(**{name: value for name, value in inputs.items() if name in names})
    return results if isinstance(results, (list, tuple)) else [results]


class Runner:
    """Runs one of the graphs by ONNX's reference implementation."""

    def __init__(self, text, constants):
        graph = parse(text)
        graph.initializer.extend(onnx.numpy_helper.from_array(value, name) for name, value in constants.items())
        self.names = [value.name for value in graph.input]
        self.session = ReferenceEvaluator(
            onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)
        )

    def __call__(self, *values):
        return self.session.run(None, dict(zip(self.names, values, strict=True)))


class Decoder:
    def __init__(self, constants):
        self.runner = Runner(DECODER, constants)

    def start(self, ids, mask=None):
        isToken = ids != PAD
        positions = np.where(isToken, np.cumsum(isToken, 1) - 1, 0).astype(np.int32)
        self.mask = isToken.astype(np.int32) if mask is None else mask
        self.next = isToken.sum(1).astype(np.int32)
        logits, self.past = self.runner(ids, positions, self.mask, np.zeros((2, len(ids), 1, 0, 4), np.float32))
        return logits[:, -1]

    def step(self, tokens, rows):
        self.mask = np.concatenate([self.mask, np.ones((len(tokens), 1), np.int32)], 1)
        logits, self.past = self.runner(
            tokens[:, None].astype(np.int32), self.next[:, None], self.mask, self.past[:, rows]
        )
        self.next = self.next + 1
        return logits[:, -1]


class EncoderDecoder:
    def __init__(self, constants):
        self.encoder = Runner(ENCODER.replace("BODY", BODY.format("present")), constants)
        self.decoder = Runner(STEP.replace("BODY", BODY.format("past")), constants)

    def start(self, ids, start, beams):
        self.mask = (np.cumsum(ids != PAD, 1) > 0).astype(np.int32)
        first = np.full((len(ids), 1), start, np.int32)
        logits, _, *caches = self.encoder(ids, self.mask, first)
        self.mask, logits = (np.repeat(value, beams, 0) for value in (self.mask, logits))
        caches = [np.repeat(cache, beams, 0) for cache in caches]
        self.past, self.cross = caches[:2], caches[2:]
        return logits[:, -1]

    def step(self, tokens, rows):
        past = [cache[rows] for cache in self.past]
        logits, *self.past = self.decoder(tokens[:, None].astype(np.int32), self.mask, *past, *self.cross)
        return logits[:, -1]


def process(scores, sequences, isFirst, penalty=1.0, ngram=0, vocabulary=None, prefix=None, least=0):
    scores = scores.astype(np.float32)
    for row, sequence in zip(scores, sequences, strict=True):
        for token in set(sequence):
            row[token] = row[token] * penalty if row[token] < 0 else row[token] / penalty
        for i in range(len(sequence) - ngram + 1) if ngram else ():
            if ngram == 1 or sequence[i : i + ngram - 1] == sequence[len(sequence) - ngram + 1 :]:
                row[sequence[i + ngram - 1]] = LOWEST
    if vocabulary is not None:
        scores = np.where(vocabulary == 0, LOWEST, scores)
    if prefix is not None and isFirst:
        scores = np.where(np.repeat(prefix, len(scores) // len(prefix), 0) == 0, LOWEST, scores)
    if len(sequences[0]) < least:
        scores[:, END] = LOWEST
    return scores


def take_best(scores):
    return scores.argmax(1)


def search_singly(decoder, ids, limit, mask=None, choose=take_best, **rules):
    sequences, done = [list(row) for row in ids], [False] * len(ids)
    logits, isFirst = decoder.start(ids, mask), True
    while True:
        best = choose(process(logits, sequences, isFirst, **rules))
        done = [d or token == END for d, token in zip(done, best, strict=True)]
        tokens = np.array([PAD if d else token for d, token in zip(done, best, strict=True)])
        for sequence, token in zip(sequences, tokens, strict=True):
            sequence.append(token)
        if all(done) or len(sequences[0]) == limit:
            return np.array([row + [PAD] * (limit - len(row)) for row in sequences])
        logits, isFirst = decoder.step(tokens, np.arange(len(ids))), False


class Kept:
    """Returns the best ended sequences of one entry."""

    def __init__(self, beams, penalty):
        self.beams, self.penalty, self.entries = beams, penalty, []

    def add(self, sequence, total):
        self.entries.append((total / len(sequence) ** self.penalty, list(sequence)))
        self.entries = sorted(self.entries, key=lambda entry: -entry[0])[: self.beams]

    def isFull(self, best, length, early):
        if len(self.entries) < self.beams:
            return False
        return early or self.entries[-1][0] >= best / length**self.penalty


def search_by_beams(decoder, logits, sequences, limit, beams, count, power=1.0, early=False, **rules):
    batch = len(sequences) // beams
    kept, done = [Kept(beams, power) for _ in range(batch)], [False] * batch
    totals, isFirst = np.array(([0.0] + [-1e9] * (beams - 1)) * batch), True
    while True:
        shares = logits - logits.max(1, keepdims=True)
        shares = shares - np.log(np.exp(shares.astype(np.float64)).sum(1, keepdims=True))
        scores = process(shares, sequences, isFirst, **rules) + totals[:, None]
        tokens, rows, nextTotals, length = [], [], [], len(sequences[0])
        for entry in range(batch):
            if done[entry]:
                tokens, rows, nextTotals = tokens + [PAD] * beams, rows + [0] * beams, nextTotals + [0.0] * beams
                continue
            flat = scores[entry * beams : (entry + 1) * beams].reshape(-1)
            candidates = np.argsort(-flat, kind="stable")[: 2 * beams]
            goOn = []
            for j, place in enumerate(candidates):
                row, token = entry * beams + place // VOCABULARY, place % VOCABULARY
                if token != END:
                    goOn.append((token, row, flat[place]))
                elif j < beams:
                    kept[entry].add(sequences[row], flat[place])
            for token, row, total in goOn[:beams]:
                tokens, rows, nextTotals = tokens + [token], rows + [row], nextTotals + [total]
            done[entry] = kept[entry].isFull(flat[candidates[0]], length, early)
        tokens, rows, totals = np.array(tokens), np.array(rows), np.array(nextTotals)
        if all(done):
            break
        sequences = [sequences[row] + [token] for row, token in zip(rows, tokens, strict=True)]
        if length + 1 == limit:
            break
        logits, isFirst = decoder.step(tokens, rows), False
    for entry in range(batch):
        for row in range(entry * beams, (entry + 1) * beams) if not done[entry] else ():
            kept[entry].add(sequences[row], totals[row])
    best = [keep.entries[:count] for keep in kept]
    padded = [[sequence + [PAD] * (limit - len(sequence)) for _, sequence in entries] for entries in best]
    return np.array(padded), np.array([[score for score, _ in entries] for entries in best])


IDS = np.array([[3, 4, 5], [PAD, 6, 7], [8, 0, 4]], np.int32)


def i32(*values):
    return np.array(values, np.int32)


def f32(*values):
    return np.array(values, np.float32)


RULES = {
    "plain": {},
    "least": {"least": 7},
    "penalty": {"penalty": 1.5},
    "ngram_1": {"ngram": 1},
    "ngram_3": {"ngram": 3, "penalty": 0.8},
    "vocabulary": {"vocabulary": i32(1, 1, 1, 0, 1, 1, 0, 1, 1)},
    "prefix": {"prefix": np.random.default_rng(3).integers(0, 2, (3, VOCABULARY)).astype(np.int32)},
}


def get_inputs(rules):
    return {
        "min_length": i32(rules["least"]) if "least" in rules else None,
        "repetition_penalty": f32(rules["penalty"]) if "penalty" in rules else None,
        "vocab_mask": rules.get("vocabulary"),
        "prefix_vocab_mask": rules.get("prefix"),
    }


def split(inputs, *names):
    return {name: value for name, value in inputs.items() if name in names}


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("seed", [0, 1])
def test_greedy_search(rule, seed):
    rules, constants = RULES[rule], make_constants(seed)
    inputs = {"input_ids": IDS, "max_length": i32(10), **get_inputs(rules), "attention_mask": None}
    model = make_search(
        "GreedySearch",
        inputs,
        ["sequences"],
        constants,
        fixed=["max_length"] if seed else [],
        decoder=parse(DECODER),
        no_repeat_ngram_size=rules.get("ngram", 0),
    )
    np.testing.assert_array_equal(run(model, inputs)[0], search_singly(Decoder(constants), IDS, 10, **rules))


def test_greedy_search_dynamic():
    constants = make_constants(2, boost=0.0)
    mask = i32([1, 0, 1], [1, 1, 1], [0, 1, 1])
    inputs = {"input_ids": IDS, "max_length": i32(9)}
    inputs |= dict.fromkeys(["min_length", "repetition_penalty", "vocab_mask", "prefix_vocab_mask"])
    inputs["attention_mask"] = mask
    dims = dict.fromkeys(["input_ids", "attention_mask"], ["batch", "length"])
    model = make_search("GreedySearch", inputs, ["sequences"], constants, dims=dims, decoder=parse(DECODER))
    module = adze.compile(model)
    for batch, limit in ((3, 9), (1, 4), (2, 15)):
        ids, some = IDS[:batch], mask[:batch]
        got = module(input_ids=ids, max_length=i32(limit), attention_mask=some)
        np.testing.assert_array_equal(got, search_singly(Decoder(constants), ids, limit, mask=some))
    with pytest.raises(adze.AdzeError, match="max_length to be greater than the length of the prompt"):
        module(input_ids=IDS, max_length=i32(3), attention_mask=mask)


class Sampler:
    """Random sampling: NumPy's floats, and C++'s minstd_rand0 with its uniform distribution of
    doubles."""

    def __init__(self, seed, top_p, temperature=1.0, custom=0, keep=0, filtered=-1e20, presence=None, penalty=0.0):
        self.state, self.top_p, self.temperature, self.custom = seed % (2**31 - 1) or 1, top_p, temperature, custom
        self.keep, self.filtered, self.presence, self.penalty = keep, filtered, presence, penalty

    def uniform(self):
        low = self.state * 16807 % (2**31 - 1)
        self.state = low * 16807 % (2**31 - 1)
        return ((low - 1) + (self.state - 1) * (2**31 - 2.0)) / (2**31 - 2.0) ** 2

    def filter(self, row):
        order = np.argsort(-row if self.custom else row, kind="stable")
        shares = np.exp(row[order] - row.max())
        sums = np.cumsum(shares / shares.sum(), dtype=np.float32)
        for place, token in enumerate(order):
            if self.custom:
                beyond = place > 0 and sums[place - 1] > self.top_p
            else:
                beyond = sums[place] <= 1 - self.top_p and (place == 0 or place < len(row) - self.keep)
            if beyond:
                row[token] = self.filtered

    def __call__(self, scores):
        scores = scores / np.float32(self.temperature) if self.temperature > 0 else scores.copy()
        if self.presence is not None:
            scores = (scores - self.presence * self.penalty).astype(np.float32)
        tokens = []
        for row in scores:
            self.filter(row)
            sums = np.cumsum(np.exp(row.astype(np.float64) - row.max()))
            tokens.append(int((sums <= self.uniform() * sums[-1]).sum()))
        return np.array(tokens)


SAMPLES = {
    "all": {"top_p": 1.0, "keep": 1},
    "nucleus": {"top_p": 0.7, "keep": 1},
    "hot": {"top_p": 0.9, "temperature": 2.0},
    "kept": {"top_p": 0.3, "keep": 4, "filtered": -np.inf},
    "custom": {"top_p": 0.6, "custom": 1, "temperature": 0.0},
    "presence": {"top_p": 0.9, "keep": 1, "presence": i32(1, 0, 0, 1, 0, 1, 0, 0, 0), "penalty": 3.0},
}


@pytest.mark.parametrize("sample", list(SAMPLES))
@pytest.mark.parametrize("seed", [None, 1, 2**31 - 1, 4711])
def test_sampling(sample, seed):
    sampler, constants = Sampler(seed or 0, **SAMPLES[sample]), make_constants(4, boost=0.0)
    presence = None if sampler.presence is None else np.tile(sampler.presence, (len(IDS), 1))
    rules = RULES["least"] if seed == 1 else RULES["plain"]
    inputs = {"input_ids": IDS, "max_length": i32(12), **get_inputs(rules), "attention_mask": None}
    inputs |= {"presence_mask": presence, "seed": None if seed is None else i32(seed)}
    model = make_search(
        "Sampling",
        inputs,
        ["sequences"],
        constants,
        decoder=parse(DECODER),
        top_p=sampler.top_p,
        temperature=sampler.temperature,
        custom=sampler.custom,
        min_tokens_to_keep=sampler.keep,
        filter_value=sampler.filtered,
        presence_penalty=sampler.penalty,
    )
    want = search_singly(Decoder(constants), IDS, 12, choose=sampler, **rules)
    np.testing.assert_array_equal(run(model, inputs)[0], want)


def test_sampling_refuses_negative_seeds():
    inputs = {"input_ids": IDS, "max_length": i32(6), **get_inputs({}), "attention_mask": None, "presence_mask": None}
    inputs["seed"] = i32(-1)
    model = make_search("Sampling", inputs, ["sequences"], make_constants(0), decoder=parse(DECODER))
    with pytest.raises(adze.AdzeError, match="expected a seed of at least 0"):
        run(model, inputs)


def get_beam_inputs(ids, limit, beams, count, penalty, rules):
    own = get_inputs(rules)
    return {
        "input_ids": ids,
        "max_length": i32(limit),
        "min_length": own["min_length"],
        "num_beams": i32(beams),
        "num_return_sequences": i32(count),
        "length_penalty": f32(penalty),
        **split(own, "repetition_penalty", "vocab_mask", "prefix_vocab_mask"),
    }


def check_beams(got, want):
    np.testing.assert_array_equal(got[0], want[0])
    np.testing.assert_allclose(got[1], want[1], rtol=1e-4, atol=1e-5)


SCALARS = ["max_length", "min_length", "num_beams", "num_return_sequences", "length_penalty", "repetition_penalty"]


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("early", [0, 1])
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_beam_search(rule, early, power):
    rules, constants = RULES[rule], make_constants(early)
    inputs = get_beam_inputs(IDS, 9, 3, 2, power, rules)
    model = make_search(
        "BeamSearch",
        inputs,
        ["sequences", "sequences_scores"],
        constants,
        fixed=SCALARS,
        decoder=parse(DECODER),
        early_stopping=early,
        no_repeat_ngram_size=rules.get("ngram", 0),
    )
    decoder, ids = Decoder(constants), np.repeat(IDS, 3, 0)
    logits = decoder.start(ids)
    want = search_by_beams(
        decoder, logits, [list(row) for row in ids], 9, 3, 2, power=power, early=bool(early), **rules
    )
    check_beams(run(model, inputs), want)


def test_beam_search_dynamic():
    """All sizes are inputs, as in models of ONNX Runtime's converter."""
    constants = make_constants(4)
    dims = {"input_ids": ["batch", "length"]}
    inputs = get_beam_inputs(IDS, 9, 3, 2, 1.0, {})
    model = make_search(
        "BeamSearch", inputs, ["sequences", "sequences_scores"], constants, dims=dims, decoder=parse(DECODER)
    )
    module = adze.compile(model)
    for batch, limit, beams, count in ((3, 9, 3, 2), (1, 6, 1, 1), (2, 12, 4, 4)):
        inputs = get_beam_inputs(IDS[:batch], limit, beams, count, 1.0, {})
        decoder, ids = Decoder(constants), np.repeat(IDS[:batch], beams, 0)
        logits = decoder.start(ids)
        want = search_by_beams(decoder, logits, [list(row) for row in ids], limit, beams, count)
        check_beams(module(**{name: value for name, value in inputs.items() if value is not None}), want)
    inputs = get_beam_inputs(IDS, 9, 2, 3, 1.0, {})
    with pytest.raises(adze.AdzeError, match="num_return_sequences of at most num_beams"):
        module(**{name: value for name, value in inputs.items() if value is not None})


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("isOld", [True, False])
def test_beam_search_encoder_decoder(seed, isOld):
    constants, start = make_constants(seed, boost=1.0), 3
    inputs = get_beam_inputs(IDS, 8, 3, 3, 1.0, {})
    encoder = parse(ENCODER.replace("BODY", BODY.format("present")))
    if not isOld:
        # Newer encoders compute the caches of cross attention only; the decoder begins with an
        # empty cache.
        caches = list(encoder.output)[-2:]
        del encoder.output[:], encoder.input[2:], encoder.node[:]
        encoder.output.extend(caches)
        whole = parse(ENCODER.replace("BODY", ""))
        encoder.node.extend(node for node in whole.node if "encoder" in node.output[0] or "cross" in node.output[0])
    model = make_search(
        "BeamSearch",
        inputs,
        ["sequences", "sequences_scores"],
        constants,
        fixed=SCALARS,
        encoder=encoder,
        decoder=parse(STEP.replace("BODY", BODY.format("past"))),
        model_type=1,
        decoder_start_token_id=start,
        early_stopping=1,
    )
    decoder = EncoderDecoder(constants)
    logits = decoder.start(IDS, start, 3)
    want = search_by_beams(decoder, logits, [[start]] * 9, 8, 3, 3, early=True)
    check_beams(run(model, inputs), want)


def test_matches_onnxruntime():
    ort = pytest.importorskip("onnxruntime")
    constants = make_constants(1)
    inputs = get_beam_inputs(IDS, 9, 3, 2, 1.0, {"least": 5, "penalty": 1.2})
    model = make_search(
        "BeamSearch",
        inputs,
        ["sequences", "sequences_scores"],
        constants,
        decoder=parse(DECODER),
        early_stopping=1,
        no_repeat_ngram_size=2,
    )
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    want = session.run(None, {value.name: inputs[value.name] for value in session.get_inputs()})
    check_beams(run(model, inputs), want)
