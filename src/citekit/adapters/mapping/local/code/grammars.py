"""For every language: which package parses it, and which of its syntax nodes are the parts of a program.

The node types are those of each grammar's `node-types.json`.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

BINDING = "binding"
"""A name bound to a value: a function where its value is one, else nothing."""

PROTOTYPE = "prototype"
"""A declaration: a function where it declares one that the file does not define, else nothing."""

CONTAINERS = frozenset({"class", "interface", "enum", "struct", "trait", "impl", "record", "union"})
"""Kinds whose functions are methods."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _kinds(text: str) -> dict[str, str]:
    """Rows of a kind and the node types that are of it."""
    rows = [row.split() for row in text.splitlines() if row.strip()]
    return {each: kind for kind, *types in rows for each in types}


@frozen
class Grammar:
    """One language: `kinds` maps a node type to the type of its draft.

    `wrappers` are nodes that may hold a definition and belong to it (decorators, `export`); `above` are those that
    belong to the definition they directly precede (comments, attributes).
    """

    package: str
    kinds: Mapping[str, str] = field(converter=_kinds)
    wrappers: frozenset[str] = field(default="", converter=_words)
    above: frozenset[str] = field(default="comment", converter=_words)
    function: str = "language"

    @property
    def wanted(self) -> frozenset[str]:
        """Every node type that matters here."""
        return self.wrappers | self.above | frozenset(self.kinds)


_JAVASCRIPT = """
class class_declaration class
function function_declaration generator_function_declaration method_definition
binding variable_declarator assignment_expression field_definition
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
binding variable_declarator assignment_expression public_field_definition
"""
_TYPESCRIPT_WRAPPERS = f"{_JAVASCRIPT_WRAPPERS} ambient_declaration"
_C = """
struct struct_specifier
union union_specifier
enum enum_specifier
function function_definition
prototype declaration type_definition
"""

GRAMMARS: dict[str, Grammar] = {
    "python": Grammar(
        "tree_sitter_python",
        """
        class class_definition
        function function_definition
        """,
        "decorated_definition",
    ),
    "javascript": Grammar("tree_sitter_javascript", _JAVASCRIPT, _JAVASCRIPT_WRAPPERS, _DECORATED),
    "typescript": Grammar("tree_sitter_typescript", _TYPESCRIPT, _TYPESCRIPT_WRAPPERS, function="language_typescript"),
    "tsx": Grammar("tree_sitter_typescript", _TYPESCRIPT, _TYPESCRIPT_WRAPPERS, _DECORATED, function="language_tsx"),
    "java": Grammar(
        "tree_sitter_java",
        """
        class class_declaration
        record record_declaration
        interface interface_declaration annotation_type_declaration
        enum enum_declaration
        function method_declaration constructor_declaration compact_constructor_declaration
        """,
        above="line_comment block_comment",
    ),
    "c": Grammar("tree_sitter_c", _C),
    "cpp": Grammar(
        "tree_sitter_cpp",
        f"""{_C}
        class class_specifier
        namespace namespace_definition
        prototype field_declaration
        """,
        "template_declaration",
    ),
    "csharp": Grammar(
        "tree_sitter_c_sharp",
        """
        namespace namespace_declaration
        class class_declaration
        record record_declaration
        struct struct_declaration
        interface interface_declaration
        enum enum_declaration
        function method_declaration constructor_declaration destructor_declaration local_function_statement
        """,
    ),
    "go": Grammar(
        "tree_sitter_go",
        """
        type type_spec
        function function_declaration method_declaration
        """,
        "type_declaration",
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        """
        struct struct_item
        union union_item
        enum enum_item
        trait trait_item
        impl impl_item
        module mod_item
        macro macro_definition
        function function_item function_signature_item
        """,
        above="line_comment block_comment attribute_item",
    ),
    "ruby": Grammar(
        "tree_sitter_ruby",
        """
        class class
        module module
        function method singleton_method
        """,
    ),
    "php": Grammar(
        "tree_sitter_php",
        """
        namespace namespace_definition
        class class_declaration
        interface interface_declaration
        trait trait_declaration
        enum enum_declaration
        function function_definition method_declaration
        """,
        function="language_php",
    ),
    "bash": Grammar("tree_sitter_bash", "function function_definition"),
}
