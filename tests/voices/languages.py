"""Requests in ten languages, each of paragraphs, a list and a rule; {k} makes each another one."""

# ruff: noqa: RUF001 - letters and marks of many languages

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """The paragraphs of a request, each of two sentences, and then a list and a rule."""

    paragraphs: tuple[tuple[str, str], ...]
    listed: str
    rule: str

    def units(self, number: int) -> list[str]:
        """Return what may be quoted without the rest, in order."""
        sentences = [one for paragraph in self.paragraphs for one in paragraph]
        return [text.format(k=number) for text in (*sentences, self.listed, self.rule)]

    def text(self, number: int) -> str:
        """Return the whole request."""
        paragraphs = [" ".join(paragraph) for paragraph in self.paragraphs]
        return "\n\n".join((*paragraphs, self.listed, self.rule)).format(k=number)

    def joined(self, number: int) -> str:
        """Return the whole request of a language without blanks between sentences."""
        return self.text(number).replace("。 ", "。")


LANGUAGES: Mapping[str, Request] = {
    "en": Request(
        paragraphs=(
            (
                "The harbor plan of quay {k} came in this morning, with the new crane in it.",
                "Mr. Brown drew the berths of quay {k} as they were in May, e.g. the long one.",
            ),
            (
                "The crew of boat {k} counted the ropes, and they came to forty.",
                'On the board of boat {k} it says "All ashore. Wait", in chalk.',
            ),
        ),
        listed="These went to shed {k}:\n- the blue barrels {k}\n- the oars {k}",
        rule="Leave the ledger_{k} alone.",
    ),
    "de": Request(
        paragraphs=(
            (
                "Der Hafenplan von Kai {k} kam heute früh, mit dem neuen Kran darin.",
                "Herr Dr. Braun zeichnete die Plätze von Kai {k} wie im Mai, z. B. den langen.",
            ),
            (
                "Die Leute von Boot {k} zählten die Taue und kamen auf vierzig.",
                "An der Tafel von Boot {k} steht „Alle an Land. Wartet“, mit Kreide.",
            ),
        ),
        listed="Das kam in Schuppen {k}:\n- die blauen Fässer {k}\n- die Ruder {k}",
        rule="Finger weg vom Kassenbuch_{k}.",
    ),
    "fr": Request(
        paragraphs=(
            (
                "Le plan du quai {k} est arrivé ce matin, avec la nouvelle grue.",
                "M. Brun a dessiné les places du quai {k} comme au printemps, p. ex. la longue.",
            ),
            (
                "Les gens du bateau {k} ont compté les cordes et en ont trouvé quarante.",
                "Au tableau du bateau {k} on lit « Tous à terre. Attendez », à la craie.",
            ),
        ),
        listed="Ceci est allé au hangar {k} :\n- les tonneaux bleus {k}\n- les rames {k}",
        rule="Ne touche pas au registre_{k}.",
    ),
    "es": Request(
        paragraphs=(
            (
                "El plano del muelle {k} llegó esta mañana, con la grúa nueva.",
                "El Sr. Pardo dibujó los puestos del muelle {k} como en mayo, p. ej. el largo.",
            ),
            (
                "La gente del barco {k} contó las cuerdas y halló cuarenta.",
                "En la pizarra del barco {k} dice «Todos a tierra. Esperad», con tiza.",
            ),
        ),
        listed="Esto fue al cobertizo {k}:\n- los barriles azules {k}\n- los remos {k}",
        rule="Nunca borres el libro_{k}.",
    ),
    "pt": Request(
        paragraphs=(
            (
                "A planta do cais {k} chegou esta manhã, com o guindaste novo.",
                "O Sr. Pardo desenhou os lugares do cais {k} como em maio, p. ex. o comprido.",
            ),
            (
                "A gente do barco {k} contou as cordas e achou quarenta.",
                'No quadro do barco {k} lê-se "Todos em terra. Esperem", a giz.',
            ),
        ),
        listed="Isto foi para o galpão {k}:\n- os barris azuis {k}\n- os remos {k}",
        rule="Não mexa no livro_{k}.",
    ),
    "it": Request(
        paragraphs=(
            (
                "La pianta del molo {k} arrivò stamattina, con la gru nuova.",
                "Il Sig. Bruni disegnò i posti del molo {k} come a maggio, ad es. il lungo.",
            ),
            (
                "La gente della barca {k} contò le corde e ne trovò quaranta.",
                "Sulla lavagna della barca {k} si legge «Tutti a terra. Aspettate», col gesso.",
            ),
        ),
        listed="Questo andò nel capanno {k}:\n- i barili azzurri {k}\n- i remi {k}",
        rule="Giù le mani dal registro_{k}.",
    ),
    "ru": Request(
        paragraphs=(
            (
                "План причала {k} пришёл сегодня утром, и в нём новый кран.",
                "Г. Бурый начертил места причала {k} как весной, т. е. длинное тоже.",
            ),
            (
                "Люди с лодки {k} сосчитали канаты, и вышло сорок.",
                "На доске лодки {k} стоит «Все на берег. Ждём», мелом.",
            ),
        ),
        listed="Это ушло в сарай {k}:\n- синие бочки {k}\n- вёсла {k}",
        rule="Не трогай журнал_{k}.",
    ),
    "zh": Request(
        paragraphs=(
            (
                "码头{k}的图纸今天早上到了，上面有新的吊车。",
                "布朗先生画了码头{k}的泊位，和春天一样，有一个很长。",
            ),
            (
                "船{k}上的人数了绳子，一共四十根。",
                "船{k}的黑板上写着「都上岸。等着」，是用粉笔写的。",
            ),
        ),
        listed="这些进了棚子{k}：\n- 蓝色的桶{k}\n- 船桨{k}",
        rule="绝对不要动账本_{k}。",
    ),
    "ja": Request(
        paragraphs=(
            (
                "岸壁{k}の図面が今朝届き、新しいクレーンが載っていた。",
                "茶谷さんは岸壁{k}の場所を春と同じように描き、長い場所もある。",
            ),
            (
                "船{k}の人が綱を数えると四十本あった。",
                "船{k}の板には「みな陸へ。待て」とチョークで書いてある。",
            ),
        ),
        listed="小屋{k}に入った物：\n- 青い樽{k}\n- 櫂{k}",
        rule="帳簿_{k}には触らないでください。",
    ),
    "ko": Request(
        paragraphs=(
            (
                "부두 {k}의 도면이 오늘 아침에 왔고 새 기중기가 들어 있다.",
                "박 씨는 부두 {k}의 자리를 봄과 같이 그렸고 긴 자리도 있다.",
            ),
            (
                "배 {k}의 사람들이 밧줄을 세어 보니 마흔 개였다.",
                "배 {k}의 칠판에는 「모두 뭍으로. 기다려」라고 분필로 써 있다.",
            ),
        ),
        listed="창고 {k}에 들어간 것:\n- 파란 통 {k}\n- 노 {k}",
        rule="장부_{k}는 절대 건드리지 마세요.",
    ),
}
