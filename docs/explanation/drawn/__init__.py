"""The figures of the explanation pages, drawn from the state of the algorithms."""
