"""The one place where all meet: plan (free), release (debit, then sample, then record)."""

from leastnoise.model import Sensitivity
from leastnoise.release.batch import Batch, BatchPlan, BatchRelease
from leastnoise.release.database import Database
from leastnoise.release.dataset import Dataset
from leastnoise.release.description import Description
from leastnoise.release.mechanism import release_mechanism
from leastnoise.release.opening import open  # noqa: A004 - it shadows the builtin only as ln.open
from leastnoise.release.plan import ReleasePlan
from leastnoise.release.queries.query import Query
from leastnoise.release.remote import connect
from leastnoise.release.result import Release
from leastnoise.release.sql_query import SQLQuery, SQLRelease
from leastnoise.release.tables import TidyTable

__all__ = [
    "Batch",
    "BatchPlan",
    "BatchRelease",
    "Database",
    "Dataset",
    "Description",
    "Query",
    "Release",
    "ReleasePlan",
    "SQLQuery",
    "SQLRelease",
    "Sensitivity",
    "TidyTable",
    "connect",
    "open",
    "release_mechanism",
]
