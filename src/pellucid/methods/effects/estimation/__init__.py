"""Helpers of the effects: axes, local differences, their accumulation, and the finished result."""
