"""How the documentation is made: ``make docs`` builds it into ``output/docs``, without network and warnings."""

from __future__ import annotations

import sys
from pathlib import Path

import choque

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "Choque"
author = "The Choque developers"
copyright = author  # noqa: A001 - the name is Sphinx's
version = release = choque.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "repository_pages",
    "gallery_links",
    "short_signatures",
    "math_without_network",
    "whole_sentences",
    "generated_tables",
    "pictures",
]
exclude_patterns = ["_extensions", "theses/results/**"]

# Pages are written in MyST Markdown, docstrings and gallery scripts in reStructuredText.
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
default_role = "py:obj"
nitpicky = False
smartquotes_action = "qe"  # quotation marks and dots; two dashes begin an option
suppress_warnings = ["config.cache", "ref.python"]  # settings that hold functions; attributes that several classes have

# Docstrings give shapes and units; signatures give types.
autodoc_default_options = {
    "member-order": "bysource",
    # What a class of ours has from another one of ours, and nothing of Python's own.
    "inherited-members": (
        "ABC, BaseException, Generic, ImportError, Mapping, Protocol, Sequence, dict, list, str, tuple, type"
    ),
}
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_class_signature = "mixed"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "DTypeLike", "NDArray", "Pairs", "Floats", "Rows")}
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_param = False  # parameters that share a sentence stay together
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_attr_annotations = False  # signatures have them
napoleon_preprocess_types = False
add_module_names = False
python_maximum_signature_line_length = 120
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
modindex_common_prefix = ["choque."]

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "subsection_order": [
        f"../examples/{section}"
        for section in ("boxes", "motion", "worlds", "contacts", "volumes", "interest", "laboratory")
    ],
    "within_subsection_order": "gallery_links.EasiestFirst",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"third_party_method",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("choque",),
    "inspect_global_variables": True,
    "reference_url": {"choque": None},
    "reset_modules": ("matplotlib", "gallery_links.tell_place"),
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "plot_gallery": "unplotted" not in tags,  # noqa: F821 - Sphinx gives the tags of `-t`
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "parallel": 2,
}

html_math_renderer = "mathml"
html_theme = "furo"
html_title = "Choque"
html_static_path = ["_static"]
html_logo = html_favicon = "_static/choque.svg"
html_extra_path = ["llms.txt"]  # an index of the pages for programs that read documentation
html_css_files = ["choque.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
