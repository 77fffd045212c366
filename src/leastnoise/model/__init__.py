"""Graphs, channels, priors, losses, events, certificates, and the role of a mechanism: what we talk about.

Other rooms import these names from here. Each is imported when it is first asked for, so that whoever needs an event
does not wait for graphs and channels. `leastnoise.model.graphs` is a package of its own.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leastnoise.model.capacity import (
        AdditiveCapacity as AdditiveCapacity,
        bayes_capacity_additive as bayes_capacity_additive,
        bayes_capacity_multiplicative as bayes_capacity_multiplicative,
    )
    from leastnoise.model.certificate import (
        Certificate as Certificate,
        DominanceCertificate as DominanceCertificate,
        LikeliestCertificate as LikeliestCertificate,
        LineCertificate as LineCertificate,
        MarginalsCertificate as MarginalsCertificate,
        NoOptimumCertificate as NoOptimumCertificate,
        OptimalityCertificate as OptimalityCertificate,
        PrivacyCertificate as PrivacyCertificate,
        ProductCertificate as ProductCertificate,
        RefinementCertificate as RefinementCertificate,
        StrategyCertificate as StrategyCertificate,
        TheoremCertificate as TheoremCertificate,
    )
    from leastnoise.model.certificate_form import is_certificate as is_certificate
    from leastnoise.model.channel import Channel as Channel, Refinement as Refinement
    from leastnoise.model.channel_certificates import LARGEST_CHANNEL as LARGEST_CHANNEL, Multiplier as Multiplier
    from leastnoise.model.continuous_priors import ContinuousPrior as ContinuousPrior
    from leastnoise.model.design_problem import DesignProblem as DesignProblem, read_problem as read_problem
    from leastnoise.model.events import (
        Approximate as Approximate,
        BoundedRange as BoundedRange,
        Composed as Composed,
        Concentrated as Concentrated,
        Event as Event,
        Fixed as Fixed,
        GaussianNoise as GaussianNoise,
        GaussianPrivacy as GaussianPrivacy,
        Grouped as Grouped,
        LaplaceNoise as LaplaceNoise,
        Parallel as Parallel,
        Pure as Pure,
        RandomizedResponse as RandomizedResponse,
        ThresholdedGaussian as ThresholdedGaussian,
        event_from_dict as event_from_dict,
    )
    from leastnoise.model.float_programs import (
        FloatGuess as FloatGuess,
        Method as Method,
        guess_optimum as guess_optimum,
    )
    from leastnoise.model.hyper import Hyper as Hyper
    from leastnoise.model.kantorovich import (
        earth_mover as earth_mover,
        euclidean as euclidean,
        total_variation as total_variation,
    )
    from leastnoise.model.labels import (
        closest as closest,
        decode_label as decode_label,
        encode_label as encode_label,
        label_number as label_number,
        read_labels as read_labels,
        suggest as suggest,
        unknown_label as unknown_label,
    )
    from leastnoise.model.leakage import (
        g_leakage as g_leakage,
        g_vulnerability as g_vulnerability,
        min_entropy_leakage as min_entropy_leakage,
        shannon_leakage as shannon_leakage,
    )
    from leastnoise.model.limits import (
        LONGEST_ANSWER as LONGEST_ANSWER,
        MOST_CELLS as MOST_CELLS,
        MOST_CELLS_FOR_BODIES as MOST_CELLS_FOR_BODIES,
        MOST_DENSE_CELLS as MOST_DENSE_CELLS,
        MOST_DESIGNED as MOST_DESIGNED,
        MOST_DESIGNED_CELLS as MOST_DESIGNED_CELLS,
        MOST_ENTRIES as MOST_ENTRIES,
        MOST_GROUPS as MOST_GROUPS,
        MOST_LISTED_CELLS as MOST_LISTED_CELLS,
        MOST_OPTIONS as MOST_OPTIONS,
        MOST_POINTS as MOST_POINTS,
        MOST_RANK_CELLS as MOST_RANK_CELLS,
        MOST_ROWS as MOST_ROWS,
        MOST_ROWS_OF_BODIES as MOST_ROWS_OF_BODIES,
        MOST_ROWS_PER_UNIT as MOST_ROWS_PER_UNIT,
        MOST_STRATEGY_CELLS as MOST_STRATEGY_CELLS,
        MOST_TABLE_CELLS as MOST_TABLE_CELLS,
        MOST_TABLES as MOST_TABLES,
        MOST_TURNS as MOST_TURNS,
        MOST_UNEVEN as MOST_UNEVEN,
        require_memory as require_memory,
    )
    from leastnoise.model.line_reading import (
        LineLoss as LineLoss,
        Move as Move,
        best_line_reading as best_line_reading,
        line_loss as line_loss,
        line_table as line_table,
        worst_line_loss as worst_line_loss,
    )
    from leastnoise.model.linear_workloads import (
        Bands as Bands,
        ExplicitWorkload as ExplicitWorkload,
        HierarchyWorkload as HierarchyWorkload,
        IdentityWorkload as IdentityWorkload,
        LinearWorkload as LinearWorkload,
        PrefixSums as PrefixSums,
        Ranges as Ranges,
        StackedWorkload as StackedWorkload,
        TotalWorkload as TotalWorkload,
        Weights as Weights,
    )
    from leastnoise.model.losses import (
        Legality as Legality,
        Loss as Loss,
        absolute as absolute,
        additive as additive,
        from_function as from_function,
        from_matrix as from_matrix,
        is_legal as is_legal,
        lipschitz_constant as lipschitz_constant,
        squared as squared,
        zero_one as zero_one,
    )
    from leastnoise.model.marginals import (
        Columns as Columns,
        MarginalStrategy as MarginalStrategy,
        costs_of as costs_of,
        interactions_of as interactions_of,
        share_of as share_of,
        variance_of as variance_of,
    )
    from leastnoise.model.mechanism import (
        LEVEL as LEVEL,
        Candidate as Candidate,
        ErrorEstimate as ErrorEstimate,
        Mechanism as Mechanism,
        Problem as Problem,
        Ranking as Ranking,
        Reason as Reason,
        plan_for as plan_for,
    )
    from leastnoise.model.priors import (
        Prior as Prior,
        PriorLike as PriorLike,
        ProductPrior as ProductPrior,
        independent as independent,
        read_prior as read_prior,
        uniform as uniform,
    )
    from leastnoise.model.privacy import Privacy as Privacy
    from leastnoise.model.rainbow_certificates import PrefixProof as PrefixProof
    from leastnoise.model.reading_certificates import stated_bounds as stated_bounds
    from leastnoise.model.remapping import (
        Remap as Remap,
        WorstCase as WorstCase,
        expected_loss as expected_loss,
        optimal_remap as optimal_remap,
        worst_case_loss as worst_case_loss,
    )
    from leastnoise.model.sensitivity import Norm as Norm, Sensitivity as Sensitivity
    from leastnoise.model.show import (
        Cell as Cell,
        aligned as aligned,
        brief as brief,
        exact_text as exact_text,
        html_table as html_table,
        number as number,
        printable as printable,
        rich_lines as rich_lines,
        rich_table as rich_table,
        short_table as short_table,
        show_labels as show_labels,
        show_number as show_number,
        text_lines as text_lines,
    )
    from leastnoise.model.strategies import (
        GOALS as GOALS,
        Precision as Precision,
        StrategyPart as StrategyPart,
        Table as Table,
        sensitivity_of as sensitivity_of,
        squared_sensitivity as squared_sensitivity,
        strategy_bound as strategy_bound,
        strategy_error as strategy_error,
    )

_HOMES = {
    "capacity": "AdditiveCapacity bayes_capacity_additive bayes_capacity_multiplicative",
    "certificate": (
        "Certificate DominanceCertificate LikeliestCertificate LineCertificate MarginalsCertificate "
        "NoOptimumCertificate OptimalityCertificate PrivacyCertificate ProductCertificate RefinementCertificate "
        "StrategyCertificate TheoremCertificate"
    ),
    "certificate_form": "is_certificate",
    "channel": "Channel Refinement",
    "channel_certificates": "LARGEST_CHANNEL Multiplier",
    "design_problem": "DesignProblem read_problem",
    "events": (
        "Approximate BoundedRange Composed Concentrated Event Fixed GaussianNoise GaussianPrivacy Grouped "
        "LaplaceNoise Parallel Pure RandomizedResponse ThresholdedGaussian event_from_dict"
    ),
    "float_programs": "FloatGuess Method guess_optimum",
    "hyper": "Hyper",
    "kantorovich": "earth_mover euclidean total_variation",
    "labels": "closest decode_label encode_label label_number read_labels suggest unknown_label",
    "leakage": "g_leakage g_vulnerability min_entropy_leakage shannon_leakage",
    "limits": (
        "LONGEST_ANSWER MOST_CELLS MOST_CELLS_FOR_BODIES MOST_DENSE_CELLS MOST_DESIGNED "
        "MOST_DESIGNED_CELLS MOST_ENTRIES MOST_GROUPS "
        "MOST_OPTIONS MOST_POINTS MOST_RANK_CELLS MOST_ROWS MOST_ROWS_OF_BODIES MOST_ROWS_PER_UNIT "
        "MOST_STRATEGY_CELLS MOST_LISTED_CELLS MOST_TABLES MOST_TABLE_CELLS MOST_TURNS MOST_UNEVEN require_memory"
    ),
    "line_reading": "LineLoss Move best_line_reading line_loss line_table worst_line_loss",
    "linear_workloads": (
        "Bands ExplicitWorkload HierarchyWorkload IdentityWorkload LinearWorkload PrefixSums Ranges "
        "StackedWorkload TotalWorkload Weights"
    ),
    "losses": "Legality Loss absolute additive from_function from_matrix is_legal lipschitz_constant squared zero_one",
    "marginals": "Columns MarginalStrategy costs_of interactions_of share_of variance_of",
    "mechanism": "Candidate ErrorEstimate LEVEL Mechanism Problem Ranking Reason plan_for",
    "continuous_priors": "ContinuousPrior",
    "priors": "Prior PriorLike ProductPrior independent read_prior uniform",
    "privacy": "Privacy",
    "reading_certificates": "stated_bounds",
    "remapping": "Remap WorstCase expected_loss optimal_remap worst_case_loss",
    "rainbow_certificates": "PrefixProof",
    "sensitivity": "Norm Sensitivity",
    "show": (
        "Cell aligned brief exact_text html_table number printable rich_lines rich_table short_table "
        "show_labels show_number text_lines"
    ),
    "strategies": "GOALS Precision StrategyPart Table sensitivity_of squared_sensitivity strategy_bound strategy_error",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _HOME_OF:
            raise AttributeError(f"module 'leastnoise.model' has no attribute {name!r}")
        found = getattr(import_module(f"leastnoise.model.{_HOME_OF[name]}"), name)
        globals()[name] = found
        return found
