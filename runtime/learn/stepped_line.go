package learn

import (
	"bytes"
	"strconv"
	"time"
)

// readStepped parses a line of a [Stepped] as [AppendEvent] writes it. Most lines of a run have
// this form, and encoding/json takes ten times as long. ok is false if the line has another form;
// the caller then uses encoding/json.
func readStepped(line []byte) (e Stepped, ok bool) {
	c := lineCursor{line, true}
	c.skip(head + `stepped","time":"`)
	if e.Time.UnmarshalText(c.text()) != nil {
		return e, false
	}
	c.skip(`,"split":"`)
	e.Split = c.split()
	c.skip(`,"epoch":`)
	e.Epoch = int(c.integer())
	c.skip(`,"batch":`)
	e.Batch = int(c.integer())
	c.skip(`,"step":`)
	e.Step = int(c.integer())
	c.skip(`,"items":`)
	e.Items = int(c.integer())
	c.skip(`,"loss":`)
	e.Loss = c.number()
	if c.begins(`,"rate":`) {
		e.Rate = c.number()
	}
	if c.begins(`,"gradNorm":`) {
		e.GradNorm = c.number()
	}
	c.skip(`,"waited":`)
	e.Waited = time.Duration(c.integer())
	c.skip(`,"took":`)
	e.Took = time.Duration(c.integer())
	if c.begins(`,"values":[`) {
		e.Values = c.values()
	}
	c.skip("}")
	return e, c.ok && len(c.rest) == 0
}

// lineCursor parses a line from left to right. ok is false once the line is not as expected.
type lineCursor struct {
	rest []byte
	ok   bool
}

// begins reports whether the rest begins with s, and if so, skips s.
func (c *lineCursor) begins(s string) bool {
	rest, found := bytes.CutPrefix(c.rest, []byte(s))
	c.rest = rest
	return found
}

func (c *lineCursor) skip(s string) { c.ok = c.begins(s) && c.ok }

// text reads a string of ASCII without escapes, up to and including its closing quotation mark.
func (c *lineCursor) text() []byte {
	for i, b := range c.rest {
		if b == '"' {
			s := c.rest[:i]
			c.rest = c.rest[i+1:]
			return s
		}
		if b < ' ' || b == '\\' || b >= 0x80 {
			break
		}
	}
	c.ok = false
	return nil
}

// split reads the name of a split. It does not allocate for the usual names.
func (c *lineCursor) split() Split {
	s := c.text()
	for _, known := range []Split{Train, Valid, Test, System} {
		if string(s) == string(known) {
			return known
		}
	}
	return Split(s)
}

// digits reads the characters of a number.
func (c *lineCursor) digits() []byte {
	n := 0
	for n < len(c.rest) && (c.rest[n] >= '0' && c.rest[n] <= '9' || bytes.IndexByte([]byte("+-.e"), c.rest[n]) >= 0) {
		n++
	}
	s := c.rest[:n]
	c.rest = c.rest[n:]
	return s
}

func (c *lineCursor) integer() int64 {
	s := c.digits()
	n, err := strconv.ParseInt(string(s), 10, strconv.IntSize)
	var room [20]byte
	if err != nil || !bytes.Equal(strconv.AppendInt(room[:0], n, 10), s) {
		c.ok = false
	}
	return n
}

func (c *lineCursor) number() Number {
	if c.begins(`"`) {
		var n Number
		s := c.text()
		if n.UnmarshalJSON(strconv.AppendQuote(nil, string(s))) != nil {
			c.ok = false
		}
		return n
	}
	s := c.digits()
	x, err := strconv.ParseFloat(string(s), 64)
	var room [32]byte
	if err != nil || !bytes.Equal(Number(x).appendJSON(room[:0]), s) {
		c.ok = false
	}
	return Number(x)
}

// values reads the rest of a list of values, each with a name and a number.
func (c *lineCursor) values() []Value {
	var values []Value
	for c.ok {
		c.skip(`{"name":"`)
		v := Value{Name: string(c.text())}
		c.skip(`,"value":`)
		v.Value = c.number()
		c.skip("}")
		values = append(values, v)
		if !c.begins(",") {
			break
		}
	}
	c.skip("]")
	return values
}
