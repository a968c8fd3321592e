"""Hours in minutes: millions of words through real parts, sessions opening and closing, while memory is watched."""
