"""The Python examples, run as a user runs them, and the collator as the dataset card prints it."""

import io
import json
import runpy
import subprocess
import sys

import datasets
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

import reference
from conftest import CAPACITY, ROOT

EXAMPLES = ROOT / "examples"


@pytest.fixture
def here(monkeypatch, capsys):
    """Runs a script of examples in this process, which saves the time of its imports, and returns what it prints."""

    def run(name, *args):
        monkeypatch.setattr(sys, "argv", [name, *map(str, args)])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return run


def test_the_card_prints_the_collator(pack, small):
    card = (pack(small.path) / "README.md").read_text()
    assert f"```python\n{(EXAMPLES / 'brimful_collator.py').read_text()}```" in card


def test_a_script_as_a_user_runs_it(pack, small, tmp_path):
    command = [sys.executable, EXAMPLES / "train_hf.py", pack(small.path), "--steps", "2", "--batch", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("'loss'") == 2, done.stdout


@pytest.mark.parametrize("format", ["parquet", "arrow", "hf"])
@pytest.mark.parametrize("script", ["train_hf.py", "train_trl.py"])
def test_training(pack, small, tmp_path, here, script, format):
    said = here(script, pack(small.path, "--format", format), "--steps", 2, "--batch", 2, "--output", tmp_path)
    assert said.count("'loss'") == 2, said


def test_stream(binary, small, tmp_path, here, monkeypatch):
    """The pipe of the script's first lines. The trainer stops after 2 steps, and the command behind it ends too."""
    command = [binary, "pack", "-", "--format", "arrow-stream", "--out", "-", "--capacity", str(CAPACITY)]
    with small.path.open() as samples, subprocess.Popen(command, stdin=samples, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as packing:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(packing.stdout))
        said = here("stream.py", "--steps", 2, "--vocabulary", small.vocab, "--output", tmp_path)
        packing.stdout.close()
        packing.wait(timeout=30)
    assert said.count("'loss'") == 2, said


TEMPLATE = """\
{%- if tools %}<|im_start|>system
{{ tools | tojson }}<|im_end|>
{% endif %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{% if message.role == "assistant" %}
{%- generation %}{{ message.content }}{% if message.tool_calls %}{{ message.tool_calls | tojson }}{% endif %}<|im_end|>{% endgeneration %}
{% else %}{{ message.content }}<|im_end|>
{% endif %}
{%- endfor %}"""

TOOLS = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "number"}}}}}]
CALL = [{"type": "function", "function": {"name": "add", "arguments": {"a": 2}}}]
CONVERSATIONS = [
    {"messages": [{"role": "user", "content": "What is 2 + 2?"}, {"role": "assistant", "content": "It is 4."}]},
    {
        "id": "with tools",
        "tools": TOOLS,
        "messages": [
            {"role": "user", "content": "Add 2, please."},
            {"role": "assistant", "content": "", "tool_calls": CALL},
            {"role": "tool", "content": "4"},
            {"role": "assistant", "content": "Four. Ünïcode, too: 四"},
        ],
    },
]
SAID = [["It is 4."], [json.dumps(CALL), "Four. Ünïcode, too: 四"]]


UNMARKED = TEMPLATE.replace("{%- generation %}", "").replace("{% endgeneration %}", "")


@pytest.fixture(scope="module")
def tokenizer():
    """A tiny byte-level BPE vocabulary, made here: nothing is fetched."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|pad|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(map(json.dumps, CONVERSATIONS), trainer)
    return PreTrainedTokenizerFast(tokenizer_object=bpe, pad_token="<|pad|>", eos_token="<|im_end|>")


class TestTokenizeChat:
    @pytest.fixture
    def arguments(self, tokenizer, tmp_path):
        """Writes a tokenizer and a file of conversations, and returns the arguments by which the script finds them."""

        def write(conversations, template=TEMPLATE):
            tokenizer.chat_template = template
            tokenizer.save_pretrained(tmp_path / "tokenizer")
            path = tmp_path / "conversations.jsonl"
            path.write_text("".join(json.dumps(c) + "\n" for c in conversations))
            return [str(tmp_path / "tokenizer"), str(path)]

        return write

    def test_the_mask_is_what_the_assistant_says(self, arguments, tokenizer, here, brimful, tmp_path):
        said = here("tokenize_chat.py", *arguments(CONVERSATIONS))
        samples = [json.loads(line) for line in said.splitlines()]
        assert [list(s) for s in samples] == [["id", "input_ids", "assistant_masks"]] * 2
        assert samples[1]["id"] == "with tools"
        for sample, conversation, words in zip(samples, CONVERSATIONS, SAID, strict=True):
            learnt = tokenizer.decode([t for t, m in zip(sample["input_ids"], sample["assistant_masks"], strict=True) if m])
            assert learnt == "".join(f"{text}<|im_end|>" for text in words)
            text = tokenizer.decode(sample["input_ids"])
            assert all(message["content"] in text for message in conversation["messages"])
            assert ("system" in text and '"add"' in text) == ("tools" in conversation)

        # And into rows: what the mask marks is what the labels keep.
        (tmp_path / "samples.jsonl").write_text(said)
        brimful("pack", tmp_path / "samples.jsonl", "--out", tmp_path / "out", "--capacity", 512)
        expected = [
            {"input_ids": s["input_ids"], "labels": [t if m else reference.IGNORE for t, m in zip(s["input_ids"], s["assistant_masks"])]}
            for s in samples
        ]
        reference.check(list(datasets.load_dataset(str(tmp_path / "out"), split="train")), expected, 512)

    def test_a_template_without_marks_is_refused(self, arguments, here):
        with pytest.raises(SystemExit, match="conversations.jsonl:1: the chat template marks 0 of the 1 messages of the assistant"):
            here("tokenize_chat.py", *arguments(CONVERSATIONS, UNMARKED))

    def test_another_template(self, arguments, here, tmp_path):
        expected = here("tokenize_chat.py", *arguments(CONVERSATIONS))
        (tmp_path / "template.jinja").write_text(TEMPLATE)
        assert here("tokenize_chat.py", *arguments(CONVERSATIONS, UNMARKED), "--chat-template", tmp_path / "template.jinja") == expected != ""

    def test_nothing_to_learn_is_refused(self, arguments, here):
        with pytest.raises(SystemExit, match="conversations.jsonl:2: no message of the assistant"):
            here("tokenize_chat.py", *arguments(CONVERSATIONS[:1] + [{"messages": [{"role": "user", "content": "Hello?"}]}]))
