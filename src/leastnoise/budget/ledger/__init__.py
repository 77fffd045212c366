"""The durable ledger: append-only, hash-chained, shared by threads, processes and hosts."""

from leastnoise.budget.ledger.balance import Balance
from leastnoise.budget.ledger.books import Scope
from leastnoise.budget.ledger.export import export_csv, export_json
from leastnoise.budget.ledger.history import Course, Moment, courses
from leastnoise.budget.ledger.ledger import Ledger
from leastnoise.budget.ledger.postgres import PostgresStore
from leastnoise.budget.ledger.record import Request
from leastnoise.budget.ledger.sqlite import SqliteStore
from leastnoise.budget.ledger.steps import Receipt
from leastnoise.budget.ledger.store import Session, Store
from leastnoise.budget.ledger.verification import Verification
from leastnoise.budget.ledger.witness import Witness, read_witness, write_witness

__all__ = [
    "Balance",
    "Course",
    "Ledger",
    "Moment",
    "PostgresStore",
    "Receipt",
    "Request",
    "Scope",
    "Session",
    "SqliteStore",
    "Store",
    "Verification",
    "Witness",
    "courses",
    "export_csv",
    "export_json",
    "read_witness",
    "write_witness",
]
