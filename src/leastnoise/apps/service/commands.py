"""`leastnoise serve` and `leastnoise token`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from leastnoise.apps.service.store import ServiceStore

__all__ = ["serve", "tokens"]

Config = Annotated[Path | None, typer.Argument(help="Instead of ./leastnoise.toml.", show_default=False)]
ConfigOption = Annotated[Path | None, typer.Option("--config", help="Instead of ./leastnoise.toml.")]
tokens = typer.Typer(help="Tokens of the service: make, list and revoke them.", no_args_is_help=True)


def serve(
    config: Config = None,
    host: Annotated[str | None, typer.Option(help="Where to listen; this machine only if left out.")] = None,
    port: Annotated[int | None, typer.Option(help="The port; 8787 if left out.")] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen for other machines without TLS: tokens can be read on the way.")
    ] = False,
    demo: Annotated[Path | None, typer.Option(help="Serve made-up data, kept in this folder, with two tokens.")] = None,
) -> None:
    """Serve the datasets of a configuration to many analysts."""
    from dataclasses import replace

    from leastnoise.apps.service.settings import read_settings
    from leastnoise.errors import BadParameter, MissingPackage
    from leastnoise.release.configuration import read_configuration
    from leastnoise.release.remote import is_loopback

    try:
        import fastapi  # noqa: F401
        import uvicorn
    except ImportError:
        raise MissingPackage("the service needs FastAPI and uvicorn", fix='pip install "leastnoise[service]"') from None
    if demo is not None:
        config = _make_demo(demo)
    configuration = read_configuration(config)
    settings = read_settings(configuration)
    settings = replace(settings, host=host or settings.host, port=settings.port if port is None else port)
    if not insecure and not is_loopback(settings.host):
        raise BadParameter(
            "without TLS tokens could be read on the way",
            given=settings.host,
            fix="listen on 127.0.0.1 behind a proxy that speaks TLS, or add --insecure where the network is trusted",
        )
    from leastnoise.apps.service.api import make_app
    from leastnoise.apps.service.guards import PatientProtocol
    from leastnoise.apps.service.service import Service

    service = Service(configuration, settings)
    if demo is not None:
        _show_demo(service.store, settings.host, settings.port)
    uvicorn.run(
        make_app(service),
        host=settings.host,
        port=settings.port,
        http=PatientProtocol,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=30,
        limit_concurrency=1000,
        h11_max_incomplete_event_size=32_768,
        timeout_graceful_shutdown=20,
    )


@tokens.command("create")
def create(
    name: Annotated[str, typer.Argument(help="Who gets it: the analyst in the ledger.")],
    role: Annotated[str, typer.Option(help="curator, analyst, auditor or reader.")] = "analyst",
    dataset: Annotated[
        list[str] | None, typer.Option(help="For this dataset; may be repeated. Without it none; see --all.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="For all datasets.")] = False,
    purpose: Annotated[list[str] | None, typer.Option(help="For this purpose only; may be repeated.")] = None,
    lasts: Annotated[str | None, typer.Option(help='How long it is good for: "90d"; for ever if left out.')] = None,
    config: ConfigOption = None,
) -> None:
    """Make a token. It is shown here and nowhere else."""
    from leastnoise.apps.service.access import new_token
    from leastnoise.apps.service.settings import read_duration
    from leastnoise.errors import BadParameter

    if every == bool(dataset):
        raise BadParameter("a token is for some datasets or for all", fix="add --dataset NAME, or --all")
    seconds = None if lasts is None else read_duration(lasts, "--lasts")
    purposes = tuple(purpose) if purpose else None
    text, _ = new_token(_store(config), name, role, None if every else tuple(dataset or ()), purposes, seconds)
    typer.echo(text)


@tokens.command("list")
def show(config: ConfigOption = None) -> None:
    """List all tokens, without their secrets."""
    for each in _store(config).tokens():
        over = each.revoked is not None or (each.expires is not None and each.expires <= time.time())
        reach = "all datasets" if each.datasets is None else ", ".join(each.datasets)
        typer.echo(f"{each.id}  {each.role:8} {each.name}  {reach}{'  (ended)' if over else ''}")


@tokens.command("revoke")
def revoke(
    token_id: Annotated[str, typer.Argument(help="As `leastnoise token list` shows it.")], config: ConfigOption = None
) -> None:
    """End a token at once."""
    from leastnoise.errors import NotFound

    if not _store(config).revoke(token_id, int(time.time())):
        raise NotFound("there is no such token", given=token_id, fix="see leastnoise token list")
    typer.echo(f"revoked {token_id}")


def _store(config: Path | None) -> ServiceStore:
    from leastnoise.apps.service.settings import read_settings
    from leastnoise.apps.service.store import ServiceStore
    from leastnoise.release.configuration import read_configuration

    return ServiceStore(read_settings(read_configuration(config)).store)


def _make_demo(folder: Path) -> Path:
    """A folder with made-up visits and a configuration; what is there already stays."""
    from leastnoise.apps.demo_table import CITIES, DIAGNOSES, MOST_VISITS, make_visits
    from leastnoise.data.engines.duckdb import write_parquet

    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "leastnoise.toml"
    if not (folder / "visits.parquet").exists():
        write_parquet(make_visits(100_000).columns, folder / "visits.parquet")
    if not config.exists():
        quoted = [", ".join(f'"{key}"' for key in keys) for keys in (CITIES, DIAGNOSES)]
        config.write_text(
            'ledger = "demo.ledger"\n\n[datasets.visits]\nsource = "visits.parquet"\nunit = "person_id"\n'
            f'budget = ["10", "1e-6"]\napprove_above = ["1", "1e-6"]\nrows_per_unit = {MOST_VISITS}\n\n'
            "[datasets.visits.bounds]\nage = [0, 100]\ncost = [0, 500]\n\n"
            f"[datasets.visits.keys]\ncity = [{quoted[0]}]\ndiagnosis = [{quoted[1]}]\n"
        )
    return config


def _show_demo(store: ServiceStore, host: str, port: int) -> None:
    from leastnoise.apps.service.access import new_token

    curator, analyst = (new_token(store, name, name, lasts=86400)[0] for name in ("curator", "analyst"))
    typer.echo(f"serving made-up visits at http://{host}:{port}")
    typer.echo(f"  curator's token: {curator}\n  analyst's token: {analyst}")
    typer.echo(f'  visits = ln.connect("http://{host}:{port}", token="…")')
