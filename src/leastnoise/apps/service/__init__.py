"""The service: many analysts, one budget. `leastnoise serve` and what belongs to it.

A request goes through `api` (HTTP), `access` (who is it), `service` (what may happen), `pool` and `worker` (a process
that opens the data, asks and can be killed). Whatever decides about budget is in the ledger; tokens, approvals and
what was asked are in the `store` beside it.
"""
