"""Labels words on a CPU: models, networks, the KV cache, attention and int8 products.

ONNX Runtime's Linux wheels, from 1.31 on, keep a device's identifier in the user's home and send events to their maker.
The switch is read when the library is loaded, so it is set here, before anything of ours imports it.
"""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
