"""Whether a summary is about the messages it replaces: it must share a distinctive word."""

import re
from collections.abc import Iterator
from functools import cache

# ruff: noqa: RUF001 - letters of other alphabets are meant

# Function words, words about the summary itself, and words of English refusals.
_TALK_WORDS = """
ability able about above accept accepted according account across acted activities activity
actually add added additional advice advise after afterwards again against agree agreed ahead all
allow allowed almost along already also alternative alternatives although always among and another
answer answered answers any anyone anything apart apologies apologise apologize apology appear
appears appreciate appropriate are around ask asked asking asks assist assistance assistant
assistants assure attempt attempted available aware away back based basis because become been
before began begin behalf behind being believe below beside best better between beyond both brief
briefly browse but came can cannot cant capable careful case cases cause caused caution certain
certainly chat check clear clearly come comes comfortable comment complete completed completely
comply comprehend concern concerned concerning concerns consider consult contain contained
containing contains content contents context continue continued conversation conversations correct
correctly could couldn create created creating currently cutoff dangerous decline declined
depending describe described description detail detailed details did didn different directly
discuss discussed discussing discussion discussions does doesn doing don done down due during each
earlier early effectively effort either else elsewhere emotions encounter encountered encourage
end ended engage enough ensure entire ethical even ever every everything exact exactly example
except expert experts explain explained explanation explicit express falls far feel feeling few
filter filtered finally financial fine finish finished first five focus follow followed following
follows for former forward four from fulfil fulfill full fully further gave general generally
generate generated generating get gets getting give given gives giving glad goal goes going gone
good got great guess guideline guidelines had hand happen happened happening happy hard harm
harmful has hasn hateful have haven having hello help helped helpful helping helps hence her here
herself high him himself his hope how however human idea illegal important improper inability
inappropriate include included includes including inconvenience indeed inform information input
instead instruct instructed instruction instructions intended internet into isn issue issues its
itself just keep kept kind kindly knew know knowledge known language large last late later latter
least leave left legal less let like likely limitation limitations line list listed little logs
long longer look looked looking looks lot low made main make makes making manner many material
matter matters may maybe mean means meant meanwhile medical mention mentioned message messages
might mind mine more moreover most much must myself name namely near need needed needs neither
never nevertheless new next nobody none nonetheless nor normal not note noted nothing now number
object obtain obviously occurred off offer offered often okay old once one ones only onto open
opinion opinions opposite option order original other others otherwise ought our ours ourselves
out outside over overall overview own part particular parts past patience people perform performed
perhaps permit permitted person personal physical place please point points policies policy
politely position possible possibly potentially prefer present previous previously principles
prior probably problem problems proceed process processed processing produce produced professional
programmed programming prompt prompts proper properly provide provided provides providing purpose
put question questions quite rather read real-time really reason reasons recap received recent
recently redirect refer reference refrain refuse refused regard regarding regret related remain
remaining remains remember remove report request requested requesting requests require required
requires respect respectfully respond responded response responses responsible rest restricted
result results review right role safe safety said same saw say saying says second section see seek
seem seemed seems seen sensitive sentence sentences session sessions set several sexual shall
share shared sharing she short should show showed shown side similar simple simply since six some
someone something sometimes soon sorry sort specific specifically start started state stated
statement step still stop successful successfully such suggest suggested suggestion suitable
summaries summarise summarised summarising summarize summarized summarizing summary support
supported sure take taken takes taking talk talked task tasks tell ten text texts than thank
thanks that the their theirs them themselves then there therefore these they thing things think
third this those though thought three through throughout thus time times title today together told
too took tool tools topic topics total toward towards trained transcript transcripts tried true
truly try trying turn turned two type typed under understand understanding understood unfortunate
unfortunately unless until upon use used useful user users uses using usual usually various very
via view violate violates violating violence wait want wanted wants was wasn way ways welcome well
went were weren what whatever when whenever where whereas whether which while who whole whom whose
why will willing wish with within without won wonder word words work worked working works would
wouldn write writing written wrong yes yesterday yet you your yours yourself
"""
# Words that programs and services print when they fail, and the names of models.
_FAILURE_WORDS = """
401 403 404 408 409 413 422 429 500 501 502 503 504 529 abort aborted access anthropic api args
argument arguments authentication authorization authorized bad balance billing bug call claude
code codes command connect connection consent copy copyright crash crashed credential credentials
credit credits data denied dumped empty endpoint error errors exceed exceeded exceeding exceeds
exception exit expected expired fail failed failing fails failure fatal fault file files forbidden
format found gateway gemini google gpt handle host http https internal invalid json key keys
killed length limit limited limits llama llm load loaded log maximum memory missing mistral model
models module network null openai output overflow overloaded parameter parameters parse password
permission permissions quota rate reach reached reset retried retries retry retrying rights run
running secret segmentation server service size socket space status stderr stdin stdout system
temporarily terminated timed timeout token tokens traceback unable unauthorized unavailable
undefined unexpected unhandled unknown unreachable unsupported usage valid value values version
warning
"""
# Words of refusals in Spanish, French, German, Portuguese, Italian, Dutch, Russian, Polish,
# Scandinavian languages, Turkish, Indonesian, Chinese, Japanese and Korean.
_REFUSAL_WORDS = """
siento pero puedo ayudar ayudarte ayudarle con esa esta este solicitud petición tarea cumplir
proporcionar resumen resumir conversación como modelo lenguaje inteligencia artificial disculpe
disculpa perdón usted favor contenido información hacer eso para por que una las los del sobre
suis désolé désolée mais peux pas vous aider avec cette demande requête répondre fournir résumé
résumer conversation tant que modèle langage contenu pour les des est sur dans une aux peut puis
malheureusement impossible excusez
tut mir leid aber ich kann ihnen dir dabei nicht helfen bei dieser diese dieses anfrage bitte
entschuldigung leider bin keine kein zusammenfassung zusammenfassen gespräch unterhaltung inhalt
inhalte
als sprachmodell erfüllen bereitstellen der die das den dem ein eine einen mit und für von auf ist
desculpe desculpa sinto muito mas não posso ajudar com isso essa esse este esta pedido solicitação
fornecer resumo resumir conversa como modelo linguagem conteúdo você uma para infelizmente consigo
dispiace scusa spiacente non posso aiutarti aiutarla aiutare con questa questo richiesta fornire
riassunto riassumere conversazione modello linguistico contenuto purtroppo sono grado che per
della
sorry maar kan niet helpen met dit deze dat verzoek vraag samenvatting samenvatten gesprek
spijt het een van voor taalmodel inhoud helaas geen
извините простите сожалению могу помочь вам этим этой этот запрос запросом просьбой
выполнить предоставить содержание краткое разговор беседа резюме как языковая модель мне жаль
przepraszam przykro ale nie mogę pomóc tym tej prośbie niestety podsumować rozmowy jako model
beklager undskyld förlåt tyvärr men jeg jag kan ikke inte hjælpe hjelpe hjälpa med det denne denna
üzgünüm ancak ama konuda isteğe yardımcı olamam özet konuşma maalesef
maaf saya tidak bisa dapat membantu permintaan ini itu dengan tersebut
抱歉 对不起 很抱歉 我无法 我不能 无法协助 无法帮助您 完成这个请求 满足您的要求 提供帮助
提供相关内容 对话的摘要
处理该请求 作为人工智能语言模型 不能提供 总结 我無法 無法協助 這個請求 對不起 此请求 这项请求
处理这个
申し訳ありません 申し訳ございません が その この ご要望 リクエスト には お応え できません お手伝い
することは
要約 提供 対応 できかねます 会話 内容 について すみません aiモデルとして お答え 要求 に関して
いたし ません ました ですが でした
죄송합니다 죄송하지만 해당 그 요청 을 도와 드릴 수 없습니다 요약 대화 제공할 처리할 할 언어 모델
미안하지만 도움을
"""
COMMON_WORDS = f"{_TALK_WORDS}{_FAILURE_WORDS}{_REFUSAL_WORDS}"
"""In lower case; pieces of sentences for the last three languages."""


# Scripts without blanks between words: kana, Han and Hangul.
_DENSE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_DENSE}]+|[^\W_{_DENSE}]+")
_IS_DENSE = re.compile(rf"[{_DENSE}]")
# Shorter words and numbers occur anywhere by chance.
MIN_CHARS = 3
# A longer text that begins like a refusal continues with a summary.
REFUSAL_WORDS = 60
_REFUSAL = re.compile(
    r"\W*(?:[^.!?\n]{0,40}\b(?:sorry|apologi[sz]e|apologies|unfortunately|regret|as an ai)\b"
    r"[^.!?\n]{0,40}?)?[\s,;:.!\u2013\u2014-]*(?:but\s+)?"
    r"\b(?:i|we)(?:\s+am|['\u2019]m|\s+are|['\u2019]re|\s+have)?\s+"
    r"(?:can['\u2019]?t|can\s?not|won['\u2019]?t|will\s+not|unable\s+to|must\s+decline\s+to"
    r"|not\s+(?:able|allowed|permitted|going|comfortable)(?:\s+to)?|to\s+decline)\s+(?:\w+\s+)?"
    r"(?:help|assist|summari[sz]|compl|provid|fulfil|process|do\s+th|continu|discuss|answer|shar"
    r"|generat|creat|respond|engag|support|writ)",
    re.IGNORECASE,
)


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.casefold()):
        if _IS_DENSE.match(word):
            yield from (word[pos : pos + 2] for pos in range(len(word) - 1))
        elif len(word) >= MIN_CHARS:
            yield word


@cache
def _common() -> frozenset[str]:
    return frozenset(_words(COMMON_WORDS))


def distinctive_words(text: str) -> Iterator[str]:
    """Yield the words of a text that identify a conversation: names, numbers, topics.

    They are in lower case. In a script without blanks, every two adjacent characters are a word.
    """
    common = _common()
    return (word for word in _words(text) if word not in common)


def is_about(text: str, source: str) -> bool:
    """Whether a text shares a distinctive word with its source; True if the source has none."""
    words = set(distinctive_words(source))
    return not words or not words.isdisjoint(distinctive_words(text))


def is_refusal(text: str) -> bool:
    """Whether a short text begins like an English refusal of a model."""
    return len(text.split()) < REFUSAL_WORDS and _REFUSAL.match(text) is not None
