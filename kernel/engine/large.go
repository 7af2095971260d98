package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"unicode/utf8"

	"github.com/warpbook/warpbook/display"
)

// Front ends choke on what is larger, and on its way there it would take many
// times its size in memory.
const (
	maxShown = 64 << 20 // bytes of one representation of a value
	maxText  = 32 << 10 // bytes of a panic's text
)

// bounded leaves out what is too large to be shown, and says so in the text.
func bounded(b display.Bundle) display.Bundle {
	for mime, v := range b.Data {
		n := sizeOf(v)
		if n <= maxShown {
			continue
		}
		data := maps.Clone(b.Data)
		delete(data, mime)
		note := fmt.Sprintf("(%s left out: it has %d MB, and at most %d MB can be shown; write it to a file)", mime, n>>20, maxShown>>20)
		if text, ok := data["text/plain"].(string); ok && len(text) <= maxShown {
			note = text + "\n" + note
		}
		data["text/plain"] = note
		b.Data = data
		return bounded(b)
	}
	return b
}

func sizeOf(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	case json.RawMessage:
		return len(v)
	}
	return 0 // built from a value, and bounded by the frame
}

// shortened cuts a text that is too long for an error.
func shortened(s string) string {
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:end], len(s))
}
