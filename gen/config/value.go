package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/burngen/burngen/internal/file"
	"github.com/burngen/burngen/internal/meant"
)

// maxFile is the maximum size of a configuration file, in bytes.
const maxFile = 64 << 20

// Given is the user's input for a configuration.
type Given struct {
	// File is a file written by the configuration's Save, or "".
	File string
	// Foreign, if not nil, returns the JSON of another program's configuration. It is called
	// instead of reading File, which is then only the name in messages and must not be "". Keys
	// match fields ignoring case and underscores: "n_layers" sets NLayers. Unknown keys and nulls
	// are ignored, and a missing field gets its default.
	Foreign func() ([]byte, error)
	// Set lists further values as Field=value, or Field.Field=value for a nested configuration.
	Set []string
}

// Missing is the error for fields that were not given and have no default.
type Missing struct {
	// Fields are paths of fields, such as "Classes" or "Head.Classes".
	Fields []string
}

func (m *Missing) Error() string { return strings.Join(m.Fields, ", ") + " missing" }

type given struct {
	json    json.RawMessage // nil if there is none
	foreign bool
	set     map[string]string
	// prefix precedes field names in set. used records the paths that were used.
	prefix string
	used   map[string]bool
}

func (g *given) within(field string, data json.RawMessage) *given {
	return &given{json: data, foreign: g.foreign, set: g.set, prefix: g.prefix + field + ".", used: g.used}
}

func (g *given) sets(field string) bool {
	for path := range g.set {
		if strings.HasPrefix(path, g.prefix+field+".") {
			return true
		}
	}
	return false
}

// Value returns the Go expression of the configuration called `name`, filled in with the user's input. Its error
// lists all mistakes. The error is a [*Missing] if the only mistake is that fields are missing.
func (s *Set) Value(name string, user Given) (string, error) {
	g := &given{foreign: user.Foreign != nil, set: map[string]string{}, used: map[string]bool{}}
	var errs []error
	for _, text := range user.Set {
		path, value, ok := strings.Cut(text, "=")
		if _, twice := g.set[path]; !ok || path == "" {
			errs = append(errs, fmt.Errorf("-set %s: Field=value expected", text))
		} else if twice {
			errs = append(errs, fmt.Errorf("-set %s: %s is given twice", text, path))
		}
		g.set[path] = value
	}
	if user.File != "" {
		read := user.Foreign
		if read == nil {
			read = func() ([]byte, error) {
				data, err := file.Read(user.File, maxFile)
				if err != nil {
					err = fmt.Errorf("%s: %w", user.File, err)
				}
				return data, err
			}
		}
		data, err := read()
		if err == nil && !json.Valid(data) {
			err = fmt.Errorf("%s: is not JSON", user.File)
		}
		if err != nil {
			return "", fmt.Errorf("-config %w", err)
		}
		g.json = bytes.TrimSpace(data)
	}
	if err := errors.Join(errs...); err != nil {
		return "", err
	}
	expr, err := s.build(s.Struct(name), name, g)
	for _, path := range slices.Sorted(maps.Keys(g.set)) {
		if !g.used[path] {
			var fields []string
			for _, f := range s.Struct(name).Fields {
				fields = append(fields, f.Name)
			}
			errs = append(errs, fmt.Errorf("-set %s=%s: %s has no field %s%s", path, g.set[path], name, path, meant.Suffix(path, fields, "%s")))
		}
	}
	if len(errs) > 0 {
		return "", errors.Join(errs...)
	}
	return expr, err
}

// build returns the Go expression of a configuration. path names it in messages. It returns all mistakes
// joined, or [*Missing] if fields are missing and nothing else is wrong.
func (s *Set) build(c *Struct, path string, g *given) (string, error) {
	var file map[string]json.RawMessage
	var errs []error
	if g.json != nil {
		if err := json.Unmarshal(g.json, &file); err != nil || file == nil {
			return "", fmt.Errorf("%s: %s is not a configuration", path, g.json)
		}
		if g.foreign {
			file = c.ownKeys(file)
		}
		for _, key := range sortedKeys(file) {
			if !slices.ContainsFunc(c.Fields, func(f *Field) bool { return f.Key == key }) {
				errs = append(errs, fmt.Errorf("%s: unknown key %q", path, key))
			}
		}
	}
	var fields []string
	missing := &Missing{}
	for _, f := range c.Fields {
		expr, err := s.field(f, path+"."+f.Name, file, g)
		var lacks *Missing
		switch {
		case errors.As(err, &lacks):
			missing.Fields = append(missing.Fields, lacks.Fields...)
		case err != nil:
			errs = append(errs, err)
		case expr == "":
			missing.Fields = append(missing.Fields, g.prefix+f.Name)
		case expr != "nil":
			fields = append(fields, f.Name+": "+expr)
		}
	}
	if len(errs) == 0 && len(missing.Fields) > 0 {
		return "", missing
	}
	return c.Name + "{" + strings.Join(fields, ", ") + "}", errors.Join(errs...)
}

// ownKeys returns the values in a foreign file, keyed by the Key of the field that they belong to.
// It omits values that are null or belong to no field.
func (c *Struct) ownKeys(file map[string]json.RawMessage) map[string]json.RawMessage {
	own := map[string]json.RawMessage{}
	for _, f := range c.Fields {
		for _, key := range sortedKeys(file) {
			_, found := own[f.Key]
			if alike := folded(key) == folded(f.Key) || folded(key) == folded(f.Name); alike && (!found || key == f.Key) && string(file[key]) != "null" {
				own[f.Key] = file[key]
			}
		}
	}
	return own
}

func folded(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// field returns the Go expression of a field's value: the user's, or else the default. It returns "" if
// the user gives no value and the field is required.
func (s *Set) field(f *Field, path string, file map[string]json.RawMessage, g *given) (string, error) {
	data, ok := file[f.Key]
	if text, set := g.set[g.prefix+f.Name]; set {
		g.used[g.prefix+f.Name] = true
		expr, err := f.Type.literal(text)
		if err != nil {
			err = fmt.Errorf("-set %s%s=%s: %w", g.prefix, f.Name, text, err)
		}
		return expr, err
	}
	t := f.Type
	if file != nil && !ok && t.kind != pointer && !g.foreign {
		return "", fmt.Errorf("%s: key %q is missing", path, f.Key)
	}
	if t.kind == pointer && t.elem.kind == nested && (g.sets(f.Name) || ok && string(data) != "null") {
		expr, err := s.build(s.Struct(t.elem.name), path, g.within(f.Name, data))
		return t.point(expr), err
	}
	if t.kind == nested {
		return s.build(s.Struct(t.name), path, g.within(f.Name, data))
	}
	switch {
	case ok:
		return s.fromJSON(t, path, data, g.foreign)
	case f.Default == "" && t.kind == pointer:
		return "nil", nil
	}
	return f.Default, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
