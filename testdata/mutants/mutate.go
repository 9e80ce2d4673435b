package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// mutant is one change of a program that a test should notice.
type mutant struct {
	number int
	file   string // path relative to the module
	line   int
	what   string // the kind of change, such as "is true"
	source string // the expression or statement that changes, on one line
}

// key identifies a mutant. It stays the same if other changes move the mutant to a different line.
func (m mutant) key() string { return m.file + "\t" + m.source + "\t" + m.what }

// insertion is a text that replaces some bytes at an offset of a file.
type insertion struct {
	at, instead int
	order       int // insertions at the same offset are sorted by this number
	text        string
}

// mutator writes one program that contains all mutants of a package. Each mutant has a number. At run time, a
// variable selects the active mutant, so the package is compiled only once.
type mutator struct {
	files *token.FileSet
	info  *types.Info
	pkg   *types.Package
	list  []mutant

	// State of the file that is being changed:
	name       string
	text       []byte
	insertions []insertion
	results    []*types.Tuple // result types of the enclosing functions
}

// mutate returns the text of a file with all its mutants, each of which can be switched on.
func (m *mutator) mutate(name string, text []byte, f *ast.File) []byte {
	m.name, m.text, m.insertions = name, text, nil
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
			m.function(m.info.Defs[d.Name].Type().(*types.Signature), d.Body)
		}
	}
	slices.SortFunc(m.insertions, func(a, b insertion) int { return cmp.Or(a.at-b.at, a.order-b.order) })
	var out []byte
	at := 0
	for _, i := range m.insertions {
		out = append(append(out, text[at:i.at]...), i.text...)
		at = i.at + i.instead
	}
	return append(out, text[at:]...)
}

func (m *mutator) function(s *types.Signature, body *ast.BlockStmt) {
	m.results = append(m.results, s.Results())
	ast.Inspect(body, m.visit)
	m.results = m.results[:len(m.results)-1]
}

func (m *mutator) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncLit:
		m.function(m.info.TypeOf(n).(*types.Signature), n.Body)
		return false
	case *ast.BlockStmt:
		m.statements(n.List)
	case *ast.CaseClause:
		m.statements(n.Body)
	case *ast.CommClause:
		m.statements(n.Body)
	case *ast.IfStmt:
		m.condition(n.Cond, true)
	case *ast.ForStmt:
		if n.Cond != nil {
			m.condition(n.Cond, false)
		}
	case *ast.SwitchStmt:
		if n.Tag == nil {
			for _, c := range n.Body.List {
				for _, x := range c.(*ast.CaseClause).List {
					m.condition(x, true)
				}
			}
		}
	case *ast.BinaryExpr:
		m.binary(n)
	case *ast.ReturnStmt:
		m.returned(n)
	case *ast.GenDecl:
		return n.Tok == token.VAR
	}
	return true
}

// add registers a mutant and returns its number.
func (m *mutator) add(n ast.Node, what string) int {
	p := m.files.Position(n.Pos())
	source := strings.Join(strings.Fields(string(m.text[p.Offset:m.files.Position(n.End()).Offset])), " ")
	if len(source) > 120 {
		source = source[:120] + "…"
	}
	m.list = append(m.list, mutant{len(m.list) + 1, m.name, p.Line, what, source})
	return len(m.list)
}

// around inserts a text before and a text after the part n of the file. The caller must visit an outer part before its
// inner parts, so that the texts of inner parts come inside those of outer parts.
func (m *mutator) around(n ast.Node, before, after string) {
	order := len(m.insertions)
	m.insertions = append(m.insertions,
		insertion{m.files.Position(n.Pos()).Offset, 0, order, before},
		insertion{m.files.Position(n.End()).Offset, 0, -order - 1, after})
}

// changes reports whether the value of an expression is only known at run time, so that a mutant can
// change it. If the parameter plain is true, the type must also be bool.
func (m *mutator) changes(x ast.Expr, plain bool) bool {
	v := m.info.Types[x]
	return v.Value == nil && v.Type != nil && (!plain || types.Identical(v.Type, types.Typ[types.Bool]) || types.Identical(v.Type, types.Typ[types.UntypedBool]))
}

// condition adds mutants (small changes) of a condition. In one mutant, the condition is always false. If the
// parameter both is true, there is a second mutant, in which the condition is always true. For the condition of a
// loop, the parameter is false, because the loop would become endless.
func (m *mutator) condition(x ast.Expr, both bool) {
	if !m.changes(x, true) {
		return
	}
	no := m.add(x, "is false")
	if !both {
		m.around(x, fmt.Sprintf("(!mutantOn(%d) && (", no), "))")
		return
	}
	m.around(x, fmt.Sprintf("(mutantOn(%d) || !mutantOn(%d) && (", m.add(x, "is true"), no), "))")
}

// The maps comparisons and sums contain, for each operator, the name of a function that replaces the operator. If the
// mutant (a change of the code) is active, the function uses another operator.
var comparisons = map[token.Token]string{token.LSS: "Less", token.LEQ: "LessEqual", token.GTR: "More", token.GEQ: "MoreEqual"}
var sums = map[token.Token]string{token.ADD: "Add", token.SUB: "Subtract"}

func (m *mutator) binary(x *ast.BinaryExpr) {
	if !m.changes(x, false) {
		return
	}
	call, what := comparisons[x.Op], "has the other bound"
	if name := sums[x.Op]; name != "" && isNumber(m.info.TypeOf(x)) {
		call, what = name, "has the other sign"
	}
	switch {
	case x.Op == token.LAND:
		for _, o := range []ast.Expr{x.X, x.Y} {
			if m.changes(o, true) && !isBinary(o, token.LAND) {
				m.around(o, fmt.Sprintf("(mutantOn(%d) || (", m.add(o, "is true")), "))")
			}
		}
	case x.Op == token.LOR:
		for _, o := range []ast.Expr{x.X, x.Y} {
			if m.changes(o, true) && !isBinary(o, token.LOR) {
				m.around(o, fmt.Sprintf("(!mutantOn(%d) && (", m.add(o, "is false")), "))")
			}
		}
	case call != "" && !isFloat(m.info.TypeOf(x.X)):
		m.around(x, fmt.Sprintf("mutant%s(%d, ", call, m.add(x, what)), ")")
		m.insertions = append(m.insertions, insertion{m.files.Position(x.OpPos).Offset, len(x.Op.String()), 0, ","})
	}
}

func isBinary(x ast.Expr, op token.Token) bool {
	b, ok := x.(*ast.BinaryExpr)
	return ok && b.Op == op
}

func isNumber(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0 && b.Info()&types.IsUntyped == 0
}

func isFloat(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsFloat != 0
}

// returned adds mutants (changes of the program) of a return statement. A mutant returns the opposite boolean, a number
// plus one, or a zero value.
func (m *mutator) returned(s *ast.ReturnStmt) {
	results := m.results[len(m.results)-1]
	if len(s.Results) != results.Len() {
		return // a single call returns all results
	}
	for i, x := range s.Results {
		t := results.At(i).Type()
		name, plain := m.nameOf(t)
		b, basic := t.Underlying().(*types.Basic)
		switch {
		case !plain || m.info.Types[x].IsNil():
		case types.Identical(t, types.Typ[types.Bool]):
			m.around(x, fmt.Sprintf("((%s)(", "bool"), fmt.Sprintf(") != mutantOn(%d))", m.add(x, "is returned as its opposite")))
		case basic && b.Info()&types.IsInteger != 0:
			m.around(x, fmt.Sprintf("mutantOneMore[%s](%d, ", name, m.add(x, "is returned as one more")), ")")
		case basic && b.Info()&types.IsString != 0 && string(m.text[m.files.Position(x.Pos()).Offset:m.files.Position(x.End()).Offset]) != `""`, name == "error", isList(t):
			m.around(x, fmt.Sprintf("mutantZero[%s](%d, ", name, m.add(x, "is not returned")), ")")
		}
	}
}

func isList(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map:
		return true
	}
	return false
}

// nameOf returns the name of a type in this package, and whether it can be written without
// an import.
func (m *mutator) nameOf(t types.Type) (string, bool) {
	plain := true
	name := types.TypeString(t, func(p *types.Package) string {
		if p != m.pkg {
			plain = false
		}
		return ""
	})
	return strings.TrimPrefix(name, "."), plain
}

// statements adds mutants (changed programs) for a list of statements. Each mutant lacks one statement
// that can be removed.
func (m *mutator) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if c, ok := s.X.(*ast.CallExpr); !ok || isPanic(c) {
				continue
			}
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.BranchStmt:
			if s.Tok != token.BREAK && s.Tok != token.CONTINUE {
				continue
			}
		case *ast.ReturnStmt:
			if len(s.Results) > 0 {
				continue
			}
		case *ast.IncDecStmt, *ast.DeferStmt:
		default:
			continue
		}
		m.around(s, fmt.Sprintf("if !mutantOn(%d) { ", m.add(s, "is missing")), " }")
	}
}

func isPanic(c *ast.CallExpr) bool {
	id, ok := c.Fun.(*ast.Ident)
	return ok && id.Name == "panic"
}
