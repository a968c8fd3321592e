# The plan of a pass, compiled from schedule_kernels.c; not there where no compiler was at hand (docs/engine.md).

# Plan one step of each buffer: what `row_schedule.plan` says of each, as arrays of int32 over all of them.
# look_back: -1: words see all before them. buffers: of each what `batch_plan.StepRequest` says.
# Returns (places (K, S, 2), spans (K, S, 4), entering (N,), picks (P,), left (S, 2), sights, layer_rows): see
# `batch_plan.BatchPlan`. sights: of each layer queries (S,), begins (M,) and ends (M,), one after another, or None if
# its rows see what those of the layer before do.
# ValueError, TypeError, IndexError, OverflowError where something does not fit, or a wanted row is gone.
def plan(
    look_ahead: tuple[int, ...],
    look_back: int,
    buffers: list[tuple[list[int], list[int], int | None, int, int]],
    /,
) -> tuple[bytes, bytes, bytes, bytes, bytes, list[bytes | None], int]: ...
