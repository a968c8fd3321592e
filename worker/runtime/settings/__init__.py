"""What the runtime is told and given: its settings, routes, adapters and deadlines."""
