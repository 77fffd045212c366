"""Dataset graphs: which datasets are neighbours, and how far apart any two of them are.

>>> from leastnoise.model import graphs
>>> graphs.hypercube(4).is_vertex_transitive(), graphs.path(20).distance(3, 17)
(True, 14)
"""

from leastnoise.model.graphs.base import DatasetGraph
from leastnoise.model.graphs.explicit import from_edges, from_networkx
from leastnoise.model.graphs.grids import grid, hamming, hypercube, torus
from leastnoise.model.graphs.histograms import histograms
from leastnoise.model.graphs.infinite import integers, naturals
from leastnoise.model.graphs.layers import LayerDegrees
from leastnoise.model.graphs.metric import from_distance
from leastnoise.model.graphs.morphism import Morphism
from leastnoise.model.graphs.path_cycle_complete import complete, cycle, path
from leastnoise.model.graphs.places import from_places
from leastnoise.model.graphs.reading import from_dict, parse_graph, read_graph
from leastnoise.model.graphs.sorted_histograms import sorted_histograms

__all__ = [
    "DatasetGraph",
    "LayerDegrees",
    "Morphism",
    "complete",
    "cycle",
    "from_dict",
    "from_distance",
    "from_edges",
    "from_networkx",
    "from_places",
    "grid",
    "hamming",
    "histograms",
    "hypercube",
    "integers",
    "naturals",
    "parse_graph",
    "path",
    "read_graph",
    "sorted_histograms",
    "torus",
]
