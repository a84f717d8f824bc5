"""The user's table, in its own library's terms: one small class per library, one doorway that picks it."""
