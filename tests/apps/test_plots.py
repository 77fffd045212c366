"""Pictures: real files of a plausible size, in which what they are about can be read."""

import math
import struct
import sys
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest

from leastnoise.apps.design_plots import plot_design, plot_frontier
from leastnoise.apps.papers.laplace import draw_figures
from leastnoise.apps.plots import plot_burn_down, plot_channel, plot_privacy_curve, plot_simplex
from leastnoise.budget import Ledger, Pure, Request
from leastnoise.check import privacy_curve
from leastnoise.design import design
from leastnoise.design.comparison import compare
from leastnoise.errors import BadParameter, MissingPackage, TooLarge
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import path as line
from leastnoise.model.priors import uniform
from leastnoise.model.privacy import Privacy
from support.channels import geometric

sys.path.append(str(Path(__file__).parents[2] / "tools"))

pytest.importorskip("matplotlib")

EVIL = "<script>$x$ & y"


@pytest.fixture
def ledger(tmp_path):
    now = 1_700_000_000
    with Ledger.create(tmp_path / "a.ledger", clock=lambda: now) as made:
        made.grant(Privacy(1), dataset="census")
        made.grant(Privacy(1), dataset=EVIL)
        for day in range(1, 4):
            now += 86400
            made.debit(Request(f"q{day}", Pure("1/4"), dataset="census", analyst="ada"))
        yield made


def drawings(ledger):
    flip = Channel([["3/4", "1/4"], ["1/4", "3/4"]], inputs=[EVIL, "b"], outputs=[EVIL, "d"])
    three = {EVIL: geometric(2, "1/4").hyper(uniform(3)), "nothing": Channel.uniform(3, 2).hyper(uniform(3))}
    return {
        "privacy curve": (lambda path: plot_privacy_curve(privacy_curve(flip, line(2).relabel([EVIL, "b"])), path)),
        "channel": (lambda path: plot_channel(flip, path, EVIL)),
        "simplex": (lambda path: plot_simplex(three, path, EVIL)),
        "burn-down": (lambda path: plot_burn_down(ledger, path)),
    }


def texts(path):
    return [element.text for element in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314
