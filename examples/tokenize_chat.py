"""Turns conversations into tokenized samples for brimful, one JSON object a line, with a mask of what the assistant says:

    python examples/tokenize_chat.py MODEL conversations.jsonl | brimful pack - --out packed --capacity 4096

A conversation is {"messages": [{"role": ..., "content": ...}, ...]}, with "tools" (JSON schemas) and "id" if it has any. MODEL is the
name or path of a model or tokenizer with a chat template that marks the assistant's words by {% generation %}. Most models' templates
do not; --chat-template FILE gives one that does (TRL's get_training_chat_template has them for many models).
"""

import argparse
import json
import sys
from pathlib import Path

from transformers import AutoTokenizer


def tokenize(tokenizer, conversation):
    """The sample of a conversation. assistant_masks is 1 on the tokens that the model shall learn to say."""
    encoded = tokenizer.apply_chat_template(
        conversation["messages"],
        tools=conversation.get("tools"),
        return_dict=True,
        return_assistant_tokens_mask=True,
    )
    ids, mask = encoded["input_ids"], encoded["assistant_masks"]
    turns = sum(message["role"] == "assistant" for message in conversation["messages"])
    marked = sum(b > a for a, b in zip([0] + mask, mask))  # runs of ones
    if turns == 0:
        raise ValueError("no message of the assistant: nothing to learn")
    if marked != turns:
        raise ValueError(f"the chat template marks {marked} of the {turns} messages of the assistant: it needs {{% generation %}}")
    return {"input_ids": ids, "assistant_masks": mask}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("conversations", type=Path, help="a JSONL file")
    parser.add_argument("--chat-template", type=Path)
    args = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(args.model)
    if args.chat_template:
        tokenizer.chat_template = args.chat_template.read_text()
    with args.conversations.open() as lines:
        for number, line in enumerate(lines, 1):
            conversation = json.loads(line)
            try:
                sample = tokenize(tokenizer, conversation)
            except ValueError as reason:
                sys.exit(f"{args.conversations}:{number}: {reason}")
            print(json.dumps({"id": conversation.get("id", f"{args.conversations}:{number}"), **sample}))


if __name__ == "__main__":
    main()
