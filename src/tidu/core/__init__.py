"""What a tensor and a derivative are: values, ops, nodes, the engine, views, modes."""
