"""Charts in Vega-Lite; data and size come with the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import altair as alt

if TYPE_CHECKING:
    import polars as pl

    Column = str | pl.Expr | pl.Series

COLOURS = [f"var(--c{at})" for at in range(1, 9)]
"""The colours of contenders, from the page's style."""

SHAPES = ["circle", "square", "triangle-up", "diamond", "cross"]
SHAPES += ["triangle-down", "triangle-right", "triangle-left"]
"""The shapes of contenders' points; all can be filled or hollow."""

DASHES = [[1, 0], [6, 3], [2, 2], [9, 3, 2, 3], [1, 3], [12, 4], [4, 4, 1, 4], [8, 2, 2, 2]]
"""The dashes of contenders' lines."""

_DATA = alt.NamedData("rows")
"""The name of a chart's data set in the page."""

CHOSEN = [{"filter": "datum.choice === chosen"}]
"""The transform that keeps the rows of the reader's choice."""

Spec = dict[str, Any]  # Vega-Lite, as Altair gives it


def coloured(channel: type[Any], field: str, names: Sequence[str]) -> Any:
    """Return a channel that gives a name the same colour, shape or dash in all charts."""
    ranges: dict[type[Any], Sequence[Any]] = {alt.Shape: SHAPES, alt.StrokeDash: DASHES}
    values = ranges.get(channel, COLOURS)
    # When colours repeat, shapes and dashes shift by one, so no two names look the same.
    further = int(channel in ranges)
    drawn = [values[(at + at // len(COLOURS) * further) % len(values)] for at in range(len(names))]
    encoded = channel(f"{field}:N").scale(domain=list(names), range=drawn)
    return encoded if any(names) else encoded.legend(None)


def reference(value: float) -> alt.Chart:
    """Return a line across a chart at a value."""
    rule: alt.Chart = alt.Chart().mark_rule(color="var(--quiet)", strokeDash=[3, 3], tooltip=False)
    return rule.encode(x=alt.XDatum(value))


def tooltips(**lines: tuple[str, str]) -> list[alt.Tooltip]:
    """Return the lines of a mark's tooltip, by field a title and a format.

    Without a format the field is a name; without a title it gets no line.
    """
    return [
        alt.Tooltip(f"{field}:Q", format=form, title=title)
        if form
        else alt.Tooltip(f"{field}:N", title=title)
        for field, (title, form) in lines.items()
        if title
    ]


def with_choice(spec: Spec, choices: Sequence[str]) -> Spec:
    """Return a chart that shows one of several choices."""
    if choices:
        bind = {"input": "select", "options": list(choices), "name": "Shown:"}
        spec["transform"] = CHOSEN
        spec["params"] = [{"name": "chosen", "value": choices[0], "bind": bind}]
    return spec


def in_panels(chart: Any, panels: Sequence[str]) -> Spec:
    """Return a chart for each panel, or one where there are none; the page sets their width."""
    if not panels:
        chart.data = _DATA
        return finished(chart)
    facet = alt.Facet("panel:N").title(None).sort(list(panels))
    facet = facet.header(labelAnchor="start", labelOrient="top")
    spec = finished(chart.facet(facet, data=_DATA, columns=min(2, len(panels))))
    return spec | {"bounds": "flush", "spacing": {"row": 44, "column": 32}}


def finished(chart: Any) -> Spec:
    """Return a chart as the page has it: its settings are the same for all."""
    spec: Spec = chart.to_dict()
    return {key: value for key, value in spec.items() if key not in {"config", "usermeta"}}


CHANCE = 0.5
"""The AUC, and the accuracy on balanced pairs, of a coin."""

_LOW, _MIDDLE, _HIGH = "#f3f7fb", "#f4f4f4", "#62afe0"  # dark text can be read on each
_NEGATIVE = "#eda566"
_CELL_TEXT = "#10151a"
_ROW, _CELL = 26, 68  # height and least width of a cell, in pixels
_LABELS = 120  # width that the names of rows may well need, in pixels
_BARE: dict[str, Any] = {"ticks": False, "domain": False, "grid": False, "labelOverlap": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueAxis:
    """The axis of the values that a chart draws.

    Attributes:
        line: the value at which a line is drawn.
        scale: its settings; a logarithmic one has a tick at powers of ten.
        digits: how values are written.
    """

    title: str
    line: float | None = None
    scale: Mapping[str, Any] = field(default_factory=lambda: {"zero": False})
    digits: str = ".3f"


def points(
    frame: pl.DataFrame,
    *,
    y: Column,
    contender: Column = "contender",
    value: str = "value",
    ends: tuple[str, str] | None = None,
    filled: Column | bool = True,
    **others: Column,
) -> pl.DataFrame:
    """Return the rows that ``dots`` draws, each a column or an expression of a frame.

    Others are a panel, or ``n``, how many pairs a point is of.
    """
    low, high = ends or (value, value)
    return frame.select(
        **others, y=y, contender=contender, value=value, low=low, high=high, filled=filled
    )


def dots(
    contenders: Sequence[str],
    *,
    x: ValueAxis,
    y: Sequence[str],
    panels: Sequence[str] = (),
    names: tuple[str, str] = ("embedding", "set"),
    sized: bool = False,
) -> Spec:
    """Return a chart of a value with its interval for each contender, in panels.

    It draws panel (where there are panels), y, contender, value, low, high and filled, which says
    whether a point is filled; and, where it is sized, n.

    Args:
        contenders: in order; each has a colour and a shape.
        x: the axis of values.
        y: the names of the rows, from top to bottom.
        panels: their names in order; none for one panel.
        names: what contenders and rows are; empty where it goes without saying.
        sized: whether the tooltip of a point shows n, its number of pairs.
    """
    base = alt.Chart().encode(
        alt.Y("y:N").title(None).sort(list(y)).axis(grid=True, ticks=False, domain=False),
        alt.YOffset("contender:N").sort(list(contenders)),
        color=coloured(alt.Color, "contender", contenders),
    )
    scaled = dict(x.scale)
    powers: dict[str, Any] = {"values": [10**power for power in range(10)]}
    axis = powers if scaled.get("type") == "log" else {}
    low, value = (
        alt.X(f"{end}:Q").title(x.title).scale(**scaled).axis(**axis) for end in ("low", "value")
    )
    layers = [
        base.mark_rule(strokeWidth=2).encode(x=low, x2="high:Q"),
        base.mark_point(size=80, strokeWidth=2, opacity=1).encode(
            x=value,
            fill=coloured(alt.Fill, "contender", contenders),
            shape=coloured(alt.Shape, "contender", contenders),
            fillOpacity=alt.FillOpacityValue(0, condition={"test": "datum.filled", "value": 1}),
            tooltip=tooltips(
                contender=(names[0], ""),
                y=(names[1], ""),
                value=(x.title, x.digits),
                low=("from", x.digits),
                high=("to", x.digits),
                **({"n": ("pairs", ",.0f")} if sized else {}),
            ),
        ),
    ]
    if x.line is not None:
        layers.insert(0, reference(x.line))
    height = len(y) * (12 * len(contenders) + 12)  # in pixels
    return in_panels(alt.layer(*layers).properties(height=height), panels)


def ranking(names: Sequence[str], x: ValueAxis) -> Spec:
    """Return a chart with one value and its interval for each name, in order.

    It draws what ``dots`` draws, with the names as y and an empty contender.
    """
    return dots([""], x=x, y=names, names=("", "embedding"))


def histograms(
    kinds: Sequence[str],
    *,
    x: str,
    panels: Sequence[str],
    choices: Sequence[str] = (),
    independent: bool = False,
    whole: bool = False,
) -> Spec:
    """Return histograms of shares, a line and its area for each kind, in panels.

    It draws panel, kind, x, share (in per cent) and, where there are choices, choice.

    Args:
        kinds: in order.
        x: the title of the axis.
        panels: their names in order.
        choices: choices of the reader; the first is the default.
        independent: whether each panel has its own axis of values.
        whole: whether values are whole numbers.
    """
    key = alt.Legend(symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=3)
    legend = key if len(kinds) > 1 else None
    ticks: dict[str, Any] = {"tickMinStep": 1} if whole else {}
    percent = alt.Axis(tickCount=4, labelExpr="datum.label + '%'", minExtent=36, labelFlush=True)
    base = alt.Chart().encode(
        x=alt.X("x:Q").title(x).scale(zero=False, nice=False).axis(**ticks),
        y=alt.Y("share:Q").title(None).axis(percent).stack(None),
        color=coloured(alt.Color, "kind", kinds).legend(legend),
        tooltip=tooltips(
            kind=("of" if len(kinds) > 1 else "", ""), x=(x, ".3~r"), share=("share, %", ".2f")
        ),
    )
    areas = base.mark_area(interpolate="step", opacity=0.16)
    lines = base.mark_line(interpolate="step", strokeWidth=2).encode(
        strokeDash=coloured(alt.StrokeDash, "kind", kinds).legend(legend)
    )
    scales = "independent" if independent else "shared"
    drawn = alt.layer(areas, lines).properties(height=150)
    spec = in_panels(drawn, panels) | {
        "spacing": {"row": 84, "column": 56},
        "resolve": {
            "scale": {"x": scales, "y": "independent"},
            "axis": {"x": "independent", "y": "independent"},
        },
    }
    return with_choice(spec, choices)


def lines(panels: Sequence[str], *, x: str) -> Spec:
    """Return a line in each panel, with axes of its own; it draws panel, x and value."""
    line = (
        alt.Chart()
        .mark_line(strokeWidth=2, point=True, color=COLOURS[0])
        .encode(
            x=alt.X("x:Q").title(x),
            y=alt.Y("value:Q").title(None).axis(format=",.0f", tickMinStep=1, minExtent=40),
            tooltip=tooltips(panel=("of", ""), x=(x, ",.0f"), value=("number", ",.0f")),
        )
    )
    spec = in_panels(line.properties(height=180), panels)
    spacing = {"row": 44, "column": 56}
    return spec | {"spacing": spacing, "resolve": {"scale": {"y": "independent"}}}


def curves(
    contenders: Sequence[str],
    choices: Sequence[str],
    *,
    x: tuple[str, str] = ("false_positives", "false positive rate"),
    y: tuple[str, str] = ("true_positives", "true positive rate"),
    noun: str = "embedding",
    diagonal: bool = True,
    with_points: bool = False,
) -> Spec:
    """Return curves of shares, by default ROC curves.

    It draws choice, contender, at (the order of the points), and the columns of x and y.

    Args:
        contenders: in order; each has a colour and a dash.
        choices: what a reader can choose to see.
        x: the column of the horizontal axis, and its title.
        y: the column of the vertical axis, and its title.
        noun: what contenders are.
        diagonal: whether the diagonal is drawn.
        with_points: whether rows with the column ``is_point`` are drawn as points too.
    """
    lines = (
        alt.Chart(_DATA)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X(f"{x[0]}:Q").title(x[1]).scale(domain=[0, 1]),
            y=alt.Y(f"{y[0]}:Q").title(y[1]).scale(domain=[0, 1]),
            order="at:Q",
            color=coloured(alt.Color, "contender", contenders),
            strokeDash=coloured(alt.StrokeDash, "contender", contenders),
            tooltip=tooltips(
                contender=(noun, ""), **{name: (title, ".3f") for name, title in (x, y)}
            ),
        )
    )
    coin = (
        alt.Chart(alt.InlineData([{"x": 0}, {"x": 1}]))
        .mark_line(strokeWidth=1, strokeDash=[3, 3], color="var(--quiet)", tooltip=False)
        .encode(x="x:Q", y="x:Q")
    )
    layers = [coin, lines] if diagonal else [lines]
    if with_points:  # a contender may have only one
        points = lines.mark_point(size=40, filled=True).transform_filter("datum.is_point")
        shape = coloured(alt.Shape, "contender", contenders)
        layers.append(points.encode(shape=shape, strokeDash=alt.value([1, 0])))
    spec = with_choice(finished(alt.layer(*layers).properties(height=380)), choices)
    if spec.pop("transform", None):  # on the whole chart it would leave the diagonal out
        for layer in spec["layer"][diagonal:]:
            layer["transform"] = [*layer.get("transform", []), *CHOSEN]
    return spec


def heat(
    *,
    x: Sequence[str],
    y: Sequence[str],
    value: str,
    names: tuple[str, str],
    middle: float | None = None,
    choices: Sequence[str] = (),
) -> Spec:
    """Return a heat map; every cell is light enough for dark text.

    It draws x, y, value, label (the text of a cell) and, where there are choices, choice.

    Args:
        x: names of the columns, from the left.
        y: names of the rows, from the top.
        value: the title of the values that colours show.
        names: what rows and columns are.
        middle: value at which the hue of the colours changes; None for one hue.
        choices: choices of the reader; the first is the default.
    """
    reach: dict[str, Any] = {"range": [_LOW, _HIGH]}
    if middle is not None:
        reach = {"range": [_NEGATIVE, _MIDDLE, _HIGH], "domainMid": middle}
    few, short = 4, 14  # names of columns that fit beside each other
    angle = 0 if len(x) <= few and max(map(len, x), default=0) <= short else -40
    base = alt.Chart().encode(
        x=alt.X("x:N").title(None).sort(list(x)).axis(orient="top", labelAngle=angle, **_BARE),
        y=alt.Y("y:N").title(None).sort(list(y)).axis(**_BARE),
    )
    cells = base.mark_rect(stroke="var(--paper)", strokeWidth=2).encode(
        color=alt.Color("value:Q").scale(**reach).legend(None),
        tooltip=tooltips(y=(names[0], ""), x=(names[1], ""), value=(value, ".3f")),
    )
    n_lines = 1 if middle is None else 2
    texts = base.mark_text(color=_CELL_TEXT, lineBreak="\n", dy=7 - 7 * n_lines)
    texts = texts.encode(text="label:N", tooltip=alt.value(None))
    drawn = alt.layer(cells, texts, data=_DATA).properties(height=len(y) * _ROW * n_lines)
    return with_choice(finished(drawn), choices)


def heat_width(n_columns: int) -> int:
    """Return the least width, in pixels, at which the texts of a heat map have room."""
    return _LABELS + _CELL * n_columns
