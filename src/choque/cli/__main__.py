"""Lets ``python -m choque.cli`` stand for ``choque``."""

from __future__ import annotations

import sys

from choque.cli import main

sys.exit(main())
