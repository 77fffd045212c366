"""Integer Laplace noise of scale 3 from OpenDP, added to 0 and to 1."""

import json

import opendp.prelude as dp

DRAWS = 400_000

dp.enable_features("contrib")
space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
noise = dp.m.make_laplace(*space, scale=3.0)
print(json.dumps({str(truth): noise([truth] * DRAWS) for truth in (0, 1)}))
