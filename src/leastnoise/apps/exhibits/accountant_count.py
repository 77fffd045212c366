"""The ε that dp-accounting gives for one and for ten uses of randomized response, at δ = 10^-6."""

import json

from dp_accounting import dp_event, pld, privacy_accountant

relation = privacy_accountant.NeighboringRelation.REPLACE_ONE
event = dp_event.RandomizedResponseDpEvent(noise_parameter=0.5, num_buckets=2)
found = {str(count): pld.PLDAccountant(relation).compose(event, count).get_epsilon(1e-6) for count in (1, 10)}
print(json.dumps(found))
