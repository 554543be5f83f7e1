"""A user's own exchange, predicted and measured side by side."""

from pready.validate.prove.session import Proof, Prover, Told, prove

__all__ = ["Proof", "Prover", "Told", "prove"]
