"""The compiler's settings: a module on which any may be set, and none matters. Source: torch._dynamo.config."""

suppress_errors = False
cache_size_limit = recompile_limit = 8
capture_scalar_outputs = False
capture_dynamic_output_shape_ops = False
assume_static_by_default = True
verbose = False
disable = True
