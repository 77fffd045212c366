"""What diffprivlib's linear regression hands to its noise on two neighbouring tables, with the declared sensitivity."""

import json

import numpy as np
from diffprivlib.mechanisms import Laplace, LaplaceFolded
from diffprivlib.models import LinearRegression

calls = []


def recorded(original):
    def randomise(self, value):
        calls.append([type(self).__name__, float(self.sensitivity), float(value)])
        return original(self, value)

    return randomise


for kind in (Laplace, LaplaceFolded):
    kind.randomise = recorded(kind.randomise)

found = []
for rows in (3, 2):  # one person more, one person less
    calls.clear()
    x, y = np.array([[1.0], [2.0], [10.0]])[:rows], np.array([1.0, 2.0, 10.0])[:rows]
    LinearRegression(epsilon=1.0, bounds_X=(0, 10), bounds_y=(0, 10), fit_intercept=False, random_state=1).fit(x, y)
    found.append(list(calls))
print(json.dumps(found))
