"""Runs a transformer in the ONNX format on tokens."""

from __future__ import annotations

import os
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from medsim.core.errors import InputError
from medsim.core.extras import needing
from medsim.core.reading import reading
from medsim.embeddings.formats.model_folder import found_in

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.embeddings.options import Device

Tokens: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.int64]]
"""Token ids, or types of tokens, a row a text: int64[n_texts, n_tokens]."""

Outputs: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
"""Vectors of tokens, float32[n_texts, n_tokens, n_dimensions]; or of texts, without the second."""

PROCESSOR = "CPUExecutionProvider"
"""The name that ONNX Runtime has for computing without a GPU."""

_DESCRIBES = "a model in ONNX"
_FED = ("input_ids", "attention_mask", "token_type_ids")
_WHOLE = {"tensor(int64)": "int64", "tensor(int32)": "int32"}
_TOKEN_AXES, _TEXT_AXES = 3, 2
_HEADS = frozenset({"logits", "start_logits", "end_logits"})  # of models made for another task
_GPU = "CUDAExecutionProvider"
_EXACT = {"use_tf32": "0"}  # products as precise as those of a processor
_DYNAMIC = b"DynamicQuantize"  # how the names of such operators begin, as they stand in the file


class OnnxSession:
    """A model that is run by any number of threads, each run in the thread that asks for it.

    Attributes:
        n_dimensions: of its vectors.
        of_tokens: whether it gives a vector for every token; else it gives one for every text.
        dynamic: whether it quantises as it runs: all texts of a run decide how each is rounded.
        version: of ONNX Runtime.
        provider: of ONNX Runtime, which computes: that of GPUs where it has one that works and the
            device is not "cpu", else that of processors.
    """

    def __init__(self, path: Path, device: Device = "cpu") -> None:
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # it would send what it runs over HTTPS
        with needing("encoders in ONNX need onnxruntime", "onnx"):
            import onnxruntime  # noqa: PLC0415 — an extra
        self._path = path
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        settings.use_deterministic_compute = True
        settings.log_severity_level = 4  # what is wrong is raised; warnings are of no use to users
        with reading(path, _DESCRIBES), redirect_stdout(StringIO()):  # it prints what it raises
            has_gpu = device == "auto" and _GPU in onnxruntime.get_available_providers()
            if has_gpu and hasattr(onnxruntime, "preload_dlls"):
                onnxruntime.preload_dlls()  # of NVIDIA's packages, which it does not find itself
            providers = [(_GPU, _EXACT), PROCESSOR] if has_gpu else [PROCESSOR]
            self._session = onnxruntime.InferenceSession(path, settings, providers=providers)
        self.provider = str(self._session.get_providers()[0])
        self._inputs = self._checked_inputs()
        self._outputs: list[str] | None = None  # all, until it is known which one is wanted
        self._outputs, self.of_tokens, self.n_dimensions = self._checked_outputs()
        self.dynamic = any(True for _ in found_in(path, _DYNAMIC))
        self.version = str(onnxruntime.__version__)

    def run(self, ids: Tokens, types: Tokens) -> Outputs:
        """Return the vectors of texts of equally many tokens."""
        return np.asarray(self._run(ids, types)[0], np.float32)

    def _run(self, ids: Tokens, types: Tokens) -> list[Any]:
        known = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
        fed = {name: known[name].astype(dtype) for name, dtype in self._inputs.items()}
        with reading(self._path, _DESCRIBES):
            return list(self._session.run(self._outputs, fed))

    def _checked_inputs(self) -> dict[str, str]:
        wanted = {one.name: one.type for one in self._session.get_inputs()}
        fits = set(wanted) <= set(_FED) and set(wanted.values()) <= set(_WHOLE)
        if "input_ids" not in wanted or not fits:
            listed = ", ".join(f"{name} {dtype}" for name, dtype in wanted.items())
            raise InputError(
                f"{self._path} is no encoder of tokens: it takes {listed or 'nothing'}, "
                f"and not whole numbers as {', '.join(_FED)}"
            )
        return {name: _WHOLE[dtype] for name, dtype in wanted.items()}

    def _checked_outputs(self) -> tuple[list[str], bool, int]:
        """Return the output that is used, whether it is of tokens, and its dimensions.

        A model need not say the shapes of its outputs, so it is run once.
        """
        ids: Tokens = np.zeros((1, 2), np.int64)
        shapes = [np.shape(found) for found in self._run(ids, ids)]
        names = [one.name for one in self._session.get_outputs()]
        for n_axes in (_TOKEN_AXES, _TEXT_AXES):
            for name, shape in zip(names, shapes, strict=True):
                is_vectors = name not in _HEADS and len(shape) == n_axes
                if is_vectors and shape[:-1] == ids.shape[: n_axes - 1]:
                    return [name], n_axes == _TOKEN_AXES, shape[-1]
        given = [f"{name} of shape {shape}" for name, shape in zip(names, shapes, strict=True)]
        raise InputError(
            f"{self._path} gives vectors neither of tokens nor of texts, but for one text of two "
            f"tokens {', '.join(given) or 'nothing'}; export it for feature-extraction"
        )
