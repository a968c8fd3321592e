"""What installs and watches the worker; the Python here writes files that the chart carries."""
