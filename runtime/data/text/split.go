package text

const (
	removed      = iota // they are left out
	isolated            // each is a piece of its own
	withPrevious        // each is at the end of the piece before; of adjacent matches, the first
	withNext            // each is at the beginning of the piece after; of adjacent matches, the last
	contiguous          // adjacent matches are one piece
)

var behaviors = []string{"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"}

// cut applies `behavior` to the matches of a pattern: `behavior` says whether matches are removed,
// left as they are, or merged with the text around them or with each other.
func cut(matches []match, behavior int) []match {
	out := make([]match, 0, len(matches))
	previous := false // whether the last match was found
	switch behavior {
	case removed:
		for _, m := range matches {
			if !m.found {
				out = append(out, m)
			}
		}
	case isolated:
		return matches
	case contiguous:
		for _, m := range matches {
			if len(out) > 0 && m.found == previous {
				out[len(out)-1].end = m.end
			} else {
				out = append(out, m)
			}
			previous = m.found
		}
	case withPrevious:
		for _, m := range matches {
			if len(out) > 0 && m.found && !previous {
				out[len(out)-1].end = m.end
			} else {
				out = append(out, m)
			}
			previous = m.found
		}
	case withNext:
		for _, m := range matches {
			// A match that follows a match is a piece of its own, and only the last one is joined.
			if len(out) > 0 && previous && !m.found {
				out[len(out)-1].end = m.end
			} else {
				out = append(out, m)
			}
			previous = m.found
		}
	}
	return out
}

// piece is a part of a text. If tokens is not nil, the piece is tokenized already, and is neither
// normalised nor split.
type piece struct {
	aligned
	tokens []token
}

func (p piece) split(cuts pattern, behavior int) ([]piece, error) {
	matches, err := cuts(p.text)
	if err != nil {
		return nil, err
	}
	return p.pieces(cut(matches, behavior)), nil
}

// pieces returns the parts of p as pieces. It leaves out empty parts.
func (p piece) pieces(parts []match) []piece {
	pieces := make([]piece, 0, len(parts))
	for _, m := range parts {
		if m.start < m.end {
			pieces = append(pieces, piece{aligned: p.slice(m.start, m.end)})
		}
	}
	return pieces
}
