"""Types of arguments, for annotations."""
from __future__ import annotations

import os
from array import array
from collections.abc import Mapping
from mmap import mmap
from typing import IO, Any, Literal, Union

Buffer = Union[bytes, bytearray, memoryview, mmap, "array[Any]"]
# The contents of a page, its path, or an open file.
Input = Union[Buffer, str, "os.PathLike[str]", IO[bytes], IO[str]]
Mode = Literal["auto", "sequential", "parallel", "pipelined"]
Limits = Union[Mapping[str, int], Literal["untrusted"], None]
