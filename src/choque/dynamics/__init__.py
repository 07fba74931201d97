"""Rules of motion: inertia, integration, and responses to contacts."""

from __future__ import annotations

from choque.dynamics._inertia import capsule_inertia, sphere_inertia
from choque.dynamics._registry import create_response, register_response, response_names
from choque.dynamics.integration import integrate
from choque.dynamics.response import Response

__all__ = [
    "Response",
    "capsule_inertia",
    "create_response",
    "integrate",
    "register_response",
    "response_names",
    "sphere_inertia",
]
