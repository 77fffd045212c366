"""Pictures of channels, designs, strategies and budgets, drawn by matplotlib (the extra `plots`)."""

from leastnoise.apps.design_plots import plot_design, plot_frontier
from leastnoise.apps.plots import plot_burn_down, plot_channel, plot_law, plot_privacy_curve, plot_simplex
from leastnoise.apps.strategy_plots import plot_strategy, plot_table_errors

__all__ = [
    "plot_burn_down",
    "plot_channel",
    "plot_design",
    "plot_frontier",
    "plot_law",
    "plot_privacy_curve",
    "plot_simplex",
    "plot_strategy",
    "plot_table_errors",
]
