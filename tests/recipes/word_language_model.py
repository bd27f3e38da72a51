"""A language model of words, recurrent or a transformer, trained by truncated backpropagation and a falling rate."""

import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

# -- the text: sentences of a small grammar, as a long row of word numbers ------------------------------------------

rng = random.Random(1)
NOUNS = "cat dog fox hen cow pig owl bee".split()
VERBS = "sees likes hears follows finds".split()
PLACES = "hill barn lake wood field".split()


def sentence():
    def pick(words):
        return words[int(rng.random() * len(words))]

    words = ["the", pick(NOUNS), pick(VERBS), "the", pick(NOUNS)]
    if rng.random() < 0.5:
        words += ["by", "the", pick(PLACES)]
    return [*words, "<eos>"]


class Dictionary:
    def __init__(self):
        self.word2idx, self.idx2word = {}, []

    def add(self, word):
        if word not in self.word2idx:
            self.idx2word.append(word)
            self.word2idx[word] = len(self.idx2word) - 1
        return self.word2idx[word]

    def __len__(self):
        return len(self.idx2word)


dictionary = Dictionary()


def tokens(sentences):
    return torch.cat([torch.tensor([dictionary.add(w) for w in sentence()]) for _ in range(sentences)])


def batchify(data, columns):
    rows = data.size(0) // columns
    return data.narrow(0, 0, rows * columns).view(columns, -1).t().contiguous()


def get_batch(source, i, bptt):
    length = min(bptt, len(source) - 1 - i)
    return source[i : i + length], source[i + 1 : i + 1 + length].view(-1)


# -- the models -----------------------------------------------------------------------------------------------------


class RNNModel(nn.Module):
    def __init__(self, kind, ntoken, ninp, nhid, nlayers, dropout=0.2, tied=False):
        super().__init__()
        self.ntoken, self.kind, self.nhid, self.nlayers = ntoken, kind, nhid, nlayers
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        if kind in ("LSTM", "GRU"):
            self.rnn = getattr(nn, kind)(ninp, nhid, nlayers, dropout=dropout)
        else:
            self.rnn = nn.RNN(ninp, nhid, nlayers, nonlinearity=kind.split("_")[1].lower(), dropout=dropout)
        self.decoder = nn.Linear(nhid, ntoken)
        if tied:
            self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.decoder.weight, -0.1, 0.1)

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.drop(self.encoder(input)), hidden)
        decoded = self.decoder(self.drop(output)).view(-1, self.ntoken)
        return F.log_softmax(decoded, dim=1), hidden

    def init_hidden(self, columns):
        weight = next(self.parameters())
        zeros = [weight.new_zeros(self.nlayers, columns, self.nhid) for _ in range(2)]
        return tuple(zeros) if self.kind == "LSTM" else zeros[0]


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=200):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        rates = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * rates)
        pe[:, 1::2] = torch.cos(position * rates)
        self.register_buffer("pe", pe.unsqueeze(0).transpose(0, 1))

    def forward(self, x):
        return self.dropout(x + self.pe[: x.size(0), :])


class TransformerModel(nn.Transformer):
    def __init__(self, ntoken, ninp, nhead, nhid, nlayers, dropout=0.2):
        super().__init__(d_model=ninp, nhead=nhead, dim_feedforward=nhid, num_encoder_layers=nlayers)
        self.pos_encoder = PositionalEncoding(ninp, dropout)
        self.input_emb = nn.Embedding(ntoken, ninp)
        self.ninp = ninp
        self.decoder = nn.Linear(ninp, ntoken)
        nn.init.uniform_(self.input_emb.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.decoder.weight, -0.1, 0.1)

    def forward(self, src):
        mask = torch.log(torch.tril(torch.ones(len(src), len(src))))
        src = self.pos_encoder(self.input_emb(src) * math.sqrt(self.ninp))
        return F.log_softmax(self.decoder(self.encoder(src, mask=mask)), dim=-1)


# -- training -------------------------------------------------------------------------------------------------------


def repackage_hidden(h):
    """The state without its history."""
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage_hidden(v) for v in h)


criterion = nn.NLLLoss()


def train_epoch(model, data, columns, bptt, lr, limit):
    model.train()
    hidden = None if isinstance(model, TransformerModel) else model.init_hidden(columns)
    for batch, i in enumerate(range(0, data.size(0) - 1, bptt)):
        if batch == limit:
            break
        source, targets = get_batch(data, i, bptt)
        model.zero_grad()
        if hidden is None:
            output = model(source).view(-1, len(dictionary))
        else:
            hidden = repackage_hidden(hidden)
            output, hidden = model(source, hidden)
        loss = criterion(output, targets)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            if p.grad is not None:  # the transformer's own decoder stays unused
                p.data.add_(p.grad, alpha=-lr)
        print(f"  {batch:2d} loss {loss.item():.6f} norm {norm.item():.5f} perplexity {math.exp(loss.item()):.5f}")


def evaluate(model, data, columns, bptt):
    model.eval()
    total = 0.0
    hidden = None if isinstance(model, TransformerModel) else model.init_hidden(columns)
    with torch.no_grad():
        for i in range(0, data.size(0) - 1, bptt):
            source, targets = get_batch(data, i, bptt)
            if hidden is None:
                output = model(source).view(-1, len(dictionary))
            else:
                output, hidden = model(source, hidden)
                hidden = repackage_hidden(hidden)
            total += len(source) * criterion(output, targets).item()
    return total / (len(data) - 1)


def main():
    columns, bptt = 8, 12
    train, valid = batchify(tokens(250), columns), batchify(tokens(40), columns)
    print(len(dictionary), "words;", train.numel(), "to learn from,", valid.numel(), "to be tested on")
    size = len(dictionary)
    models = {
        "LSTM": lambda: RNNModel("LSTM", size, 24, 24, 2, tied=True),
        "GRU": lambda: RNNModel("GRU", size, 16, 24, 2),
        "RNN_TANH": lambda: RNNModel("RNN_TANH", size, 16, 24, 2),
        "RNN_RELU": lambda: RNNModel("RNN_RELU", size, 16, 24, 1, dropout=0.0),
        "Transformer": lambda: TransformerModel(size, 24, 2, 32, 2),
    }
    for kind, make in models.items():
        torch.manual_seed(1111)
        model, lr, best = make(), {"LSTM": 10.0, "GRU": 4.0}.get(kind, 2.0), None
        print(kind, sum(p.numel() for p in model.parameters()), "parameters")
        for epoch in range(2):
            train_epoch(model, train, columns, bptt, lr, 10)
            loss = evaluate(model, valid, columns, bptt)
            print(f"  epoch {epoch} valid loss {loss:.6f} lr {lr}")
            if best is None or loss < best:
                best = loss
            else:
                lr /= 4.0


main()
