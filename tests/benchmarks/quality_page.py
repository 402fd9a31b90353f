"""The measured part of ``docs/quality.md``, from the rows of contexts."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from textwrap import fill
from typing import Any

from benchmarks.referee import KINDS
from compactctl.commands.lab.eval_figures import EvalFigures, Mean, figures, interval
from compactctl.commands.lab.eval_session import Trial
from compactctl.lab.score import MEASURES, Tally

FACTS = tomllib.loads(Path(__file__).with_name("quality.toml").read_text())
_TABLE = Path(__file__).parent / "estimates" / "accuracy.toml"
PROJECTS = tomllib.loads(_TABLE.read_text())["project"]
BEGIN, END = "<!-- measured: tests/benchmarks/quality.py -->", "<!-- end of measured -->"
SEED = 0
# Smaller differences are none; sizes that are no further apart are alike.
_DIFFERENCE, _ALIKE = 0.02, 0.02
_MEASURED = re.compile(f"(?<={BEGIN}\n).*(?={END})", re.DOTALL)
# Policies that the aims are for -> what ``--distill-form`` they are.
FORMS = {"distill digest": "digest", "distill in place": "in-place"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a policy left of a session's prefix, with both judgements."""

    session: str
    project: str
    policy: str
    asked: float
    trial: Trial
    referee: Mapping[str, tuple[int, int]]

    def as_json(self) -> dict[str, Any]:
        """Return the row as a JSON object."""
        return {**asdict(self), "trial": asdict(self.trial)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Row":
        """Read what ``as_json`` wrote."""
        trial = dict(value["trial"])
        trial["tallies"] = {name: Tally(**each) for name, each in trial["tallies"].items()}
        trial["chance"] = None if trial["chance"] is None else Tally(**trial["chance"])
        return cls(**{**value, "trial": Trial(**trial)})

    @property
    def opinion(self) -> float | None:
        """The referee's mean over the kinds that were asked for."""
        shares = [hits / asked for hits, asked in self.referee.values() if asked]
        return sum(shares) / len(shares) if shares else None


def project_of(stem: str, folder: str) -> str:
    """Return the project of a session; its working folder where none is known."""
    known = (each["name"] for each in PROJECTS if stem in each.get("sessions", ()))
    more = (name for name, starts in FACTS["more"].items() if stem.startswith(tuple(starts)))
    return next(known, "") or next(more, "") or folder or stem


def is_tuned(stem: str) -> bool:
    """Tell whether a session is of a project that was looked at."""
    return project_of(stem, "") in FACTS["tuned"]


def is_own(stem: str) -> bool:
    """Tell whether a file is a session of its own, no other one in another format."""
    return not stem.startswith(tuple(FACTS["copies"]))


def page(text: str, rows: Sequence[Row]) -> str:
    """Return the page with the tables of these rows in the place of those it has."""
    return _MEASURED.sub(lambda _: tables(rows), text)


def tables(rows: Sequence[Row]) -> str:
    """Return all tables."""
    others = [row for row in rows if row.project not in FACTS["tuned"]]
    tuned = [row for row in rows if row.project in FACTS["tuned"]]
    fitting = [row for row in others if not row.trial.is_over]
    parts = (
        _counts(others, tuned),
        "### Against the aims",
        _aims(_figures(others)),
        "### Projects that nothing was tuned on",
        *_table(_figures(others)),
        "### Of these, contexts within the size asked for",
        "Without those that a policy refused or could not make small enough.",
        *_table([each for each in _figures(fitting) if each.policy in FORMS]),
        *(("### Projects it was tuned on", *_table(_figures(tuned))) if tuned else ()),
        "### The referee",
        *_refereed(others),
    )
    return "".join(f"{_wrapped(part)}\n\n" for part in parts)


def _wrapped(part: str) -> str:
    """Return a part with its prose in lines of a hundred characters."""
    lines = part.splitlines()
    return "\n".join(line if line[:1] in "|#-" else fill(line, 100) for line in lines)


def _figures(rows: Sequence[Row]) -> list[EvalFigures]:
    return list(figures([row.trial for row in rows], SEED))


def _counts(others: Sequence[Row], tuned: Sequence[Row]) -> str:
    of = [{(row.project, row.session) for row in each} for each in (others, tuned)]
    projects = [len({project for project, _ in each}) for each in of]
    return (
        f"{len(of[0])} sessions of {projects[0]} projects that nothing was tuned on, and"
        f" {len(of[1])} of {projects[1]} that constants were picked on; each cut"
        " once, behind 60 % of the requests of its largest stretch. Means over sessions in percent,"
        " with 95 % of 1,000 resampled means of recall. Aims that are reached are bold."
    )


def _aims(found: Sequence[EvalFigures]) -> str:
    """Return a row per aim, with what each form of distill comes to; in bold what reaches it."""
    lines = [*_head("kept", "measure", "aim", *FORMS)]
    for share, aims in FACTS["aims"].items():
        at = [_figures_of(found, name, float(share)) for name in FORMS]
        lines += _aims_at(f"{float(share):.0%}", at, {**FACTS["everywhere"], **aims})
    return "\n".join(lines)


def _aims_at(
    kept: str, at: Sequence[EvalFigures | None], aims: Mapping[str, float]
) -> Iterator[str]:
    for name, aim in aims.items():
        means = [each.measures.get(name) if each else None for each in at]
        yield _line(kept, name, f"{100 * aim:g}", *(_reached(mean, aim) for mean in means))
    yield _line(kept, "parted pairs", 0, *(_none(each.pair_errors) if each else "" for each in at))
    yield _line(kept, "too large", 0, *(_none(each.over) if each else "" for each in at))


def _figures_of(found: Sequence[EvalFigures], policy: str, asked: float) -> EvalFigures | None:
    return next((each for each in found if (each.policy, each.asked) == (policy, asked)), None)


def _reached(mean: Mean | None, aim: float) -> str:
    shown = _percent(mean)
    return f"**{shown}**" if mean is not None and round(mean.value, 3) >= aim else shown


def _none(count: int) -> str:
    return str(count) if count else "**0**"


def _table(found: Sequence[EvalFigures]) -> Iterator[str]:
    shown = [name for name in MEASURES if any(name in each.measures for each in found)]
    lines = [*_head("policy", "asked", "kept", *shown, "95 % of recall", "beyond chance",
                    "parted", "too large", "sessions")]  # fmt: skip
    for each in found:
        recall = each.measures["recall"]
        lines.append(
            _line(
                each.policy,
                f"{each.asked:.0%}",
                _percent(each.kept),
                *(_percent(each.measures.get(name)) for name in shown),
                f"{100 * recall.low:.1f}-{100 * recall.high:.1f}",
                "" if each.beyond is None else f"{100 * each.beyond:.0f}",
                each.pair_errors,
                each.over,
                recall.sessions,
            )
        )
    yield "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Verdict:
    """A policy at a share: what it kept, recall, and what the referee says."""

    policy: str
    asked: float
    kept: float
    recall: Mean
    kinds: tuple[Mean | None, ...]
    referee: Mean

    def differs(self, other: "_Verdict") -> tuple[float, float]:
        """Return by how much recall and the referee put it before another one."""
        return (
            self.recall.value - other.recall.value,
            self.referee.value - other.referee.value,
        )


def _refereed(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the referee's figures beside recall, and how far the two agree."""
    found = list(_verdicts(rows))
    lines = [*_head("policy", "asked", "kept", *KINDS, "referee", "95 %", "recall")]
    for each in found:
        spread = f"{100 * each.referee.low:.1f}-{100 * each.referee.high:.1f}"
        cells = (f"{each.asked:.0%}", f"{100 * each.kept:.1f}", *map(_percent, each.kinds))
        lines.append(
            _line(each.policy, *cells, _percent(each.referee), spread, _percent(each.recall))
        )
    yield "\n".join(lines)
    yield agreement(found)


def _verdicts(rows: Sequence[Row]) -> Iterator[_Verdict]:
    groups: dict[tuple[str, float], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.policy, row.asked), []).append(row)
    for (policy, asked), group in groups.items():
        recall, opinion = _mean(group, _recall), _mean(group, lambda row: row.opinion)
        if recall is not None and opinion is not None:
            kept = sum(row.trial.kept for row in group) / len(group)
            kinds = tuple(_mean(group, _share_of(kind)) for kind in KINDS)
            yield _Verdict(policy, asked, kept, recall, kinds, opinion)


def agreement(found: Sequence[_Verdict]) -> str:
    """Say how often recall and the referee rank alike, and what the referee decides."""
    pairs = list(combinations(found, 2))
    signs = [one.differs(other)[0] * one.differs(other)[1] for one, other in pairs]
    told = [sign for sign in signs if sign]
    tau = sum(1 if sign > 0 else -1 for sign in told) / len(told) if told else 0.0
    alike = [pair for pair in pairs if abs(pair[0].kept - pair[1].kept) <= _ALIKE]
    against = [pair for pair in alike if _disagree(*pair)]
    lines = [
        f"Rank correlation of the referee and recall over all rows (Kendall's tau): {tau:.2f}. Of"
        f" {len(alike)} pairs that keep alike, within {100 * _ALIKE:.0f} points of tokens, the two"
        f" disagree by more than {100 * _DIFFERENCE:.0f} points each about {len(against)}"
        + (", where the referee decides:" if against else "."),
        "",
        *(f"- {_preferred(*pair)}" for pair in against),
    ]
    return "\n".join(lines).rstrip()


def _disagree(one: _Verdict, other: _Verdict) -> bool:
    recall, referee = one.differs(other)
    return recall * referee < 0 and min(abs(recall), abs(referee)) > _DIFFERENCE


def _preferred(one: _Verdict, other: _Verdict) -> str:
    better, worse = sorted((one, other), key=lambda each: -each.referee.value)
    names = [f"{each.policy} asked for {each.asked:.0%}" for each in (better, worse)]
    return " is better than ".join(names)


def _recall(row: Row) -> float | None:
    return row.trial.tallies["recall"].share


def _share_of(kind: str) -> Callable[[Row], float | None]:
    def share(row: Row) -> float | None:
        hits, asked = row.referee[kind]
        return hits / asked if asked else None

    return share


def _mean(rows: Sequence[Row], value: Callable[[Row], float | None]) -> Mean | None:
    values = [found for row in rows if (found := value(row)) is not None]
    if not values:
        return None
    return Mean(sum(values) / len(values), *interval(values, SEED), len(values))


def _percent(mean: Mean | None) -> str:
    return "" if mean is None else f"{100 * mean.value:.1f}"


def _head(*names: str) -> tuple[str, str]:
    return _line(*names), "|---" * len(names) + "|"


def _line(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"
