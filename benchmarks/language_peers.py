# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Runs the decoders of language_models.py by onnxruntime-genai and llama.cpp.

Both use the weights of the ONNX file: genai the file itself with a configuration
next to it, llama.cpp a GGUF file (Q4_0 for blocks of 4 bits, whose scales become
f16). Their caches stay in place. The packages onnxruntime-genai, and
llama-cpp-python with gguf, are needed.
"""
import json
import os

import numpy as np
import onnx


def _load_weights(path):
    model = onnx.load(path)
    folder = os.path.dirname(os.path.abspath(path))
    return {t.name: onnx.numpy_helper.to_array(t, folder) for t in model.graph.initializer}


class GenAI:
    """Runs steps of onnxruntime-genai."""

    name = "onnxruntime-genai"

    def __init__(self, path, shape, threads, longest):
        import onnxruntime_genai

        self.folder = path + ".genai"
        os.makedirs(self.folder, exist_ok=True)
        hidden, layers, _, heads, kv, size, words = shape
        for name in os.path.basename(path), os.path.basename(path) + ".data":
            link = os.path.join(self.folder, name)
            if not os.path.lexists(link):
                os.symlink(os.path.join(os.path.dirname(os.path.abspath(path)), name), link)
        decoder = {
            "session_options": {"intra_op_num_threads": threads, "provider_options": []},
            "filename": os.path.basename(path), "head_size": size, "hidden_size": hidden,
            "inputs": {"input_ids": "input_ids", "attention_mask": "attention_mask",
                       "past_key_names": "past_key_values.%d.key", "past_value_names": "past_key_values.%d.value"},
            "outputs": {"logits": "logits", "present_key_names": "present.%d.key",
                        "present_value_names": "present.%d.value"},
            "num_attention_heads": heads, "num_hidden_layers": layers, "num_key_value_heads": kv,
        }
        config = {
            "model": {"type": "llama", "bos_token_id": 0, "eos_token_id": words - 1, "pad_token_id": 0,
                      "vocab_size": words, "context_length": longest, "decoder": decoder},
            "search": {"max_length": longest, "past_present_share_buffer": True, "do_sample": False},
        }
        with open(os.path.join(self.folder, "genai_config.json"), "w") as file:
            json.dump(config, file)
        self.genai = onnxruntime_genai
        self.model = onnxruntime_genai.Model(self.folder)

    def prepare(self, tokens, past, capacity):
        """Runs a step of `tokens` after `past` others; returns a function that returns its last logits."""
        parameters = self.genai.GeneratorParams(self.model)
        parameters.set_search_options(max_length=capacity)
        generator = self.genai.Generator(self.model, parameters)
        before = np.arange(past, dtype=np.int32) % 97
        if past:
            generator.append_tokens(before)

        def step():
            generator.rewind_to(past)
            generator.append_tokens(tokens.astype(np.int32))

        return step, lambda: np.asarray(generator.get_logits()).reshape(-1)


def write_gguf(path, shape, target):
    """Writes the weights of the ONNX file at `path` as a GGUF file."""
    import gguf

    hidden, layers, inner, heads, kv, size, words = shape
    weights = _load_weights(path)
    has_bias = "layer0.q.bias" in weights
    # The architecture determines the pairs of rotary embedding: those of llama are adjacent.
    writer = gguf.GGUFWriter(target, "qwen2" if has_bias else "llama")
    writer.add_context_length(4096)
    writer.add_embedding_length(hidden)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv)
    writer.add_key_length(size)
    writer.add_value_length(size)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(size)
    writer.add_vocab_size(words)
    writer.add_tokenizer_model("none")

    def add_product(name, source, depth, pairs=0):
        def in_pairs(rows):
            if not pairs or has_bias:
                return rows
            return rows.reshape(pairs, 2, size // 2, -1).swapaxes(1, 2).reshape(rows.shape)

        if source + ".weight" in weights:
            writer.add_tensor(name, np.ascontiguousarray(in_pairs(weights[source + ".weight"].T)))
            return
        packed, scales = weights[source + ".packed"], weights[source + ".scales"]
        rows, blocks = packed.shape[:2]
        numbers = np.stack([packed & 15, packed >> 4], -1).reshape(rows, blocks, 32)
        nibbles = numbers[..., :16] | numbers[..., 16:] << 4
        scales = scales.reshape(rows, blocks, 1).astype(np.float16).view(np.uint8)
        blocks_of_row = np.concatenate([scales, nibbles], -1).reshape(rows, -1)
        writer.add_tensor(name, np.ascontiguousarray(in_pairs(blocks_of_row)),
                          raw_dtype=gguf.GGMLQuantizationType.Q4_0)

    def add_numbers(name, source):
        writer.add_tensor(name, weights[source].astype(np.float32))

    add_numbers("token_embd.weight", "embedding")
    add_numbers("blk.0.attn_norm.weight", "norm")
    for i in range(layers):
        p, b = f"layer{i}.", f"blk.{i}."
        for ours, theirs, depth, pairs in (("q", "attn_q", hidden, heads), ("k", "attn_k", hidden, kv),
                                           ("v", "attn_v", hidden, 0), ("o", "attn_output", heads * size, 0),
                                           ("gate", "ffn_gate", hidden, 0), ("up", "ffn_up", hidden, 0),
                                           ("down", "ffn_down", inner, 0)):
            add_product(f"{b}{theirs}.weight", p + ours, depth, pairs)
            if p + ours + ".bias" in weights:
                add_numbers(f"{b}{theirs}.bias", p + ours + ".bias")
        add_numbers(b + "ffn_norm.weight", p + "norm1")
        after = "output_norm.weight" if i + 1 == layers else f"blk.{i + 1}.attn_norm.weight"
        add_numbers(after, p + "norm2")
    add_product("output.weight", "head", hidden)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class LlamaCpp:
    """Runs steps of llama.cpp with its default caches of f16."""

    name = "llama.cpp"

    def __init__(self, path, shape, threads, longest):
        import llama_cpp

        file = path + ".gguf"
        if not os.path.exists(file):
            write_gguf(path, shape, file + ".part")
            os.rename(file + ".part", file)
        self.lib, self.words = llama_cpp, shape[-1]
        self.model = llama_cpp.Llama(model_path=file, n_ctx=longest, n_batch=512, n_threads=threads,
                                     n_threads_batch=threads, verbose=False)

    def prepare(self, tokens, past, capacity):
        """Does the same as the method of GenAI."""
        llama, lib = self.model, self.lib
        memory = lib.llama_get_memory(llama._ctx.ctx)

        def evaluate(numbers):
            llama.eval([int(n) for n in numbers])

        def rewind():
            lib.llama_memory_seq_rm(memory, -1, past, -1)
            llama.n_tokens = past

        llama.reset()
        lib.llama_memory_clear(memory, True)
        evaluate(np.arange(past) % 97)

        def step():
            rewind()
            evaluate(tokens)

        def logits():
            return np.ctypeslib.as_array(lib.llama_get_logits(llama._ctx.ctx), (self.words,)).copy()

        return step, logits


PEERS = {peer.name: peer for peer in (GenAI, LlamaCpp)}
