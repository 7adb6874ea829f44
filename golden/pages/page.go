// Package pages reads Markdown pages whose listings are tested. Its test runs README.md and the
// pages in docs as a user would follow them, each in a new module outside of the repository. The
// chapters of docs/guide follow each other in one module. Another test checks that links between
// all pages of the repository lead to existing places.
//
// Every fenced block of a page must be a block of commands, or have a comment. A block of commands
// begins with "$ " and is run. Any other block stands below a comment that says what it is:
//
//	<!-- test: file PATH -->      the block is written to a file of the module
//	<!-- test: output -->         the block is what the command before it prints
//	<!-- test: excerpt PATH -->   the block is a part of a file of the repository
//	<!-- test: skip REASON -->    the block is not tested
//
// A comment above a block of commands changes how they are run:
//
//	<!-- test: in repository -->  they run in the repository, where they change nothing
//	<!-- test: fails -->          the last command fails
//	<!-- test: skip REASON -->    they are not run
//
// The comment of a file may contain the rest of that file. A line BLOCK stands for the block:
//
//	<!-- test: file main.go
//	package main
//
//	func main() {
//	BLOCK
//	}
//	-->
//
// A "before" comment has no block. It runs commands that the page does not show. A command with
// an exclamation mark and a space before it must fail. "fixture NAME PATH" writes a file that the
// test makes:
//
//	<!-- test: before
//	mkdir boxes
//	fixture nms boxes/boxes.onnx
//	-->
//
// The lines below a command are its output. "…" stands for any text in a line, and a line "…" for
// any lines. A time at the end of a line, as in "in 0.1 s", stands for any time. If there are no
// lines, the output is not compared. "$ cat PATH" of a file that does not exist writes the lines
// below it to the file.
//
// "…" in the code of a block of Go becomes a comment.
package pages

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Kind says how a block is tested.
type Kind string

// The kinds of blocks.
const (
	Run     Kind = "run"
	File    Kind = "file"
	Output  Kind = "output"
	Excerpt Kind = "excerpt"
	Skip    Kind = "skip"
	Before  Kind = "before"
)

// Block is a fenced block of a page, or a comment with commands that the page does not show.
type Block struct {
	Line int // line of the fence or of the comment, from 1
	Kind Kind
	// Arg is the path or the reason in the comment. For commands it is "", "in repository" or
	// "fails".
	Arg string
	// Lang is the language after the fence.
	Lang string
	// Text is the text between the fences, or in the comment of a [Before].
	Text string
	// Around is the file around the block, "" if the block is the whole file.
	Around string
}

// comment is a parsed comment that describes a block.
type comment struct {
	line      int
	word, arg string
	body      string
}

// Parse returns the blocks of a page in their order. It returns an error for a block that has no
// comment and is not a block of commands.
func Parse(page string) ([]Block, error) {
	var blocks []Block
	var above *comment
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		switch {
		case strings.HasPrefix(line, "<!-- test:"):
			if above != nil {
				return nil, fmt.Errorf("line %d: the comment has no block", above.line)
			}
			end := i
			for end < len(lines) && !strings.HasSuffix(strings.TrimSpace(lines[end]), "-->") {
				end++
			}
			if end == len(lines) {
				return nil, fmt.Errorf("line %d: the comment does not end", i+1)
			}
			c := parseComment(i+1, strings.Join(lines[i:end+1], "\n"))
			if i = end; c.word == string(Before) {
				blocks = append(blocks, Block{Line: c.line, Kind: Before, Text: c.body})
			} else {
				above = c
			}
		case strings.HasPrefix(line, "```"):
			indent := lines[i][:strings.Index(lines[i], "```")]
			b := Block{Line: i + 1, Lang: strings.TrimPrefix(line, "```")}
			var text strings.Builder
			for i++; i < len(lines) && strings.TrimSpace(lines[i]) != "```"; i++ {
				text.WriteString(strings.TrimPrefix(lines[i], indent) + "\n")
			}
			if i == len(lines) {
				return nil, fmt.Errorf("line %d: the block does not end", b.Line)
			}
			b.Text = text.String()
			if err := b.explain(above); err != nil {
				return nil, fmt.Errorf("line %d: %w", b.Line, err)
			}
			blocks, above = append(blocks, b), nil
		case line != "" && above != nil:
			return nil, fmt.Errorf("line %d: the comment has no block", above.line)
		}
	}
	if above != nil {
		return nil, fmt.Errorf("line %d: the comment has no block", above.line)
	}
	return blocks, nil
}

// parseComment parses a comment from "<!-- test:" to "-->".
func parseComment(line int, text string) *comment {
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "<!-- test:"), "-->")
	head, body, _ := strings.Cut(text, "\n")
	word, arg, _ := strings.Cut(strings.TrimSpace(head), " ")
	return &comment{line, word, strings.TrimSpace(arg), body}
}

// explain sets Kind, Arg and Around of a block from c, the comment above it. c is nil if there is
// no comment: the block must then have commands, and its kind is [Run]. It returns an error if the
// comment is unknown or does not suit the block.
func (b *Block) explain(c *comment) error {
	commands := strings.HasPrefix(b.Text, "$ ")
	switch {
	case c == nil && commands:
		b.Kind = Run
		return nil
	case c == nil:
		return fmt.Errorf("no comment says how this block is tested")
	case c.body != "" && c.word != string(File):
		return fmt.Errorf("a comment %q has one line", c.word)
	}
	b.Arg = c.arg
	switch c.word {
	case "in", "fails":
		b.Kind, b.Arg = Run, strings.TrimSpace(c.word+" "+c.arg)
		if !commands || !slices.Contains([]string{"in repository", "fails"}, b.Arg) {
			return fmt.Errorf("%q is for commands: in repository, or fails", b.Arg)
		}
		return nil
	case string(File), string(Output), string(Excerpt), string(Skip):
		b.Kind, b.Around = Kind(c.word), c.body
	default:
		return fmt.Errorf("unknown comment %q", c.word)
	}
	switch {
	case commands && b.Kind != Skip:
		return fmt.Errorf("the block has commands; %q is for others", b.Kind)
	case b.Arg == "" && b.Kind != Output:
		return fmt.Errorf("%q wants a path or a reason", b.Kind)
	case b.Around != "" && strings.Count("\n"+b.Around, "\nBLOCK\n") != 1:
		return fmt.Errorf("one line BLOCK expected in the comment")
	}
	return nil
}

// Contents returns the file that a block of the kind [File] is written to.
func (b *Block) Contents() string {
	text := b.Text
	if b.Lang == "go" {
		text = leaveOut(text)
	}
	if b.Around == "" {
		return text
	}
	return strings.TrimPrefix(strings.Replace("\n"+b.Around, "\nBLOCK\n", "\n"+text, 1), "\n")
}

// leaveOut replaces "…" in Go code by a comment, unless it follows "//" in its line.
func leaveOut(code string) string {
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		code, comment := line, ""
		if at := strings.Index(line, "//"); at >= 0 {
			code, comment = line[:at], line[at:]
		}
		lines[i] = strings.ReplaceAll(code, "…", "/* … */") + comment
	}
	return strings.Join(lines, "\n")
}

// Command is a line of a block of commands, with the lines below it.
type Command struct {
	Text, Output string
}

// Commands returns the commands of a block that begins with one.
func (b *Block) Commands() []Command {
	var list []Command
	for line := range strings.Lines(b.Text) {
		if text, ok := strings.CutPrefix(line, "$ "); ok {
			list = append(list, Command{Text: strings.TrimSpace(text)})
		} else {
			list[len(list)-1].Output += line
		}
	}
	return list
}

// lasted is a time at the end of a line.
var lasted = regexp.MustCompile(`\d+\\\.\d s$`)

// Matches reports whether text equals shown. A line "…" in shown stands for any lines, and "…" within a line stands
// for any text. A time such as "0.1 s" at the end of a line stands for any such time. Spaces at line ends are
// ignored.
func Matches(shown, text string) bool {
	var pattern strings.Builder
	pattern.WriteString("^")
	for line := range strings.Lines(shown) {
		line = strings.TrimRight(line, " \t\n")
		if line == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		line = strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")
		pattern.WriteString(lasted.ReplaceAllString(line, `\d+\.\d s`) + "\n")
	}
	pattern.WriteString("$")
	var lines strings.Builder
	for line := range strings.Lines(text) {
		lines.WriteString(strings.TrimRight(line, " \t\r\n") + "\n")
	}
	return regexp.MustCompile(pattern.String()).MatchString(lines.String())
}
