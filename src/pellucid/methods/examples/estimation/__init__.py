"""What several methods share: the space in which rows are compared, the number of examples, how a set is described."""
