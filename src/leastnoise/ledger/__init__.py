"""The durable ledger: append-only, hash-chained, shared by threads, processes and hosts."""

from leastnoise.ledger.budgets import FLOOR, INTERRUPTIONS, Balance, Opening, PrivacyUnit, Scope, Suspension
from leastnoise.ledger.chain import Witness, read_witness, write_witness
from leastnoise.ledger.ledger import Ledger
from leastnoise.ledger.ledger_state import Verification
from leastnoise.ledger.postgres import PostgresStore
from leastnoise.ledger.record import Debit, Request
from leastnoise.ledger.report import BudgetHistory, HistoryPoint, budget_histories, export_csv, export_json
from leastnoise.ledger.session import Receipt
from leastnoise.ledger.sqlite import SqliteStore
from leastnoise.ledger.store import Store, Transaction

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
