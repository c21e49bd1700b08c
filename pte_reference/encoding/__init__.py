"""The FlatBuffers encoding: two reading walks over one description, and the builder."""
