package wire

import "strconv"

// Error is a problem in a file. It has the position of the message in question, in the schema's
// field names, and a description.
type Error struct {
	Path   string // such as "graph.node[17].attribute[2].t"; empty for the outermost message
	Reason string
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// under prepends the name of the enclosing message to the path of an error, and returns the error.
func under(name string, err error) error {
	if e, ok := err.(*Error); ok && e != nil {
		if e.Path != "" {
			name += "." + e.Path
		}
		e.Path = name
	}
	return err
}

func element(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }
