"""Grammars of JavaScript, TypeScript, CSS, and SCSS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citekit.adapters.formats.code.grammar import Grammar
from citekit.adapters.formats.code.names import bound_kind, name_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_SUITES = frozenset(["describe", "it", "test", "suite", "context", "specify", "bench"])
_TITLE_LIMIT = 120


def _script_kind(node: Node, listed: str, parent: str | None, data: bytes) -> str:
    if listed == "test":
        return "test" if _title(node, data) else ""
    return bound_kind(node, listed, parent, data)


def _script_name(node: Node, data: bytes) -> str:
    return _title(node, data) if node.type == "call_expression" else name_of(node, data)


def _title(node: Node, data: bytes) -> str:
    """Return the title of a JavaScript test call, such as `describe("a thing", () => ...)`, or "" for other calls."""
    called = node.child_by_field_name("function")
    while called is not None and called.type in ("member_expression", "call_expression"):
        called = called.child_by_field_name("object") or called.child_by_field_name("function")
    arguments = node.child_by_field_name("arguments")
    if called is None or called.type != "identifier" or text_of(called, data, 20) not in _SUITES or arguments is None:
        return ""
    first = arguments.named_child(0) if arguments.named_child_count > 1 else None
    return text_of(first, data, _TITLE_LIMIT) if first is not None and "string" in first.type else ""


def _rule_kind(node: Node, listed: str, _parent: str | None, _data: bytes) -> str:
    """Return `listed`, or "" for an at-rule without a block, such as `@import`."""
    bare = node.type == "at_rule" and not any(each.type == "block" for each in node.named_children[:20])
    return "" if bare else listed


def _rule_name(node: Node, data: bytes) -> str:
    """Return the selectors of a CSS rule, the name of a named rule, or the beginning of an at-rule."""
    block = next((each for each in node.named_children[:8] if each.type.endswith(("block", "block_list"))), None)
    end = block.start_byte if block is not None else node.end_byte
    named = node.child_by_field_name("name")
    return text_of(named, data) or data[node.start_byte : min(end, node.start_byte + 400)].decode("utf-8", "replace")


_JAVASCRIPT = """
class class_declaration class
function function_declaration generator_function_declaration method_definition
binding variable_declarator assignment_expression field_definition pair
test call_expression
"""
_DECORATED = "comment decorator"
_JAVASCRIPT_WRAPPERS = "export_statement lexical_declaration variable_declaration expression_statement"
_TYPESCRIPT = """
class class_declaration abstract_class_declaration class
interface interface_declaration
enum enum_declaration
type type_alias_declaration
namespace internal_module module
function function_declaration generator_function_declaration method_definition function_signature
function method_signature abstract_method_signature
binding variable_declarator assignment_expression public_field_definition pair
test call_expression
"""
_TYPESCRIPT_WRAPPERS = f"{_JAVASCRIPT_WRAPPERS} ambient_declaration"
_SHEET = """
rule rule_set
rule media_statement keyframes_statement supports_statement
"""


def _script(package: str, kinds: str, wrappers: str, function: str = "language") -> Grammar:
    return Grammar(package, kinds, wrappers, _DECORATED, function, kind=_script_kind, name=_script_name)


GRAMMARS = {
    "javascript": _script("tree_sitter_javascript", _JAVASCRIPT, _JAVASCRIPT_WRAPPERS),
    "typescript": _script("tree_sitter_typescript", _TYPESCRIPT, _TYPESCRIPT_WRAPPERS, "language_typescript"),
    "tsx": _script("tree_sitter_typescript", _TYPESCRIPT, _TYPESCRIPT_WRAPPERS, "language_tsx"),
    "css": Grammar("tree_sitter_css", f"{_SHEET}\nrule at_rule scope_statement", kind=_rule_kind, name=_rule_name),
    "scss": Grammar(
        "tree_sitter_scss",
        f"""{_SHEET}
        mixin mixin_statement
        function function_statement
        """,
        above="comment js_comment",
        name=_rule_name,
    ),
}
