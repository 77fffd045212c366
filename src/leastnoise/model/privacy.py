"""A privacy promise, budget or price as an exact value, in one of four currencies: ε, (ε, δ), ρ or μ."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, TypeAlias, final

from leastnoise.errors import BadParameter, WrongCurrency
from leastnoise.exact import Exact, NumberLike, read_exact, read_rational
from leastnoise.model.show import brief

__all__ = ["Currency", "Privacy"]

Currency: TypeAlias = Literal["epsilon", "epsilon and delta", "rho", "mu"]

_SENSIBLE: dict[Currency, tuple[str, int]] = {
    "epsilon": ("an epsilon", 20),
    "epsilon and delta": ("an epsilon", 20),
    "rho": ("a rho", 20),
    "mu": ("a mu", 6),
}
_SENSIBLE_DELTA = Fraction(1, 2)
_SYMBOLS: dict[Currency, str] = {"epsilon": "ε", "rho": "ρ", "mu": "μ"}


@final
class Privacy:
    """What is promised for neighbours x, x', in exactly one currency.

    - `Privacy(epsilon)`, `Privacy(epsilon, delta)`: P(M(x) ∈ S) ≤ e^ε·P(M(x') ∈ S) + δ for every set S of outputs.
    - `Privacy(rho=…)`: ρ-zero-concentrated privacy (Bun and Steinke 2016).
    - `Privacy(mu=…)`: μ-Gaussian privacy (Dong, Roth and Su 2022).

    Args:
        epsilon: Zero or more, read exactly: 0.1 is one tenth, "ln(3)" is the number ln 3.
        delta: Beside ε only: from zero up to, not including, one (δ = 1 would promise nothing).
        rho: Above zero.
        mu: Above zero.
        insist: Let a budget or price be larger than `require_sensible` allows. It is no part of the promise: it does
            not count when two are compared.

    Raises:
        BadParameter: Not a number, out of range, no currency, or more than one.

    >>> Privacy("ln(3)"), Privacy(0.5, "1e-6").delta, Privacy(rho="1/10"), Privacy(mu="1/5").mu_squared
    (Privacy(epsilon=ln(3), delta=0), Fraction(1, 1000000), Privacy(rho=1/10), Fraction(1, 25))
    """

    __slots__ = ("_amount", "_currency", "_delta", "_insist")
    _amount: Exact
    _currency: Currency
    _delta: Fraction
    _insist: bool

    def __init__(
        self,
        epsilon: NumberLike | None = None,
        delta: NumberLike = 0,
        *,
        rho: NumberLike | None = None,
        mu: NumberLike | None = None,
        insist: bool = False,
    ) -> None:
        share = read_rational(delta, "delta", at_least=0, below=1)
        given = [name for name, value in (("epsilon", epsilon), ("rho", rho), ("mu", mu)) if value is not None]
        if len(given) != 1 or (share and epsilon is None):
            raise BadParameter(
                "privacy is given in one currency: epsilon, epsilon and delta, rho, or mu",
                given=" and ".join([*given, *(["delta"] if share else [])]) or "none",
                fix='pass for example Privacy(1), Privacy(1, "1e-6"), Privacy(rho="1/10") or Privacy(mu="1/5")',
            )
        amount: Exact
        currency: Currency
        if rho is not None:
            amount, currency = read_rational(rho, "rho", above=0), "rho"
        elif mu is not None:
            amount, currency = read_rational(mu, "mu", above=0), "mu"
        else:
            amount = read_exact(epsilon if epsilon is not None else 0, "epsilon", at_least=0)
            currency = "epsilon and delta" if share else "epsilon"
        for name, value in (("_amount", amount), ("_currency", currency), ("_delta", share), ("_insist", bool(insist))):
            object.__setattr__(self, name, value)

    @property
    def currency(self) -> Currency:
        """Which of the four it is given in."""
        return self._currency

    @property
    def epsilon(self) -> Exact:
        """ε; a promise in ρ or μ has none (raises `WrongCurrency`)."""
        return self._in("epsilon", self._currency in ("epsilon", "epsilon and delta"))

    @property
    def delta(self) -> Fraction:
        """δ, zero where only ε is given; a promise in ρ or μ has none (raises `WrongCurrency`)."""
        self._in("delta", self._currency in ("epsilon", "epsilon and delta"))
        return self._delta

    @property
    def rho(self) -> Fraction:
        """ρ; only a promise in ρ has one."""
        return self._rational("rho")

    @property
    def mu(self) -> Fraction:
        """μ; only a promise in μ has one."""
        return self._rational("mu")

    @property
    def mu_squared(self) -> Fraction:
        """μ², which is what adds up; only a promise in μ has one."""
        return self.mu**2

    @property
    def is_pure(self) -> bool:
        """Whether it is an ε with δ = 0."""
        return self._currency == "epsilon"

    @property
    def insists(self) -> bool:
        """Whether it may be larger than `require_sensible` allows."""
        return self._insist

    def require_sensible(self) -> Privacy:
        """Refuse a budget or a price that protects hardly anybody, unless it insists.

        More than ε = 20, ρ = 20 or μ = 6, or a δ of one half or more, is usually a slip: with δ = 1/2 a mechanism may
        publish all data every other time.

        Raises:
            BadParameter: It is that large, and was made without `insist=True`.

        >>> Privacy(30).require_sensible()
        Traceback (most recent call last):
        leastnoise.errors.BadParameter: an epsilon above 20 protects hardly anybody; given: ε = 30; pass less, or ...
        """
        name, most = _SENSIBLE[self._currency]
        if self._insist or (self._amount <= most and self._delta < _SENSIBLE_DELTA):
            return self
        problem = f"{name} above {most}" if self._amount > most else "a delta of 1/2 or more"
        raise BadParameter(
            f"{problem} protects hardly anybody",
            given=str(self),
            fix="pass less, or say Privacy(…, insist=True) where it is meant",
        )

    def to_dict(self) -> dict[str, str]:
        """The arguments that make it again, as exact texts.

        >>> Privacy(**Privacy(1, "1e-6").to_dict()), Privacy(rho="1/10").to_dict()
        (Privacy(epsilon=1, delta=1/1000000), {'rho': '1/10'})
        """
        if self._currency in ("rho", "mu"):
            return {self._currency: str(self._amount)}
        return {"epsilon": str(self._amount), "delta": str(self._delta)}

    def _in(self, name: str, is_there: bool) -> Exact:
        if not is_there:
            raise WrongCurrency(
                f"this privacy is given in {self._currency} and has no {name}",
                given=str(self),
                fix="read the number of its own currency, which `currency` names, or give it in another one",
            )
        return self._amount

    def _rational(self, name: Currency) -> Fraction:
        amount = self._in(name, self._currency == name)
        assert isinstance(amount, Fraction)  # noqa: S101 - for the type checker: it was read as one
        return amount

    def __eq__(self, other: object) -> bool:
        """Whether the same is promised in the same currency."""
        if not isinstance(other, Privacy):
            return NotImplemented
        return (self._currency, self._amount, self._delta) == (other._currency, other._amount, other._delta)

    def __hash__(self) -> int:
        """Of what is promised."""
        return hash((self._currency, self._amount, self._delta))

    def __setattr__(self, name: str, value: object) -> None:
        """Refused: a promise does not change."""
        raise AttributeError(f"Privacy can't be changed ({name})")

    def __delattr__(self, name: str) -> None:
        """Refused: a promise does not change."""
        raise AttributeError(f"Privacy can't be changed ({name})")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by its parts."""
        return _rebuild, (self.to_dict(), self._insist)

    def __repr__(self) -> str:
        """The currency and its numbers, exactly."""
        return f"Privacy({', '.join(f'{name}={value}' for name, value in self.to_dict().items())})"

    def __str__(self) -> str:
        """The promise as the literature writes it; of a number that nobody reads, the first digits."""
        if self._currency == "epsilon and delta":
            return f"(ε, δ) = ({brief(self._amount)}, {brief(self._delta)})"
        return f"{_SYMBOLS[self._currency]} = {brief(self._amount)}"


def _rebuild(fields: dict[str, str], insist: bool) -> Privacy:
    return Privacy(**fields, insist=insist)
