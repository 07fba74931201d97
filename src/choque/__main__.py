"""``python -m choque``, the same as ``choque``."""

from __future__ import annotations

import sys

from choque.cli import main

sys.exit(main())
