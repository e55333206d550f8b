# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""A hook of MkDocs for pages of the site that are outside of docs/.

`make docs` writes the reference of dialects and passes to build/docs; the headers of the API, the changelog and the pages of
the examples are in the repository. Links to these leave docs/ in the repository, but not in the site.
"""
import pathlib
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent


def on_files(files, config):
    for page in sorted((ROOT / "build" / "docs").glob("*.md")):
        title = f"# {page.stem}\n\n"
        files.append(File.generated(config, f"reference/{page.name}", content=title + page.read_text()))
    for name, title in (("adze.h", "C API"), ("adze.hpp", "C++ API"), ("adze_generate.h", "C API")):
        header = (ROOT / "runtime" / "include" / name).read_text()
        text = f"# {title}: {name}\n\n```cpp\n{header}```\n"
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    for page in sorted((ROOT / "examples").glob("*/README.md")):
        files.append(File.generated(config, str(page.relative_to(ROOT)), content=page.read_text()))
    changelog = (ROOT / "CHANGELOG.md").read_text().replace("(docs/", "(")
    files.append(File.generated(config, "CHANGELOG.md", content=changelog))
    return files


def on_page_markdown(markdown, page, **_):
    """Rewrites links out of docs/ and into it for the site."""
    up = "../" * page.file.src_uri.count("/")
    markdown = re.sub(r"\]\(" + re.escape(up) + r"\.\./runtime/include/(\w+\.hp*)\)", rf"]({up}reference/\1.md)", markdown)
    markdown = markdown.replace(f"]({up}../examples/", f"]({up}examples/")
    return markdown.replace(f"]({up}docs/", f"]({up}")
