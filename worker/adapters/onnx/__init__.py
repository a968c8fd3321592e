"""The port `engine` over `inference`: in this process, or in a process of its own."""
