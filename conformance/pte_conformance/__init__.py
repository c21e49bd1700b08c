"""The conformance suite for ExecuTorch model files."""
