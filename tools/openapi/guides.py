"""The guides as the service serves them: all pages of a folder of ``docs`` in one, as Markdown and as HTML.

Owns what becomes of links and headings. Links between the pages lead to headings of the one page, those to the document
and to the other guide to their addresses, and those to other files of the source code are their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from posixpath import join, normpath
from typing import Any, Final

from markdown_it import MarkdownIt

ROOT: Final = Path(__file__).parent.parent.parent
SERVED: Final = ROOT / "service" / "web" / "guides" / "files"
GUIDES: Final = ("guide", "backends")

_LINK: Final = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
_FENCE: Final = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_HEADING: Final = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_COMMENT: Final = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_ADDRESSES: Final = {"openapi.yaml": "/openapi.yaml", "docs/page.md": "/"}
_METHODS: Final = ("get", "post", "put", "patch", "delete")
_STYLE: Final = (
    "body{font:1rem/1.55 system-ui,sans-serif;max-width:46rem;margin:0 auto;padding:1rem;color:#222;background:#fff}"
    "pre{overflow-x:auto;padding:.8rem;background:#f3f1ec;border-radius:.4rem}code{font-size:.92em}"
    "table{display:block;overflow-x:auto;border-collapse:collapse}td,th{border:1px solid #ccc;padding:.3rem .5rem;"
    "text-align:left;vertical-align:top}a{color:#0b5394}h1,h2,h3,h4{line-height:1.25}"
    "@media(prefers-color-scheme:dark){body{color:#e6e3dc;background:#1c1b19}pre{background:#2a2825}"
    "td,th{border-color:#555}a{color:#9cc3ee}}"
)


_ASSISTANTS: Final = """\
# Domino

> {summary}.

Play with five calls: `GET /v1/variants` lists the games; `POST /v1/games` with `variant` and `players` starts one and
returns the token of each seat; `GET /v1/games/{{game}}` with `Authorization: Bearer <token>` shows your hand and your
`legal_moves`; `POST /v1/games/{{game}}/moves` takes one of them, unchanged; `GET /v1/games/{{game}}/score` explains
every point. Repeat the two in the middle until `status` is `finished`; `to_act` says who may move, and after a round
`deal` is a move.

A new game against a computer player: `{{"variant": "block", "players": [{{"name": "Ada"}}, {{"bot": "greedy"}}]}}`.
With `?text=true` a view has a sentence on how the game stands; with `after` (the `version` that you know) and `wait`
(up to 25 seconds) it waits for the others.

## Documents

- [Guide for clients](/guide): {guide} of Markdown: tokens, moves, retrying, errors, following a game
- [Guide for backends](/backends): {backends} of Markdown: keys, webhooks, lists of games, players, deletion
- [OpenAPI as YAML](/openapi.yaml): {openapi_yaml}, [as JSON](/openapi.json): {openapi_json}, with schemas and examples
- [Problems](/problems): every code and reason of an error, as JSON; a response has those that concern it

## Operations

"""


def guide_files(described: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[Path, bytes]:
    """Return the content of each file.

    ``described`` is the document, ``sizes`` are those of its files by their addresses.
    """
    texts = {name: _one_page(name) for name in GUIDES}
    found: dict[Path, bytes] = {}
    for name, text in texts.items():
        found[SERVED / f"{name}.md"] = text.encode()
        found[SERVED / f"{name}.html"] = _as_html(text).encode()
    all_sizes = {**sizes, **{f"/{name}": len(text.encode()) for name, text in texts.items()}}
    found[SERVED / "llms.md"] = _for_assistants(described, all_sizes).encode()
    found[SERVED / "robots.md"] = b"User-agent: *\nDisallow: /v1/games\nDisallow: /v1/lobby\nAllow: /\n"
    return found


def slug(heading: str) -> str:
    """Return the name of a heading in a link, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).lower()).replace(" ", "-")


def _one_page(name: str) -> str:
    folder = ROOT / "docs" / name
    pages = list(_pages(folder))
    titles = {page.name: _title(page) for page in pages}
    texts = [_page_text(page, titles, name, is_first=index == 0) for index, page in enumerate(pages)]
    return "\n\n".join(texts) + "\n"


def _pages(folder: Path) -> Iterator[Path]:
    """Yield the index of a folder, and the pages in the order in which it names them."""
    index = folder / "README.md"
    yield index
    named = dict.fromkeys(target.partition("#")[0] for _, target in _LINK.findall(index.read_text("utf-8")))
    yield from [folder / each for each in named if each.endswith(".md") and "/" not in each]


def _title(page: Path) -> str:
    heading = _HEADING.search(page.read_text("utf-8"))
    assert heading is not None, page
    return heading[2]


def _page_text(page: Path, titles: Mapping[str, str], guide: str, *, is_first: bool) -> str:
    parts = _FENCE.split(_COMMENT.sub("", page.read_text("utf-8")).strip())
    for at in range(0, len(parts), 2):  # every other one is a block of code
        text = _LINK.sub(lambda match: _link(match, titles, guide), parts[at])
        parts[at] = text if is_first else _HEADING.sub(r"#\1 \2", text)
    return "".join(parts)


def _link(match: re.Match[str], titles: Mapping[str, str], guide: str) -> str:
    text, target = match[1], match[2]
    file, _, anchor = target.partition("#")
    if "://" in target or not file:
        return match[0]
    if file in titles:
        return f"[{text}](#{anchor or slug(titles[file])})"
    path = normpath(join("docs", guide, file))
    for other in GUIDES:
        if path.startswith(f"docs/{other}/"):
            return f"[{text}](/{other}{f'#{anchor}' if anchor else ''})"
    return f"[{text}]({_ADDRESSES[path]})" if path in _ADDRESSES else f"{text} (`{path}` of the source code)"


def _as_html(text: str) -> str:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text)
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", slug(tokens[at + 1].content))
    body = parser.renderer.render(tokens, parser.options, {})
    title = escape(text.partition("\n")[0].lstrip("# "))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )


def _for_assistants(described: Mapping[str, Any], sizes: Mapping[str, int]) -> str:
    def size(address: str) -> str:
        return f"{max(1, round(sizes[address] / 1000))} KB"

    summary = described["info"]["description"].partition(". ")[0].strip()
    text = _ASSISTANTS.format(
        summary=summary, **{address.strip("/").replace(".", "_"): size(address) for address in sizes}
    )
    lines = []
    for path, item in described["paths"].items():
        lines += [f"- `{method.upper()} {path}`: {item[method]['summary']}" for method in _METHODS if method in item]
    return text + "\n".join(lines) + "\n"
