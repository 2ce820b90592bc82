package rowtype

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// File is a type that was read from a written file.
type File struct {
	Type   string
	ListID string // empty if the file names none

	root *goType
}

var listLine = regexp.MustCompile(`(?m)^// List ([0-9A-Za-z]+) \(`)

// IsWritten reports whether a Go file says that this package has written it.
func IsWritten(source []byte) bool {
	return strings.HasPrefix(string(source), "// "+Header+"\n") || strings.HasPrefix(string(source), "// "+Header+"\r\n")
}

// ReadFile reads a type from a Go file that Source has returned. Without a name it is the first of the file.
func ReadFile(source []byte, typ string) (*File, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, errors.New("the file is not a Go file")
	}
	r := fileReader{specs: map[string]*ast.TypeSpec{}, types: map[string]*goType{}}
	for n := range ast.Preorder(file) {
		if spec, ok := n.(*ast.TypeSpec); ok {
			r.specs[spec.Name.Name] = spec
			typ = cmp.Or(typ, spec.Name.Name)
		}
	}
	if r.specs[typ] == nil {
		return nil, fmt.Errorf("the file has no type %s", typ)
	}
	f := &File{Type: typ}
	if match := listLine.FindSubmatch(source); match != nil {
		f.ListID = string(match[1])
	}
	if f.root, err = r.named(typ); err != nil {
		return nil, err
	}
	if f.root.kind != structure {
		return nil, fmt.Errorf("%s is not a struct of fields", typ)
	}
	return f, nil
}

type fileReader struct {
	specs map[string]*ast.TypeSpec
	types map[string]*goType
}

var builtIn = map[string]kind{
	"string": text, "int64": integer, "float64": float, "bool": boolean,
	"json.RawMessage": raw, "json.Number": number, "time.Time": instant,
}

// typeOf reads a type as Source writes it.
func (r *fileReader) typeOf(e ast.Expr) (*goType, error) {
	if k, ok := builtIn[types.ExprString(e)]; ok {
		return &goType{kind: k}, nil
	}
	outer, inner := kind(0), ast.Expr(nil)
	switch e := e.(type) {
	case *ast.Ident:
		return r.named(e.Name)
	case *ast.StarExpr:
		outer, inner = pointer, e.X
	case *ast.ArrayType:
		if e.Len == nil {
			outer, inner = slice, e.Elt
		}
	case *ast.MapType:
		if types.ExprString(e.Key) == "string" {
			outer, inner = dict, e.Value
		}
	case *ast.IndexExpr:
		if generic := r.specs[types.ExprString(e.X)]; generic != nil && generic.TypeParams != nil {
			outer, inner = optional, e.Index
		}
	}
	if outer == 0 {
		return nil, errUnknownType
	}
	elem, err := r.typeOf(inner)
	return &goType{kind: outer, elem: elem}, err
}

var errUnknownType = errors.New("it has a type that this command does not write")

func (r *fileReader) named(name string) (*goType, error) {
	if t, ok := r.types[name]; ok {
		return t, nil
	}
	spec := r.specs[name]
	if spec == nil || spec.TypeParams != nil {
		return nil, errUnknownType
	}
	declared, ok := spec.Type.(*ast.StructType)
	if !ok {
		return nil, errUnknownType
	}
	t := &goType{kind: structure, object: &object{Name: name}}
	r.types[name] = t
	for _, f := range declared.Fields.List {
		if len(f.Names) == 0 {
			if at, err := r.typeOf(f.Type); err != nil || at.kind != instant || len(declared.Fields.List) > 1 {
				return nil, fmt.Errorf("%s: %w", name, errUnknownType)
			}
			*t = goType{kind: stamp}
			return t, nil
		}
		for _, n := range f.Names {
			if err := r.field(t.object, n.Name, f); err != nil {
				return nil, fmt.Errorf("%s.%s: %w", name, n.Name, err)
			}
		}
	}
	return t, nil
}

func (r *fileReader) field(o *object, name string, from *ast.Field) error {
	var tag reflect.StructTag
	if from.Tag != nil {
		content, _ := strconv.Unquote(from.Tag.Value) // which the parser has read
		tag = reflect.StructTag(content)
	}
	key, options, _ := strings.Cut(tag.Get("json"), ",")
	if key == "-" && options == "" {
		if _, ok := from.Type.(*ast.MapType); ok {
			o.Other = name
		}
		return nil
	}
	if own, ok := tag.Lookup(ownTag); ok {
		key = own
	} else if key == "" {
		key = name
	}
	t, err := r.typeOf(from.Type)
	o.Fields = append(o.Fields, field{Name: name, Key: key, Typ: t, MayLack: strings.Contains(options, "omit")})
	return err
}
