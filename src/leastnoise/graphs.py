"""Dataset graphs and metrics: `ln.graphs.path(20)`, `ln.graphs.from_distance(...)`.

>>> import leastnoise as ln
>>> ln.graphs.hypercube(3).diameter()
3
"""

from leastnoise.model.graphs import (
    DatasetGraph,
    LayerDegrees,
    Morphism,
    complete,
    cycle,
    from_distance,
    from_edges,
    from_networkx,
    grid,
    hamming,
    histograms,
    hypercube,
    integers,
    naturals,
    parse_graph,
    path,
    sorted_histograms,
)

__all__ = [
    "DatasetGraph",
    "LayerDegrees",
    "Morphism",
    "complete",
    "cycle",
    "from_distance",
    "from_edges",
    "from_networkx",
    "grid",
    "hamming",
    "histograms",
    "hypercube",
    "integers",
    "naturals",
    "parse_graph",
    "path",
    "sorted_histograms",
]
