"""x-transformers: a decoder with rotary positions, gated feed-forward and grouped queries learns to copy; an encoder."""

import torch
from x_transformers import AutoregressiveWrapper, Decoder, Encoder, TransformerWrapper

torch.manual_seed(0)
model = TransformerWrapper(
    num_tokens=16,
    max_seq_len=32,
    attn_layers=Decoder(
        dim=32,
        depth=2,
        heads=4,
        attn_dim_head=8,
        rotary_pos_emb=True,
        ff_glu=True,
        ff_swish=True,
        use_rmsnorm=True,
        attn_kv_heads=2,
        attn_qk_norm=True,
    ),
)
wrapped = AutoregressiveWrapper(model)
optimizer = torch.optim.AdamW(wrapped.parameters(), lr=3e-3)
print(sum(p.numel() for p in model.parameters()), "parameters")
for step in range(20):
    half = torch.randint(1, 16, (8, 8))
    loss = wrapped(torch.cat([half, half], 1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(wrapped.parameters(), 0.5)
    optimizer.step()
    print(f"{step:2d} {loss.item():.6f}")
wrapped.eval()
print(wrapped.generate(torch.tensor([[3, 5, 7, 3]]), 6, temperature=0.0).tolist())
encoder = Encoder(
    dim=32,
    depth=2,
    heads=4,
    attn_dim_head=8,
    alibi_pos_bias=True,
    alibi_num_heads=2,
    ff_glu=True,
    layer_dropout=0.0,
    attn_flash=True,
)
out = encoder(torch.randn(2, 10, 32), mask=torch.ones(2, 10).bool())
print("encoder", round(out.pow(2).mean().item(), 5), round(out.sum().item(), 3))
