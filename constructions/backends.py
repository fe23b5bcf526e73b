"""Where arrays live: NumPy, or PyTorch on the CPU or a CUDA GPU (extra `torch`). The engines are the same code."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from array_api_compat import is_torch_array

from constructions.numbers import ProofError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["NUMPY", "Backend", "choose_backend", "to_host"]


@dataclass(frozen=True)
class Backend:
    """An array library and a device; see `choose_backend`, which checks that they are there.

    Parameters
    ----------
    name
        `numpy` or `torch`.
    device
        `cpu` or `cuda`.
    """

    name: Literal["numpy", "torch"] = "numpy"
    device: Literal["cpu", "cuda"] = "cpu"

    def put(self, array: npt.NDArray[Any]) -> Any:
        """Return a NumPy array as one of the backend, on its device."""
        if self.name == "numpy":
            return array
        import torch

        return torch.tensor(array, device=self.device)

    def fetch(self, array: Any) -> npt.NDArray[Any]:
        """Return an array of the backend as a NumPy array."""
        return to_host(array)


NUMPY = Backend()
"""The default."""


def to_host(array: Any) -> npt.NDArray[Any]:
    """Return an array of any backend as a NumPy array.

    Examples
    --------
    >>> to_host(np.arange(3)).tolist()
    [0, 1, 2]
    """
    return np.asarray(array.cpu() if is_torch_array(array) else array)


def choose_backend(name: str = "numpy", device: str = "cpu") -> Backend:
    """Return a backend after checking that this machine has it.

    Raises
    ------
    ProofError
        If the name or the device is unknown, PyTorch is not installed, or it finds no CUDA GPU.

    Examples
    --------
    >>> choose_backend().put(np.array([1, 2])).tolist()
    [1, 2]
    """
    if name not in ("numpy", "torch") or device not in ("cpu", "cuda"):
        raise ProofError(f"no backend {name} on {device}: take numpy or torch, on cpu or cuda")
    if name == "numpy":
        if device == "cuda":
            raise ProofError("NumPy runs on the CPU only: --device cuda needs --backend torch")
        return NUMPY
    if find_spec("torch") is None:
        raise ProofError('the torch backend needs PyTorch: pip install "sparseuap[torch]"')
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise ProofError("PyTorch finds no CUDA GPU on this machine: leave --device out")
        return Backend("torch", "cuda")
    return Backend("torch", "cpu")
