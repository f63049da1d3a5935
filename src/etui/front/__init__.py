"""What surfaces ask of a host, sorted by what it is about: its tools, plugins, conversations, models, settings, problems.

Above: the console, the terminal, a program of one's own; `host` puts one of each together. Below: every part of the host. Each
knows the few parts that it speaks for, and nothing of the others. They refuse to know: who asks, and how an answer is shown.
"""
