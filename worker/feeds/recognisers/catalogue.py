"""Every recogniser that is read here, by the name that the commands call it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

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

__all__ = ["RECOGNISERS", "Known", "RecogniserName", "recogniser_of"]


class RecogniserName(StrEnum):
    """What the commands call a recogniser."""

    DEEPGRAM = "deepgram"
    ASSEMBLYAI = "assemblyai"
    GOOGLE = "google"
    AZURE = "azure"
    AWS = "aws"
    SONIOX = "soniox"
    OPENAI_REALTIME = "openai-realtime"
    FUNASR = "funasr"
    SHERPA_ONNX = "sherpa-onnx"
    WHISPER = "whisper"
    VOSK = "vosk"


@dataclass(frozen=True, slots=True)
class Known:
    """How a recogniser's messages are told from others', and what reads them."""

    recognises: Callable[[Mapping[str, object]], bool]
    reader: Callable[[], Recogniser]


RECOGNISERS: Mapping[RecogniserName, Known] = {
    RecogniserName.DEEPGRAM: Known(deepgram.recognises, deepgram.Deepgram),
    RecogniserName.ASSEMBLYAI: Known(assemblyai.recognises, assemblyai.AssemblyAi),
    RecogniserName.GOOGLE: Known(google.recognises, google.Google),
    RecogniserName.AZURE: Known(azure.recognises, azure.Azure),
    RecogniserName.AWS: Known(aws.recognises, aws.Aws),
    RecogniserName.SONIOX: Known(soniox.recognises, soniox.Soniox),
    RecogniserName.OPENAI_REALTIME: Known(openai_realtime.recognises, openai_realtime.OpenAiRealtime),
    RecogniserName.FUNASR: Known(funasr.recognises, funasr.FunAsr),
    RecogniserName.SHERPA_ONNX: Known(sherpa_onnx.recognises, sherpa_onnx.SherpaOnnx),
    RecogniserName.WHISPER: Known(whisper.recognises, whisper.Whisper),
    RecogniserName.VOSK: Known(vosk.recognises, vosk.Vosk),
}


def recogniser_of(message: Mapping[str, object]) -> RecogniserName | None:
    """Return the name of the recogniser whose message this is; None where it looks like none of theirs, or two's."""
    names = [name for name, known in RECOGNISERS.items() if known.recognises(message)]
    return names[0] if len(names) == 1 else None
