"""Settings that hold for every test, and the real engines that several rooms test with; each is started once."""

import os

os.environ.setdefault(
    "OPENBLAS_NUM_THREADS", "1"
)  # before NumPy: two workers and two threads each would wait for another

os.environ.setdefault("LEASTNOISE_CACHE", "off")  # what a test plans is planned there and then

import pytest
from hypothesis import Phase, settings

from support.postgres import postgres_server

settings.register_profile("leastnoise", deadline=None)  # a busy machine is not a failure
settings.register_profile("verdict", deadline=None, phases=[Phase.explicit, Phase.generate])  # for `make mutate`
settings.load_profile("leastnoise")


def pytest_collection_modifyitems(items):
    """Whatever uses a server or a cluster is marked, so that `make quick` can leave it out."""
    for item in items:
        names = set(getattr(item, "fixturenames", ()))
        parameters = getattr(getattr(item, "callspec", None), "params", {}).values()
        if names & {"postgres_address", "spark"} or {"postgres", "spark"} & {str(value) for value in parameters}:
            item.add_marker("engine")


@pytest.fixture(scope="session")
def postgres_address():
    """The address of a Postgres server."""
    with postgres_server() as address:
        yield address


@pytest.fixture(scope="session")
def spark():
    """A local Spark session."""
    sql = pytest.importorskip("pyspark.sql", reason="the package pyspark is not installed")
    session = (
        sql.SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    yield session
    session.stop()
