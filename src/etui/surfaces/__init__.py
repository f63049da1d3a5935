"""The ways in: terminal, console, and later MCP, HTTP and voice. Each only holds a Session.

Above: `host` opens them. Below: everything else. A surface refuses to know: how a tool is found, allowed or run.
"""
