"""Numbers that are never rounded, dice that are never biased."""

from leastnoise.exact.enclosures import (
    Enclosure,
    exp_above,
    exp_below,
    exp_enclosure,
    ln_above,
    ln_below,
    ln_enclosure,
    sqrt_above,
    sqrt_below,
    sqrt_enclosure,
)
from leastnoise.exact.enumeration import EnumeratedLaw, ReplaySource, enumerate_law
from leastnoise.exact.numbers import Exact, LogSum, exact_exp, ln
from leastnoise.exact.parameters import NumberLike, read_exact, read_integer, read_rational
from leastnoise.exact.samplers.bernoulli import bernoulli, bernoulli_exp, bernoulli_exp_pmf, bernoulli_pmf
from leastnoise.exact.samplers.categorical import categorical, categorical_cdf, categorical_pmf
from leastnoise.exact.samplers.categorical_exp import categorical_exp, categorical_exp_cdf, categorical_exp_pmf
from leastnoise.exact.samplers.gaussian import discrete_gaussian, discrete_gaussian_cdf, discrete_gaussian_pmf
from leastnoise.exact.samplers.geometric import geometric, geometric_cdf, geometric_pmf
from leastnoise.exact.samplers.laplace import (
    discrete_laplace,
    discrete_laplace_cdf,
    discrete_laplace_pmf,
    truncated_geometric,
    truncated_geometric_cdf,
    truncated_geometric_pmf,
)
from leastnoise.exact.samplers.negative_binomial import (
    negative_binomial,
    negative_binomial_cdf,
    negative_binomial_pmf,
)
from leastnoise.exact.samplers.permute_and_flip import permute_and_flip, permute_and_flip_pmf
from leastnoise.exact.samplers.rounded_gaussian import (
    rounded_gaussian,
    rounded_gaussian_cdf,
    rounded_gaussian_pmf,
)
from leastnoise.exact.samplers.rounded_gaussian_map import rounded_gaussian_map
from leastnoise.exact.samplers.uniform import (
    permutation,
    permutation_pmf,
    uniform_integer,
    uniform_integer_cdf,
    uniform_integer_pmf,
)
from leastnoise.exact.sources import SeededSource, Source, SystemSource, require_secure, system_source

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
