"""Every recogniser that is read here, by the name that the commands call it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from caesura.worker.feeds.hypothesis import Recogniser
from caesura.worker.feeds.recognisers import (
    assemblyai,
    aws,
    azure,
    conversations,
    deepgram,
    elevenlabs,
    funasr,
    gladia,
    google,
    openai_realtime,
    podcast,
    revai,
    sherpa_onnx,
    soniox,
    speechmatics,
    vosk,
    watson,
    whisper,
    youtube,
)


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
    ELEVENLABS = "elevenlabs"
    SPEECHMATICS = "speechmatics"
    GLADIA = "gladia"
    REVAI = "revai"
    WATSON = "watson"
    RIVA = "riva"
    YOUTUBE = "youtube"
    PODCAST = "podcast"
    WHISPERLIVEKIT = "whisperlivekit"
    LIVEKIT = "livekit"
    PIPECAT = "pipecat"
    TWILIO = "twilio"
    JAMBONZ = "jambonz"
    BANDWIDTH = "bandwidth"
    AZURE_COMMUNICATION = "azure-communication"


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
    RecogniserName.ELEVENLABS: Known(elevenlabs.recognises, elevenlabs.ElevenLabs),
    RecogniserName.SPEECHMATICS: Known(speechmatics.recognises, speechmatics.Speechmatics),
    RecogniserName.GLADIA: Known(gladia.recognises, gladia.Gladia),
    RecogniserName.REVAI: Known(revai.recognises, revai.RevAi),
    RecogniserName.WATSON: Known(watson.recognises, watson.Watson),
    RecogniserName.RIVA: Known(google.recognises_riva, google.Riva),
    RecogniserName.YOUTUBE: Known(youtube.recognises, youtube.YouTube),
    RecogniserName.PODCAST: Known(podcast.recognises, podcast.Podcast),
    RecogniserName.WHISPERLIVEKIT: Known(conversations.recognises_whisperlivekit, conversations.WhisperLiveKit),
    RecogniserName.LIVEKIT: Known(conversations.recognises_livekit, conversations.LiveKit),
    RecogniserName.PIPECAT: Known(conversations.recognises_pipecat, conversations.Pipecat),
    RecogniserName.TWILIO: Known(conversations.recognises_twilio, conversations.Twilio),
    RecogniserName.JAMBONZ: Known(conversations.recognises_jambonz, conversations.Jambonz),
    RecogniserName.BANDWIDTH: Known(conversations.recognises_bandwidth, conversations.Bandwidth),
    RecogniserName.AZURE_COMMUNICATION: Known(
        conversations.recognises_azure_communication, conversations.AzureCommunication
    ),
}


def recogniser_of(message: Mapping[str, object]) -> RecogniserName | None:
    """Return the name of the recogniser whose message this is; None if it fits no recogniser, or two."""
    names = [name for name, known in RECOGNISERS.items() if known.recognises(message)]
    return names[0] if len(names) == 1 else None
