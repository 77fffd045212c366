"""A standalone Spark cluster on loopback, a master and two workers, asked by a driver and by way of Spark Connect.

Each client is a process of its own: a Python process has one kind of Spark session.
"""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.slow]

CLIENT = """
import sys
from pyspark.sql import SparkSession

import leastnoise as ln
from leastnoise.model.privacy import Privacy

builder = SparkSession.builder
if sys.argv[1] == "connect":
    builder = builder.remote(sys.argv[2])
else:
    builder = builder.master(sys.argv[2]).config("spark.driver.host", "127.0.0.1").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.executor.memory", "512m")
spark = builder.getOrCreate()
spark.range(0, 40, 1, 4).selectExpr("id", "CAST(id % 3 AS STRING) AS town").createOrReplaceTempView("people")
spark.range(0, 200, 1, 4).selectExpr("id", "id % 50 AS person").createOrReplaceTempView("orders")
options = {"privacy_unit": "people.id", "links": {"orders.person": "people.id"}, "rows_per_unit": 3}
with ln.open(spark, **options, budget=Privacy(10**6, insist=True), ledger=sys.argv[3]) as shop:
    question = shop["orders"].count(by="people.town", keys=["0", "1", None])
    print("answer", *question.release(Privacy(4000, insist=True)).table["value"])
spark.stop()
"""
# 40 people with four orders each, of which three count; ten units of orders are nobody among the people.
ANSWER = "answer 42 39 30"


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_for(port, process):
    for _ in range(600):
        assert process.poll() is None
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError("nothing listens")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The address of the master, and how to start a class of Spark."""
    pyspark = pytest.importorskip("pyspark", reason="the package pyspark is not installed")
    home, folder, started = Path(pyspark.__file__).parent, tmp_path_factory.mktemp("cluster"), []
    given = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    environment = {**os.environ, **given, "SPARK_WORKER_DIR": str(folder)}

    def start(*command):
        with (folder / f"log {len(started)}").open("w") as log:
            started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder))
        return started[-1]

    port, runner = free_port(), home / "bin" / "spark-class"
    deploy = "org.apache.spark.deploy"
    address = f"spark://127.0.0.1:{port}"
    here = ("--host", "127.0.0.1", "--webui-port", "0")
    wait_for(port, start(runner, f"{deploy}.master.Master", *here, "--port", str(port)))
    for _ in range(2):
        start(runner, f"{deploy}.worker.Worker", address, *here, "--cores", "1", "--memory", "600m")
    yield address, start, home, folder
    for process in started[::-1]:
        process.terminate()
    for process in started:
        process.wait(30)


def ask(kind, address, folder):
    (folder / "client.py").write_text(CLIENT)
    command = [sys.executable, folder / "client.py", kind, address, folder / "ledger"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert done.stdout.strip() == ANSWER, done.stderr[-3000:]


def test_a_driver_on_a_cluster(cluster, tmp_path):
    address, _, _, folder = cluster
    ask("driver", address, tmp_path)
    assert len(list(folder.glob("app-*/*"))) == 2  # an executor on each worker


def test_spark_connect_on_a_cluster(cluster, tmp_path):
    pytest.importorskip("grpc", reason="Spark Connect needs the package grpcio")
    address, start, home, _ = cluster
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.port": port,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": 2,
    }
    configured = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    options = ["--master", address, *configured, "--class", server, "spark-internal"]
    wait_for(port, start(home / "bin" / "spark-submit", *options))
    ask("connect", f"sc://127.0.0.1:{port}", tmp_path)
