"""The network behind the port of the engine: a models folder, its tokenizer, and ONNX Runtime."""
