// Package nbformat reads, checks and writes Jupyter notebooks, format 4.
//
// The model: a Notebook is a list of Cells. What programs work with (a cell's
// kind, id, source, execution count) is typed; everything else (metadata,
// outputs, attachments, keys that no version of the format names) stays the raw
// JSON that was read, so that reading and writing a notebook loses nothing.
// Writing follows Jupyter: sorted keys, an indent of one space, texts split
// into lines, a final newline; a notebook that Jupyter saved comes out byte for
// byte as it was.
package nbformat

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Version of the format that New makes. Older minor versions can be read.
const (
	Major = 4
	Minor = 5
)

// CellType is a cell's kind.
type CellType string

// The kinds of cell that the format knows.
const (
	Code     CellType = "code"
	Markdown CellType = "markdown"
	Raw      CellType = "raw"
)

// Notebook is one .ipynb file.
type Notebook struct {
	Cells    []Cell
	Metadata Metadata
	Major    int      // nbformat
	Minor    int      // nbformat_minor
	Extra    Metadata // top-level keys that the format does not know
}

// Cell is one cell. ExecutionCount and Outputs belong to code cells,
// Attachments to the others.
type Cell struct {
	Type           CellType
	ID             string // "" before format 4.5
	Source         string
	Metadata       Metadata
	ExecutionCount *int
	Outputs        []Output
	Attachments    json.RawMessage
	Extra          Metadata // keys that the format does not know
}

// Metadata is a JSON object whose values are kept as they were read.
type Metadata map[string]json.RawMessage

// Get decodes the value of key into v and reports whether the key is there.
func (m Metadata) Get(key string, v any) (bool, error) {
	raw, ok := m[key]
	if !ok {
		return false, nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return true, fmt.Errorf("metadata %q has another form than expected: %w", key, err)
	}
	return true, nil
}

// Set stores v under key. The map must not be nil.
func (m Metadata) Set(key string, v any) error {
	raw, err := marshal(v)
	if err != nil {
		return fmt.Errorf("metadata %q cannot be written as JSON: %w", key, err)
	}
	m[key] = raw
	return nil
}

// Tags returns the cell's tags, for example "parameters".
func (c *Cell) Tags() []string {
	var tags []string
	if _, err := c.Metadata.Get("tags", &tags); err != nil {
		return nil // whatever else stands there, it is no list of tags
	}
	return tags
}

// New returns an empty notebook of the current format.
func New() *Notebook {
	return &Notebook{Metadata: Metadata{}, Major: Major, Minor: Minor}
}

// NewCell returns a cell without outputs.
func NewCell(t CellType, id, source string) Cell {
	return Cell{Type: t, ID: id, Source: source, Metadata: Metadata{}}
}

// Upgrade brings a notebook of an older minor version to 4.5: cells without an
// id get one from their position that no other cell has.
func (nb *Notebook) Upgrade() {
	taken := map[string]bool{}
	for _, c := range nb.Cells {
		taken[c.ID] = true
	}
	for i := range nb.Cells {
		if nb.Cells[i].ID != "" {
			continue
		}
		id := fmt.Sprintf("cell-%d", i+1)
		for n := 2; taken[id]; n++ {
			id = fmt.Sprintf("cell-%d-%d", i+1, n)
		}
		nb.Cells[i].ID, taken[id] = id, true
	}
	if nb.Major == Major && nb.Minor < Minor {
		nb.Minor = Minor
	}
}

// Language returns the language of the notebook's kernel, "" when it says none.
func (nb *Notebook) Language() string {
	for _, key := range []string{"kernelspec", "language_info"} {
		var spec struct{ Language, Name string }
		if ok, err := nb.Metadata.Get(key, &spec); !ok || err != nil {
			continue
		}
		if key == "kernelspec" && spec.Language != "" {
			return spec.Language
		}
		if key == "language_info" {
			return spec.Name
		}
	}
	return ""
}

// marshal is json.Marshal without the escaping meant for HTML.
func marshal(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}
