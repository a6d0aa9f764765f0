import torch


def brimful_collator(rows):
    """Lays B packed rows end to end, [1, B*C], with the segment boundaries in every form that an attention, convolution or
    recurrence kernel reads. Needs remove_unused_columns=False: the boundaries are in cu_seqlens, no argument of a model."""
    for row in rows:
        if "attention_mask" in row:
            raise ValueError("attention_mask beside packed rows: models would ignore the boundaries; remove the column")
        if "cu_seqlens" not in row:
            raise ValueError("no cu_seqlens: set remove_unused_columns=False in TrainingArguments, and pack with layout hf")
    input_ids = torch.cat([torch.as_tensor(row["input_ids"]).long() for row in rows])
    labels = torch.cat([torch.as_tensor(row["labels"]).long() for row in rows])
    offsets = "cu_seqlens_padded" if "cu_seqlens_padded" in rows[0] else "cu_seqlens"  # of rows packed with --align
    lengths = torch.cat([torch.as_tensor(row[offsets]).diff() for row in rows])
    lengths = lengths[lengths > 0]  # --fixed-counts repeats the last offset
    cu_seqlens = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
    if not len(input_ids) == len(labels) == cu_seqlens[-1] or (labels[cu_seqlens[:-1]] != -100).any():
        raise ValueError("cu_seqlens must end at the row's length, and the first label of every segment must be -100")
    segment = torch.arange(len(lengths)).repeat_interleave(lengths)
    position_ids = torch.arange(len(input_ids)) - cu_seqlens[segment]
    cu, longest = cu_seqlens.int(), int(lengths.max())  # the kernels want int32 and a Python int
    return {"input_ids": input_ids[None], "labels": labels[None], "position_ids": position_ids[None], "seq_idx": segment.int()[None],
            "cu_seq_lens_q": cu, "cu_seq_lens_k": cu, "max_length_q": longest, "max_length_k": longest}
