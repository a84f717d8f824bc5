"""Values and rows that are drawn: from a margin, from all features together, given some of them, or from the data
themselves.
"""
