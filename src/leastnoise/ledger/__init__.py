"""The durable ledger: append-only, hash-chained, shared by threads, processes and hosts."""

from leastnoise.ledger.balance import Balance
from leastnoise.ledger.budgets import Scope
from leastnoise.ledger.export import export_csv, export_json
from leastnoise.ledger.history import Course, Moment, courses
from leastnoise.ledger.ledger import Ledger
from leastnoise.ledger.opening import Opening, PrivacyUnit
from leastnoise.ledger.postgres import PostgresStore
from leastnoise.ledger.record import Request
from leastnoise.ledger.sqlite import SqliteStore
from leastnoise.ledger.steps import Receipt
from leastnoise.ledger.store import Session, Store
from leastnoise.ledger.suspension import INTERRUPTIONS, Suspension
from leastnoise.ledger.verification import Verification
from leastnoise.ledger.witness import Witness, read_witness, write_witness

__all__ = [
    "INTERRUPTIONS",
    "Balance",
    "Course",
    "Ledger",
    "Moment",
    "Opening",
    "PostgresStore",
    "PrivacyUnit",
    "Receipt",
    "Request",
    "Scope",
    "Session",
    "SqliteStore",
    "Store",
    "Suspension",
    "Verification",
    "Witness",
    "courses",
    "export_csv",
    "export_json",
    "read_witness",
    "write_witness",
]
