"""The documentation: pages in Markdown, and what makes a site of them and of the sources.

``mkdocs build --strict -f engine/mkdocs.yml`` builds it, into ``build/site``.
"""
