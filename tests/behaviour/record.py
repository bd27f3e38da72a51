"""Run the programs on PyTorch and write down what it prints."""

from __future__ import annotations

import json
import sys

import torch

from . import RECORDED, TOPICS, programs, text_of


def main(topics: list[str]) -> None:
    RECORDED.mkdir(exist_ok=True)
    for topic in topics or TOPICS:
        texts = {name: text_of(p, torch) for name, p in programs(topic).items()}
        (RECORDED / f"{topic}.json").write_text(json.dumps(texts, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
