"""Changes of editable documents that consist of several changes."""
from collections.abc import Iterable


def strip_tags(top, tags: Iterable[str]) -> None:
    for node in _elements(top, tags):
        node.decompose()


def unwrap_tags(top, tags: Iterable[str], delete_empty: bool = False) -> None:
    for node in _elements(top, tags):
        node.unwrap(delete_empty)


def _elements(top, tags):
    names = list(tags)
    return list(top.css(", ".join(names))) if names else []


def merge_text_nodes(top) -> None:
    for node in list(top.traverse(include_text=True)):
        if node.tag != "-text" or (node.prev is not None and node.prev.tag == "-text"):
            continue
        run, after = [], node.next
        while after is not None and after.tag == "-text":
            run.append(after)
            after = after.next
        if run:
            node.data = "".join(text.data for text in [node, *run])
            for text in run:
                text.decompose()
