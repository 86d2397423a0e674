from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.formats.code.languages.every import GRAMMARS
from citekit.adapters.formats.code.outliner import SAME_NAME_LIMIT, CodeOutliner
from citekit.adapters.formats.code.preprocessing import objective_c, scss, shell, sql
from citekit.adapters.formats.code.preprocessing.dialects import NESTED_BRACKETS_LIMIT, prepare
from citekit.adapters.formats.code.symbols import NESTING_LIMIT
from citekit.adapters.formats.shared.outline import Outline, make_nodes
from citekit.adapters.libraries import tree_sitter
from citekit.domain.detection import detect
from citekit.domain.digest import Digest
from citekit.domain.errors import Cancelled, CiteKitError, MapperUnavailable
from citekit.domain.locations import Lines
from citekit.domain.node import Node
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

AS_TEXT = "The file is outlined as plain text."

SAMPLES = {
    "a.py": b'@deco\nclass DataProcessor(Base):\n    """Processes data. Fast."""\n\n    def process_data(self, x: int) -> int:\n        return x\n',
    "a.js": b"/** Adds. */\nexport const add = (a, b) => { return a + b; };\nclass Box { open() {} }\nfoo.bar = function () {};\n",
    "a.jsx": b"function Container() { return <div/>; }\n",
    "a.ts": b"interface Shape { area(): number }\nenum Color { Red }\nnamespace NS { export function f(): void {} }\ntype T = number;\n",
    "a.tsx": b"class Container extends C<P> {\n  @log()\n  render() { return <div/>; }\n}\n",
    "a.java": b"/** The main. */\n@Deprecated\nclass A {\n  A() {}\n  enum E { X }\n  interface I { void m(); }\n}\n",
    "a.h": b"/* Opens. */\nint open_it(char *name);\nstruct thing { int a; };\ntypedef struct { int x; } point_t;\nstruct other *p;\n",
    "a.cpp": b"namespace ns {\ntemplate <class T>\nclass Box { public: T get() const; };\nint& ref(int& a) { return a; }\n}\nvoid A::b() {}\n",
    "a.cs": b"namespace N {\n  class C { int P { get; set; } int M() => 1; record R(int X); }\n}\n",
    "a.go": b"// Serves.\ntype Server struct { port int }\nfunc (s *Server) Serve() error { return nil }\nfunc main() {}\n",
    "a.rs": b"/// A point.\n#[derive(Debug)]\nstruct Point { x: i32 }\nimpl Point { fn new() -> Self { Point { x: 1 } } }\ntrait Shape { fn area(&self); }\n",
    "a.rb": b"module Zoo\n  class Dog < Animal\n    # Barks.\n    def bark(n = 1)\n    end\n  end\nend\n",
    "a.php": b"<?php\nnamespace Container;\nfinal class User { /** Name. */ public function name(): string { return ''; } }\nfunction helper($a) {}\n",
    "a.kt": b"/** Adds. */\n@Ann\npublic class A {\n  companion object { fun z() = 1 }\n  fun m(): Int { return 1 }\n}\ninterface I {\n  fun w(): Int\n}\n",
    "a.swift": b"/// D.\npublic struct S {\n  init() {}\n  func m() -> Int { return 1 }\n}\nextension S { func z() {} }\nprotocol P { func w() -> Int }\n",
    "a.scala": b"/** D. */\nobject O {\n  def f(x: Int): Int = 1\n}\ntrait T { def w: Int }\ncase class K(a: Int)\n",
    "a.dart": b"/// D.\nclass A {\n  A.named();\n  int m(int a) {\n    return 1;\n  }\n}\nint top() => 1;\n",
    "a.zig": b'/// D.\npub fn f(a: i32) i32 {\n    return a;\n}\nconst S = struct {\n    pub fn m() void {}\n};\ntest "adds" {}\n',
    "a.lua": b"-- D.\nlocal function f() end\nfunction M.g(a)\n  return 1\nend\nM.y = function() end\n",
    "a.pl": b"package A;\n\n=head1 f\n\nDoes.\n\n=cut\n\nsub f { 1 }\npackage B;\nsub g { 2 }\n1;\n",
    "a.ps1": b"# D.\nfunction Get-A { param($x) }\nclass K {\n  [int] M() { return 1 }\n}\n",
    "a.ex": b'defmodule A.B do\n  @doc "Ones."\n  def f(1), do: 1\n  def f(x) do\n    x\n  end\n  defp g(y) when y > 1, do: y\nend\n',
    "a.jl": b'module M\n"D."\nfunction f(a::Int)::Int\nend\ng(x) = 1\nstruct S <: T\nend\nend\n',
    "a.hs": b"module A (f) where\n-- | D.\nf :: Int -> Int\nf 0 = 1\nf x = 2\n\ndata B = C | D\nclass K a where\n  m :: a -> Int\n",
    "a.m": b"/// D.\n@interface A : NSObject\n- (void)m:(int)a with:(int)b;\n@end\n@implementation A\n- (void)m:(int)a with:(int)b { }\n@end\n",
    "a.sql": b"-- D.\nCREATE TABLE a.b (\n  id int\n);\nCREATE VIEW v AS SELECT 1;\n",
    "a.css": b"/* D. */\n.a, b > c {\n  color: red;\n}\n@media print { .d { } }\n",
    "a.scss": b"// D.\n@mixin m($a) {\n  x: y;\n}\n.a { .b { } }\n",
    "a.sh": b"#!/bin/bash\n# Greets.\ngreet() {\n  echo hi\n}\n",
}

EXPECTED = {
    "a.py": [("DataProcessor", "class", 1, 6), ("DataProcessor.process_data", "method", 5, 6)],
    "a.js": [
        ("add", "function", 1, 2),
        ("Box", "class", 3, 3),
        ("Box.open", "method", 3, 3),
        ("bar", "function", 4, 4),
    ],
    "a.jsx": [("Container", "function", 1, 1)],
    "a.ts": [
        ("Shape", "interface", 1, 1),
        ("Shape.area", "method", 1, 1),
        ("Color", "enum", 2, 2),
        ("NS", "namespace", 3, 3),
        ("NS.f", "function", 3, 3),
        ("T", "type", 4, 4),
    ],
    "a.tsx": [("Container", "class", 1, 4), ("Container.render", "method", 2, 3)],
    "a.java": [
        ("A", "class", 1, 7),
        ("A.A", "method", 4, 4),
        ("A.E", "enum", 5, 5),
        ("A.I", "interface", 6, 6),
        ("A.I.m", "method", 6, 6),
    ],
    "a.h": [("open_it", "function", 1, 2), ("thing", "struct", 3, 3), ("point_t", "struct", 4, 4)],
    "a.cpp": [
        ("ns", "namespace", 1, 5),
        ("ns.Box", "class", 2, 3),
        ("ns.Box.get", "method", 3, 3),
        ("ns.ref", "function", 4, 4),
        ("A_b", "method", 6, 6),
    ],
    "a.cs": [("N", "namespace", 1, 3), ("N.C", "class", 2, 2), ("N.C.M", "method", 2, 2), ("N.C.R", "record", 2, 2)],
    "a.go": [("Server", "struct", 1, 2), ("Server_Serve", "method", 3, 3), ("main", "function", 4, 4)],
    "a.rs": [
        ("Point", "struct", 1, 3),
        ("impl_Point", "impl", 4, 4),
        ("impl_Point.new", "method", 4, 4),
        ("Shape", "trait", 5, 5),
        ("Shape.area", "method", 5, 5),
    ],
    "a.rb": [("Zoo", "module", 1, 7), ("Zoo.Dog", "class", 2, 6), ("Zoo.Dog.bark", "method", 3, 5)],
    "a.php": [("User", "class", 3, 3), ("User.name", "method", 3, 3), ("helper", "function", 4, 4)],
    "a.kt": [
        ("A", "class", 1, 6),
        ("A.Companion", "object", 4, 4),
        ("A.Companion.z", "method", 4, 4),
        ("A.m", "method", 5, 5),
        ("I", "interface", 7, 9),
        ("I.w", "method", 8, 8),
    ],
    "a.swift": [
        ("S", "struct", 1, 5),
        ("S.init", "method", 3, 3),
        ("S.m", "method", 4, 4),
        ("S_2", "extension", 6, 6),
        ("S_2.z", "method", 6, 6),
        ("P", "protocol", 7, 7),
        ("P.w", "method", 7, 7),
    ],
    "a.scala": [
        ("O", "object", 1, 4),
        ("O.f", "method", 3, 3),
        ("T", "trait", 5, 5),
        ("T.w", "method", 5, 5),
        ("K", "class", 6, 6),
    ],
    "a.dart": [
        ("A", "class", 1, 7),
        ("A.A_named", "method", 3, 3),
        ("A.m", "method", 4, 6),
        ("top", "function", 8, 8),
    ],
    "a.zig": [
        ("f", "function", 1, 4),
        ("S", "struct", 5, 7),
        ("S.m", "method", 6, 6),
        ("adds", "test", 8, 8),
    ],
    "a.lua": [("f", "function", 1, 2), ("M_g", "function", 3, 5), ("M_y", "function", 6, 6)],
    "a.pl": [
        ("A", "package", 1, 9),
        ("A.f", "function", 3, 9),
        ("B", "package", 10, 12),
        ("B.g", "function", 11, 11),
    ],
    "a.ps1": [("Get_A", "function", 1, 2), ("K", "class", 3, 5), ("K.M", "method", 4, 4)],
    "a.ex": [("A_B", "module", 1, 8), ("A_B.f", "function", 2, 6), ("A_B.g", "function", 7, 7)],
    "a.jl": [
        ("M", "module", 1, 8),
        ("M.f", "function", 2, 4),
        ("M.g", "function", 5, 5),
        ("M.S", "struct", 6, 7),
    ],
    "a.hs": [
        ("f", "function", 2, 5),
        ("B", "type", 7, 7),
        ("K", "class", 8, 9),
        ("K.m", "method", 9, 9),
    ],
    "a.m": [
        ("A", "class", 1, 4),
        ("A.m_with_", "method", 3, 3),
        ("A_2", "class", 5, 7),
        ("A_2.m_with_", "method", 6, 6),
    ],
    "a.sql": [("b", "table", 1, 4), ("v", "view", 5, 5)],
    "a.css": [("_a_b_c", "rule", 1, 4), ("_media_print", "rule", 5, 5), ("_media_print._d", "rule", 5, 5)],
    "a.scss": [("m", "mixin", 1, 4), ("_a", "rule", 5, 5), ("_a._b", "rule", 5, 5)],
    "a.sh": [("greet", "function", 2, 5)],
}

Outlined = Callable[[str, bytes], Outline]


def source_at(path: Path) -> Source:
    data = path.read_bytes()
    format = detect(path.name, data[:8192])
    assert format is not None
    return Source(path, Digest.of_bytes(data), len(data), format)


@pytest.fixture
def outlined(tmp_path: Path) -> Outlined:
    def outline(name: str, data: bytes) -> Outline:
        path = tmp_path / name
        path.write_bytes(data)
        return CodeOutliner().outline(source_at(path), silent)

    return outline


def nodes(outline: Outline) -> list[Node]:
    return [node for root in make_nodes(outline) for node in root.walk()]


def rows(outline: Outline) -> list[tuple[str, str, int, int]]:
    return [(n.id, n.type, n.location.first, n.location.last) for n in nodes(outline) if isinstance(n.location, Lines)]


def assert_nested(found: list[Node], lines: int) -> None:
    assert len({node.id for node in found}) == len(found)
    for node in found:
        assert isinstance(node.location, Lines)
        assert node.location.last <= lines
        assert all(node.location.contains(child.location) for child in node.children)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_the_definitions_of_every_language_are_found_with_their_lines(name: str, outlined: Outlined) -> None:
    actual = rows(outlined(name, SAMPLES[name]))

    assert EXPECTED[name] == actual


def test_every_grammar_has_a_sample() -> None:
    languages = {detect(name, data).name for name, data in SAMPLES.items()}  # type: ignore[union-attr]

    assert set(GRAMMARS) == languages


@pytest.mark.parametrize("language", sorted(GRAMMARS))
def test_the_node_types_of_a_table_exist_in_its_grammar(language: str) -> None:
    grammar = GRAMMARS[language]
    loaded = tree_sitter.grammar(grammar.package, grammar.function, grammar.extra)
    known = {loaded.node_kind_for_id(number) for number in range(loaded.node_kind_count)}

    assert sorted(grammar.wanted - known) == []


def test_a_summary_is_the_signature_and_the_first_sentence(outlined: Outlined) -> None:
    found = {node.id: node.summary for node in nodes(outlined("a.py", SAMPLES["a.py"]))}

    expected = {
        "DataProcessor": "class DataProcessor(Base) - Processes data.",
        "DataProcessor.process_data": "def process_data(self, x: int) -> int",
    }
    assert expected == found


@pytest.mark.parametrize(
    ("name", "summary"),
    [
        ("a.js", "export const add = (a, b) - Adds. [exported]"),
        ("a.h", "int open_it(char *name) - Opens."),
        ("a.rs", "struct Point - A point."),
        ("a.sh", "greet() - Greets."),
    ],
)
def test_a_comment_directly_above_gives_the_sentence(name: str, summary: str, outlined: Outlined) -> None:
    first = nodes(outlined(name, SAMPLES[name]))[0]

    assert summary == first.summary


def test_a_comment_after_a_blank_line_or_behind_code_does_not_belong_to_a_function(outlined: Outlined) -> None:
    found = rows(outlined("a.py", b"# licence\n\ndef f(): pass\nx = 1  # about x\ndef g(): pass\n"))

    assert [("f", "function", 3, 3), ("g", "function", 5, 5)] == found


def test_a_file_with_errors_gives_what_parses(outlined: Outlined) -> None:
    found = rows(outlined("a.py", b"class A:\n    def f(self:\n        pass\n\ndef fine():\n    return 1\n}}}\n"))

    assert "fine" in {row[0] for row in found}


def test_a_file_that_defines_nothing_has_no_drafts(outlined: Outlined) -> None:
    outline = outlined("a.py", b"x = 1\nprint(x)\n")

    assert ((), 2, "python") == (outline.items, outline.extent.lines, outline.facts["language"])


@pytest.mark.parametrize(
    ("encoding", "mark"), [("utf-8-sig", b""), ("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")]
)
def test_other_encodings_give_the_same_lines_and_names(encoding: str, mark: bytes, outlined: Outlined) -> None:
    text = "# Größe.\nclass Größe:\r\n    def maß(self): pass\n"

    found = rows(outlined("a.py", mark + text.encode(encoding)))

    assert [("Größe", "class", 1, 3), ("Größe.maß", "method", 3, 3)] == found


def test_an_eight_bit_encoding_gives_the_same_lines(outlined: Outlined) -> None:
    found = rows(outlined("a.py", "# Größe und Maß der Dinge.\ndef f():\n    return 'äöüß'\n".encode("latin-1")))

    assert [("f", "function", 1, 3)] == found


def test_lone_carriage_returns_end_lines(outlined: Outlined) -> None:
    found = rows(outlined("a.js", b"// a\rfunction f() {\r  // b\r}\r\rfunction g() {}\r"))

    assert [("f", "function", 1, 4), ("g", "function", 6, 6)] == found


@pytest.mark.parametrize(
    "data",
    [
        b"(" * 50_000,
        b"{" * 50_000,
        b"function a(){" * 20_000 + b"}" * 20_000,
        b"`${" * 20_000,
        b"'" * 5_000,
        b"a+" * 50_000,
    ],
    ids=["parentheses", "braces", "functions", "templates", "quotes", "operators"],
)
def test_hostile_nesting_gives_an_outline_without_recursion(data: bytes, outlined: Outlined) -> None:
    outline = outlined("a.js", data)

    assert_nested(nodes(outline), 1)


def test_functions_are_nested_to_a_bounded_depth(outlined: Outlined) -> None:
    data = b"".join(b" " * level + b"def f():\n" for level in range(50)) + b" " * 50 + b"pass\n"

    deepest = max(node.id.count(".") for node in nodes(outlined("a.py", data)))

    assert NESTING_LIMIT - 1 == deepest


def test_thousands_of_one_name_are_thinned_and_it_says_so(outlined: Outlined) -> None:
    outline = outlined("a.js", b"function a(){}\n" * (SAME_NAME_LIMIT + 5))

    assert SAME_NAME_LIMIT == len(outline.items)
    assert ("The file has 1005 definitions; the map lists 1000 of them.",) == outline.notes


def test_parsing_can_be_cancelled(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(SAMPLES["a.py"])

    def cancel(done: float, total: float | None = None, message: str = "") -> None:
        if message == "reading the code":
            raise Cancelled("enough")

    progress: Progress = cancel
    with pytest.raises(Cancelled):
        CodeOutliner().outline(source_at(path), progress)


def test_every_exception_of_the_driver_is_mapped() -> None:
    import tree_sitter as driver

    known = tree_sitter.exceptions()
    raised = [each for each in vars(driver).values() if isinstance(each, type) and issubclass(each, BaseException)]

    assert raised
    assert all(any(issubclass(each, listed) for listed in known) for each in raised)


def test_a_grammar_that_is_not_installed_or_does_not_fit_is_our_error() -> None:
    with pytest.raises(MapperUnavailable):
        tree_sitter.grammar("tree_sitter_of_no_language")
    with pytest.raises(MapperUnavailable), tree_sitter.translated("python"):
        raise ValueError("incompatible language version")


def marks(outline: Outline) -> dict[str, str]:
    return {node.title: (node.summary or "").rpartition("[")[2] for node in nodes(outline) if node.summary}


@pytest.mark.parametrize(
    ("name", "data", "title", "mark"),
    [
        ("a.py", b"def test_x():\n    pass\n", "test_x", "test]"),
        ("a.py", b"__all__ = ['f']\ndef f(): pass\n", "f", "exported]"),
        ("A.java", b"class A { @Test void adds() {} }\n", "adds", "test]"),
        ("A.java", b"public class A {}\n", "A", "exported]"),
        ("a.rs", b"#[test]\nfn adds() {}\n", "adds", "test]"),
        ("a.rs", b"pub fn adds() {}\n", "adds", "exported]"),
        ("a.go", b"package a\nfunc TestAdds(t *testing.T) {}\n", "TestAdds", "test, exported]"),
        ("a.js", b"describe('sums', () => {\n  it('adds', () => {});\n});\n", "adds", "test]"),
        ("a.js", b"function f() {}\nexport { f };\n", "f", "exported]"),
        ("a.rb", b"describe 'sums' do\n  it 'adds' do\n  end\nend\n", "adds", "test]"),
        ("a.cs", b"class A { [Fact] public void Adds() {} }\n", "Adds", "test, exported]"),
        ("a.pm", b"our @EXPORT_OK = qw(f);\nsub f { 1 }\n", "f", "exported]"),
        ("a.exs", b'defmodule A do\n  test "adds" do\n  end\nend\n', "adds", "test]"),
        ("a.kt", b"class A { @Test fun adds() {} }\n", "adds", "test]"),
    ],
)
def test_tests_and_exports_are_marked(name: str, data: bytes, title: str, mark: str, outlined: Outlined) -> None:
    assert mark == marks(outlined(name, data))[title]


def test_what_is_neither_has_no_mark(outlined: Outlined) -> None:
    assert "def helper()" == nodes(outlined("a.py", b"def helper(): pass\n"))[0].summary


@pytest.mark.parametrize(
    ("name", "data", "title", "last"),
    [
        ("a.py", b'"""Sums things. Fast."""\n\ndef f(): pass\n', "Sums things.", 1),
        ("a.js", b"/* Copyright A */\n\n/**\n * Sums all things.\n */\n\nfunction f() {}\n", "Sums all things.", 5),
        ("a.go", b"// Package a sums things.\npackage a\n\nfunc F() {}\n", "Package a sums things.", 1),
    ],
)
def test_what_a_file_says_of_itself_comes_first(
    name: str, data: bytes, title: str, last: int, outlined: Outlined
) -> None:
    first = outlined(name, data).items[0]

    assert isinstance(first.location, Lines)
    assert (title, "preface", last) == (first.title, first.type, first.location.last)


def test_a_file_that_does_not_parse_says_where(outlined: Outlined) -> None:
    notes = outlined("a.py", b"def f():\n    pass\n\n)))(\n").notes

    assert ("Parts of the file cannot be parsed as python; the first error is on line 4.",) == notes


def test_a_header_is_taken_for_the_language_it_is_written_in(outlined: Outlined) -> None:
    plus = outlined("a.h", b"namespace n {\nclass A { void m(); };\n}\n")
    plain = outlined("a.h", b"int f(void);\n")

    assert ("cpp", "c") == (plus.facts["language"], plain.facts["language"])


def test_macros_do_not_hide_what_they_stand_in(outlined: Outlined) -> None:
    found = rows(outlined("a.cpp", b"class API_EXPORT A : public B {\n  int f() NO_THROW { return 1; }\n};\n"))

    assert [("A", "class", 1, 3), ("A.f", "method", 2, 2)] == found


MARKS = (b"x::y\n", b"#if A\n", b"#else\n", b"#endif\n", b"#if {\\\n", b"AAAAAAAA(a : (b) c)\n{", b"A_B(", b") ", b"GRANT a", b";\n", b"'",
         b"CREATE FUNCTION f(OUT a int) AS 'a', 'b' LANGUAGE C;", b"\\q\n", b"&", b"namespace a {", b"[self](int a) {", b"for (auto abc: d)", b"{1}", b"<a>")  # fmt: skip

OBJECTIVE_CPP = b"""#import <React/A.h>
NS_ASSUME_NONNULL_BEGIN
namespace react {
static folly::dynamic made(const std::vector<int> &all) { return all; }
}
@implementation Box {
  std::shared_ptr<const Props> _props;
}
RCT_EXPORT_MODULE()
#if NEW
using namespace facebook::react;
- (void)update:(Props::Shared const &)props {
  const auto &now = static_cast<const BoxProps &>(*props);
  for (const auto item : now.items) {
  }
#else
- (void)update:(id)props {
#endif
}
RCT_EXPORT_METHOD(save : (NSString *)name done : (Done)done)
{
  run([self](int x) { return Point{x, 1}; });
}
+ (BOOL)shared API_AVAILABLE(ios(16.0))
{
  return std::is_same<A, B>();
}
@end
"""


def test_what_objective_cpp_has_of_cpp_hides_nothing(outlined: Outlined) -> None:
    expected = [("made", "function", 4, 4), ("Box", "class", 6, 28), ("Box.update_", "method", 12, 19),
                ("Box.save_done_", "method", 20, 23), ("Box.shared", "method", 24, 27)]  # fmt: skip

    assert expected == rows(outlined("a.mm", OBJECTIVE_CPP))


POSTGRESQL = b"""\\echo Use "CREATE EXTENSION x" \\quit
CREATE FUNCTION one(cstring) RETURNS x
AS 'MODULE_PATHNAME', 'x_in'
LANGUAGE C STRICT;
CREATE TYPE x (INPUT = one, OUTPUT = two);
CREATE OPERATOR < (
  LEFTARG = x, PROCEDURE = lt
);
-- Two.
CREATE FUNCTION two(IN a text,
    OUT b int)
AS 'MODULE_PATHNAME', 'x_two' LANGUAGE C;
CREATE TABLE t (a int);
"""


def test_statements_that_the_grammar_of_sql_does_not_know_hide_nothing(outlined: Outlined) -> None:
    expected = [("one", "function", 2, 4), ("x", "type", 5, 5), ("two", "function", 9, 12), ("t", "table", 13, 13)]

    assert expected == rows(outlined("a.sql", POSTGRESQL))


@given(st.lists(st.sampled_from(MARKS), max_size=40).map(b"".join))
def test_what_the_parser_is_given_has_the_same_length_and_lines(data: bytes) -> None:
    for prepare_language in (objective_c.prepare, sql.prepare):
        given = prepare_language(data)

        assert len(data) == len(given)
        assert data.count(b"\n") == given.count(b"\n")


def test_a_grammar_of_an_extra_that_is_missing_gives_groups_of_lines_and_names_it(
    outlined: Outlined, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_sitter, "find_spec", lambda name: None)
    tree_sitter.grammar.cache_clear()

    outline = outlined("a.sql", SAMPLES["a.sql"])

    assert {"lines"} == {outline_item.type for outline_item in outline.items}
    assert "citekit-evidence[code]" in outline.notes[0]


def test_angle_brackets_that_never_close_are_not_parsed(outlined: Outlined) -> None:
    outline = outlined("a.cs", b"a<" * 1000)

    assert (f"{AS_TEXT} The brackets in the file are nested too deeply for the code parser.",) == outline.notes


def test_a_parser_that_takes_too_long_is_stopped(outlined: Outlined, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_sitter, "PARSE_SECONDS", 0.0)

    outline = outlined("a.py", SAMPLES["a.py"] * 600)

    assert (f"{AS_TEXT} Parsing the file takes too much time or memory.",) == outline.notes


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_ten_thousand_brackets_in_any_language_end_in_an_outline(name: str, outlined: Outlined) -> None:
    outline = outlined(name, b"(" * 10_000)

    assert_nested(nodes(outline), 1)


CODE = (".py", ".js", ".ts", ".c", ".cpp", ".java")


@pytest.mark.corpus
@pytest.mark.parametrize("suffix", CODE)
def test_every_program_of_the_corpus_is_mapped(suffix: str, corpus: Path) -> None:
    paths = sorted(path for path in (corpus / "text").iterdir() if path.suffix == suffix)

    assert paths
    for path in paths:
        source = source_at(path)
        try:
            outline = CodeOutliner().outline(source, silent)
        except CiteKitError as error:
            pytest.fail(f"{path.name}: {error}")
        found = nodes(outline)
        assert len(found) > 50, path.name
        assert_nested(found, outline.facts["line_count"])


def _titles(tmp_path: Path, name: str, text: bytes) -> list[tuple[str, int, int]]:
    path = tmp_path / name
    path.write_bytes(text)
    spans = ((each.title, each.location) for each in _walked(path))
    return [(title, span.first, span.last) for title, span in spans if isinstance(span, Lines)]


def _walked(path: Path) -> list[Node]:
    return [node for root in make_nodes(_outline_of(path)) for node in root.walk()]


def _outline_of(path: Path, progress: Progress = silent) -> Outline:
    return CodeOutliner().outline(source_at(path), progress)


ODD = b"case $x in\n?*' '?*) ;;\nesac\nfor i do\n  :\ndone\n"
"""Shell that is right, and that its grammar does not understand."""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "a.sh",
            ODD + b"# Greets.\nhello() {\n" + ODD + b"  inner() { echo; }\n}\nfunction bye ( ) (\n  " + ODD + b")\n",
            [("hello", 7, 16), ("inner", 15, 15), ("bye", 17, 24)],
        ),
        (
            "c.sh",
            ODD + b"make() {\n" + ODD + b"cat <<END\nquoted() {\n}\nEND\n  inner() { :; }\n}\n",
            [("make", 7, 19), ("inner", 18, 18)],
        ),
        ("d.sh", ODD + b"cat <<END\r\nquoted() {\r\n}\r\nEND\r\nreal() {\r\n  :\r\n}\r\n", [("real", 11, 13)]),
        ("b.sh", ODD + b"cat <<'END'\nquoted() {\n}\nEND\nreal() {\n  :\n}\n", [("real", 11, 13)]),
        (
            "a.scss",
            b"// D.\n@function f($a, $b...) {\n  @return $a;\n}\n%p-#{$x} {\n  --#{$y}c: #{map.get($m, '}')};\n"
            b"  @include m($k...) {\n    &:hover { a: b }\n  }\n}\n@keyframes k { 50% { a: b } }\n",
            [("f", 1, 4), ("%p-#{$x}", 5, 10), ("&:hover", 8, 8), ("@keyframes k", 11, 11)],
        ),
        (
            "b.scss",
            b".a {\n  b: url(#{f($x)}/y.png);\n  .c { d: e }\n}\n.d { e: f }\n",
            [(".a", 1, 4), (".c", 3, 3), (".d", 5, 5)],
        ),
        (
            "c.scss",
            b"@keyframes k { 50% { a: b } }\n.a { b: url(data:x;y{z);\n  .c { d: e }\n}\n",
            [("@keyframes k", 1, 1), (".a", 2, 4), (".c", 3, 3)],
        ),
        ("e.sh", ODD + b"cat <<<word\nreal() {\n  :\n}\nword\n", [("real", 8, 10)]),
        (
            "c.c",
            b"int e(\n#if A && \\\n  x {{ y\n#endif\nint a(int x) {\n  return x;\n}\n",
            [("a", 5, 7)],
        ),
        (
            "a.swift",
            b"class A {\n  func f() {\n    switch x {\n    #if os(iOS)\n    case a: b()\n    #elseif os(macOS)\n"
            b"    case c: d()\n    #endif\n    default: return\n    }\n  }\n  func g() {}\n}\n",
            [("A", 1, 13), ("f", 2, 11), ("g", 12, 12)],
        ),
        (
            "a.c",
            b"X_BEGIN_DECLS\nint a(void) { return 1; }\nDEFINE_TYPE (Thing,\n             thing)\n\n/* D. */\n"
            b"static void b (void)\n{\n  c ();\n}\n#if A\nint d(int x) {\n#else\nint d(long x) {\n#endif\n}\n",
            [("a", 2, 2), ("b", 6, 10), ("d", 12, 16)],
        ),
        (
            "a.java",
            b"class A {\n<<<<<<< HEAD\n  void f() { a(); }\n=======\n  void f() { b(); }\n>>>>>>> theirs\n}\n",
            [("A", 1, 7), ("f", 3, 3), ("f", 5, 5)],
        ),
        (
            "b.java",
            b"class A {\r\n<<<<<<< HEAD\r\n  void f() { a(); }\r\n=======\r\n  void g() { }\r\n>>>>>>> theirs\r\n}\r\n",
            [("A", 1, 7), ("f", 3, 3), ("g", 5, 5)],
        ),
        (
            "b.c",
            b"X_BEGIN_DECLS\r\nint a(void) { return 1; }\r\nDEFINE_TYPE (Thing, thing)\r\n\r\nstatic void b (void)\r\n{\r\n}\r\n",
            [("a", 2, 2), ("b", 5, 7)],
        ),
        ("b.cpp", b"TEST(Suite, One) {\n}\n", [("TEST(Suite, One)", 1, 2)]),
        ("a.kt", b'@A(m = "x")\nannotation class Marked\nclass B\n', [("Marked", 1, 2), ("B", 3, 3)]),
        (
            "a.ex",
            b"defmodule A do\n  defdelegate f(x), to: B\nend\n",
            [("A", 1, 3), ("f", 2, 2)],
        ),
        (
            "a.hs",
            b'module A where\n#if X\nf = 1\n#else\ng :: Int\ng = 2\n#endif\nforeign import ccall "sin" s :: Double -> Double\n'
            b"pattern P x = Just x\ntype family F a\n",
            [("f", 3, 3), ("g", 5, 6), ("s", 8, 8), ("P", 9, 9), ("F", 10, 10)],
        ),
        ("a.cs", b"namespace N;\nclass C { }\n", [("N", 1, 2), ("C", 2, 2)]),
        ("a.css", b"@layer base {\n  .a { b: c }\n}\n@layer x, y;\n", [("@layer base", 1, 3), (".a", 2, 2)]),
    ],
)
def test_what_a_grammar_stumbles_over_hides_no_definition(
    tmp_path: Path, name: str, text: bytes, expected: list[tuple[str, int, int]]
) -> None:
    assert expected == _titles(tmp_path, name, text)


@pytest.mark.parametrize("text", [b"f() {\n" * 3000, b"".join(b"cat <<E%d\n" % each for each in range(5000))])
def test_heads_that_nothing_closes_are_looked_at_once(text: bytes) -> None:
    looked: list[bytes] = []

    def look(piece: bytes) -> bool:
        looked.append(piece)
        return False

    kept = shell.skeleton(ODD + text, look)

    assert (len(ODD + text), 0) == (len(kept), len(looked))


@pytest.mark.parametrize(("language", "text"), [("scss", b"a { b: c; }\n"), ("swift", b"#if A\n" + b" " * 99 + b"\n")])
def test_what_is_left_out_takes_little_memory(language: str, text: bytes) -> None:
    data = text * 4000
    tracemalloc.start()
    try:
        kept = prepare(data, language)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert len(data) == len(kept)
    assert peak < 20 * len(data)


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        b"a" + b"/* x */" * 300_000,
        b"\n" * 300_000 + b"a" + b"/* x */" * 300_000,
        b"url(" * 500_000,
        b'"' + b'\\"' * 500_000,
    ],
    ids=["comments", "blanks and comments", "url", "quotes"],
)
def test_a_sheet_is_gone_over_once(text: bytes) -> None:
    assert b"" == scss.prepare(text).strip()


def test_a_program_of_brackets_in_brackets_is_lines(tmp_path: Path) -> None:
    path = tmp_path / "deep.c"
    path.write_bytes(b"AAAA(" * NESTED_BRACKETS_LIMIT)

    outline = _outline_of(path)

    assert (f"{AS_TEXT} The brackets in the file are nested too deeply for the code parser.",) == outline.notes


def test_the_second_reading_of_a_script_can_be_cancelled(tmp_path: Path) -> None:
    path = tmp_path / "a.sh"
    path.write_bytes(ODD + b"f() { :; }\n" * 3)
    calls: list[str] = []

    def stop(done: float, total: float | None = None, message: str = "") -> None:
        calls.append(message)
        if calls.count("reading the code") == 4:
            raise Cancelled("stop")

    with pytest.raises(Cancelled):
        _outline_of(path, stop)
