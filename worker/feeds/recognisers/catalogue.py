"""Every recogniser that is read here, by the name that the commands call it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from worker.feeds.hypothesis import Recogniser
from worker.feeds.recognisers import (
    assemblyai,
    aws,
    azure,
    deepgram,
    funasr,
    google,
    openai_realtime,
    sherpa_onnx,
    soniox,
    vosk,
    whisper,
)

__all__ = ["RECOGNISERS", "Known", "recogniser_of"]


@dataclass(frozen=True, slots=True)
class Known:
    """How a recogniser's messages are told from others', and what reads them."""

    recognises: Callable[[Mapping[str, object]], bool]
    reader: Callable[[], Recogniser]


RECOGNISERS: Mapping[str, Known] = {
    "deepgram": Known(deepgram.recognises, deepgram.Deepgram),
    "assemblyai": Known(assemblyai.recognises, assemblyai.AssemblyAi),
    "google": Known(google.recognises, google.Google),
    "azure": Known(azure.recognises, azure.Azure),
    "aws": Known(aws.recognises, aws.Aws),
    "soniox": Known(soniox.recognises, soniox.Soniox),
    "openai-realtime": Known(openai_realtime.recognises, openai_realtime.OpenAiRealtime),
    "funasr": Known(funasr.recognises, funasr.FunAsr),
    "sherpa-onnx": Known(sherpa_onnx.recognises, sherpa_onnx.SherpaOnnx),
    "whisper": Known(whisper.recognises, whisper.Whisper),
    "vosk": Known(vosk.recognises, vosk.Vosk),
}


def recogniser_of(message: Mapping[str, object]) -> str | None:
    """Return the name of the recogniser whose message this is; None where it looks like none of theirs, or two's."""
    names = [name for name, known in RECOGNISERS.items() if known.recognises(message)]
    return names[0] if len(names) == 1 else None
