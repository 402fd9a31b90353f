"""What is compared: profiles and stages, and controls that know nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compactctl.commands.planning.plan import PlanOptions, Recipe, StageSettings, make_plan
from compactctl.commands.planning.plan_file import PlanFile
from compactctl.commands.planning.run_stages import part_of, view_of
from compactctl.commands.sizing.measure import Measure, MeasureOptions, limits_for
from compactctl.errors import UsageError
from compactctl.evaluation.controls import CONTROLS
from compactctl.history.pairs import units
from compactctl.history.protection import ProtectOptions
from compactctl.history.turns import given
from compactctl.model.edit import Edit
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.pipeline.apply import apply
from compactctl.pipeline.run import run
from compactctl.profiles.library import DEFAULT_PROFILE, PROFILES, load_profile

EVERYTHING = "none"
"""The control that compacts nothing."""


PLANNED = "plan"
"""What decided edits are called: those of a plan that stands in a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A way to make a context smaller: what a ``recipe`` comes to, or what was ``decided``.

    Without either it is the control of that name.
    """

    name: str
    recipe: Recipe | None = None
    decided: PlanFile | None = None

    @property
    def is_in_file(self) -> bool:
        """Whether its name is the path of a profile, not one of ours or a list of stages."""
        own = None if self.recipe is None else self.recipe.measure.profile
        return own is not None and self.name not in PROFILES

    @property
    def is_control(self) -> bool:
        """Whether it looks at nothing but sizes."""
        return self.recipe is None and self.decided is None


CONTROL_POLICIES = tuple(Policy(name=name) for name in CONTROLS)


def policies_of(
    profiles: Sequence[str],
    stages: Sequence[tuple[str, ...]],
    settings: StageSettings,
    decided: PlanFile | None = None,
) -> tuple[Policy, ...]:
    """Return what was decided, named profiles and lists of stages; of these the default profile.

    ``settings`` are options of stages for all of them. Raises UsageError for a profile that is
    none, and for two policies of one name.
    """
    names = list(profiles) or ([] if stages or decided else [DEFAULT_PROFILE])
    recipes = {
        name: Recipe(
            measure=MeasureOptions(profile=load_profile(name)), plan=PlanOptions(settings=settings)
        )
        for name in names
    }
    recipes |= {
        ",".join(each): Recipe(plan=PlanOptions(stages=each, settings=settings)) for each in stages
    }
    taken = [*CONTROLS, PLANNED, *names, *(",".join(each) for each in stages)]
    twice = next((name for name in taken if taken.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice!r} is compared twice, or is the name of a control; leave one out")
    found = (Policy(name=name, recipe=recipe) for name, recipe in recipes.items())
    return (*([Policy(name=PLANNED, decided=decided)] if decided else ()), *found)


class Compactor:
    """Makes contexts of a transcript's prefixes as ``compact --keep`` would, without a file.

    ``edits`` are those that were decided.
    """

    def __init__(
        self,
        transcript: Transcript,
        measured: Measure,
        options: MeasureOptions,
        seed: int,
        edits: tuple[Edit, ...] = (),
    ) -> None:
        self._edits = edits
        self._transcript, self._measured = transcript, measured
        self._options, self._seed = options, seed

    def context(
        self, policy: Policy, prefix: tuple[Message, ...], share: float
    ) -> tuple[Message, ...]:
        """Return what is left of a prefix of which a share is kept, more where a policy needs it.

        What is given is kept beside the share.
        """
        meter = self._measured.meter
        room = part_of(prefix, share, meter)
        if policy.decided is not None:
            return apply(prefix, self._edits)
        if policy.recipe is None:
            return self.control(policy.name, prefix, room - meter.total(given(prefix)))
        measured = self._measured_for(policy.recipe)
        plan = make_plan(policy.recipe, measured.limits)
        protect = plan.protecting(ProtectOptions())
        view = view_of(prefix, self._transcript, measured, protect, lambda _: room)
        return run(view, plan.steps, meter).view.messages

    def control(self, name: str, prefix: tuple[Message, ...], room: int) -> tuple[Message, ...]:
        """Return what is given, and what a control leaves of the rest of a prefix in ``room``.

        Messages keep their order. The call of a result that is given stays with it, and takes its
        tokens from ``room``.
        """
        meter = self._measured.meter
        fixed = {message.id for message in given(prefix)}
        whole = (unit for unit in units(prefix) if any(prefix[at].id in fixed for at in unit))
        stay = {at for unit in whole for at in unit}
        room -= sum(meter.message(prefix[at]) for at in stay if prefix[at].id not in fixed)
        rest = [message for at, message in enumerate(prefix) if at not in stay]
        left = CONTROLS[name](rest, room, meter, self._seed)
        places = {message.id: at for at, message in enumerate(prefix)}
        both = (*(prefix[at] for at in sorted(stay)), *left)
        return tuple(sorted(both, key=lambda message: places.get(message.id, len(prefix))))

    def _measured_for(self, recipe: Recipe) -> Measure:
        options = replace(self._options, profile=recipe.measure.profile)
        limits = limits_for(self._transcript, options, self._measured.model, self._measured.framed)
        return replace(self._measured, limits=limits)
