"""All files of the invented project, path by path."""

from functools import cache

from samples import sources, surfaces
from samples.project import entities, load_toml

LAYERS = (
    ("quayside/models/{name}.py", sources.model),
    ("quayside/store/{name}_store.py", sources.store),
    ("quayside/services/{name}_service.py", surfaces.service),
    ("quayside/api/{name}_routes.py", surfaces.routes),
    ("tests/test_{name}.py", surfaces.tests),
    ("docs/handbook/{name}.md", surfaces.handbook),
    ("migrations/{number:04}_{name}.sql", sources.migration),
)


@cache
def _drawn() -> dict[str, str]:
    written = {row["path"]: row["text"] for row in load_toml("files.toml")["file"]}
    for number, entity in enumerate(entities().values(), start=1):
        for pattern, draw in LAYERS:
            written[pattern.format(name=entity.name, number=number)] = draw(entity)
    return dict(sorted(written.items()))


def fresh() -> dict[str, str]:
    """A new copy of the project as it is before anybody edits it."""
    return dict(_drawn())
