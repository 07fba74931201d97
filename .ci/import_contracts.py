"""A contract for import-linter: what a package keeps to itself, no other package imports."""

from __future__ import annotations

from importlinter import Contract, ContractCheck, fields, output


class PrivateModules(Contract):
    """No module imports a module of another package whose name begins with an underscore.

    Packages are the folders directly below ``root``. Those in ``open`` are private to the whole project and open within
    it. Imports inside functions count too; ``.ci/figures.py`` also counts those that only a type checker sees.
    """

    type_name = "private_modules"

    root = fields.StringField()
    open = fields.SetField(subfield=fields.StringField(), required=False, default=set())

    def check(self, graph: object, verbose: bool) -> ContractCheck:  # noqa: ARG002
        """Find every import that crosses a border to a private module."""
        broken = []
        for importer in sorted(graph.modules):
            for imported in sorted(graph.find_modules_directly_imported_by(importer)):
                if self._is_broken(importer, imported):
                    lines = graph.get_import_details(importer=importer, imported=imported)
                    broken.append((importer, imported, lines[0]["line_number"] if lines else 0))
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each such import with its line."""
        for importer, imported, line in check.metadata["broken"]:
            output.print_error(f"{importer} imports {imported} (line {line}), which is private to its package.")

    def _is_broken(self, importer: str, imported: str) -> bool:
        package = self._package(imported)
        if not package or package in self.open or package == self._package(importer):
            return False
        if importer == self.root:  # the façade exports what its own private modules define
            return False
        return any(part.startswith("_") and not part.endswith("__") for part in imported.split(".")[1:])

    def _package(self, module: str) -> str:
        parts = module.split(".")
        return ".".join(parts[:2]) if len(parts) > 1 and parts[0] == self.root else ""
