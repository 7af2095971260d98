package execute

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/warpbook/warpbook/kernel/wire"
	"github.com/warpbook/warpbook/notebooks/nbformat"
)

// outputs collects what the cells of a notebook show. Messages are told apart
// by the request that they belong to, so that a goroutine that outlives its cell
// still prints into that cell.
type outputs struct {
	cells    map[string]*cellOutputs // by the msg_id of the execute request
	displays map[string][]*output    // by display id, over the whole notebook
}

// cellOutputs is what one cell shows.
type cellOutputs struct {
	cell    *nbformat.Cell
	list    []*output
	clear   bool // a clear_output(wait) waits for the next output
	failure *CellError
	idle    bool
	status  string // of the execute_reply, "" before it
	timing  map[string]string
}

// output is one output while it may still grow or change.
type output struct {
	stream         string // name, when it is a stream
	text           []byte
	kind           string // "display_data" or "execute_result" otherwise
	data, metadata map[string]any
	failure        *CellError
}

func newOutputs() *outputs {
	return &outputs{cells: map[string]*cellOutputs{}, displays: map[string][]*output{}}
}

// begin makes the outputs of cell those of the request id.
func (o *outputs) begin(id string, cell *nbformat.Cell) *cellOutputs {
	c := &cellOutputs{cell: cell, timing: map[string]string{}}
	o.cells[id] = c
	return c
}

// take applies one message of the publishing socket.
func (o *outputs) take(m *wire.Message) error {
	parent, ok := m.Parent()
	if !ok {
		return nil
	}
	c := o.cells[parent.MsgID]
	if c == nil {
		return nil
	}
	switch m.Header.MsgType {
	case "status":
		return c.state(m)
	case "execute_input":
		return c.input(m)
	case "stream":
		return c.stream(o, m)
	case "display_data", "execute_result":
		return c.display(o, m)
	case "update_display_data":
		return o.update(m)
	case "error":
		return c.error(o, m)
	case "clear_output":
		var content struct{ Wait bool }
		if err := m.Read(&content); err != nil {
			return err
		}
		c.clear = content.Wait
		if !content.Wait {
			c.drop(o)
		}
	}
	return nil
}

func (c *cellOutputs) state(m *wire.Message) error {
	var content struct {
		State string `json:"execution_state"`
	}
	if err := m.Read(&content); err != nil {
		return err
	}
	switch content.State {
	case "busy", "idle":
		c.timing["iopub.status."+content.State] = m.Header.Date
	}
	c.idle = c.idle || content.State == "idle"
	return nil
}

func (c *cellOutputs) input(m *wire.Message) error {
	var content struct {
		Count int `json:"execution_count"`
	}
	if err := m.Read(&content); err != nil {
		return err
	}
	c.cell.ExecutionCount = &content.Count
	c.timing["iopub.execute_input"] = m.Header.Date
	return nil
}

func (c *cellOutputs) stream(o *outputs, m *wire.Message) error {
	var content struct{ Name, Text string }
	if err := m.Read(&content); err != nil {
		return err
	}
	c.clearPending(o)
	if n := len(c.list); n > 0 && c.list[n-1].stream == content.Name {
		c.list[n-1].text = append(c.list[n-1].text, content.Text...)
		return nil
	}
	c.list = append(c.list, &output{stream: content.Name, text: []byte(content.Text)})
	return nil
}

// bundle is the content of the messages that show something.
type bundle struct {
	Data      exact          `json:"data"`
	Metadata  map[string]any `json:"metadata"`
	Transient struct {
		ID string `json:"display_id"`
	} `json:"transient"`
}

// exact is a bundle's data whose texts are strings and whose JSON stays as it
// was written: decoding it would round large numbers.
type exact map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (e *exact) UnmarshalJSON(data []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*e = make(exact, len(raw))
	for mime, content := range raw {
		var text string
		if json.Unmarshal(content, &text) == nil {
			(*e)[mime] = text
		} else {
			(*e)[mime] = content
		}
	}
	return nil
}

func (c *cellOutputs) display(o *outputs, m *wire.Message) error {
	var b bundle
	if err := m.Read(&b); err != nil {
		return err
	}
	c.clearPending(o)
	out := &output{kind: m.Header.MsgType, data: b.Data, metadata: b.Metadata}
	c.list = append(c.list, out)
	if id := b.Transient.ID; id != "" {
		o.displays[id] = append(o.displays[id], out)
	}
	return nil
}

func (o *outputs) update(m *wire.Message) error {
	var b bundle
	if err := m.Read(&b); err != nil {
		return err
	}
	for _, out := range o.displays[b.Transient.ID] {
		out.data, out.metadata = b.Data, b.Metadata
	}
	return nil
}

func (c *cellOutputs) error(o *outputs, m *wire.Message) error {
	var e CellError
	if err := m.Read(&e); err != nil {
		return err
	}
	c.clearPending(o)
	c.failure = &e
	c.list = append(c.list, &output{failure: &e})
	return nil
}

func (c *cellOutputs) clearPending(o *outputs) {
	if c.clear {
		c.clear = false
		c.drop(o)
	}
}

// drop forgets the cell's outputs, and that updates may reach them.
func (c *cellOutputs) drop(o *outputs) {
	gone := map[*output]bool{}
	for _, out := range c.list {
		gone[out] = true
	}
	for id, outs := range o.displays {
		kept := outs[:0]
		for _, out := range outs {
			if !gone[out] {
				kept = append(kept, out)
			}
		}
		o.displays[id] = kept
	}
	c.list = nil
}

// finish writes everything that was collected into the notebook.
func (o *outputs) finish() error {
	for _, c := range o.cells {
		c.cell.Outputs = nil
		for _, out := range c.list {
			c.cell.Outputs = append(c.cell.Outputs, out.format(c.cell))
		}
		if c.cell.Metadata == nil {
			c.cell.Metadata = nbformat.Metadata{}
		}
		if err := c.cell.Metadata.Set("execution", c.timing); err != nil {
			return fmt.Errorf("the times of a cell cannot be recorded: %w", err)
		}
	}
	return nil
}

// overwritten is text that a carriage return has brought the cursor back over.
var overwritten = regexp.MustCompile(`[^\n]*\r+([^\r\n])`)

func (out *output) format(cell *nbformat.Cell) nbformat.Output {
	switch {
	case out.failure != nil:
		return nbformat.NewError(out.failure.Name, out.failure.Value, out.failure.Traceback)
	case out.stream != "":
		return nbformat.NewStream(out.stream, overwritten.ReplaceAllString(string(out.text), "$1"))
	case out.kind == "execute_result":
		count := 0
		if cell.ExecutionCount != nil {
			count = *cell.ExecutionCount
		}
		return nbformat.NewResult(count, out.data, out.metadata)
	default:
		return nbformat.NewDisplay(out.data, out.metadata)
	}
}

// replied notes the answer to the cell's execute request.
func (c *cellOutputs) replied(m *wire.Message) error {
	var content struct {
		Status string `json:"status"`
		CellError
	}
	if err := m.Read(&content); err != nil {
		return err
	}
	c.status = content.Status
	c.timing["shell.execute_reply"] = m.Header.Date
	var meta struct{ Started string }
	if json.Unmarshal(m.Metadata, &meta) == nil && meta.Started != "" {
		c.timing["shell.execute_reply.started"] = meta.Started
	}
	if content.Status != "ok" && c.failure == nil {
		e := content.CellError
		c.failure = &e
	}
	return nil
}
