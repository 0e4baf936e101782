# SPDX-License-Identifier: Apache-2.0
"""Tiny models of the transformers library, as files and as answers.

  transformers_models.py make FAMILY FOLDER   saves a random model, with prompts and its answers
  transformers_models.py ask FOLDER           loads a model and writes its answers to the prompts

Prompts lie in FOLDER/prompts.safetensors as "prompts", answers beside them in answers.safetensors as
"answers": logarithms of the probabilities of the next token, [prompt, place, vocabulary].
"""
import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

# No two sizes of a model are equal, but for GPT-2's square attention output.
LLAMA = dict(vocab_size=97, intermediate_size=70, num_hidden_layers=2, num_key_value_heads=2, max_position_embeddings=61)


def build(family):
    if family == "gpt2":
        config = GPT2Config(vocab_size=101, n_positions=31, n_embd=24, n_layer=2, n_head=3,
                            bos_token_id=None, eos_token_id=None, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
        return GPT2LMHeadModel(config)
    heads = 6 if "6" in family else 4
    return LlamaForCausalLM(LlamaConfig(**LLAMA, hidden_size=8 * heads, num_attention_heads=heads,
                                        tie_word_embeddings="tied" in family,
                                        rope_parameters={"rope_type": "default", "rope_theta": 700.0}))


def make(family, folder):
    torch.manual_seed(len(family))
    model = build(family)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.1)
    model.save_pretrained(folder)
    if "old" in family:  # as transformers 4 wrote it
        path = os.path.join(folder, "config.json")
        with open(path) as file:
            config = json.load(file)
        config["rope_theta"] = config.pop("rope_parameters")["rope_theta"]
        config["torch_dtype"] = config.pop("dtype")
        with open(path, "w") as file:
            json.dump(config, file)
    save_file({"prompts": torch.randint(0, 96, (3, 5))}, os.path.join(folder, "prompts.safetensors"))


def ask(folder):
    model, info = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    for problem in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        assert not info[problem], (problem, info[problem])
    model.eval()
    prompts = load_file(os.path.join(folder, "prompts.safetensors"))["prompts"]
    with torch.no_grad():
        answers = torch.log_softmax(model(prompts).logits.double(), -1)
    save_file({"answers": answers.contiguous()}, os.path.join(folder, "answers.safetensors"))


if sys.argv[1] == "make":
    make(sys.argv[2], sys.argv[3])
ask(sys.argv[-1])
