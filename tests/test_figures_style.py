"""The figures' common look: dateless files, sizes, colours for greyscale and colour-blind readers; the list."""

import io
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from figures import style
from figures.registry import FIGURES, FigureEntry, figure_entry

NAMES = [
    "pattern_matrices",
    "reach_growth",
    "union_digraph",
    "depth",
    "quantization",
    "selective_shift",
    "all_max_shift",
    "relay",
    "value_mapping",
    "contextual_mapping",
    "probability_maps",
    "error_against_t",
    "error_by_layer",
    "target_slice",
]


@style.styled
def _small() -> Figure:
    figure = style.new_figure(style.COLUMN, 1.5)
    axes = figure.subplots()
    axes.plot([0, 1], [1, 0], **style.curve_style(1), label="a $\\delta$ line")
    axes.bar([0], [1], hatch=style.HATCHES[1])
    axes.set_xlabel("tokens of the figure")
    axes.legend()
    return figure


def _bytes(figure: Figure, kind: str) -> bytes:
    buffer = io.BytesIO()
    style.save(figure, buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", style.FORMATS)
def test_two_runs_write_the_same_bytes(kind):
    assert _bytes(_small(), kind) == _bytes(_small(), kind)


def test_two_processes_write_the_same_bytes(tmp_path):
    program = (
        "import sys; from figures import style\n"
        "from figures.registry import FIGURES\n"
        "figure = FIGURES['selective_shift'].example()\n"
        "for kind in style.FORMATS: style.save(figure, f'{sys.argv[1]}.{kind}', kind)"
    )
    for run in ("first", "second"):
        subprocess.run([sys.executable, "-c", program, str(tmp_path / run)], check=True)  # noqa: S603
    for kind in style.FORMATS:
        assert (tmp_path / f"first.{kind}").read_bytes() == (tmp_path / f"second.{kind}").read_bytes()


def test_files_hold_no_date_and_no_version():
    assert b"<dc:date>" not in _bytes(_small(), "svg")
    assert b"CreationDate" not in _bytes(_small(), "pdf")
    assert b"Software" not in _bytes(_small(), "png")


def test_text_stays_text():
    assert b"tokens of the figure</text>" in _bytes(_small(), "svg")
    assert b"/Type3" not in _bytes(_small(), "pdf")


def test_size_is_the_column(tmp_path):
    from PIL import Image

    style.save(_small(), tmp_path / "small.png", "png")
    with Image.open(tmp_path / "small.png") as image:
        assert abs(image.width - style.COLUMN * 150) <= 1
        assert abs(image.height - 1.5 * 150) <= 1


def test_unknown_format_is_refused():
    with pytest.raises(ValueError, match="'gif' is not known: choose png, svg, pdf"):
        style.save(_small(), io.BytesIO(), "gif")


def test_drawing_leaves_the_settings_alone_and_ignores_the_callers():
    before = dict(matplotlib.rcParams)
    plain = _bytes(_small(), "svg")
    assert dict(matplotlib.rcParams) == before
    with matplotlib.rc_context({"font.size": 20, "axes.titlesize": 30, "svg.hashsalt": "other"}):
        assert _bytes(_small(), "svg") == plain


def _linear(colour: str) -> np.ndarray:
    encoded = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def _lab(linear: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = (to_xyz @ linear) / np.array([0.9505, 1.0, 1.089])
    f = [v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


BLINDNESS = {  # Machado, Oliveira, Fernandes 2009, severity 1
    "none": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}


def _least_difference(palette, blindness):
    seen = [_lab(np.clip(np.array(BLINDNESS[blindness]) @ _linear(colour), 0, 1)) for colour in palette]
    return min(np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i])


@pytest.mark.parametrize("blindness", BLINDNESS)
def test_no_two_colours_look_alike(blindness):
    assert _least_difference(style.PALETTE, blindness) > 10


def test_the_colour_check_fails_on_red_and_green():
    assert _least_difference(("#C00000", "#5A6E00"), "deuteranopia") < 10


def test_colours_rise_in_lightness():
    lightness = [_lab(_linear(colour))[0] for colour in style.PALETTE]
    assert np.all(np.diff(lightness) >= 10)


def test_tokens_differ_in_colour_or_marker():
    looks = [tuple(style.token_style(token).values()) for token in range(36)]
    assert len(set(looks)) == 36


def test_curves_repeat_after_all_six_looks():
    looks = [str(style.curve_style(index)) for index in range(6)]
    assert len(set(looks)) == 6
    assert style.curve_style(6) == style.curve_style(0)


def test_the_list_of_figures():
    assert list(FIGURES) == NAMES
    assert FIGURES["depth"].title == "Depth of the contextual mapping against 1/delta, n and d"
    assert FIGURES["depth"].caption.startswith("Attention layers on log axes")


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_has_a_title_and_a_caption(name):
    entry = figure_entry(name)
    assert entry.title
    assert "\n" not in entry.title
    assert len(entry.caption) > 80
    assert callable(entry.load().draw)


def test_unknown_figure_is_refused():
    with pytest.raises(ValueError, match="figure 'deep' is not known: choose pattern_matrices, "):
        figure_entry("deep")


def test_listing_figures_imports_no_matplotlib():
    program = (
        "import sys; from figures.registry import FIGURES\n"
        "text = [(entry.title, entry.caption) for entry in FIGURES.values()]\n"
        "assert len(text) == 14 and 'matplotlib' not in sys.modules and 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)  # noqa: S603


def test_an_entry_without_a_module_says_so():
    with pytest.raises(FileNotFoundError):
        _ = FigureEntry("missing").title
