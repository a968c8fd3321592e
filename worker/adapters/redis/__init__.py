"""Redis behind the port of the session store: redis-py without its retries, and two Lua scripts."""
