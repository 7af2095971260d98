package nbformat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// ReadFile reads the notebook at path. Errors name the file and, where the
// trouble is in a cell, the cell.
func ReadFile(path string) (*Notebook, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the notebook cannot be read: %w", err)
	}
	nb, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return nb, nil
}

// Parse reads a notebook. It accepts what can be kept without loss, also where
// Validate would complain; what it cannot keep is an error.
func Parse(data []byte) (*Notebook, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if err := checkText(data); err != nil {
		return nil, err
	}
	top, err := split(data)
	if err != nil {
		return nil, fmt.Errorf("a notebook is a JSON object, with cells and metadata: %w", err)
	}
	nb := New()
	if err := nb.version(top); err != nil {
		return nil, err
	}
	if nb.Metadata, err = metadata(top); err != nil {
		return nil, fmt.Errorf("the notebook's %w", err)
	}
	var cells []json.RawMessage
	if err := take(top, "cells", &cells); err != nil {
		return nil, fmt.Errorf("the notebook's %w", err)
	}
	for i, raw := range cells {
		cell, err := parseCell(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", cellName(i, cell.ID), err)
		}
		nb.Cells = append(nb.Cells, cell)
	}
	nb.Extra = rest(top)
	return nb, nil
}

// version takes the format's version and refuses those that differ in kind.
func (nb *Notebook) version(top Metadata) error {
	nb.Major, nb.Minor = 0, 0
	if err := take(top, "nbformat", &nb.Major); err != nil {
		return fmt.Errorf("this is not a notebook of format 4: %w", err)
	}
	if nb.Major != Major {
		return fmt.Errorf("the notebook has format %d, and only 4 can be read; open it in JupyterLab and save it to convert it", nb.Major)
	}
	if err := take(top, "nbformat_minor", &nb.Minor); err != nil {
		return fmt.Errorf("the notebook's %w", err)
	}
	return nil
}

// parseCell reads one cell; the cell's id is set even when there is an error.
func parseCell(raw json.RawMessage) (Cell, error) {
	var c Cell
	fields, err := split(raw)
	if err != nil {
		return c, fmt.Errorf("a cell is a JSON object: %w", err)
	}
	if _, ok := fields["id"]; ok {
		if err := take(fields, "id", &c.ID); err != nil {
			return c, err
		}
	}
	if err := take(fields, "cell_type", &c.Type); err != nil {
		return c, err
	}
	var source Text
	if err := take(fields, "source", &source); err != nil {
		return c, fmt.Errorf("%w (it is a string or a list of strings)", err)
	}
	c.Source = string(source)
	if c.Metadata, err = metadata(fields); err != nil {
		return c, err
	}
	if c.Type == Code {
		err = c.parseRun(fields)
	} else if raw, ok := fields["attachments"]; ok {
		c.Attachments = raw
		delete(fields, "attachments")
	}
	c.Extra = rest(fields)
	return c, err
}

// parseRun takes what only code cells have. Jupyter itself fills in a missing
// count or list of outputs, so neither is an error here.
func (c *Cell) parseRun(fields Metadata) error {
	if _, ok := fields["execution_count"]; ok {
		if err := take(fields, "execution_count", &c.ExecutionCount); err != nil {
			return err
		}
	}
	if _, ok := fields["outputs"]; !ok {
		return nil
	}
	var outputs []json.RawMessage
	if err := take(fields, "outputs", &outputs); err != nil {
		return err
	}
	for _, o := range outputs {
		c.Outputs = append(c.Outputs, Output(o))
	}
	return nil
}

// take decodes the value of key into v and removes the key.
func take(m Metadata, key string, v any) error {
	raw, ok := m[key]
	if !ok {
		return fmt.Errorf("key %q is missing", key)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("key %q has a wrong value: %w", key, err)
	}
	delete(m, key)
	return nil
}

// metadata takes the metadata object; a missing or null one is empty.
func metadata(m Metadata) (Metadata, error) {
	md := Metadata{}
	if _, ok := m["metadata"]; !ok {
		return md, nil
	}
	if err := take(m, "metadata", &md); err != nil {
		return nil, err
	}
	if md == nil {
		md = Metadata{}
	}
	return md, nil
}

func rest(m Metadata) Metadata {
	if len(m) == 0 {
		return nil
	}
	return m
}

// split splits a JSON object into its raw values; JSON's own null is none.
func split(data []byte) (Metadata, error) {
	var m Metadata
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, locate(data, err)
	}
	if m == nil {
		return nil, errors.New("it is null")
	}
	return m, nil
}

// locate adds line and column to a syntax error.
func locate(data []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	line, column := position(data, int(syntax.Offset)-1)
	return fmt.Errorf("line %d, column %d: %w", line, column, err)
}

func position(data []byte, offset int) (line, column int) {
	before := data[:max(0, min(offset, len(data)))]
	line = 1 + bytes.Count(before, []byte("\n"))
	column = 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return line, column
}

// checkText refuses bytes and escapes that are no Unicode text: decoding would
// replace them, and the notebook would come out changed.
func checkText(data []byte) error {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			line, column := position(data, i)
			return fmt.Errorf("line %d, column %d: the file is not UTF-8 text; save it in that encoding", line, column)
		}
		if r != '\\' {
			i += size
			continue
		}
		n, whole := escape(data[i:])
		if !whole {
			line, column := position(data, i)
			return fmt.Errorf("line %d, column %d: %s is half a character (a lone surrogate); remove it", line, column, data[i:i+6])
		}
		i += n
	}
	return nil
}

// escape returns the length of the escape that data begins with, and false for
// a surrogate without its other half. Escapes that JSON does not know are left
// to the decoder.
func escape(data []byte) (n int, whole bool) {
	switch unit := hex(data); {
	case unit < 0:
		return min(2, len(data)), true
	case unit >= 0xd800 && unit < 0xdc00:
		low := hex(data[6:])
		return 12, low >= 0xdc00 && low < 0xe000
	default:
		return 6, unit < 0xdc00 || unit >= 0xe000
	}
}

// hex reads \uXXXX; -1 when data does not begin with one.
func hex(data []byte) int {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return -1
	}
	unit := 0
	for _, b := range data[2:6] {
		digit := strings.IndexByte("0123456789abcdef", b|0x20)
		if digit < 0 || b < '0' {
			return -1
		}
		unit = unit<<4 | digit
	}
	return unit
}
