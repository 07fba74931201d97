"""Responses to contacts, and the motion of rigid bodies."""

from __future__ import annotations

from choque.dynamics.response import Response, create_response, register_response, response_names

__all__ = ["Response", "create_response", "register_response", "response_names"]
