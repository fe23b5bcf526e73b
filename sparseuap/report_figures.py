"""The report's figures: each drawn from what the report found, and put into the page as SVG, not linked to."""

from __future__ import annotations

import base64
import io
import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from sparseuap.report_html import Markup, escape, formula, join
from theory.theorems import Says

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from verify.error_study import ErrorStudy
    from verify.pattern_verdict import PatternVerdict
    from verify.proof import Proof

    Wanted = tuple[str, Callable[[Any], Any]]

__all__ = ["error_figures", "inline_svg", "proof_figures", "verdict_figures"]

LARGEST_SVG = 300_000  # bytes; a larger drawing goes in as pixels
LARGEST_GROWTH = 1024
MOST_IDS = 1024
MOST_RUNS = 3
MOST_STEPS = 64
ALPHA = 0.25
"""The ramp's share of a cell in drawings: the one of a run is too small to be seen."""
LONGEST_NAME = 40
CAPTIONS = {
    "depth": (
        "Depth of the contextual mapping against 1/delta and d",
        "Attention layers of this pattern on log axes, counted on the constructions themselves: where Theorem 1"
        " applies, the paper's p(n-1)/delta^d + s (Lemma 7) and the merged shifts' p(n-1) + s; the relay"
        " construction, which depends on neither; and the n/delta^d + 1 of the dense counterpart (Yun et al."
        " 2019).",
    ),
    "relay": (
        "The relay construction: slots, and who absorbs whom",
        "Left: who absorbs whom (key to query), numbered in the order of the steps. The root of each strong"
        " component gathers the inputs of the component and of what lies upstream along an in-tree, children"
        " before parents, and hands the whole along an out-tree, nearest first. Right: the slot"
        " [low, low + K^{d digits}) in which every token's number u^T Z_k lies, step after step, in units of delta"
        " on a logarithmic axis,"
        " with an arrow for every step. Slots are disjoint at all times, hence psi (eq. 8) picks the two tokens"
        " that are meant; the last slots hold the ids. This replaces the Hamiltonian path of Assumption 1.2 and is"
        " not in the paper.",
    ),
    "probability_maps": (
        "The probability map: weight of the leader against t",
        "Assumption 2 asks for a t at which rho[t v] gives the leader at least 1 - eta (dotted line) for every v"
        " whose leader leads by zeta; the mark is the sufficient t of Appendix B. Here zeta is the least score"
        " gap, and eta the greatest mass that a head may lose, at the guaranteed t.",
    ),
    "contextual_mapping": (
        "The contextual mapping: all ids of all inputs",
        "Every column is an input, every mark the id of one token, in order of size: equal ids, and only those,"
        " lie in one row. No two ids of one input are alike (7.1), and different inputs share none (7.2) unless a"
        " red line joins them.",
    ),
    "value_mapping": (
        "The value mapping: windows, ids, outputs",
        "Lemma 8: one feed-forward layer for every cell H and token k, from top to bottom. It writes the output"
        " over the column whose id lies in its window (square); the circle is where the written output then lies."
        " Where one would lie in the window of a layer still to come, one more layer first lifts every id.",
    ),
}
"""Captions of figures whose own speaks of further panels."""


def verdict_figures(verdict: PatternVerdict, source: str) -> Markup:
    """Return the figures of the pattern: its matrix, how far tokens see, the union digraph."""
    name, pattern = _plain(source), verdict.pattern

    def growth(module: Any) -> Figure:
        if pattern.n > LARGEST_GROWTH:
            raise ValueError(f"{pattern.n} tokens: reach is drawn for at most {LARGEST_GROWTH}")
        from theory.hops import growth as grow

        curve = grow(pattern, verdict.hops.s)
        return _figure(module.draw({name: curve}, {name: module.first_seen(pattern, len(curve.min))}, pattern.n))

    return _all(
        ("pattern_matrices", lambda module: module.draw({name: verdict})),
        ("reach_growth", growth),
        ("union_digraph", lambda module: module.draw({name: verdict})),
    )


def proof_figures(proof: Proof, verdict: PatternVerdict) -> Markup:
    """Return the figures of the construction that was run."""
    from constructions.cells import cell_count, cells
    from constructions.dependence import reach_matrix

    mapping, network = proof.mapping, proof.network
    d, n, levels = mapping.d, mapping.pattern.n, mapping.K

    def ids(module: Any) -> Figure:
        count = cell_count(d, n, levels)
        if not reach_matrix(mapping.pattern).all():
            raise ValueError("not every token sees every token, so many inputs rightly share an id")
        if count * n > MOST_IDS:
            raise ValueError(f"all ids of all inputs are drawn up to {MOST_IDS} of them: draw a smaller case")
        title = f"{mapping.construction}: {count * n} ids of {count} inputs"
        return _figure(module.draw({title: mapping.ids(cells(d, n, levels, 0, count))}))

    rising = np.arange(d * n).reshape(d, n) % levels
    paper = verdict.statements[0].says is Says.UNIVERSAL

    def staircase(module: Any) -> Figure:
        if n * levels > MOST_STEPS:
            raise ValueError(f"the staircase is drawn for at most {MOST_STEPS} steps: fewer tokens do")
        return _figure(module.draw(mapping, ALPHA, rising))

    def depth(module: Any) -> Figure:
        if n > MOST_STEPS:
            raise ValueError(f"layers are counted for at most {MOST_STEPS} tokens: fewer do")
        pattern = mapping.pattern
        deltas, sizes = [(k, n, d, k) for k in (2, 4, 8, 16, 32)], [(k, n, k, levels) for k in (1, 2, 4, 8)]
        fixed = {
            "pattern": lambda _: pattern,
            "constructions": ("paper", "merged", "relay") if paper else ("relay",),
        }
        panels = [
            module.count_layers("$1/\\delta$", f"$d$ = {d}", deltas, **fixed),
            module.count_layers("$d$", f"$1/\\delta$ = {levels}", sizes, **fixed),
        ]
        return _figure(module.draw(panels))

    wanted: list[Wanted] = [("depth", depth), ("quantization", staircase)]
    if mapping.construction == "relay":
        wanted.append(("relay", lambda module: module.draw(mapping)))
    else:
        wanted.append(("selective_shift", lambda module: module.draw(mapping, module.shifts(mapping, rising))))
        wanted.append(("all_max_shift", lambda module: module.draw(mapping, module.run(mapping, rising))))
    wanted.append(("contextual_mapping", ids))
    if network is not None:
        values = network.values
        wanted.append(
            ("value_mapping", lambda module: module.draw({f"target {_plain(network.target.name)}": values}))
        )
    return _all(*wanted)


def error_figures(study: ErrorStudy) -> Markup:
    """Return the figures of the relaxed network."""
    from constructions.cells import cell_count, cells

    mapping = study.network.mapping
    d, n, levels = mapping.d, mapping.pattern.n, mapping.K

    def by_layer(module: Any) -> Figure:
        count = cell_count(d, n, levels)
        if count * n > MOST_IDS * 4:
            raise ValueError("the error of every layer is drawn for small cases: fewer tokens do")
        rising = [row.t for row in study.rows][-MOST_RUNS:]
        runs = module.layer_errors(mapping, study.rho, rising, cells(d, n, levels, 0, count))
        return _figure(module.draw({f"{study.rho.name}, {mapping.construction} construction": runs}))

    def slice_of(module: Any) -> Figure:
        from constructions.relaxation import soften

        return _figure(
            module.draw(module.sample_slice(soften(study.network, study.rho, study.rows[-1].t, 0.08), 160))
        )

    def leader(module: Any) -> Figure:
        zeta, eta = study.zeta, study.eta
        if zeta is None or not eta:
            raise ValueError(f"no guaranteed t was found for {study.rho.name}")
        m = max(int(layer.degrees.max()) for layer in mapping.pattern.layers)
        middle = study.rho.sufficient_t(zeta, eta, m) or study.rows[-1].t
        t = middle * np.geomspace(1 / 32, 8, 121)
        curve = module.leader_curve(study.rho, t, zeta=zeta, eta=eta, m=m)
        return _figure(module.draw([curve], [], zeta=zeta, eta=eta))

    wanted: list[Wanted] = [
        ("probability_maps", leader),
        ("error_against_t", lambda module: module.draw([study])),
        ("error_by_layer", by_layer),
    ]
    if (d, n) == (1, 2) and study.box == (0.0, 1.0):
        wanted.append(("target_slice", slice_of))
    return _all(*wanted)


def _figure(figure: Any) -> Figure:
    return figure  # type: ignore[no-any-return]  # modules are loaded by name


def _all(*wanted: Wanted) -> Markup:
    return Markup("\n".join(_one(name, draw) for name, draw in wanted))


def _one(name: str, draw: Callable[[Any], Any]) -> Markup:
    """Return one figure with its caption, or a sentence where the case is too large for it."""
    from figures.registry import figure_entry

    entry = figure_entry(name)
    title, caption = CAPTIONS.get(name, (entry.title, entry.caption))
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "constrained_layout not applied", UserWarning)
            image = inline_svg(draw(entry.load()), name, title)
    except ValueError as error:  # every floor's bad-input errors are ValueErrors, with one clear line
        why = escape(str(error).rstrip("."))
        return _left_out(title, why)
    except OverflowError:
        return _left_out(title, "its numbers are too long to draw")
    except UserWarning:
        return _left_out(title, "its labels leave no room for it")
    return Markup(
        f'<figure id="figure-{name}"><div class="sheet" tabindex="0" role="region" '
        f'aria-label="{escape(title)}">{image}</div>'
        f"<figcaption><strong>{formula(title)}.</strong> {_caption(caption)}</figcaption></figure>"
    )


def _left_out(title: str, why: str) -> Markup:
    return Markup(f'<p class="absent"><strong>{formula(title)}</strong> is left out: {why}.</p>')


def _caption(text: str) -> Markup:
    """Return a docstring's text as HTML: paragraphs run on, and what is in backticks is code."""
    pieces = re.split(r"`+([^`]+)`+", " ".join(text.split()))
    return join(
        (
            Markup(f"<code>{escape(piece)}</code>") if odd % 2 else formula(piece)
            for odd, piece in enumerate(pieces)
        ),
        "",
    )


def _plain(source: str) -> str:
    """Return a source as a short name that matplotlib prints as it is."""
    short = source if len(source) <= LONGEST_NAME else "…" + source[-LONGEST_NAME:]
    return short.replace("$", r"\$")


def inline_svg(figure: Figure, name: str, label: str) -> Markup:
    """Return a figure as an SVG element: names of its own, no style that reaches out of it, no fixed size.

    Parameters
    ----------
    name
        Goes in front of every id, so that several figures share a page.
    label
        What a screen reader says.
    """
    from figures.style import save

    file = io.BytesIO()
    save(figure, file, "svg")
    text = file.getvalue().decode("utf-8")
    if len(text) > LARGEST_SVG:
        file = io.BytesIO()
        save(figure, file, "png")
        data = base64.b64encode(file.getvalue()).decode("ascii")
        return Markup(f'<img src="data:image/png;base64,{data}" alt="{escape(label)}">')
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", text, count=1, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(href="#|url\(#)', rf"\1{name}-", text)
    view = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)
    width = float(view[1]) if view else 0.0
    shape = (
        f'<svg role="img" aria-label="{escape(label)}" class="drawn" '
        f'style="stroke-linejoin:round;stroke-linecap:butt;max-width:{width * 1.5:.0f}px;min-width:{width:.0f}px" '
    )
    head, _, rest = text.partition(">")
    head = re.sub(r'\s(width|height)="[^"]*"', "", head)
    return Markup(head.replace("<svg ", shape, 1) + ">" + rest.strip())
