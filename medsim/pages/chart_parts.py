"""Parts that charts have in common: colours, panels, choices, sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

if TYPE_CHECKING:
    from collections.abc import Sequence

COLOURS = [f"var(--c{at})" for at in range(1, 9)]
"""The colours of contenders, as the page's style has them."""

SHAPES = [
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
]
"""The shapes of contenders' points; each has an inside that can be filled."""

DASHES = [[1, 0], [6, 3], [2, 2], [9, 3, 2, 3], [1, 3], [12, 4], [4, 4, 1, 4], [8, 2, 2, 2]]
"""The dashes of contenders' lines."""

DATA = alt.NamedData("rows")
"""The rows that the page hands to a chart."""

CHOSEN = [{"filter": "datum.choice === chosen"}]
"""The transform that keeps the rows of the reader's choice."""

Spec = dict[str, Any]  # Vega-Lite, as Altair gives it


def coloured(channel: type[Any], field: str, names: Sequence[str]) -> Any:
    """Return a channel that gives a name the same colour, shape or dash in all charts."""
    ranges: dict[type[Any], Sequence[Any]] = {alt.Shape: SHAPES, alt.StrokeDash: DASHES}
    drawn = [_own(at, ranges.get(channel, COLOURS), channel) for at in range(len(names))]
    return channel(f"{field}:N").scale(domain=list(names), range=drawn)


def _own(at: int, values: Sequence[Any], channel: type[Any]) -> Any:
    """Return the colour, shape or dash of a name by its place.

    Where colours begin anew, shapes and dashes are one further, so that no two names have both.
    """
    is_form = channel in {alt.Shape, alt.StrokeDash}
    return values[(at + at // len(COLOURS) * is_form) % len(values)]


def rows_of(names: Sequence[str], contenders: Sequence[str]) -> tuple[alt.Y, alt.YOffset]:
    """Return an axis with a line for each name, the first above, and the contenders' places."""
    axis = alt.Y("y:N").title(None).sort(list(names)).axis(grid=True, ticks=False, domain=False)
    return axis, alt.YOffset("contender:N").sort(list(contenders))


def row_height(contenders: Sequence[str]) -> int:
    """Return the height, in pixels, of a row that has a place for each contender."""
    return 12 * len(contenders) + 12


def reference(value: float) -> alt.Chart:
    """Return a line across a chart at a value."""
    line: alt.Chart = (
        alt.Chart()
        .mark_rule(color="var(--quiet)", strokeDash=[3, 3], tooltip=False)
        .encode(x=alt.XDatum(value))
    )
    return line


def tooltips(**lines: tuple[str, str]) -> list[alt.Tooltip]:
    """Return the lines of a mark's tooltip, by field a title and a format.

    Without a format it is a name; without a title there is no line.
    """
    return [
        alt.Tooltip(f"{field}:Q", format=form, title=title)
        if form
        else alt.Tooltip(f"{field}:N", title=title)
        for field, (title, form) in lines.items()
        if title
    ]


def with_choice(spec: Spec, choices: Sequence[str]) -> Spec:
    """Return a chart with a list of choices, of which it shows one."""
    if choices:
        bind = {"input": "select", "options": list(choices), "name": "Shown:"}
        spec["transform"] = CHOSEN
        spec["params"] = [{"name": "chosen", "value": choices[0], "bind": bind}]
    return spec


def in_panels(chart: Any, panels: Sequence[str], columns: int = 2) -> Spec:
    """Return a chart for each panel, or one where there are none; the page sets their width."""
    if not panels:
        chart.data = DATA
        return finished(chart)
    facet = alt.Facet("panel:N").title(None).sort(list(panels))
    facet = facet.header(labelAnchor="start", labelOrient="top")
    spec = finished(chart.facet(facet, data=DATA, columns=min(columns, len(panels))))
    return spec | {"bounds": "flush", "spacing": {"row": 44, "column": 32}}


def finished(chart: Any) -> Spec:
    """Return a chart as the page has it: its settings are the same for all."""
    spec: Spec = chart.to_dict()
    return {key: value for key, value in spec.items() if key not in {"config", "usermeta"}}
