"""Synthetic speech: sessions that say plain sentences at an even pace, as a recogniser would send them."""

from __future__ import annotations

from caesura.schemas.codec import encode_event
from caesura.schemas.events import Word, WordsEvent
from caesura.schemas.versions import EVENT_VERSION

EVENT_WORDS = 2
WORDS_A_SECOND = 2.5

_ENGLISH = (
    "so the first thing we did was to ask everybody who had been there what they remembered and uh it turned out that "
    "nobody agreed on anything at all do you know how far it is from here it's only three and a half kilometres i mean "
    "miles so we could walk well the the second box was completely wet and the label had come off i called the depot "
    "twice but they never answered if you want we can meet again on thursday morning before the others arrive no that "
    "is too early for me could we say eleven the report says that most of the work was done by the end of march and i "
    "think we should uh we should thank the people who stayed late to finish it what happens when the power goes out"
)
_CHINESE = (
    "我们 先 看一下 上个月 的 数字 嗯 其实 比 前年 好 一点 但是 呃 但是 成本 也 涨 了 你 知道 从 这里 到 车站 要 "
    "多久 吗 大概 半个 小时 不对 二十 分钟 就 够 了 那个 箱子 已经 湿透 了 标签 也 掉 了 我 打 了 两次 电话 没有 "
    "人 接 如果 方便 的话 星期四 上午 再 谈 吧 太 早 了 能 不能 改到 十一点 报告 里 说 大部分 工作 三月 底 就 "
    "完成 了 我 觉得 我们 应该 嗯 应该 谢谢 加班 的 同事 还有 停电 的 时候 怎么办 苹果 香蕉 和 梨 都 放 在 门口 "
    "了 客户 希望 这周 收到 新 的 合同 所以 请 大家 尽快 确认 还有 一件 事 那个 app 更新 以后 打不开 了"
)
_GERMAN = (
    "also zuerst haben wir alle gefragt die dabei waren woran sie sich noch erinnern und äh dabei kam heraus dass "
    "sich überhaupt niemand einig war weißt du wie weit es von hier ist es sind nur dreieinhalb kilometer ich meine "
    "meilen wir könnten also zu fuß gehen die die zweite kiste war völlig nass und das etikett war ab ich habe "
    "zweimal im lager angerufen aber es ging keiner ran wenn du willst treffen wir uns am donnerstag früh bevor die "
    "anderen kommen nein das ist mir zu früh geht auch elf uhr der bericht sagt dass die meiste arbeit ende märz "
    "fertig war und ich finde wir sollten ähm wir sollten den leuten danken die länger geblieben sind was passiert "
    "wenn der strom ausfällt"
)
_SPANISH = (
    "bueno lo primero que hicimos fue preguntar a todos los que estuvieron allí qué recordaban y eh resultó que "
    "nadie estaba de acuerdo en nada sabes a qué distancia queda de aquí son solo tres kilómetros y medio perdón "
    "millas así que podríamos ir andando la la segunda caja estaba totalmente mojada y la etiqueta se había caído "
    "llamé dos veces al almacén pero nunca contestaron si quieres nos vemos otra vez el jueves por la mañana antes "
    "de que lleguen los demás no es demasiado pronto para mí podría ser a las once el informe dice que casi todo el "
    "trabajo estaba hecho a finales de marzo y creo que deberíamos eh deberíamos dar las gracias a los que se "
    "quedaron qué pasa cuando se va la luz"
)
_FRENCH = (
    "alors la première chose qu'on a faite c'est de demander à tous ceux qui étaient là ce dont ils se souvenaient "
    "et euh il s'est avéré que personne n'était d'accord sur rien tu sais à quelle distance c'est d'ici il n'y a "
    "que trois kilomètres et demi je veux dire milles donc on pourrait y aller à pied la la deuxième caisse était "
    "toute mouillée et l'étiquette était partie j'ai appelé deux fois le dépôt mais ils n'ont jamais répondu si tu "
    "veux on se revoit jeudi matin avant que les autres arrivent non c'est trop tôt pour moi on pourrait dire onze "
    "heures le rapport dit que presque tout le travail était fini fin mars et je pense qu'il faudrait euh remercier "
    "les gens qui sont restés tard"
)
SAID = {
    language: text.split()
    for language, text in zip(
        ("en", "zh", "de", "es", "fr"), (_ENGLISH, _CHINESE, _GERMAN, _SPANISH, _FRENCH), strict=True
    )
}
"""What is said again and again, by language."""

SPOKEN = tuple(SAID)
"""The languages that there is speech in. A Chinese word is one of the dictionary's, about 1.6 characters."""

_WORD_MS = round(1000 / WORDS_A_SECOND)


class LoadSpeaker:
    """One session's speech in one of ``SPOKEN``. place: where in the text it begins, so that sessions differ."""

    def __init__(self, name: str, place: int, *, language: str = "en") -> None:
        self.name = name
        self._place = place
        self._language = language
        self._seq = 0
        self._words = 0

    def says(self, words: int = EVENT_WORDS) -> bytes:
        """Return the next event, as the bytes that a producer sends."""
        said = SAID[self._language]
        first, self._words = self._words, self._words + words
        spoken = tuple(
            Word(text=said[(self._place + n) % len(said)], start_ms=n * _WORD_MS, end_ms=(n + 1) * _WORD_MS)
            for n in range(first, self._words)
        )
        event = WordsEvent(
            version=EVENT_VERSION,
            session=self.name,
            seq=self._seq,
            lang=self._language,
            words=spoken,
            heard_until_ms=self._words * _WORD_MS,
        )
        self._seq += 1
        return encode_event(event)
