"""The durable ledger: append-only, hash-chained, shared by threads, processes and hosts."""

from leastnoise.ledger.budgets import Balance, Opening, PrivacyUnit, Scope
from leastnoise.ledger.ledger import Ledger
from leastnoise.ledger.ledger_state import Verification
from leastnoise.ledger.postgres import PostgresStore
from leastnoise.ledger.record import Request
from leastnoise.ledger.report import BudgetHistory, HistoryPoint, budget_histories, export_csv, export_json
from leastnoise.ledger.request_states import Debit
from leastnoise.ledger.request_steps import Receipt
from leastnoise.ledger.sqlite import SqliteStore
from leastnoise.ledger.store import Store, Transaction
from leastnoise.ledger.suspension import FLOOR, INTERRUPTIONS, Suspension
from leastnoise.ledger.witness import Witness, read_witness, write_witness

__all__ = [
    "FLOOR",
    "INTERRUPTIONS",
    "Balance",
    "BudgetHistory",
    "Debit",
    "HistoryPoint",
    "Ledger",
    "Opening",
    "PostgresStore",
    "PrivacyUnit",
    "Receipt",
    "Request",
    "Scope",
    "SqliteStore",
    "Store",
    "Suspension",
    "Transaction",
    "Verification",
    "Witness",
    "budget_histories",
    "export_csv",
    "export_json",
    "read_witness",
    "write_witness",
]
