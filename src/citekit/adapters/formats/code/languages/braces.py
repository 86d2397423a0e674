"""Grammars of object-oriented languages with braces: Java, C#, Go, Rust, Kotlin, Swift, Scala, and Dart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citekit.adapters.formats.code.grammar import EXTRA, Grammar
from citekit.adapters.formats.code.names import kind_of, name_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_KOTLIN_KINDS = ("interface", "enum")
_CONSTRUCTORS = {
    "secondary_constructor": "constructor",
    "companion_object": "Companion",
    "init_declaration": "init",
    "deinit_declaration": "deinit",
    "subscript_declaration": "subscript",
}
_CLAUSES_BEFORE_NAME = 6


def _kotlin_kind(node: Node, listed: str, parent: str | None, data: bytes) -> str:
    """Return the outline type of a Kotlin definition. A `class_declaration` can be an interface or an enum."""
    if node.type != "class_declaration":
        return kind_of(node, listed, parent, data)
    name = node.child_by_field_name("name")
    end = name.start_byte if name is not None else node.end_byte
    keywords = data[node.start_byte : end].split()[-3:]
    return next((kind for kind in _KOTLIN_KINDS if kind.encode() in keywords), listed)


def _kotlin_name(node: Node, data: bytes) -> str:
    if node.type == "type_alias":
        return text_of(node.child_by_field_name("type"), data)
    return name_of(node, data) or _CONSTRUCTORS.get(node.type, "")


def _swift_kind(node: Node, listed: str, parent: str | None, data: bytes) -> str:
    """Return the outline type of a Swift definition; for a type, its keyword, such as `extension`."""
    word = node.child_by_field_name("declaration_kind") if node.type == "class_declaration" else None
    return text_of(word, data) if word is not None else kind_of(node, listed, parent, data)


def _swift_name(node: Node, data: bytes) -> str:
    return _CONSTRUCTORS.get(node.type) or name_of(node, data)


def _scala_name(node: Node, data: bytes) -> str:
    return name_of(node, data) or ("package" if node.type == "package_object" else "")


def _dart_name(node: Node, data: bytes) -> str:
    """Return the name of a Dart declaration, such as `Point.origin` for a named constructor."""
    children = node.named_children[:_CLAUSES_BEFORE_NAME]
    if "constructor" in node.type:
        return ".".join(text_of(each, data) for each in children if each.type == "identifier")
    if node.type == "operator_signature":
        return next((text_of(each, data) for each in children if "operator" in each.type), "")
    plain = next((each for each in children if each.type in ("identifier", "type_identifier")), None)
    return name_of(node, data) or text_of(plain, data)


GRAMMARS = {
    "java": Grammar(
        "tree_sitter_java",
        """
        module module_declaration
        class class_declaration
        record record_declaration
        interface interface_declaration annotation_type_declaration
        enum enum_declaration
        function method_declaration constructor_declaration compact_constructor_declaration
        """,
        above="line_comment block_comment",
    ),
    "csharp": Grammar(
        "tree_sitter_c_sharp",
        """
        namespace namespace_declaration file_scoped_namespace_declaration
        class class_declaration
        record record_declaration
        struct struct_declaration
        interface interface_declaration
        enum enum_declaration
        type delegate_declaration
        function method_declaration constructor_declaration destructor_declaration local_function_statement
        function operator_declaration conversion_operator_declaration
        """,
    ),
    "go": Grammar(
        "tree_sitter_go",
        """
        type type_spec type_alias
        function function_declaration method_declaration method_elem
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
        type type_item
        function function_item function_signature_item
        """,
        above="line_comment block_comment attribute_item",
    ),
    "kotlin": Grammar(
        "tree_sitter_kotlin",
        """
        class class_declaration
        object object_declaration companion_object
        type type_alias
        function function_declaration secondary_constructor
        """,
        above="line_comment block_comment",
        kind=_kotlin_kind,
        name=_kotlin_name,
    ),
    "swift": Grammar(
        "tree_sitter_swift",
        """
        class class_declaration
        protocol protocol_declaration
        type typealias_declaration
        function function_declaration protocol_function_declaration
        function init_declaration deinit_declaration subscript_declaration
        macro macro_declaration
        """,
        above="comment multiline_comment",
        kind=_swift_kind,
        name=_swift_name,
        extra=EXTRA,
    ),
    "scala": Grammar(
        "tree_sitter_scala",
        """
        class class_definition
        object object_definition package_object
        instance given_definition
        trait trait_definition
        enum enum_definition
        type type_definition
        function function_definition function_declaration
        """,
        above="comment block_comment",
        name=_scala_name,
        extra=EXTRA,
    ),
    "dart": Grammar(
        "tree_sitter_dart",
        """
        class class_definition
        mixin mixin_declaration
        enum enum_declaration
        extension extension_declaration extension_type_declaration
        type type_alias
        function function_signature getter_signature setter_signature operator_signature
        function constructor_signature constant_constructor_signature
        function factory_constructor_signature redirecting_factory_constructor_signature
        """,
        "method_signature declaration",
        "comment documentation_comment annotation",
        tail="function_body",
        name=_dart_name,
        extra=EXTRA,
    ),
}
