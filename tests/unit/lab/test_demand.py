"""What a future takes up of a past."""

from builders import assistant, call, conversation, result, thinking, user
from hypothesis import given
from hypothesis import strategies as st

from compactctl.lab.demand import Demand, agent_first, find_first_mentions, measure_demand, paths_in
from compactctl.lab.text_content import PathIndex, TextReader, unique_names
from compactctl.model.message import Message
from compactctl.summaries.extract.passages import read_passages

NAMES = st.sampled_from(
    ["soil_sensor", "garden/beds.py", "plotRows", "ENG-4012", "WaterError", "rain-gauge", "leaf"]
)
TEXTS = st.lists(NAMES, max_size=6).map(" and ".join)
SPOKEN = st.tuples(st.sampled_from([user, assistant, thinking]), TEXTS)


def demanded(prefix: list[Message], *future: list[Message]) -> Demand:
    reader = TextReader()
    content = reader.read_all(read_passages(conversation(*prefix)))
    later = [agent_first(conversation(*messages), None) for messages in future]
    found = find_first_mentions(later, reader)
    return measure_demand(content, found, reader, unique_names(paths_in(content, reader)))


def test_what_the_agent_names_first_is_demanded_with_its_request() -> None:
    found = demanded(
        [user("The soil_sensor and the rain_gauge are in garden/beds.py.")],
        [assistant("The soil_sensor first.")],
        [call("a", "Read", file_path="garden/beds.py"), result("a", "rain_gauge = 3")],
        [assistant("Now the rain_gauge, and the soil_sensor again.")],
    )
    assert found.entities == {"soil_sensor": 0, "garden/beds.py": 1}
    assert found.reintroduced == 1


def test_within_a_request_the_agent_speaks_before_its_tools() -> None:
    found = demanded(
        [user("Mind the rain_gauge.")],
        [
            call("a", "Bash", command="ls"),
            result("a", "rain_gauge"),
            call("b", "Bash", command="cat rain_gauge"),
            result("b", "3"),
        ],
    )
    assert (found.entities, found.reintroduced) == ({"rain_gauge": 0}, 0)


def test_a_path_is_known_by_its_end() -> None:
    unique = unique_names(["src/garden/beds.py", "src/roof/tiles.py", "old/roof/tiles.py"])
    index = PathIndex(["src/garden/beds.py", "src/roof/tiles.py"], unique)
    for known in ("src/garden/beds.py", "/home/me/src/garden/beds.py", "garden/beds.py", "beds.py"):
        assert known in index
    for other in ("tiles.py", "pond/beds.md", "rden/beds.py"):
        assert other not in index


@given(prefix=st.lists(SPOKEN, max_size=4), future=st.lists(SPOKEN, max_size=6))
def test_nothing_is_demanded_that_the_prefix_lacks(
    prefix: list[tuple[object, str]], future: list[tuple[object, str]]
) -> None:
    before = [speak(text) for speak, text in prefix]  # type: ignore[operator]
    found = demanded(before, *([speak(text)] for speak, text in future))  # type: ignore[operator]
    said = " ".join(text for speak, text in prefix if speak is not thinking)
    assert all(name in said for name in found.entities)


def test_all_that_tools_show_in_a_request_is_reintroduced() -> None:
    found = demanded(
        [user("The soil_sensor and the rain_gauge and the leaf_count.")],
        [
            call("a", "Bash", command="ls"),
            call("b", "Bash", command="ls"),
            result("a", "soil_sensor"),
            result("b", "rain_gauge"),
        ],
        [assistant("The leaf_count of the soil_sensor.")],
    )
    assert (found.entities, found.reintroduced) == ({"leaf_count": 1}, 2)
