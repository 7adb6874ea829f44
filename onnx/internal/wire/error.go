package wire

import "strconv"

// Error is a problem in a file: the message it is in, in the schema's field names, and what is wrong.
type Error struct {
	Path   string // "graph.node[17].attribute[2].t", empty for the file's outermost message
	Reason string
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// under puts the name of the message that an error arose in before the error's path.
func under(name string, err error) error {
	if e, ok := err.(*Error); ok && e != nil {
		if e.Path != "" {
			name += "." + e.Path
		}
		e.Path = name
	}
	return err
}

// element names item i of a repeated field.
func element(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }
