"""The figures of the explanation pages, drawn from what the algorithms really hold."""
