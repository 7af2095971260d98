package nbformat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bytes returns the notebook as Jupyter writes it.
func (nb *Notebook) Bytes() ([]byte, error) {
	var w writer
	fields := maps.Clone(nb.Extra)
	if fields == nil {
		fields = Metadata{}
	}
	fields["nbformat"] = fmt.Appendf(nil, "%d", nb.Major)
	fields["nbformat_minor"] = fmt.Appendf(nil, "%d", nb.Minor)
	fields["metadata"] = compact(nb.Metadata)
	cells := make([]json.RawMessage, len(nb.Cells))
	for i, c := range nb.Cells {
		cells[i] = compact(c.fields())
	}
	fields["cells"] = list(cells)
	w.object(fields)

	var out bytes.Buffer
	if err := json.Indent(&out, w.Bytes(), "", " "); err != nil {
		return nil, fmt.Errorf("the notebook holds a value that is not JSON; it was not written: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// WriteFile writes the notebook to path. It replaces the file in one step: an
// error leaves the file that was there.
func (nb *Notebook) WriteFile(path string) error {
	data, err := nb.Bytes()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("the notebook cannot be written beside %s: %w", path, err)
	}
	defer os.Remove(tmp.Name()) // after the rename there is nothing to remove
	_, err = tmp.Write(data)
	for _, step := range []func() error{
		func() error { return tmp.Chmod(mode) },
		tmp.Close,
		func() error { return os.Rename(tmp.Name(), path) },
	} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		tmp.Close()
		return fmt.Errorf("the notebook %s was not written: %w", path, err)
	}
	return nil
}

// fields returns the cell's JSON object.
func (c *Cell) fields() Metadata {
	fields := maps.Clone(c.Extra)
	if fields == nil {
		fields = Metadata{}
	}
	fields["cell_type"] = quote(string(c.Type))
	if c.ID != "" {
		fields["id"] = quote(c.ID)
	}
	fields["metadata"] = compact(c.Metadata)
	var source []json.RawMessage
	for _, line := range lines(c.Source) {
		source = append(source, quote(line))
	}
	fields["source"] = list(source)
	if c.Attachments != nil {
		fields["attachments"] = c.Attachments
	}
	if c.Type != Code {
		return fields
	}
	fields["execution_count"] = json.RawMessage("null")
	if c.ExecutionCount != nil {
		fields["execution_count"] = fmt.Appendf(nil, "%d", *c.ExecutionCount)
	}
	outputs := make([]json.RawMessage, len(c.Outputs))
	for i, o := range c.Outputs {
		outputs[i] = json.RawMessage(o)
	}
	fields["outputs"] = list(outputs)
	return fields
}

// writer assembles JSON from raw values; json.Marshal would check and copy each
// of them again at every level, and escape what Jupyter leaves alone.
type writer struct{ bytes.Buffer }

func (w *writer) object(m Metadata) {
	w.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			w.WriteByte(',')
		}
		w.Write(quote(key))
		w.WriteByte(':')
		w.Write(m[key])
	}
	w.WriteByte('}')
}

func compact(m Metadata) json.RawMessage {
	var w writer
	w.object(m)
	return w.Bytes()
}

func list(values []json.RawMessage) json.RawMessage {
	return slices.Concat(json.RawMessage("["), bytes.Join(toBytes(values), []byte(",")), json.RawMessage("]"))
}

func toBytes(values []json.RawMessage) [][]byte {
	b := make([][]byte, len(values))
	for i, v := range values {
		b[i] = v
	}
	return b
}

// quote writes a JSON string as Python does: only what JSON demands is escaped.
func quote(s string) json.RawMessage {
	const short = "\b\f\n\r\t"
	var b bytes.Buffer
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case strings.ContainsRune(short, r):
			b.WriteByte('\\')
			b.WriteByte("bfnrt"[strings.IndexRune(short, r)])
		case r < 0x20:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.Bytes()
}

// lines splits s after each line end, with Python's idea of line ends, which is
// what decides how Jupyter's files are split.
func lines(s string) []string {
	var out []string
	for s != "" {
		end := strings.IndexAny(s, "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029")
		if end < 0 {
			return append(out, s)
		}
		_, size := utf8.DecodeRuneInString(s[end:])
		if strings.HasPrefix(s[end:], "\r\n") {
			size = 2
		}
		out, s = append(out, s[:end+size]), s[end+size:]
	}
	if out == nil {
		out = []string{}
	}
	return out
}
