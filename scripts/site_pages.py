# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""A hook of MkDocs: pages of the site that lie outside of docs/.

The reference of dialects and passes is what `make docs` wrote into build/docs; the headers of the API and the changelog are
the repository's.
"""
import pathlib

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent


def on_files(files, config):
    for page in sorted((ROOT / "build" / "docs").glob("*.md")):
        title = f"# {page.stem}\n\n"
        files.append(File.generated(config, f"reference/{page.name}", content=title + page.read_text()))
    for name, title in (("adze.h", "C API"), ("adze.hpp", "C++ API")):
        header = (ROOT / "runtime" / "include" / name).read_text()
        text = f"# {title}: {name}\n\n```cpp\n{header}```\n"
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    changelog = (ROOT / "CHANGELOG.md").read_text().replace("(docs/", "(")
    files.append(File.generated(config, "CHANGELOG.md", content=changelog))
    return files
