"""Numbers that are never rounded, dice that are never biased."""

from leastnoise.exact.balls import (
    Ball as Ball,
    above as above,
    below as below,
    evaluate as evaluate,
    normal_cdf as normal_cdf,
    normal_quantile as normal_quantile,
    of_fraction as of_fraction,
    refine as refine,
    scaled_bounds as scaled_bounds,
)
from leastnoise.exact.convolution import convolve_above as convolve_above, convolve_below as convolve_below
from leastnoise.exact.enclosures import (
    Enclosure,
    at_alpha as at_alpha,
    enclose as enclose,
    exp_above,
    exp_below,
    exp_enclosure,
    floor_of as floor_of,
    larger as larger,
    least_whole as least_whole,
    ln_above,
    ln_below,
    ln_enclosure,
    numerator as numerator,
    power_sum as power_sum,
    ratio_of_power_sums as ratio_of_power_sums,
    scaled as scaled,
    sqrt_above,
    sqrt_below,
    sqrt_enclosure,
    tail_sum as tail_sum,
)
from leastnoise.exact.enumeration import EnumeratedLaw, ReplaySource, enumerate_law
from leastnoise.exact.floats import (
    LOG_ERROR as LOG_ERROR,
    UNIT as UNIT,
    exp_bounds as exp_bounds,
    minus_log_of as minus_log_of,
)
from leastnoise.exact.gaussian_sums import (
    discrete_gaussian_moment as discrete_gaussian_moment,
    discrete_gaussian_tail as discrete_gaussian_tail,
)
from leastnoise.exact.integer_matrices import IntegerMatrix as IntegerMatrix
from leastnoise.exact.inversion import InverseTable as InverseTable, Law as Law, Thresholds as Thresholds
from leastnoise.exact.laplace_sums import (
    l1_quantile as l1_quantile,
    mean_absolute_difference as mean_absolute_difference,
    mean_absolute_sum as mean_absolute_sum,
    sum_size as sum_size,
)
from leastnoise.exact.long_floats import (
    LongFloat as LongFloat,
    LongMatrix as LongMatrix,
    long_fraction as long_fraction,
    long_precision as long_precision,
    rounded_long as rounded_long,
    solve_long as solve_long,
)
from leastnoise.exact.matrices import (
    IntegerVector as IntegerVector,
    RationalMatrix as RationalMatrix,
    beside as beside,
    coordinates as coordinates,
    distinct_columns as distinct_columns,
    lattice_basis as lattice_basis,
)
from leastnoise.exact.numbers import (
    Exact,
    LogSum,
    RunningTotal as RunningTotal,
    add_above as add_above,
    ball_of as ball_of,
    double_of as double_of,
    exact_exp,
    ln,
    rational_above as rational_above,
    rational_below as rational_below,
    round_up as round_up,
    sum_above as sum_above,
)
from leastnoise.exact.parameters import (
    IntArray as IntArray,
    Length as Length,
    NumberLike,
    Point as Point,
    Size as Size,
    largest_size as largest_size,
    read_epsilon as read_epsilon,
    read_exact,
    read_integer,
    read_rate as read_rate,
    read_rational,
    shape_of as shape_of,
    whole_array as whole_array,
    wide_enough as wide_enough,
)
from leastnoise.exact.programs import Infeasible as Infeasible, Optimum as Optimum, minimise as minimise
from leastnoise.exact.samplers.bernoulli import (
    ScaledBounds as ScaledBounds,
    bernoulli,
    bernoulli_exp,
    bernoulli_exp_pmf,
    bernoulli_pmf,
    coins_between as coins_between,
)
from leastnoise.exact.samplers.categorical import categorical, categorical_cdf, categorical_pmf
from leastnoise.exact.samplers.categorical_exp import (
    ExponentialLaw as ExponentialLaw,
    categorical_exp,
    categorical_exp_cdf,
    categorical_exp_pmf,
)
from leastnoise.exact.samplers.categorical_rows import CategoricalRows as CategoricalRows
from leastnoise.exact.samplers.chances import at_chances as at_chances
from leastnoise.exact.samplers.core_first import categorical_exp_core_first as categorical_exp_core_first
from leastnoise.exact.samplers.drawn_total import DrawnTotal as DrawnTotal, reach_for as reach_for
from leastnoise.exact.samplers.gaussian import discrete_gaussian, discrete_gaussian_cdf, discrete_gaussian_pmf
from leastnoise.exact.samplers.joint_exponential import JointExponentialLaw as JointExponentialLaw
from leastnoise.exact.samplers.laplace import (
    discrete_laplace,
    discrete_laplace_cdf,
    discrete_laplace_pmf,
    geometric,
    geometric_cdf,
    geometric_pmf,
    truncated_geometric,
    truncated_geometric_cdf,
    truncated_geometric_pmf,
)
from leastnoise.exact.samplers.negative_binomial import (
    negative_binomial,
    negative_binomial_cdf,
    negative_binomial_pmf,
)
from leastnoise.exact.samplers.permute_and_flip import (
    PermuteAndFlipLaw as PermuteAndFlipLaw,
    permute_and_flip,
    permute_and_flip_pmf,
)
from leastnoise.exact.samplers.pixelated_laplace import (
    pixelated_laplace as pixelated_laplace,
    pixelated_laplace_cdf as pixelated_laplace_cdf,
    pixelated_laplace_pmf as pixelated_laplace_pmf,
)
from leastnoise.exact.samplers.rounded_gaussian import (
    read_variance as read_variance,
    rounded_gaussian,
    rounded_gaussian_cdf,
    rounded_gaussian_moment as rounded_gaussian_moment,
    rounded_gaussian_pmf,
    rounded_gaussian_tail as rounded_gaussian_tail,
)
from leastnoise.exact.samplers.rounded_gaussian_map import (
    RoundedGaussianMap as RoundedGaussianMap,
    Rows as Rows,
    rounded_gaussian_map,
)
from leastnoise.exact.samplers.scaled_gaussian import scaled_gaussian as scaled_gaussian
from leastnoise.exact.samplers.scores import Numbers as Numbers, Scores as Scores
from leastnoise.exact.samplers.uniform import (
    permutation,
    permutation_pmf,
    uniform_integer,
    uniform_integer_cdf,
    uniform_integer_pmf,
)
from leastnoise.exact.search import largest_fitting as largest_fitting
from leastnoise.exact.sources import (
    SeededSource,
    Source,
    SystemSource,
    in_shape as in_shape,
    releasing as releasing,
    require_secure,
    system_source,
)
from leastnoise.exact.tridiagonal import (
    doubles_above as doubles_above,
    doubles_below as doubles_below,
    inverse_root_diagonal as inverse_root_diagonal,
)

__all__ = [
    "Enclosure",
    "EnumeratedLaw",
    "Exact",
    "LogSum",
    "NumberLike",
    "ReplaySource",
    "SeededSource",
    "Source",
    "SystemSource",
    "bernoulli",
    "bernoulli_exp",
    "bernoulli_exp_pmf",
    "bernoulli_pmf",
    "categorical",
    "categorical_cdf",
    "categorical_exp",
    "categorical_exp_cdf",
    "categorical_exp_pmf",
    "categorical_pmf",
    "discrete_gaussian",
    "discrete_gaussian_cdf",
    "discrete_gaussian_pmf",
    "discrete_laplace",
    "discrete_laplace_cdf",
    "discrete_laplace_pmf",
    "enumerate_law",
    "exact_exp",
    "exp_above",
    "exp_below",
    "exp_enclosure",
    "geometric",
    "geometric_cdf",
    "geometric_pmf",
    "ln",
    "ln_above",
    "ln_below",
    "ln_enclosure",
    "negative_binomial",
    "negative_binomial_cdf",
    "negative_binomial_pmf",
    "permutation",
    "permutation_pmf",
    "permute_and_flip",
    "permute_and_flip_pmf",
    "read_exact",
    "read_integer",
    "read_rational",
    "require_secure",
    "rounded_gaussian",
    "rounded_gaussian_cdf",
    "rounded_gaussian_map",
    "rounded_gaussian_pmf",
    "sqrt_above",
    "sqrt_below",
    "sqrt_enclosure",
    "system_source",
    "truncated_geometric",
    "truncated_geometric_cdf",
    "truncated_geometric_pmf",
    "uniform_integer",
    "uniform_integer_cdf",
    "uniform_integer_pmf",
]
